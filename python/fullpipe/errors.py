"""The exceptions of the package, and how their messages are written."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import accumulate

_LONGEST_VALUE = 40
_LONGEST_QUOTE = 80
_LONGEST_LINE = 400
_MOST_LINES = 50
_LONGEST_LIST = 240
_GAP = " ... "


class FullpipeError(Exception):
    """The base of every error that fullpipe raises on purpose.

    Its text can be printed anywhere: it is short, and control characters in what it quotes are escapes.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__("\n".join(_readable(message.split("\n"))))


class ScenarioError(FullpipeError):
    """A scenario is wrong. `problems` holds one line per mistake: where, what, and what would be right."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(_readable(problems))
        super().__init__("\n".join(self.problems))


class UnknownNameError(FullpipeError):
    """A name that is not in the list of scenarios, engines, studies or algorithms."""

    def __init__(self, what: str, name: str, known: Iterable[str], listed_by: str = "") -> None:
        all_of_them = f"; `{listed_by}` lists all" if listed_by else ""
        super().__init__(f'unknown {what} "{brief(name)}"{suggestion(name, known)}{all_of_them}')


class MissingExtraError(FullpipeError):
    """A package of an extra is not installed."""


class QueryError(FullpipeError):
    """A question about many runs is none: what is wrong with its SQL."""


class InputFileError(FullpipeError):
    """A file that another program wrote cannot be read, or is not what it should be."""


class EngineError(FullpipeError):
    """An engine refused or failed to run a scenario."""


class InstallOptionError(EngineError):
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


class DiskFullError(ResultError):
    """A finished run cannot be kept because the disk is full."""


class ClusterError(FullpipeError):
    """A cluster cannot be used: there is none at that address, or what it needs is not on this machine."""


class VersionError(ClusterError):
    """A sweep was planned with another version of fullpipe, of an engine or of an algorithm than is here."""


class CancelledError(FullpipeError):
    """A run was stopped before its end because it was asked to."""


def visible(text: str) -> str:
    """Text on one line, safe to print: what a terminal would obey or hide is an escape.

    >>> visible("\\x1b[2J")
    '\\\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def brief(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """Text as an error quotes it: on one line, safe to print, and without its middle if it is long."""
    text = visible(text)
    if len(text) <= longest:
        return text
    tail = (longest - len(_GAP)) // 3
    return f"{text[: longest - len(_GAP) - tail]}{_GAP}{text[-tail:]}"


def shown(value: object) -> str:
    """A value as an error message quotes it: short, on one line, text in double quotes."""
    if isinstance(value, str):
        text = f'"{value[: 2 * _LONGEST_VALUE]}"'
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = _repr(value)
    text = visible(text)
    return text if len(text) <= _LONGEST_VALUE + 2 else f"{text[:_LONGEST_VALUE]}..."


def _repr(value: object) -> str:
    """Any value that was passed; what is nested too deeply, or a huge number, cannot say what it is."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _readable(lines: Sequence[str]) -> list[str]:
    """Lines that are safe to print, neither long nor many; of many, the first ones and the last."""
    if len(lines) > _MOST_LINES:
        rest = len(lines) - _MOST_LINES + 1
        lines = [*lines[: _MOST_LINES - 11], f"... and {rest} more ...", *lines[-10:]]
    return [brief(line, _LONGEST_LINE) for line in lines]


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to add to "unknown ...": `; did you mean "cubic"?`, or the list of what there is.

    Args:
        name: What was written.
        known: What could have been meant.

    Returns:
        A clause that starts with a semicolon, or nothing if there is nothing to choose from.
    """
    return _suggestion(name[:_LONGEST_QUOTE], tuple(known))


@lru_cache
def _suggestion(name: str, known: tuple[str, ...]) -> str:
    by_case = {option.lower(): option for option in known}
    close = get_close_matches(name.lower(), by_case, n=1, cutoff=0.6)
    if close:
        return f'; did you mean "{by_case[close[0]]}"?'
    return f"; there is {_listed(known)}" if known else ""


def _listed(names: Sequence[str]) -> str:
    """Names with commas; of many, the first ones."""
    lengths = list(accumulate(len(name) + 2 for name in names))
    first = max(1, bisect_right(lengths, _LONGEST_LIST))
    rest = len(names) - first
    return ", ".join([*names[:first], *([f"and {rest} more"] if rest else [])])
