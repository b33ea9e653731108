"""Tries inputs in children of one warm process: one that hangs, eats memory or aborts is known by its number.

`python -m tests.fuzz.children KIND FIRST COUNT` prints a line of JSON for every input that failed, and then
how many of each outcome there were. With a number that failed and a count of 1 it fails again. Without
arguments it does so for each line `KIND FIRST COUNT` of its input.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import numpy  # noqa: F401  # they reserve memory, which is not that of the input that needs them first
import polars  # noqa: F401

from fullpipe import Scenario

from .inputs import made
from .trial import CPU_S, start_clock, tried

MEMORY_BYTES = 500_000_000
_BATCH = 250
"""Inputs of one child, which imports what commands need once."""
_WALL_S = 120
"""Of one input, on a machine that is busy with others; only for what sleeps."""


def main(kind: str, first: str, count: str) -> None:
    """Try inputs and print what became of them."""
    outcomes: Counter[str] = Counter()
    number, end = int(first), int(first) + int(count)
    while number < end:
        results = _batch(kind, number, min(number + _BATCH, end))
        for result in results:
            outcomes[result.partition(":")[0]] += 1
            if result.startswith(("broke", "died", "failed")):
                print(json.dumps({"kind": kind, "number": number, "what": result}), flush=True)
            number += 1
    print(json.dumps({"kind": kind, "outcomes": outcomes}), flush=True)


def _batch(kind: str, first: int, end: int) -> list[str]:
    """What became of inputs up to `end`, or up to the one that killed its process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _child(kind, first, end, writing)
    os.close(writing)
    lines = b""
    while True:
        ready, _, _ = select.select([reading], [], [], _WALL_S)
        part = os.read(reading, 65_536) if ready else b""
        if not part:
            break
        lines += part
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    results: list[str] = [json.loads(line) for line in lines.splitlines()]
    return results if len(results) == end - first else [*results, f"died: {_death(status)}"]


def _death(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"exit status {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    return (
        f"more than {CPU_S} s of the processor" if number == signal.SIGPROF else signal.Signals(number).name
    )


def _child(kind: str, first: int, end: int, writing: int) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process even in the middle of compiled code
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, end):
            here = Path(folder) / str(number)
            here.mkdir()
            try:
                drawn = made(kind, number, here)
                _limit()
                result = tried(kind, drawn, here)
            except MemoryError:
                result = "broke: more than 500 MB"
            except BaseException:
                result = f"broke: {traceback.format_exc()[-1500:]}"
            signal.setitimer(signal.ITIMER_PROF, 0)
            os.write(writing, json.dumps(result).encode() + b"\n")
        os.chdir("/")
    os._exit(0)


def _limit() -> None:
    start_clock()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    Scenario.model_json_schema()  # builds all checks once, and not in each child
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        for line in sys.stdin:
            main(*line.split())
