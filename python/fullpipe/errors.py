"""What can go wrong, as named exceptions, and the words to say so."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache


class FullpipeError(Exception):
    """The base of every error that fullpipe raises on purpose."""


class ScenarioError(FullpipeError):
    """A scenario is wrong. `problems` holds one line per mistake: where, what, and what would be right."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class UnknownNameError(FullpipeError):
    """A name that is not in the list of scenarios, engines, studies or algorithms."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f'unknown {what} "{name}"{suggestion(name, known)}')


class EngineError(FullpipeError):
    """An engine refused or failed to run a scenario."""


class WishError(EngineError):
    """The installation of an engine was asked for what there is not: an option, a version or a file."""


class ControllerError(EngineError):
    """An algorithm written in Python failed: which, of which flow, in which method, and when.

    `__cause__` is what it raised; `time_s` is the simulated time.
    """

    def __init__(self, message: str, controller: str, flow: str, event: str, time_s: float) -> None:
        super().__init__(message)
        self.controller = controller
        self.flow = flow
        self.event = event
        self.time_s = time_s


class ResultError(FullpipeError):
    """A run cannot be kept or read, or its tables are not what the schema says."""


class NoRunError(ResultError):
    """A folder does not hold a finished run."""


class FolderError(ResultError):
    """The folder of finished runs cannot be written."""


class CancelledError(FullpipeError):
    """A run was stopped before its end because it was asked to."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to add to "unknown ...": `; did you mean "cubic"?`, or the list of what there is.

    Args:
        name: What was written.
        known: What could have been meant.

    Returns:
        A clause that starts with a semicolon, or nothing if there is nothing to choose from.
    """
    return _suggestion(name, tuple(known))


@lru_cache
def _suggestion(name: str, known: tuple[str, ...]) -> str:
    by_case = {option.lower(): option for option in known}
    close = get_close_matches(name.lower(), by_case, n=1, cutoff=0.6)
    if close:
        return f'; did you mean "{by_case[close[0]]}"?'
    return f"; there is {', '.join(known)}" if known else ""
