"""How the native engine shares a process: with whoever watches it, and with other threads."""

from __future__ import annotations

import json

import pytest

from fullpipe import Scenario
from fullpipe._native import Simulation
from fullpipe.engines.native import NativeEngine
from fullpipe.engines.plan import plan
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
