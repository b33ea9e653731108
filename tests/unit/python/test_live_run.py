"""Samples before the end of a run: together they are those of the whole run."""

import polars as pl
import pytest

from fullpipe import EngineError, Scenario, run
from fullpipe._native import Simulation
from fullpipe.engines.native import LiveRun, simulation_of


def made(rate: str = "200 Mbit/s", **more: object) -> Scenario:
    """Two flows, long enough for several steps."""
    bottleneck = {"rate": rate, "delay": "10 ms", "queue": {"kind": "drop_tail", "size": "1 bdp"}}
    data = {
        "name": "live",
        "duration": "8 s",
        "warmup": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": [{"cca": "cubic"}, {"cca": "bbr3", "start": "1 s"}],
    }
    return Scenario(**{**data, **more})


def test_samples_of_steps_are_those_of_the_run() -> None:
    scenario = made()
    live, whole = LiveRun(scenario, 3), run(scenario, 3)
    series, links, reached_s = [], [], 0.0
    while reached_s < live.end_s:
        reached_s = live.advance()
        sampled = live.sampled()
        series.append(sampled["series"])
        links.append(sampled["links"])
    assert len(series) > 2
    assert all(frame["time_s"].max() <= live.end_s for frame in series if frame.height)
    assert pl.concat(series).equals(whole.series)
    assert pl.concat(links).equals(whole.links)
    finished = live.finish()
    assert finished.series.equals(whole.series)
    assert finished.flows.equals(whole.flows)
    assert finished.meta.cpu_s > 0


def test_what_was_taken_is_not_given_again() -> None:
    simulation = simulation_of(made(), 1, samples=True)
    simulation.advance(1_000_000_000)
    assert set(simulation.sampled()) == {"series", "links"}
    assert simulation.sampled() == {}


def test_nothing_is_kept_aside_unless_it_is_asked_for() -> None:
    simulation: Simulation = simulation_of(made(), 1)
    simulation.advance(1_000_000_000)
    assert simulation.sampled() == {}


def test_a_run_without_an_interval_of_samples_is_refused() -> None:
    with pytest.raises(EngineError, match=r"record\.interval_ns"):
        LiveRun(made(record={"interval": "off"}), 1)
