"""`fullpipe compare FOLDER`: kept runs of several engines, what was measured elsewhere among them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fullpipe.cli.jobs import read_runs, runs_in
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.validation.compare import EngineComparison, Margin, by_engine, closest_to_the_world, compare


def sides_in(folder: Path, content: str) -> dict[str, list[Run]]:
    """The runs in a folder by engine; `content` as of `fullpipe.cli.jobs.runs_in`.

    Raises:
        NoRunError: If there are none.
        ScenarioError: If they are of one engine.
    """
    found = by_engine(read_runs(runs_in([folder], content)))
    if len(found) < 2:
        raise ScenarioError(
            [
                f"{folder}: all runs are of the engine {next(iter(found))}; put those of another, or what"
                " `fullpipe import` reads, into the same folder"
            ]
        )
    return found


def compared(
    folder: Path,
    sides: Mapping[str, Sequence[Run]],
    reference: str | None,
    margins: Mapping[str, Margin],
    of: Sequence[str] = (),
) -> EngineComparison:
    """Kept runs of the same flows, held against those of one engine.

    Raises:
        UnknownNameError: If there is no run of that engine.
        ScenarioError: If they have different flows, or an engine has runs of several scenarios.
    """
    if reference is not None and reference not in sides:
        raise UnknownNameError("reference", reference, sides)
    first = reference or closest_to_the_world(sides)
    try:
        return compare(sides, first, margins, of)
    except ValueError as error:
        raise ScenarioError([f"{folder}: {error}"]) from None
