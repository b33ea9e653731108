"""The nodes of a network, and where links and flows begin and end."""

from itertools import chain, pairwise

import pytest

from fullpipe import Scenario
from fullpipe.scenario import Link, Network, Node, Port, resolve, scenario_names


def routes(network: Network) -> list[tuple[tuple[str, str], tuple[int, ...]]]:
    """Every route of a network, with the nodes between which it leads."""
    return [
        (ends, route)
        for routed in network.flows
        for ends, routes in (
            ((routed.source, routed.target), [routed.forward, *(new.forward for new in routed.reroutes)]),
            ((routed.target, routed.source), [routed.reverse, *(new.reverse for new in routed.reroutes)]),
        )
        for route in routes
        if route is not None
    ]


def begin(hop: Link | Port) -> str:
    return hop.node if isinstance(hop, Port) else hop.source


def end(hop: Link | Port) -> str | None:
    """None: a port reaches several nodes."""
    return None if isinstance(hop, Port) else hop.target


def is_card(hop: Link | Port) -> bool:
    return isinstance(hop, Link) and hop.nic_of is not None


@pytest.mark.parametrize("name", scenario_names())
def test_hops_of_a_route_follow_one_another_from_host_to_host(name: str) -> None:
    network = resolve(Scenario.named(name).expand()[0])
    begins, ends = set(map(begin, network.hops)), set(map(end, network.hops))
    for (source, target), route in routes(network):
        hops = [network.hops[i] for i in route]
        # A card without a link behind it stands right at the router.
        steps = [
            (hop, next_hop) for hop, next_hop in pairwise(hops) if end(hop) in begins or not is_card(hop)
        ]
        assert all(end(hop) in (None, begin(next_hop)) for hop, next_hop in steps)
        # A host without a link stands right at the first or the last router.
        assert begin(hops[0]) == source or source not in begins
        assert end(hops[-1]) in (None, target) or target not in ends


@pytest.mark.parametrize("name", scenario_names())
def test_every_end_is_a_node(name: str) -> None:
    network = resolve(Scenario.named(name).expand()[0])
    names = [node.name for node in network.nodes]
    ends = chain.from_iterable((end.source, end.target) for end in (*network.links, *network.flows))
    assert set(ends) <= set(names)
    assert len(set(names)) == len(names)


def test_a_dumbbell_has_a_router_on_either_side_and_hosts_around(small: Scenario) -> None:
    network = resolve(small.with_values({"topology.access.delay": "1 ms"}))
    assert network.nodes == (
        Node("left", "router"),
        Node("right", "router"),
        Node("cubic-1-sender", "host"),
        Node("cubic-1-receiver", "host"),
    )
    assert [(link.source, link.target) for link in network.links] == [
        ("left", "right"),
        ("right", "left"),
        ("cubic-1-sender", "left"),
        ("right", "cubic-1-receiver"),
        ("cubic-1-receiver", "right"),
        ("left", "cubic-1-sender"),
    ]


def test_the_sender_of_an_upload_is_on_the_right(small: Scenario) -> None:
    network = resolve(small.with_values({"topology.access.delay": "1 ms", "flows.0.direction": "reverse"}))
    link = next(link for link in network.links if link.name == "cubic-1-sender")
    assert (link.source, link.target) == ("cubic-1-sender", "right")


def test_flows_that_name_a_host_share_its_node(small: Scenario) -> None:
    flow = {"cca": "cubic", "count": 2, "hosts": ["server", "laptop"]}
    network = resolve(small.with_values({"flows": [flow]}))
    assert [node.name for node in network.nodes] == ["left", "right", "server", "laptop"]
    assert {(routed.source, routed.target) for routed in network.flows} == {("server", "laptop")}


def test_a_host_may_have_the_name_of_a_router_and_is_none(small: Scenario) -> None:
    network = resolve(small.with_values({"flows.0.hosts": ["left", "laptop"]}))
    assert network.nodes[0] == Node("left-", "router")
    assert network.links[0].source == "left-"
    assert network.flows[0].source == "left"


def test_in_a_graph_flows_begin_and_end_at_hosts() -> None:
    network = resolve(Scenario.named("sologon2025-routes").expand()[0])
    hosts = {node.name for node in network.nodes if node.kind == "host"}
    assert hosts == {end for routed in network.flows for end in (routed.source, routed.target)}


DIGESTS = {
    "5g": "76e14cdbfba86b1e",
    "adbbr2025-5g-download": "f26185502f6ca5d8",
    "adbbr2025-5g-fairness": "e3384a64508aae17",
    "adbbr2025-fairness": "b16689e8f37608b6",
    "adbbr2025-join-leave": "0a497f888dbbd79e",
    "adbbr2025-latency": "2f61da799829e114",
    "adbbr2025-loss": "6338a648a5ae4486",
    "adbbr2025-retransmissions": "b71c7c2f7d5bc521",
    "adbbr2025-wifi-download": "7f3281860d49d476",
    "adbbr2025-wifi-fairness": "59122e21f5060448",
    "bbr1-rtt-fairness": "2eb5807b82e36c15",
    "cable": "caff30167079fa99",
    "cellular": "ad53c15c55df93ac",
    "cubic-vs-bbr1": "6733d1d58112d481",
    "dctcp-prague": "8b951e9de069a472",
    "dsl": "b30cbdbde424b496",
    "ethernet-100m": "fa2fe321f16e216e",
    "fibre": "3ddfedbf2131a7de",
    "gniaz2025-1": "6097dfaeaac4c8c5",
    "gniaz2025-2": "9c32cef80020316b",
    "gniaz2025-3": "bf4610f8f71263cc",
    "gniaz2025-4": "1c81d5a82919725d",
    "gniaz2025-5": "e73ad36218670376",
    "gniaz2025-6": "73a0eabbcfc5ef45",
    "handover": "404f4499a470e0f6",
    "kato2025": "f81ea5c58c6e87b6",
    "kato2025-ablation": "b0f12028c93881ef",
    "home-lte": "9d9d92142998f3fc",
    "lte-20mhz": "e328caaa6749ef3e",
    "nr-100mhz": "c0de0431bf1ad454",
    "nr-mmwave": "e0ef3dd9a9ab7749",
    "parking-lot": "8107b0ff4b857f61",
    "rrul": "3eea0b316fef30f2",
    "shared-uplink": "d731604ad228d7d2",
    "single-bbr1": "f2070a0709444618",
    "single-cubic": "ff84d3f7605ff769",
    "single-reno": "a137b039ba9e701a",
    "sologon2025-controller": "e7cb370c1ade289c",
    "sologon2025-links": "de81eda05ccc7198",
    "sologon2025-routes": "a8d8644d26c60c01",
    "starlink-like": "d4bb10901a3a28ec",
    "web-1000": "8d658627d8204c59",
    "home-wifi": "9e04123ae8bec364",
    "wifi-anomaly": "18412e6a518abe1b",
    "wifi-home-ax": "69238c352f293828",
    "wifi-old-11n": "61e042ece287adc1",
    "wifi-p4-host": "e367308e19fbedf0",
    "wifi-p4-streams": "c7fad7142d61e8ed",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_the_digest_of_a_scenario_stays_what_it_was(name: str) -> None:
    assert Scenario.named(name).digest == DIGESTS[name]


def test_every_named_scenario_has_a_recorded_digest() -> None:
    assert set(scenario_names()) == set(DIGESTS)
