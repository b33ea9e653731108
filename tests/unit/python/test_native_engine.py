"""How the native engine shares a process: with callbacks for progress, and with other threads."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from fullpipe import Scenario
from fullpipe._native import Simulation
from fullpipe.engines.native import NativeEngine
from fullpipe.engines.native.plan import plan
from fullpipe.errors import CancelledError


@pytest.fixture
def busy() -> Scenario:
    """Two milliseconds in which 350,000 packets are sent."""
    link = {"rate": "1 Tbit/s", "delay": "10 us", "queue": {"packets": 100_000}}
    return Scenario(
        name="busy",
        duration="2 ms",
        topology={"kind": "dumbbell", "bottleneck": link},
        tcp={"initial_window": 10_000},
        flows=[{"cca": "cubic", "count": 10}],
        record={"interval": "off"},
    )


def test_progress_is_told_within_a_part_of_a_run_that_has_many_events(busy: Scenario) -> None:
    simulation = Simulation(json.dumps(plan(busy)), 1)
    steps, reached_ns = 0, -1
    while reached_ns < simulation.duration_ns:
        before_ns, reached_ns = reached_ns, simulation.advance(simulation.duration_ns)
        steps += 1
        assert reached_ns >= before_ns
    assert steps > 3


def test_a_run_can_be_stopped_within_such_a_part(busy: Scenario) -> None:
    told: list[float] = []

    def progress(simulated_s: float) -> None:
        told.append(simulated_s)
        if len(told) == 3:
            raise CancelledError("enough")

    scenario = busy.with_values({"duration": "200 s"})  # whose 200 parts take a second each
    with pytest.raises(CancelledError):
        NativeEngine().run(scenario, seed=1, progress=progress)
    assert told[-1] < 1


@pytest.fixture
def counted() -> Iterator[Callable[[], int]]:
    """Reads a number that another thread counts up whenever this one lets it run, and never otherwise."""
    begun, over, counter = threading.Event(), threading.Event(), count()
    now = [0]

    def run() -> None:
        while not over.is_set():
            now[0] = next(counter)
            begun.set()
            time.sleep(0)

    thread, interval_s = threading.Thread(target=run), sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread.start()
        begun.wait()
        yield lambda: now[0]
    finally:
        sys.setswitchinterval(interval_s)
        over.set()
        thread.join()


def test_other_threads_run_while_a_plan_is_built(busy: Scenario, counted: Callable[[], int]) -> None:
    described = plan(busy)
    steps = [{"at_ns": n, "rate_bps": 1_000_000 + n, "delay_ns": None, "loss": None} for n in range(50_000)]
    described["links"][0]["changes"] = steps
    text = json.dumps(described)
    before = counted()
    Simulation(text, 1)
    assert counted() > before
