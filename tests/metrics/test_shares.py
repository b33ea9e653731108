"""Shares of flows that compete for one link, and of flows that do not."""

from __future__ import annotations

from typing import Any

import pytest

import fullpipe
from fullpipe import Run, Scenario, metrics

FLOWS: list[dict[str, Any]] = [{"name": "a", "cca": "cubic"}, {"name": "b", "cca": "reno"}]


def value(run: Run, metric: str, of: str) -> float | None:
    found = metrics.measured(run, metrics=[metric])
    rows: dict[str, float | None] = dict(found.select("of", "value").iter_rows())
    return rows[of]


def dumbbell(*flows: dict[str, Any]) -> Run:
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}}
    return fullpipe.run(Scenario(name="shares", duration="2 s", topology=topology, flows=list(flows)))


def test_a_share_over_the_fair_share_is_of_flows_through_one_link() -> None:
    run = dumbbell(*FLOWS)
    for name in ("a", "b"):
        assert value(run, "share_ratio", name) == pytest.approx(2 * (value(run, "share", name) or 0.0))
    ratios = [value(run, "share_ratio", name) or 0.0 for name in ("a", "b")]
    assert sum(ratios) == pytest.approx(2.0)


def test_a_flow_with_an_end_of_its_own_leaves_no_fair_share() -> None:
    assert value(dumbbell(*FLOWS, {"name": "c", "cca": "cubic", "size": "10 kB"}), "share_ratio", "a") is None


@pytest.mark.parametrize("rates", [("10 Mbit/s", "100 Mbit/s"), ("10 Mbit/s", "10 Mbit/s")])
def test_flows_that_share_no_link_have_no_fair_share(rates: tuple[str, str]) -> None:
    names = ("a", "b")
    links = [
        {"from": name, "to": f"{name}-end", "duplex": True, "rate": rate, "delay": "5 ms"}
        for name, rate in zip(names, rates, strict=True)
    ]
    topology = {"kind": "graph", "nodes": [*names, "a-end", "b-end"], "links": links}
    flows = [{**flow, "from": flow["name"], "to": f"{flow['name']}-end"} for flow in FLOWS]
    run = fullpipe.run(Scenario(name="apart", duration="2 s", topology=topology, flows=flows))
    assert value(run, "share", "a") is not None
    assert value(run, "share_ratio", "a") is None
