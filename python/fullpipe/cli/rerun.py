"""`fullpipe rerun`: the runs of a pack, made again, and what differs."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.cli.asked import processors
from fullpipe.cli.jobs import check_all, finished_runs
from fullpipe.cli.output import complain, echo, say
from fullpipe.cli.shared import AllowPython, Jobs, target
from fullpipe.cluster import Threads
from fullpipe.commit import with_commit
from fullpipe.report.packs.again import Again
from fullpipe.report.packs.archive import Pack, opened
from fullpipe.report.packs.differences import difference, is_equal
from fullpipe.report.packs.manifest import RUNS
from fullpipe.runs import Store, version
from fullpipe.sweeps import Outcome

_MOST_LINES = 20


def rerun(
    study: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `fullpipe pack` wrote.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="DIR", help="Folder for the files and runs.")
    ] = Path("rerun"),
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare every table with the pack's, byte for byte.")
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Also run on this engine, if the pack has runs of it; may be repeated."
        ),
    ] = None,
    workers: Jobs = None,
    allow_python: AllowPython = False,
) -> None:
    """The exit code with `--compare` is 0 if all tables are equal, 1 if one differs or a run fails, and 2 if
    the file is no pack or is damaged. The same command continues an interrupted one.
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
    """Runs beside those of a pack."""

    compared: int = 0
    unlike_bytes: int = 0
    """Runs whose values are equal and whose bytes are not."""
    unmade: int = 0
    """Runs of which the pack has no results."""
    lines: list[str] = field(default_factory=list)

    @classmethod
    def between(cls, pack: Pack, outcomes: Sequence[Outcome], folder: Path | None) -> "_Differences":
        """Compare runs with those of a pack, whose tables are in a folder if it has them."""
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
        complain(f"note: packed by fullpipe {pack.manifest.fullpipe}; this is {here}")
