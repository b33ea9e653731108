"""Inputs of the page, read and run within limits of memory and time."""

from __future__ import annotations

import ctypes
import gc
import json
import re
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullpipe import api
from fullpipe.cli.ui.guard import Limits
from fullpipe.errors import ScenarioError
from fullpipe.files import inputs_only_in
from fullpipe.runs import Run
from fullpipe.runs.meta import version
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.read import dotted
from fullpipe.scenario.read.files import check_plain, parse_toml

# What the page sends, as scenarios. Nothing that it names is read but what comes with fullpipe.


DATA = Path(str(files("fullpipe") / "data"))
_TRACES = DATA / "traces"
_OWN = "flows: {}: the page runs no code but fullpipe's own; start it with --allow-python to allow this"

_LONGEST_QUESTION = 300


@contextmanager
def only_own_files() -> Iterator[None]:
    """Within, scenarios read no file but those that come with fullpipe."""
    with inputs_only_in(DATA):
        yield


def scenario_of(sent: object, allow_python: bool) -> Scenario:
    """A scenario from its data, or from TOML text.

    Raises:
        ScenarioError: If it is none, or needs what the page must not touch.
    """
    if isinstance(sent, str):
        sent = parse_toml(sent)
    check_plain(sent)
    if not isinstance(sent, Mapping):
        raise ScenarioError(["scenario: expected a table or TOML text"])
    with only_own_files():
        made = Scenario(**dotted.resolved(dict(sent), _TRACES))
    for kind in own_algorithms(made.flows):
        if not allow_python:
            raise ScenarioError([_OWN.format(kind)])
    if allow_python:
        api.import_algorithms(made)
    return made


def seed_of(sent: object) -> int:
    """A seed.

    Raises:
        ScenarioError: If it is none.
    """
    if not isinstance(sent, int) or isinstance(sent, bool) or not 0 <= sent < 2**63:
        raise ScenarioError(["seed: expected a whole number from 0 to 9223372036854775807"])
    return sent


def question_of(body: Mapping[str, Any]) -> str:
    """The question that a report is to answer; empty if there is none.

    Raises:
        ScenarioError: If it is no text, or a long one.
    """
    sent = body.get("question", "")
    if not isinstance(sent, str) or len(sent) > _LONGEST_QUESTION:
        raise ScenarioError([f"question: expected a text of at most {_LONGEST_QUESTION} characters"])
    return sent.strip()


def seconds_of(sent: str) -> float:
    """A time in a run.

    Raises:
        ScenarioError: If it is none.
    """
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", sent):
        raise ScenarioError(["from: expected a number of seconds"])
    return float(sent)


def toml_of(scenario: Scenario) -> str:
    """The scenario as TOML, recordings of fullpipe by their names and not by where they are here."""
    return scenario.to_toml().replace(f"{_TRACES}/", "")


def body_of(data: bytes) -> dict[str, Any]:
    """The body of a request.

    Raises:
        ScenarioError: If it is no JSON object.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise ScenarioError(["the request is not JSON"]) from None
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise ScenarioError(["the request has text that is no Unicode"]) from None
    if not isinstance(body, dict):
        raise ScenarioError(["the request is no JSON object"])
    return body


def package_version() -> str:
    """The version of fullpipe."""
    return version("fullpipe")


# Memory of the page's process: how much it has now, and how freed memory goes back to the system.


_STATM = "/proc/self/statm"
_RESIDENT = 1
"""Field of `_STATM`, in pages (proc(5))."""
_PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of `ru_maxrss` (getrusage(2))."""


def resident_bytes() -> int:
    """Memory that this process has now; where the kernel does not say that, the most that it ever had."""
    with suppress(OSError), open(_STATM, "rb") as file:
        return int(file.read().split()[_RESIDENT]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT_BYTES


def settled_bytes(most_bytes: int) -> int:
    """Memory of this process, bytes. Above half of its limit, it first returns freed memory to the system.

    Args:
        most_bytes: Limit of its memory, bytes.
    """
    if resident_bytes() > most_bytes / 2:
        _give_back()
    return resident_bytes()


def _give_back() -> None:
    """Free what only cycles hold, and return freed memory, which glibc keeps otherwise (malloc_trim(3))."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


# Stops runs of the page that take too long, or that find too little memory left.


class Watch:
    """Watch over one run, from its beginning on. Time in which a client reads counts, too."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began_s = time.monotonic()

    def check(self, reached_s: float, end_s: float) -> None:
        """Refuse to go on.

        Raises:
            ScenarioError: If the run has taken all its time, or the process has all the memory that it may
                have.
        """
        limits = self._limits
        if time.monotonic() - self._began_s > limits.wall_s:
            what = f"{limits.wall_s:g} s of computing"
        elif resident_bytes() > limits.memory_bytes and not has_room(limits):
            what = f"{limits.memory_bytes / 1e9:g} GB of memory, which the whole page may have"
        else:
            return
        where = f"stopped at {reached_s:.1f} s of {end_s:g} s, after {what}"
        raise ScenarioError([f"{where}; make it shorter, or run it in a terminal"])


def has_room(limits: Limits) -> bool:
    """Whether the process has less memory than it may have, after it gave back what it does not use."""
    return settled_bytes(limits.memory_bytes) <= limits.memory_bytes


def run(scenario: Scenario, seed: int, limits: Limits, out: Path | None = None) -> Run:
    """Run a scenario within limits; see `fullpipe.run`.

    Raises:
        ScenarioError: If it takes too much; nothing is kept then.
        FullpipeError: If it cannot be run or kept.
    """
    watch = Watch(limits)
    with only_own_files():
        return api.run(
            scenario, seed, out=out, progress=lambda reached_s: watch.check(reached_s, scenario.duration_s)
        )
