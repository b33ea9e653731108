"""Scenarios and values that a command line names, and notes on derived scenarios."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fullpipe.cli.output import complain
from fullpipe.errors import ScenarioError, visible
from fullpipe.scenario.read.files import scenario_names, value_of

if TYPE_CHECKING:
    from fullpipe.scenario import Scenario


# Comments above a derived scenario: which values are guesses, and which are not known.


def notes_of(guessed: Sequence[str], unknown: Sequence[str]) -> str:
    """One comment line per guessed value and per unknown value. Control characters are escaped."""
    told = [("guessed", line) for line in guessed] + [("not known", line) for line in unknown]
    return "".join(f"# {word}: {visible(line)}\n" for word, line in told)


# Scenarios, and values of scenario keys, from the words of a command line.


def read_scenario(text: str) -> Scenario:
    """A scenario by name, or from a file if `text` looks like a path or is the path of a file.

    Raises:
        UnknownNameError: If there is no scenario of this name.
        ScenarioError: If the file does not hold a scenario.
    """
    from fullpipe.scenario import Scenario  # imported here, as `show` prints bundled files unparsed

    looks_like_path = text.endswith(".toml") or os.sep in text or text in (".", "..")
    if text in scenario_names() or not (looks_like_path or os.path.exists(text)):
        return Scenario.named(text)
    return Scenario.from_file(text)


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def values_of(assignments: Sequence[str], interval: str | None) -> dict[str, Any]:
    """Values of `assignments` by key path, such as tcp.mss; `interval` has the path `record.interval`."""
    values = dict(assignment(text) for text in assignments)
    for path, value in values.items():
        note_version(path, [value])
    return values | ({} if interval is None else {"record.interval": interval})


def note_version(path: str, values: Sequence[object]) -> None:
    """Print a note if an algorithm is "bbr", which does not say its version."""
    if "bbr" in values and path.removesuffix(".kind").endswith("cca"):
        complain(f"note: {path}: bbr is BBRv1, as in Linux; write bbr1, bbr2 or bbr3")


def assignment(text: str, option: str = "--set") -> tuple[str, Any]:
    """Split `path=value`. A value that is not valid TOML is text, so that text rarely needs quotes."""
    path, equals, value = text.partition("=")
    if not equals:
        raise ScenarioError([f'{option} "{text}": write it as PATH=VALUE, as in tcp.mss=1420 B'])
    try:
        return path, value_of(value)
    except ValueError:
        return path, value.strip()
