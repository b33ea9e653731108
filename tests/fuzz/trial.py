"""What must hold for every input, however wrong it is."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from fullpipe import FullpipeError, Scenario, ScenarioError, cli
from fullpipe.api import refusals
from fullpipe.engines import engine
from fullpipe.engines.native import simulation_of
from fullpipe.runs import TABLES
from fullpipe.runs.encoding import Encoded
from fullpipe.scenario.checks.sizes import work_of

CPU_S = 2.0
"""That reading an input may take, and all that is then done with what was read."""
RUNS_FOR_S = 0.02
"""Processor time that a right scenario is run for; a step that has begun ends."""
MOST_NS = 10_000_000_000
"""Simulated time that it is run for."""
MOST_WORK = 5_000
"""Of a scenario that is more than read: many thousand flows or steps take seconds to build."""
_LONGEST_LINE, _MOST_LINES = 450, 50


def tried(kind: str, made: Any, folder: Path) -> str:
    """What became of an input: "refused", "ran" and so on.

    Raises:
        Exception: What nothing documents.
        AssertionError: If a message cannot be printed, or what was read is not what is written.
    """
    if kind == "arguments":
        return _command(made, folder)
    if kind == "itself":
        return _misbehaves(made)
    try:
        scenario = _read(made, folder)
    except ScenarioError as error:
        _check(error)
        return "refused"
    start_clock()
    return _right(scenario)


def start_clock() -> None:
    """From now on the process has so much time of the processor before it is killed."""
    signal.setitimer(signal.ITIMER_PROF, CPU_S)


def _read(made: Any, folder: Path) -> Scenario:
    if not isinstance(made, bytes):
        return Scenario(**made)
    file = folder / "scenario.toml"
    file.write_bytes(made)
    return Scenario.from_file(file)


def _right(scenario: Scenario) -> str:
    point = scenario.model_copy(update={"sweep": {}}).with_values(scenario.points()[-1])
    if work_of(point) > MOST_WORK:
        return "large"
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    for note in scenario.notes():
        assert note.isprintable(), note
    assert len(point.digest) == 16
    lines = refusals(engine("native"), point)
    if lines:
        _check(FullpipeError("\n".join(lines)))
        return "refused by the engine"
    return _ran(point)


def _ran(scenario: Scenario) -> str:
    """The run ends early, between two of steps that are short or have little to do."""
    try:
        simulation = simulation_of(scenario, 1)
        began_s, step_ns, until_ns = time.process_time(), 1_000, 0
        while until_ns < simulation.duration_ns:
            spent_s = time.process_time() - began_s
            if spent_s > RUNS_FOR_S or until_ns > MOST_NS:
                return "ran"
            step_ns = min(2 * step_ns, MOST_NS // 1_000)
            until_ns = simulation.advance(min(until_ns + step_ns, simulation.duration_ns))
        found = simulation.finish()
    except FullpipeError as error:
        _check(error)
        return f"failed: {error}"
    for name, table in Encoded(found["tables"]).items():
        assert table.schema == TABLES[name].schema
    return "ended"


def _command(arguments: list[str], folder: Path) -> str:
    said = {stream: folder / stream for stream in ("stdout", "stderr")}
    for number, file in enumerate(said.values(), start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.chdir(folder)
    sys.argv = ["fullpipe", *arguments]
    code: Any = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    sys.stderr.flush()
    assert code in (0, 1, 2), code
    for stream, file in said.items():
        text = file.read_text(encoding="utf-8")
        assert "Traceback" not in text, text
        assert all(line.isprintable() for line in text.replace("\t", "").split("\n")), (stream, text[:500])
        assert stream == "stdout" or len(text) < _LONGEST_LINE * _MOST_LINES, len(text)
    assert code == 0 or said["stderr"].stat().st_size or not arguments, "no word of what is wrong"
    return f"exit {code}"


def _misbehaves(how: int) -> str:
    """What the trial must notice, one way after the other."""
    match how:
        case 0:
            left_s, _ = signal.getitimer(signal.ITIMER_PROF)
            assert CPU_S / 2 < left_s < 1.05 * CPU_S, "the clock runs, by ticks of the kernel"
            signal.setitimer(signal.ITIMER_PROF, CPU_S / 10)  # shorter, as its length is checked above
            while True:
                pass
        case 1:
            bytearray(600_000_000)
        case 2:
            os.abort()
        case 3:
            raise ZeroDivisionError
        case 4:
            _check(Exception("\x1b"))
    return "refused"


def _check(error: Exception) -> None:
    lines = str(error).split("\n")
    assert str(error), "says nothing"
    assert len(lines) <= _MOST_LINES, len(lines)
    for line in lines:
        assert line.isprintable(), f"not printable: {line!r}"
        assert len(line) <= _LONGEST_LINE, len(line)
