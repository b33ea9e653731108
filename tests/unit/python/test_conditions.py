"""The table `conditions`: what every link is like from when on, also where that is drawn from the seed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario

LINK: dict[str, Any] = {
    "rate": "20 Mbit/s",
    "delay": "10 ms",
    "queue": {"kind": "drop_tail", "packets": 50},
}
WANDER = {
    "kind": "wander",
    "at": "0 s",
    "mean": "500 ms",
    "states": [{"rate": "20 Mbit/s"}, {"rate": "5 Mbit/s"}, {"rate": "10 Mbit/s"}],
}


def made(seed: int = 1, **link: Any) -> Run:
    topology = {"kind": "dumbbell", "bottleneck": {**LINK, **link}}
    record = {"interval": "50 ms"}
    described = Scenario(
        name="conditions", duration="4 s", topology=topology, flows=[{"cca": "cubic"}], record=record
    )
    return fullpipe.run(described, seed)


def of_bottleneck(run: Run) -> list[tuple[Any, ...]]:
    return run.conditions.filter(link="bottleneck").drop("link").rows()


def test_a_link_that_never_changes_has_one_row() -> None:
    assert of_bottleneck(made()) == [(0.0, 20e6, 0.01)]


def test_a_change_leaves_alone_what_it_does_not_name() -> None:
    changes = [
        {"at": "1 s", "rate": "5 Mbit/s"},
        {"at": "2 s", "delay": "30 ms"},
        {"at": "3 s", "loss": {"kind": "bernoulli", "probability": 0.01}},
    ]
    expected = [(0.0, 20e6, 0.01), (1.0, 5e6, 0.01), (2.0, 5e6, 0.03)]
    assert of_bottleneck(made(changes=changes)) == expected


def test_an_unlimited_rate_is_null() -> None:
    shaped = {"kind": "tbf", "rate_bps": 5_000_000, "burst_bytes": 20_000, "packets": 50}
    topology = {"kind": "dumbbell", "bottleneck": {"delay": "10 ms", "queue": shaped}}
    scenario = Scenario(name="shaped", duration="1 s", topology=topology, flows=[{"cca": "cubic"}])
    assert of_bottleneck(fullpipe.run(scenario)) == [(0.0, None, 0.01)]


def test_drawn_changes_are_those_that_the_link_made() -> None:
    """While it is backlogged, the link forwards what its rate at that time allows."""
    run = made(shapes=[WANDER])
    conditions = run.conditions.filter(link="bottleneck").select("time_s", "rate_bps")
    assert conditions.height > 3
    sampled = run.series.select("time_s", "goodput_bps").sort("time_s").filter(pl.col("time_s") > 1)
    rated = sampled.join_asof(conditions.sort("time_s"), on="time_s")
    steady = rated.filter(pl.col("rate_bps") == pl.col("rate_bps").shift(3))
    ratio = steady["goodput_bps"] / steady["rate_bps"]
    assert ratio.median() == pytest.approx(1448 / 1514, rel=0.01)


def test_other_seeds_draw_other_changes() -> None:
    assert of_bottleneck(made(1, shapes=[WANDER])) != of_bottleneck(made(2, shapes=[WANDER]))
