"""Stored runs that a command reads: their folders, copies, notes, and warnings about their means."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fullpipe.cli.output import complain
from fullpipe.errors import NoRunError
from fullpipe.runs import Run, Store, population

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


@contextmanager
def noted() -> Iterator[None]:
    """Print warnings on standard error as notes, one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        complain(f"note: {warning.message}")


def runs_in(
    folders: Iterable[Path], content: str = population.NEWEST, tell: Callable[[str], object] = lambda _: None
) -> list[Path]:
    """The folders of runs that `folders` name: a folder of a single run, or all runs in a store.

    Results depend on the content of files, such as algorithms, and on the version of the model. Runs in a
    store with older content are left out unless `content` is "all". If runs are left out, a note on standard
    error says so, and `tell` is called with the note.
    """
    found: list[Path] = []
    for folder in folders:
        if not folder.exists():
            raise NoRunError(
                f"{folder}: no such folder; name the folder of a run, or the --out folder of `run`"
            )
        is_run = (folder / "meta.json").exists()
        own = [folder] if is_run else [run.folder for run in stored_runs(folder, content, tell)]
        own = own or [*_runs_of_point(folder)]
        if not own:
            raise NoRunError(
                f"{folder}: has no finished run; name the folder of a run, or the --out folder of `run`"
            )
        found += [each for each in own if each]
    return found


def _runs_of_point(folder: Path) -> list[Path]:
    """The folders of the runs of one scenario of a store, such as runs/HASH, in the order of their names."""
    found = [meta.parent for meta in folder.glob("*/meta.json")]
    return sorted(found, key=lambda run: (len(run.name), run.name))


def stored_runs(
    folder: Path, content: str = population.NEWEST, tell: Callable[[str], object] = lambda _: None
) -> list[Run]:
    """The runs of a store. `content`, "newest" or "all", and `tell` are as in `runs_in`."""
    runs = list(Store(folder))
    if content == population.ALL:
        return runs
    found = population.of_runs([run.meta for run in runs], [folder])
    if found.left_out:
        complain(f"note: {found.left_out}")
        tell(found.left_out)
    return [run for run, counts in zip(runs, found.counts, strict=True) if counts]


def read_runs(folders: Iterable[Path]) -> list[Run]:
    """Read finished runs, each once. Warnings about a run are printed as notes on standard error.

    Raises:
        NoRunError: If a folder does not hold a finished run.
    """
    with noted():
        return [Run.load(folder) for folder in dict.fromkeys(folders)]


def each_once(runs: Sequence[Run]) -> list[Run]:
    """Runs without duplicates from other folders. A note on standard error gives the number left out."""
    found: dict[tuple[str, ...], Run] = {}
    for run in runs:
        found.setdefault(identity(run), run)
    if len(found) < len(runs):
        complain(f"note: runs in several folders are counted once; {len(runs) - len(found)} left out")
    return list(found.values())


def identity(run: Run) -> tuple[str, ...]:
    """Name and digest of the scenario, engine with version and code, and seed: equal for copies of a run."""
    engine = run.meta.engine
    version = (engine.name, engine.version, str(engine.model_version))
    return (run.name, run.meta.digest, *version, engine.code, str(run.meta.seed))


def warn_of_short(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> None:
    """Name on standard error the points whose means should not be trusted, if there are any."""
    for line in warnings_of_short(points, runs):
        complain(line)


def warnings_of_short(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[str]:
    """Warnings about runs that are too short for means, and about means that have not settled."""
    from fullpipe.analysis.length import reservations  # imported here, as JSON output has no such warning

    return [f"warning: {told}" for told in reservations(points, runs)]
