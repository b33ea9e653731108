"""Scenarios and other inputs from the page, and their runs within limits of memory and time."""

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

# Inputs from the page. Scenarios from the page may read only files that are part of fullpipe.


DATA = Path(str(files("fullpipe") / "data"))
_TRACES = DATA / "traces"
_OWN = "flows: {}: the page runs only the algorithms of fullpipe; start fullpipe ui with --allow-python"

_LONGEST_QUESTION = 300


@contextmanager
def only_own_files() -> Iterator[None]:
    """Context in which scenarios may read only files that are part of fullpipe."""
    with inputs_only_in(DATA):
        yield


def scenario_of(sent: object, allow_python: bool) -> Scenario:
    """A scenario from a table of keys, or from TOML text.

    Raises:
        ScenarioError: If `sent` is not a valid scenario, or needs a file or code that the page refuses.
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
    """The seed in a request.

    Raises:
        ScenarioError: If `sent` is not a whole number from 0 to 2^63 - 1.
    """
    if not isinstance(sent, int) or isinstance(sent, bool) or not 0 <= sent < 2**63:
        raise ScenarioError(["seed: expected a whole number from 0 to 9223372036854775807"])
    return sent


def question_of(body: Mapping[str, Any]) -> str:
    """The question that opens a report; empty if the request has none.

    Raises:
        ScenarioError: If the question is not text, or is longer than `_LONGEST_QUESTION` characters.
    """
    sent = body.get("question", "")
    if not isinstance(sent, str) or len(sent) > _LONGEST_QUESTION:
        raise ScenarioError([f"question: expected a text of at most {_LONGEST_QUESTION} characters"])
    return sent.strip()


def seconds_of(sent: str) -> float:
    """A time in a run in s, from the query parameter `from`.

    Raises:
        ScenarioError: If `sent` is not a number.
    """
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", sent):
        raise ScenarioError(["from: expected a number of seconds"])
    return float(sent)


def toml_of(scenario: Scenario) -> str:
    """The scenario as TOML, with the names of fullpipe's recordings instead of their paths."""
    return scenario.to_toml().replace(f"{_TRACES}/", "")


def body_of(data: bytes) -> dict[str, Any]:
    """The JSON object in the body of a request.

    Raises:
        ScenarioError: If the body is not a JSON object.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise ScenarioError(["the request is not JSON"]) from None
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise ScenarioError(["the request contains text that is not Unicode"]) from None
    if not isinstance(body, dict):
        raise ScenarioError(["the request is not a JSON object"])
    return body


def package_version() -> str:
    """The version of fullpipe."""
    return version("fullpipe")


# Memory of this process: its size, and the return of freed memory to the system.


_STATM = "/proc/self/statm"
_RESIDENT = 1
"""Index of the field of `_STATM` with the resident memory, in pages (proc(5))."""
_PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of `ru_maxrss` (getrusage(2))."""


def resident_bytes() -> int:
    """Resident memory of this process in bytes. On systems without /proc, its maximum so far."""
    with suppress(OSError), open(_STATM, "rb") as file:
        return int(file.read().split()[_RESIDENT]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT_BYTES


def settled_bytes(most_bytes: int) -> int:
    """Resident memory of this process in bytes.

    Above half of the limit, freed memory is first returned to the system.

    Args:
        most_bytes: Limit of the memory of this process, in bytes.
    """
    if resident_bytes() > most_bytes / 2:
        _give_back()
    return resident_bytes()


def _give_back() -> None:
    """Collect garbage, and return freed memory to the system, by malloc_trim(3) of glibc."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))


# Limits during a run of the page: the run stops if it takes too long or the process uses too much memory.


class Watch:
    """Checks the real time and the memory of one run. The real time includes waiting for the client."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began_s = time.monotonic()

    def check(self, reached_s: float, end_s: float) -> None:
        """Raise an error if the run must stop.

        Raises:
            ScenarioError: If the run exceeds the limit of real time, or the process the limit of memory.
        """
        limits = self._limits
        if time.monotonic() - self._began_s > limits.wall_s:
            what = f"{limits.wall_s:g} s of computing"
        elif resident_bytes() > limits.memory_bytes and not has_room(limits):
            what = f"{limits.memory_bytes / 1e9:g} GB of memory, the limit of the whole page"
        else:
            return
        where = f"stopped at {reached_s:.1f} s of {end_s:g} s, after {what}"
        raise ScenarioError([f"{where}; reduce the duration, or use fullpipe run in a terminal"])


def has_room(limits: Limits) -> bool:
    """Whether the memory of the process is within its limit, after the return of freed memory."""
    return settled_bytes(limits.memory_bytes) <= limits.memory_bytes


def run(scenario: Scenario, seed: int, limits: Limits, out: Path | None = None) -> Run:
    """Run a scenario within limits; see `fullpipe.run`.

    Raises:
        ScenarioError: If the run exceeds a limit; the run is then not stored.
        FullpipeError: If the scenario cannot be run, or the run cannot be stored.
    """
    watch = Watch(limits)
    with only_own_files():
        return api.run(
            scenario, seed, out=out, progress=lambda reached_s: watch.check(reached_s, scenario.duration_s)
        )
