"""Exceptions of the package, and helpers for their messages."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import accumulate

_LONGEST_VALUE = 40
_LONGEST_QUOTE = 80
_LONGEST_LINE = 400
_MOST_LINES = 50
_LONGEST_LIST = 240
GAP = " ... "
"""Text that `brief` writes for a part that it leaves out."""


class FullpipeError(Exception):
    """Base of every error that fullpipe raises on purpose.

    The text of the error is safe to print: it is short, and control characters in quoted text are escaped.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__("\n".join(_readable(message.split("\n"))))


class ScenarioError(FullpipeError):
    """A scenario is wrong. `problems` has one line per mistake, with the key, the mistake and the
    correction."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(_readable(problems))
        super().__init__("\n".join(self.problems))


class UnknownNameError(FullpipeError):
    """A name that is not in the list of scenarios, engines, studies or algorithms.

    `synonyms` has other words, each with the known names that it can mean.
    """

    def __init__(
        self,
        what: str,
        name: str,
        known: Iterable[str],
        listed_by: str = "",
        synonyms: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        told = suggestion(name, known, synonyms)
        all_of_them = f"; `{listed_by}` lists all" if listed_by and not told.endswith("?") else ""
        super().__init__(f'unknown {what} "{brief(name)}"{told}{all_of_them}')


class MissingExtraError(FullpipeError):
    """A package of an extra is not installed."""


class QueryError(FullpipeError):
    """A query over many runs is not valid SQL, or is not allowed."""


class InputFileError(FullpipeError):
    """A file that another program wrote cannot be read, or has another format or content than expected."""


class EngineError(FullpipeError):
    """An engine refused or failed to run a scenario."""


class InstallOptionError(EngineError):
    """The installation of an engine got an unknown option, version or file."""


class ControllerError(EngineError):
    """An algorithm written in Python failed. The message has the class, flow, method and time.

    `__cause__` is the exception that the algorithm raised; `time_s` is the simulated time.
    """

    def __init__(self, message: str, controller: str, flow: str, event: str, time_s: float) -> None:
        super().__init__(message)
        self.controller = controller
        self.flow = flow
        self.event = event
        self.time_s = time_s


class ResultError(FullpipeError):
    """A run cannot be stored or read, or its tables do not match the schema."""


class NoRunError(ResultError):
    """A folder does not contain a finished run."""


class FolderError(ResultError):
    """The folder of a store cannot be written."""


class DiskFullError(ResultError):
    """A finished run cannot be stored because the disk is full."""


class ClusterError(FullpipeError):
    """A cluster cannot be used: no cluster answers at the address, or this machine lacks a requirement."""


class VersionError(ClusterError):
    """A sweep was planned with another version of fullpipe, an engine or an algorithm than the local one."""


class CancelledError(FullpipeError):
    """A run was stopped on request before its end."""


def visible(text: str) -> str:
    """Return text on one line that is safe to print: unprintable and control characters are escaped.

    >>> visible("\\x1b[2J")
    '\\\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def brief(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """Return text for a quotation in an error: one line, safe to print, shortened in the middle."""
    text = visible(text)
    if len(text) <= longest:
        return text
    tail = (longest - len(GAP)) // 3
    return f"{text[: longest - len(GAP) - tail]}{GAP}{text[-tail:]}"


def shown(value: object) -> str:
    """Return a value for a quotation in an error: short, on one line, text in double quotes."""
    if isinstance(value, str):
        text = f'"{value[: 2 * _LONGEST_VALUE]}"'
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = _repr(value)
    text = visible(text)
    return text if len(text) <= _LONGEST_VALUE + 2 else f"{text[:_LONGEST_VALUE]}..."


def _repr(value: object) -> str:
    """Return `repr` of any value, or its type if `repr` fails (deep nesting, huge integers)."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _readable(lines: Sequence[str]) -> list[str]:
    """Return lines that are shortened and safe to print. If there are too many lines, the middle lines are
    left out."""
    if len(lines) > _MOST_LINES:
        rest = len(lines) - _MOST_LINES + 1
        lines = [*lines[: _MOST_LINES - 11], f"... and {rest} more ...", *lines[-10:]]
    return [brief(line, _LONGEST_LINE) for line in lines]


def suggestion(name: str, known: Iterable[str], synonyms: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return an addition to "unknown ...": `; did you mean "cubic"?`, or the list of known names.

    Args:
        name: The unknown name.
        known: All known names.
        synonyms: Other words in lower case, each with the known names that it can mean.

    Returns:
        A clause that starts with a semicolon; empty without known names.

    >>> suggestion("throughput", ["goodput", "jain"], {"throughput": ["goodput"]})
    '; did you mean "goodput"?'
    """
    also = tuple((word, tuple(names)) for word, names in (synonyms or {}).items())
    return _suggestion(name[:_LONGEST_QUOTE], tuple(known), also)


@lru_cache
def _suggestion(name: str, known: tuple[str, ...], also: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    meant = {**dict(also), **{option.lower(): (option,) for option in known}}
    word = name.lower()
    spelt = [each for each in (word, re.sub(r"[\s-]+", "_", word)) if each in meant]
    close = spelt or get_close_matches(word, meant, n=1, cutoff=0.6)
    if close:
        *first, last = (f'"{option}"' for option in meant[close[0]])
        return f"; did you mean {' or '.join([*([', '.join(first)] if first else []), last])}?"
    return f"; there is {_listed(known)}" if known else ""


def _listed(names: Sequence[str]) -> str:
    """Join names with commas. If there are too many names, only the first names are listed."""
    lengths = list(accumulate(len(name) + 2 for name in names))
    first = max(1, bisect_right(lengths, _LONGEST_LIST))
    rest = len(names) - first
    return ", ".join([*names[:first], *([f"and {rest} more"] if rest else [])])
