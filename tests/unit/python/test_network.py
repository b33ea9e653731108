"""Links, routes and relative sizes, with numbers worked by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario import Network, resolve
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network.routes import Edge, NoRouteError, Router


def graph(links: list[dict[str, Any]], *flows: dict[str, Any]) -> Network:
    links = [{"rate": "1 Gbit/s", **link} for link in links]
    nodes = sorted({link[end] for link in links for end in ("from", "to")})
    topology = {"kind": "graph", "nodes": nodes, "links": links}
    return resolve(
        Scenario(name="x", duration="1 s", topology=topology, flows=[{"cca": "cubic", **f} for f in flows])
    )


def names(network: Network, links: tuple[int, ...]) -> list[str]:
    return [network.links[i].name for i in links]


def packets(network: Network, link: int = 0) -> int | None:
    queue = network.links[link].queue
    return queue.packets if queue else None


def test_the_first_study_has_a_base_rtt_of_120_ms() -> None:
    network = resolve(Scenario.named("kato2025"))
    assert [network.base_rtt_s(routed) for routed in network.flows] == [0.12] * 16


def test_a_flow_crosses_access_bottleneck_and_access_both_ways() -> None:
    network = resolve(Scenario.named("kato2025"))
    routed = network.flows[0]
    assert (names(network, routed.forward), names(network, routed.reverse)) == (
        ["bbr1-1-sender", "bottleneck", "bbr1-1-receiver"],
        ["bbr1-1-receiver-reverse", "bottleneck-reverse", "bbr1-1-sender-reverse"],
    )


def test_the_bottleneck_is_the_first_link() -> None:
    assert resolve(Scenario.named("kato2025")).links[0].name == "bottleneck"


def test_an_access_link_that_does_nothing_is_left_out(small: Scenario) -> None:
    assert [link.name for link in resolve(small).links] == ["bottleneck", "bottleneck-reverse"]


def test_a_flow_overrides_part_of_its_access(small: Scenario) -> None:
    scenario = small.with_values(
        {"topology.access": {"rate": "1 Gbit/s", "delay": "1 ms"}, "flows.0.access.delay": "2 ms"}
    )
    link = resolve(scenario).links[2]
    assert (link.rate_bps, link.delay_s) == (10**9, 0.002)


def test_random_loss_is_not_on_the_way_back(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.loss": {"kind": "bernoulli", "probability": 0.1}})
    assert [link.loss is None for link in resolve(scenario).links] == [False, True]


def test_the_way_back_may_differ(small: Scenario) -> None:
    scenario = small.with_values({"topology.reverse": {"rate": "1 Mbit/s", "delay": "30 ms"}})
    network = resolve(scenario)
    assert network.base_rtt_s(network.flows[0]) == 0.04


def test_one_bdp_of_20_mbit_per_s_and_40_ms_is_66_packets() -> None:
    assert packets(resolve(Scenario.named("single-cubic"))) == 66


def test_half_a_bdp_of_50_mbit_per_s_and_20_ms_is_41_packets(small: Scenario) -> None:
    bottleneck = {"rate": "50 Mbit/s", "delay": "10 ms", "queue": {"size": "0.5 bdp"}}
    assert packets(resolve(small.with_values({"topology.bottleneck": bottleneck}))) == 41


def test_a_bdp_is_that_of_the_flow_with_the_largest_rtt(small: Scenario) -> None:
    bottleneck = {
        "rate": "12112 kbit/s",
        "delay": "5 ms",
        "queue": {"size": "1 bdp"},
    }  # 1000 packets per second
    flows = [{"cca": "cubic"}, {"cca": "cubic", "access": {"delay": "10 ms"}}]
    assert packets(resolve(small.with_values({"topology.bottleneck": bottleneck, "flows": flows}))) == 50


def test_a_relative_queue_holds_at_least_one_packet(small: Scenario) -> None:
    assert packets(resolve(small.with_values({"topology.bottleneck.queue": {"size": "0.001 bdp"}}))) == 1


def test_flows_are_numbered_by_name_across_the_scenario(small: Scenario) -> None:
    flows = [
        {"cca": "cubic", "count": 2},
        {"cca": "reno"},
        {"cca": "cubic"},
        {"cca": "cubic", "name": "late"},
    ]
    found = [routed.name for routed in resolve(small.with_values({"flows": flows})).flows]
    assert found == ["cubic-1", "cubic-2", "reno-1", "cubic-3", "late"]


def test_a_graph_routes_by_delay() -> None:
    network = graph(
        [
            {"from": "a", "to": "b", "delay": "30 ms", "duplex": True},
            {"from": "a", "to": "c", "delay": "10 ms", "duplex": True},
            {"from": "c", "to": "b", "delay": "10 ms", "duplex": True},
        ],
        {"from": "a", "to": "b"},
    )
    routed = network.flows[0]
    assert (names(network, routed.forward), names(network, routed.reverse)) == (
        ["a-c", "c-b"],
        ["c-b-reverse", "a-c-reverse"],
    )


def test_a_graph_routes_past_the_nodes_of_via() -> None:
    network = graph(
        [
            {"from": "a", "to": "b", "delay": "1 ms", "duplex": True},
            {"from": "a", "to": "c", "delay": "10 ms", "duplex": True},
            {"from": "c", "to": "b", "delay": "10 ms", "duplex": True},
        ],
        {"from": "a", "to": "b", "via": ["c"]},
    )
    routed = network.flows[0]
    assert (names(network, routed.forward), names(network, routed.reverse)) == (
        ["a-c", "c-b"],
        ["c-b-reverse", "a-c-reverse"],
    )


def test_directed_links_may_take_acks_by_another_route() -> None:
    network = graph(
        [
            {"from": "a", "to": "b", "delay": "1 ms"},
            {"from": "b", "to": "c", "delay": "1 ms"},
            {"from": "c", "to": "a", "delay": "1 ms"},
        ],
        {"from": "a", "to": "b"},
    )
    assert names(network, network.flows[0].reverse) == ["b-c", "c-a"]


def test_equal_delays_are_decided_by_the_number_of_links_then_by_order() -> None:
    ends = [("a", "x", 5), ("x", "b", 5), ("a", "b", 10), ("a", "b", 10)]
    edges = [Edge(*described, n, str(n)) for n, described in enumerate(ends)]
    assert Router(edges).route(["a", "b"]) == (2,)


def test_routes_are_those_of_the_library_for_rust() -> None:
    """The same file is a test of `crates/fullpipe`."""
    path = Path(__file__).parents[3] / "crates" / "fullpipe" / "tests" / "routes.json"
    file = json.loads(path.read_text(encoding="utf-8"))
    edges = [Edge(*described, n, str(n)) for n, described in enumerate(file["links"])]
    found = [Router(edges).route(route["stops"]) for route in file["routes"]]
    assert found == [tuple(route["hops"]) for route in file["routes"]]


def test_no_route_is_an_error() -> None:
    with pytest.raises(NoRouteError, match='no path of links leads from "b" to "a"'):
        Router([Edge("a", "b", 1, 0, "a-b")]).route(["b", "a"])


def test_the_data_of_an_upload_crosses_the_reverse_direction(small: Scenario) -> None:
    scenario = small.with_values({"flows.0.direction": "reverse", "topology.access.delay": "1 ms"})
    network = resolve(scenario)
    routed = network.flows[0]
    assert (names(network, routed.forward)[1], names(network, routed.reverse)[1]) == (
        "bottleneck-reverse",
        "bottleneck",
    )


def test_an_upload_in_a_graph_goes_from_where_it_begins() -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.direction: only with topology\.kind"):
        graph([{"from": "a", "to": "b", "delay": "1 ms"}], {"from": "a", "to": "b", "direction": "reverse"})


def test_a_queue_of_a_time_is_what_the_link_sends_in_it(small: Scenario) -> None:
    bottleneck = {"rate": "50 Mbit/s", "delay": "10 ms", "queue": {"size": "1 s"}}
    queue = resolve(small.with_values({"topology.bottleneck": bottleneck})).links[0].queue
    assert isinstance(queue, DropTail)
    assert (queue.packets, queue.limit_bytes) == (None, 6_250_000)


def test_a_discipline_of_a_time_counts_full_segments(small: Scenario) -> None:
    queue = {"kind": "codel", "size": "100 ms"}
    bottleneck = {"rate": "12112 kbit/s", "delay": "5 ms", "queue": queue}  # 1000 packets per second
    found = resolve(small.with_values({"topology.bottleneck": bottleneck})).links[0].queue
    assert isinstance(found, Discipline)
    assert found.params == {"limit": 100}


def test_a_queue_of_a_time_takes_a_rate(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match="a link of unlimited rate has no time in which a queue drains"):
        small.with_values({"topology.reverse": {"delay": "5 ms", "queue": {"size": "50 ms"}}})


@pytest.mark.parametrize(
    ("path", "text", "table"),
    [
        ("topology.bottleneck.queue", "fq_codel", {"kind": "fq_codel"}),
        ("flows.0.workload", "bulk", {"kind": "bulk"}),
    ],
)
def test_a_name_stands_for_its_table(small: Scenario, path: str, text: str, table: dict[str, str]) -> None:
    assert small.with_values({path: text}) == small.with_values({path: table})


def test_a_file_stands_for_its_table(small: Scenario, tmp_path: Path) -> None:
    steps = tmp_path / "steps.csv"
    steps.write_text("time_s,rate_bps\n0,1e6\n1,2e6\n", encoding="utf-8")
    written, short = {"file": str(steps), "kind": "csv"}, str(steps)
    assert small.with_values({"topology.bottleneck.trace": short}).digest == (
        small.with_values({"topology.bottleneck.trace": written}).digest
    )


def test_a_parameter_of_what_is_written_as_a_name_may_be_set(small: Scenario) -> None:
    given = {**small.to_dict(), "topology": {**small.to_dict()["topology"]}}
    given["topology"]["bottleneck"] = {**given["topology"]["bottleneck"], "queue": "codel"}
    queue = Scenario(**given).with_values({"topology.bottleneck.queue.target_ms": 3})
    assert queue.to_dict()["topology"]["bottleneck"]["queue"] == {"kind": "codel", "target": "3 ms"}
