"""Queue disciplines other than drop-tail, from a scenario to a run."""

import json
from collections.abc import Callable

import pytest

from fullpipe import Scenario, run
from fullpipe._native import PlanError, Simulation
from fullpipe.engines.native.plan import plan
from fullpipe.errors import ScenarioError
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
    queue = {"kind": "fq_codel", "size": "2 bdp", "quantum": "300 B"}
    scenario = small.with_values({QUEUE: queue})
    assert scenario.to_dict()["topology"]["bottleneck"]["queue"] == queue


def refusal(make: Callable[[], object]) -> str:
    """The error about the parameter `max`; empty without an error."""
    try:
        make()
    except (ScenarioError, PlanError) as error:
        return str(error).rpartition("max: ")[2]
    return ""


@pytest.mark.parametrize(
    ("low", "high"), [(24_000, 8_000), (8_000, 8_000), (8_000, 24_000), (0, 8_000), (24_000, 0)]
)
def test_a_plan_refuses_the_thresholds_that_a_scenario_refuses(small: Scenario, low: int, high: int) -> None:
    queue = {"kind": "red", "min": low, "max": high}
    made = plan(small.with_values({QUEUE: {"kind": "red"}}))
    made["links"][0]["queue"] = queue
    of_plan = refusal(lambda: Simulation(json.dumps(made), 1))
    assert refusal(lambda: small.with_values({QUEUE: queue})) == of_plan
    assert bool(of_plan) == (0 < high < low)


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


def with_flows(small: Scenario, *flows: dict[str, object]) -> Scenario:
    return small.with_values({"flows": [{"cca": "cubic", **flow} for flow in flows]})


@pytest.mark.parametrize(("dscp", "number"), [("ef", 46), ("CS1", 8), ("af41", 34), (63, 63)])
def test_a_code_point_has_a_name_or_a_number(small: Scenario, dscp: object, number: int) -> None:
    assert plan(with_flows(small, {"dscp": dscp}))["flows"][0]["dscp"] == number


@pytest.mark.parametrize(
    ("dscp", "message"), [("eff", 'did you mean "ef"?'), (64, "must be at most 63"), (True, "")]
)
def test_a_wrong_code_point_is_refused(small: Scenario, dscp: object, message: str) -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\].dscp") as error:
        with_flows(small, {"dscp": dscp})
    assert message in str(error.value)


def test_hosts_are_numbered_by_name(small: Scenario) -> None:
    scenario = with_flows(small, {"hosts": ["a", "x"]}, {"hosts": ["b", "x"]}, {})
    assert [flow["hosts"] for flow in plan(scenario)["flows"]] == [[0, 1], [2, 1], None]


def test_the_ends_of_a_route_in_a_graph_are_its_hosts(small: Scenario) -> None:
    line = {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "queue": {"packets": 9}}
    graph = {"kind": "graph", "nodes": ["a", "b"], "links": [{**line, "duplex": True}]}
    there, back = {"from": "a", "to": "b", "cca": "cubic"}, {"from": "b", "to": "a", "cca": "cubic"}
    scenario = small.with_values({"topology": graph, "flows": [there, back]})
    assert [flow["hosts"] for flow in plan(scenario)["flows"]] == [[0, 1], [1, 0]]


def test_cake_gives_two_hosts_the_same_and_bulk_traffic_what_is_left(small: Scenario) -> None:
    cake = {"delay": "10 ms", "queue": {"kind": "cake", "bandwidth_bps": 10_000_000}}
    # Two flows, not one, at the calm host: one alone leaves a part of its share unused whenever it backs off.
    hosts = {"hosts": ["busy", "x"], "count": 6}, {"hosts": ["calm", "y"], "count": 2}
    scenario = with_flows(small, *hosts).with_values({"topology.bottleneck": cake, "duration": "10 s"})
    shares = [flow["goodput_bps"] for flow in run(scenario).summary()["flows"]]
    assert sum(shares[:6]) == pytest.approx(sum(shares[6:]), rel=0.1)


def test_a_shaper_without_a_rate_limits_nothing(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match="nothing limits"):
        small.with_values({"topology.bottleneck": {"delay": "20 ms", "queue": {"kind": "cake"}}})


def test_a_host_has_a_queue_for_what_leaves_it(small: Scenario) -> None:
    access = {"rate": "10 Mbit/s", "queue": {"kind": "fq_codel", "limit": 100}}
    links = plan(small.with_values({"topology.access": access}))["links"]
    queues = {link["name"]: link["queue"]["kind"] for link in links[2:]}
    assert queues == {
        "cubic-1-sender": "fq_codel",
        "cubic-1-receiver": "drop_tail",
        "cubic-1-receiver-reverse": "fq_codel",
        "cubic-1-sender-reverse": "drop_tail",
    }


def test_a_shaper_at_a_host_needs_no_rate_of_the_link(small: Scenario) -> None:
    shaped = {"topology.access.queue": {"kind": "cake", "bandwidth_bps": 2_000_000}}
    (flow,) = run(small.with_values(shaped)).summary()["flows"]
    assert 1e6 < flow["goodput_bps"] < 2e6


def test_a_flow_has_another_queue_at_its_hosts(small: Scenario) -> None:
    scenario = small.with_values(
        {
            "topology.access": {"rate": "10 Mbit/s", "queue": {"kind": "codel"}},
            "flows.0.access.queue": {"kind": "fq"},
        }
    )
    assert plan(scenario)["links"][2]["queue"]["kind"] == "fq"


def test_a_relative_size_at_a_host_without_a_rate_is_refused_where_it_stands(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.access\.queue\.size: a link of unlimited rate"):
        plan(small.with_values({"flows.0.access.queue": {"size": "1 bdp"}}))
