"""The commands `report`, `pack` and `rerun`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.points import Subject
from fullpipe.cli.asked import processors, read_scenario, values_of
from fullpipe.cli.jobs import bring_all, check_all, finished_runs
from fullpipe.cli.output import command_line, complain, echo, say
from fullpipe.cli.selection import chosen, labels_of, read_labels
from fullpipe.cli.shared import (
    SEEDS,
    AllowPython,
    Assignments,
    Content,
    ContentOption,
    Jobs,
    LabelOption,
    seeds_of,
    target,
)
from fullpipe.cli.stored import each_once, read_runs, runs_in
from fullpipe.cluster import Threads
from fullpipe.commit import with_commit
from fullpipe.errors import NoRunError
from fullpipe.report import basis
from fullpipe.report.basis import folders_of, of_json
from fullpipe.report.content import Document, joined
from fullpipe.report.files import FORMATS, read, write
from fullpipe.report.from_file import page_of_file
from fullpipe.report.packs.again import Again, difference, is_equal
from fullpipe.report.packs.archive import RUNS, Pack, PackError, opened, sha256_of
from fullpipe.report.packs.study import Study, read_me
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from fullpipe.report.text import counted
from fullpipe.runs import Run, Store, version
from fullpipe.runs.meta import READERS
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.sweeps import Outcome, jobs

# `fullpipe report`: writes one page about runs or a comparison.


def report(
    context: typer.Context,
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="WHAT...",
            help="Folders of runs, stores, and JSON files written by compare, check or test.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            parser=target,
            metavar="FILE",
            help="File to write: .html, or .md with figures in a folder beside it.",
        ),
    ] = Path("report.html"),
    question: Annotated[str, typer.Option(metavar="TEXT", help="Question that the page opens with.")] = "",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help='Report this metric, or "rtt_mean of ping"; may be repeated.',
        ),
    ] = None,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="Report this flow group or link.")] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Report only runs with this value; may be repeated."),
    ] = None,
    label: LabelOption = None,
    content: ContentOption = Content.NEWEST,
    samples: Annotated[
        int,
        typer.Option(
            min=1_000,
            metavar="N",
            help="Maximum number of samples of all time series in the page. Each sample takes about 3 bytes.",
        ),
    ] = Budget().samples,
) -> None:
    """The page has the conclusion, a figure, the network path, a table, details, and the commands that repeat
    the runs. For several files, the page has a part per file, and one part for all folders.

    The page contains all its figures and loads nothing from the network, so the file can be sent, archived
    and printed.
    """
    if out.suffix not in FORMATS:
        raise typer.BadParameter(f'"{out.name}" does not end in {" or ".join(FORMATS)}', param_hint="--out")
    for text in metric or ():
        Subject.read(text)
    labels, budget, conditions = read_labels(label or ()), Budget(samples=samples), where or []
    files = [path for path in what if path.is_file()]
    if conditions and files:
        raise typer.BadParameter(
            f"applies only to folders of runs; {files[0].name} is a file", param_hint="--where"
        )
    if labels and files:
        raise typer.BadParameter(
            f"applies only to folders of runs; for {files[0].name}, give --label to the command that writes"
            " this file",
            param_hint="--label",
        )
    try:
        page = _page(
            what,
            files,
            question,
            metric or [],
            of,
            where or [],
            labels,
            content,
            partial(command_line, context),
            budget,
        )
        write(page, out, budget)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        if not files:
            raise
        raise NoRunError(f"{files[0]}: has content that cannot be shown: {error}") from error
    echo(out)


def _page(
    what: list[Path],
    files: list[Path],
    question: str,
    metrics: list[str],
    of: str,
    where: list[str],
    labels: Mapping[str, str],
    content: str,
    command_of: Callable[[Mapping[Path, str]], str],
    budget: Budget,
) -> Document:
    """The report: a part per file, then one part about the runs of all folders."""
    folders = [path for path in what if path not in files]
    pages = [_of_file(path, question, metrics, of, command_of({}), budget) for path in files]
    if folders:
        told: list[str] = []
        runs = chosen(each_once(read_runs(runs_in(folders, content, told.append))), where)
        runs = [run.with_labels(labels) for run in runs]
        command = command_of({path: _from_store(path, runs) for path in folders})
        pages.append(
            page_of(
                runs,
                question=question,
                metrics=metrics,
                of=of,
                command=command,
                budget=budget,
                notes=told,
                check=partial(labels_of, runs, labels),
            )
        )
    return pages[0] if len(pages) == 1 else joined(pages)


def _from_store(folder: Path, runs: Sequence[Run]) -> str:
    """Return the path of a folder of runs, relative to the parent folder of its store.

    The report has commands that repeat the runs. These commands name the store by its last name, so the
    command of the report must use the same name.
    """
    place = folder.absolute()
    inside = (run.store for run in runs if run.folder and run.folder.absolute().is_relative_to(place))
    store = next(inside, None) or place
    return str(place.relative_to(store.parent)) if place.is_relative_to(store.parent) else place.name


def _of_file(
    path: Path, question: str, metrics: list[str], of: str, command: str, budget: Budget
) -> Document:
    """The report of a file.

    The report also has the runs of the file if their store is in the folder of the file or in the current
    folder.
    """
    found = read(path)
    basis = of_json(found)
    started = dict(basis.runs) if basis else {}
    folders = folders_of(basis, (path.parent, Path())) if basis else []
    runs = [
        run
        for run, at in zip(read_runs(folders), folders, strict=True)
        if run.meta.started == started[f"{at.parent.name}/{at.name}"]  # leave out runs repeated since
    ]
    try:
        page = page_of_file(
            found, question=question, budget=budget, runs=runs, command=command, metrics=metrics, of=of
        )
        fact = (path.name, f"SHA-256 {sha256_of(path)}")
        return replace(page, provenance=[*page.provenance, fact])
    except NoRunError as error:
        raise NoRunError(f"{path}: {error}") from None


# `fullpipe pack`: writes a study into one file that others can rerun.


def pack(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help=(
                "Folders of runs, stores, reports, JSON files written by compare or test, or scenarios"
                " (TOML files or names)."
            ),
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="FILE", help="File to write.")
    ] = Path("study.zip"),
    with_runs: Annotated[
        bool,
        typer.Option(
            "--runs/--no-runs", help="Pack the tables of the runs; with --no-runs, only their checksums."
        ),
    ] = True,
    look_in: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Also search this folder for algorithms and recordings; may be repeated."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Engine for the runs, if WHAT is a scenario.")
    ] = "native",
    seeds: Annotated[
        range | None,
        typer.Option(
            parser=seeds_of,
            metavar=SEEDS,
            help="Pack the seeds 1 to N, or FROM to TO, if WHAT is a scenario (default: 1).",
        ),
    ] = None,
    assignments: Assignments = None,
    allow_python: AllowPython = False,
) -> None:
    """The file has scenarios, algorithms, recordings, seeds, versions, checksums and runs. `fullpipe rerun
    FILE --compare` repeats the runs in an empty folder and compares the results.

    From a store, only runs with the newest algorithms and recordings are packed. The checksum of each
    algorithm and recording must equal the checksum that the runs recorded.
    """
    study, folders = Study(), [Path(word) for word in what if Path(word).is_dir()]
    reports = [Path(word) for word in what if Path(word).suffix in (*FORMATS, ".json")]
    beside = (path.resolve().parent for path in (*folders, *reports))
    places = list(dict.fromkeys([Path(), *(look_in or ()), *beside]))
    runs = read_runs(runs_in(folders)) if folders else []
    for report in reports:
        runs += _runs_of(report, places)
    imported = 0
    for run in runs:
        if run.meta.engine.name in READERS:
            imported += 1
            continue
        study.add_run(run, places, with_tables=with_runs)
    for word in what:
        if Path(word) not in (*folders, *reports):
            _add_scenario(
                study, word, assignments or [], engine, seeds or range(1, 2), allow_python=allow_python
            )
    if imported:
        complain(f"note: {imported:,} imported runs left out; a pack has only simulated runs")
    if not study.runs:
        raise PackError("nothing to pack: name simulated runs, or a scenario")
    study.write(out, read_me(study))
    echo(f"{out}: {counted(len(study.runs), 'run')}, {counted(len(study.files), 'file')} beside them")


def _runs_of(report: Path, places: Sequence[Path]) -> list[Run]:
    """The runs that a report is about. Runs repeated after the report was written are an error."""
    rests_on = basis.read(report)
    store = next((place / rests_on.store for place in places if (place / rests_on.store).is_dir()), None)
    if store is None:
        raise PackError(
            f"{report}: needs the runs of the store {rests_on.store}, which was not found; name its parent"
            " folder with --look-in DIR"
        )
    runs = read_runs(store / folder for folder, _ in rests_on.runs)
    for run, (folder, started) in zip(runs, rests_on.runs, strict=True):
        if run.meta.started != started:
            raise PackError(f"{report}: {store / folder} is newer than the report; write the report again")
    return runs


def _add_scenario(
    study: Study, word: str, assignments: list[str], engine: str, seeds: range, *, allow_python: bool
) -> None:
    todo = jobs(read_scenario(word).with_values(values_of(assignments, None)), seeds, engine)
    own = dict.fromkeys(kind for job in todo for kind in own_algorithms(job.scenario.flows))
    if own and not allow_python:
        raise PackError(
            f"{', '.join(own)}: packing imports this code; read the code, then add --allow-python"
        )
    if allow_python:
        bring_all(todo, word)
    check_all(todo)
    for job in todo:
        study.add_job(job)


# `fullpipe rerun`: reruns a pack, and reports differences.


_MOST_LINES = 20


def rerun(
    study: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `fullpipe pack` wrote.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="DIR", help="Folder for the files and runs.")
    ] = Path("rerun"),
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare every table with the packed table, byte for byte.")
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Allow runs on this engine besides native; may be repeated."),
    ] = None,
    workers: Jobs = None,
    allow_python: AllowPython = False,
) -> None:
    """The exit code with `--compare` is 0 if all tables are equal, 1 if a table differs or a run fails,
    and 2 if FILE is not a pack or is damaged. The same command continues an interrupted rerun.
    """
    with ExitStack() as stack:
        pack = stack.enter_context(opened(study))
        engines = ("native", *(engine or ()))
        again = Again(pack, out, engines, allow_python=allow_python, must_compare=compare)
        again.unpack()
        todo = again.jobs()
        check_all(todo)
        outcomes = finished_runs(todo, Threads(workers or processors()), Store(out))
        if not compare:
            echo(f"{out}: {len(outcomes):,} runs made of {study}")
            return
        folder = None
        if pack.has(RUNS):
            folder = stack.enter_context(files.hidden(out))
            pack.extract(RUNS, folder)
        found = _Differences.between(pack, outcomes, folder)
    _tell(pack, found)
    if found.lines:
        raise typer.Exit(1)


@dataclass
class _Differences:
    """Differences between repeated runs and the packed runs."""

    compared: int = 0
    unlike_bytes: int = 0
    """Number of repeated runs whose tables have equal values but different bytes."""
    unmade: int = 0
    """Number of runs of which the pack has neither tables nor checksums."""
    lines: list[str] = field(default_factory=list)

    @classmethod
    def between(cls, pack: Pack, outcomes: Sequence[Outcome], folder: Path | None) -> "_Differences":
        """Compare runs with a pack; `folder` has the unpacked tables, None if the pack has only checksums."""
        found = cls()
        for packed, outcome in zip(pack.manifest.runs, outcomes, strict=True):
            if not packed.tables:
                found.unmade += 1
                continue
            found.compared += 1
            if is_equal(outcome.run, packed):
                continue
            if told := difference(outcome.run, packed, folder and folder / packed.folder):
                found.lines.append(f"{outcome.run.name}, {packed.folder}: {told}")
            else:
                found.unlike_bytes += 1
        return found


def _tell(pack: Pack, found: _Differences) -> None:
    count, lines = found.compared, found.lines
    if not lines:
        how = "in every value" if found.unlike_bytes else "byte for byte"
        say(f"{count:,} of {count:,} runs are equal to those of {pack.path}, {how}")
    else:
        echo(f"{len(lines):,} of {count:,} runs differ from those of {pack.path}")
        for line in lines[:_MOST_LINES]:
            say(f"  {line}", indent="    ")
        if len(lines) > _MOST_LINES:
            echo(f"  and {len(lines) - _MOST_LINES:,} others")
    if found.unmade:
        complain(f"note: the pack has no results of {found.unmade:,} other runs")
    here = with_commit(version("fullpipe"))
    if pack.manifest.fullpipe != here:
        complain(f"note: packed by fullpipe {pack.manifest.fullpipe}; this version is {here}")
