"""Failures on standard error: errors of commands, with exit codes, and failed runs, a line per cause."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from errno import ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe.cli.output import complain
from fullpipe.errors import (
    ClusterError,
    ControllerError,
    FolderError,
    FullpipeError,
    InputFileError,
    InstallOptionError,
    MissingExtraError,
    NoRunError,
    QueryError,
    ScenarioError,
    UnknownNameError,
    brief,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullpipe.runs.executor import Job
    from fullpipe.sweeps import Outcome

_MISUSE = (
    ScenarioError,
    UnknownNameError,
    NoRunError,
    FolderError,
    InputFileError,
    InstallOptionError,
    MissingExtraError,
    QueryError,
    ClusterError,
)


@contextmanager
def ended() -> Iterator[None]:
    """Turn errors for the user into a message and an exit code: 2 for bad input, 1 for a failure.

    Raises:
        SystemExit: If an error for the user was raised.
    """
    try:
        yield
    except FullpipeError as error:
        complain(error)
        code = 2 if isinstance(error, _MISUSE) else 1
    except OSError as error:  # a path in an argument is too long for any file
        if error.errno != ENAMETOOLONG:
            raise
        complain(f"{brief(str(error.filename))}: the name is too long for a file or folder")
        code = 2
    except KeyboardInterrupt:
        complain("interrupted; the same command continues where this one stopped")
        code = 1
    else:
        return
    sys.exit(code)


# Failed runs.


_LONGEST_CAUSE = 200
"""Maximum length of a printed exception of a user's class, in characters."""


def complain_of_failures(outcomes: Sequence[Outcome], *, has_engine: bool = False) -> list[Outcome]:
    """Name failed runs on standard error, a line per cause, and return them.

    Exceptions of a user's class count as one cause if the same line raised them in the same method. The text
    of the first one is shown.

    Args:
        outcomes: Finished and failed runs.
        has_engine: Also name the engine of each run.
    """
    failed = [outcome for outcome in outcomes if outcome.error]
    causes: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in failed:
        causes.setdefault(_alike(outcome.error), []).append(outcome)
    for of_cause in causes.values():
        first, several = of_cause[0].job, len(of_cause) > 1
        which = _named(first, first.engine if has_engine else "", several=several)
        if several:
            which = f"{len(of_cause):,} of {len(outcomes):,} runs failed, the first with {which}"
        error = of_cause[0].error
        cause = _cause(error)
        at = (
            f", failed at {error.time_s:g} s"
            if isinstance(error, ControllerError) and error.__cause__
            else ""
        )
        complain(f"{which}: {cause}{at}")
    return failed


def _named(job: Job, engine: str, *, several: bool) -> str:
    """Sweep point, seed and engine of a failed run, separated by commas; with `several`, the last two are
    joined by "and"."""
    from fullpipe.analysis.shown import listed, point_shown  # imported here, as most runs do not fail

    parts = [*point_shown(job.point), f"seed {job.seed}"]
    if several:
        return listed([*parts, *([f"engine {engine}"] if engine else [])])
    return ", ".join(filter(None, [*parts, engine]))


def _alike(error: BaseException | None) -> tuple[object, ...]:
    """Key that is equal for errors with the same cause, even if their texts differ in numbers, seed or
    time."""
    if not isinstance(error, ControllerError):
        return (str(error),)
    if raised := error.__cause__:
        file, line = _raised_at(raised)
        return (file, line, type(raised), error.event, "" if file else str(raised))
    _, time, problem = str(error).rpartition(f"{error.time_s:.9f} s")
    return (error.controller, error.event, problem if time else str(error))


def _raised_at(raised: BaseException) -> tuple[str, int | None]:
    """File and line that raised an exception; an empty name without a traceback."""
    from traceback import extract_tb  # imported here, as most runs do not fail

    frames = extract_tb(raised.__traceback__)
    return (frames[-1].filename, frames[-1].lineno) if frames else ("", 0)


def _cause(error: BaseException | None) -> str:
    """The text of an error; for an exception of a user's class one line, with its file and line."""
    raised = error.__cause__ if isinstance(error, ControllerError) else None
    if raised is None or not isinstance(error, ControllerError):
        return str(error)
    file, line = _raised_at(raised)
    path, here = Path(file), Path().absolute()
    place = f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line}: " if file else ""
    what = brief(f"{type(raised).__name__}: {raised}", _LONGEST_CAUSE)
    return f"{place}{what}; in {error.event} of {error.controller}, flow {error.flow}"
