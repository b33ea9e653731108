"""Queue disciplines other than drop-tail, from a scenario to a run."""

import pytest

from fullpipe import Scenario, run
from fullpipe.engines.plan import plan
from fullpipe.scenario import catalogue

QUEUE = "topology.bottleneck.queue"


@pytest.mark.parametrize("kind", sorted(catalogue.queues().keys() - {"drop_tail"}))
def test_every_queue_runs_with_its_defaults(small: Scenario, kind: str) -> None:
    flows = run(small.with_values({QUEUE: {"kind": kind}})).summary()["flows"]
    assert all(flow["goodput_bps"] > 0 for flow in flows)


def test_parameters_reach_the_plan(small: Scenario) -> None:
    queue = {"kind": "codel", "target_ms": 2, "ecn": True}
    assert plan(small.with_values({QUEUE: queue}))["links"][0]["queue"] == queue


def test_a_queue_is_written_as_it_was_read(small: Scenario) -> None:
    queue = {"kind": "fq_codel", "size": "2 bdp", "quantum": 300}
    scenario = small.with_values({QUEUE: queue})
    assert scenario.to_dict()["topology"]["bottleneck"]["queue"] == queue


def limit(small: Scenario, key: str, **bottleneck: object) -> int:
    scenario = small.with_values({"topology.bottleneck": {"delay": "20 ms", **bottleneck}})
    packets: int = plan(scenario)["links"][0]["queue"][key]
    return packets


@pytest.mark.parametrize(("kind", "key"), [("codel", "limit"), ("police", "packets")])
def test_a_relative_size_sets_the_limit_in_packets(small: Scenario, kind: str, key: str) -> None:
    queue = {"kind": kind, "size": "2 bdp", **({"rate_bps": 20_000_000} if kind == "police" else {})}
    drop_tail = limit(small, "packets", rate="10 Mbit/s", queue={"size": "2 bdp"})
    assert limit(small, key, rate="10 Mbit/s", queue=queue) == drop_tail


def test_a_shaper_has_a_bdp_of_its_own_rate(small: Scenario) -> None:
    queue = {"kind": "tbf", "rate_bps": 10_000_000, "size": "1 bdp"}
    wire = limit(small, "packets", rate="10 Mbit/s", queue={"size": "1 bdp"})
    assert limit(small, "packets", queue=queue) == wire
