"""`fullpipe pack`: a study in one file that others run again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.asked import read_scenario, values_of
from fullpipe.cli.jobs import bring_all, check_all, read_runs, runs_in
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import MAX_SEEDS, AllowPython, Assignments, target
from fullpipe.report.basis import read
from fullpipe.report.packs.manifest import PackError
from fullpipe.report.packs.read_me import read_me
from fullpipe.report.packs.study import Study
from fullpipe.report.runs.repeat import READ
from fullpipe.report.text import counted
from fullpipe.report.write import FORMATS
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.sweeps import jobs


def pack(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help=(
                "Stores or folders of runs, reports, JSON files of compare or test, or scenarios"
                " (TOML files or names)."
            ),
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="FILE", help="File to write.")
    ] = Path("study.zip"),
    with_runs: Annotated[
        bool,
        typer.Option("--runs/--no-runs", help="Pack the tables of the runs, or only their checksums."),
    ] = True,
    look_in: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="Also search this folder for algorithms and recordings; may be repeated."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Engine for the runs of a scenario.")
    ] = "native",
    seeds: Annotated[
        int, typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="Run the seeds 1 to N of a scenario.")
    ] = 1,
    assignments: Assignments = None,
    allow_python: AllowPython = False,
) -> None:
    """The file has scenarios, algorithms, recordings, seeds, versions, checksums and runs. `fullpipe rerun
    FILE --compare` repeats them in an empty folder and compares the results.

    From a store, only runs of the newest algorithms and recordings are packed. The checksum of each file
    must equal the one that the runs recorded.
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
        if run.meta.engine.name in READ:
            imported += 1
            continue
        study.add_run(run, places, with_tables=with_runs)
    for word in what:
        if Path(word) not in (*folders, *reports):
            _add_scenario(study, word, assignments or [], engine, seeds, allow_python=allow_python)
    if imported:
        complain(f"note: {imported:,} imported runs left out; a pack has simulated runs")
    if not study.runs:
        raise PackError("nothing to pack: no run was simulated")
    study.write(out, read_me(study))
    echo(f"{out}: {counted(len(study.runs), 'run')}, {counted(len(study.files), 'file')} beside them")


def _runs_of(report: Path, places: Sequence[Path]) -> list[Run]:
    """The runs that a report rests on, as they were when it was written."""
    basis = read(report)
    store = next((place / basis.store for place in places if (place / basis.store).is_dir()), None)
    if store is None:
        raise PackError(f"{report}: rests on the runs of {basis.store}, which is not here; say --look-in DIR")
    runs = read_runs(store / folder for folder, _ in basis.runs)
    for run, (folder, started) in zip(runs, basis.runs, strict=True):
        if run.meta.started != started:
            raise PackError(f"{report}: {store / folder} was made again since; write the report again")
    return runs


def _add_scenario(
    study: Study, word: str, assignments: list[str], engine: str, seeds: int, *, allow_python: bool
) -> None:
    todo = jobs(read_scenario(word).with_values(values_of(assignments, None)), range(1, seeds + 1), engine)
    own = dict.fromkeys(kind for job in todo for kind in own_algorithms(job.scenario.flows))
    if own and not allow_python:
        raise PackError(
            f"{', '.join(own)}: the modules that it imports are found by importing it; say --allow-python"
        )
    if allow_python:
        bring_all(todo, word)
    check_all(todo)
    for job in todo:
        study.add_job(job)
