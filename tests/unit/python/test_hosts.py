"""Hosts with a network interface: what leaves them goes by it."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native.plan import plan
from fullpipe.scenario import Network, resolve

NIC = {"rate": "50 Mbit/s", "queue": {"kind": "fq"}}
LINKS = [
    {"from": "laptop", "to": "router", "delay": "1 ms", "duplex": True},
    {"from": "router", "to": "server", "rate": "100 Mbit/s", "delay": "9 ms", "duplex": True},
]


def dumbbell(*flows: dict[str, Any], **more: Any) -> Scenario:
    return Scenario(
        name="x",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        flows=[{"cca": "cubic", **flow} for flow in flows],
        **{"hosts": [{"name": "laptop", "nic": NIC}], **more},
    )


def graph(*flows: dict[str, Any], **more: Any) -> Scenario:
    return Scenario(
        name="x",
        duration="1 s",
        topology={"kind": "graph", "nodes": ["laptop", "router", "server"], "links": LINKS},
        flows=[{"cca": "cubic", **flow} for flow in flows],
        **{"hosts": [{"name": "laptop", "nic": NIC}], **more},
    )


def routes(network: Network) -> list[tuple[list[str], list[str]]]:
    """The names of the hops of every flow, there and back."""
    return [
        ([network.hops[i].name for i in routed.forward], [network.hops[i].name for i in routed.reverse])
        for routed in network.flows
    ]


def test_in_a_dumbbell_data_and_acks_of_a_host_leave_by_its_interface() -> None:
    scenario = dumbbell(
        {"hosts": ["laptop", "server"], "direction": "reverse"}, {"hosts": ["server", "laptop"], "count": 2}
    )
    assert routes(resolve(scenario)) == [
        (["laptop-nic", "bottleneck-reverse"], ["bottleneck"]),
        (["bottleneck"], ["laptop-nic", "bottleneck-reverse"]),
        (["bottleneck"], ["laptop-nic", "bottleneck-reverse"]),
    ]


def test_an_interface_is_in_front_of_an_access_link() -> None:
    flow = {"hosts": ["laptop", "server"], "access": {"delay": "1 ms"}}
    network = resolve(dumbbell(flow))
    assert routes(network)[0][0][:2] == ["laptop-nic", "cubic-1-sender"]
    nic, access = (network.links[i] for i in network.flows[0].forward[:2])
    assert (nic.source, nic.target, access.source) == ("laptop", "laptop-nic", "laptop-nic")


def test_in_a_graph_data_and_acks_of_a_host_leave_by_its_interface() -> None:
    scenario = graph({"from": "laptop", "to": "server"}, {"from": "server", "to": "laptop"})
    assert routes(resolve(scenario)) == [
        (
            ["laptop-nic", "laptop-router", "router-server"],
            ["router-server-reverse", "laptop-router-reverse"],
        ),
        (
            ["router-server-reverse", "laptop-router-reverse"],
            ["laptop-nic", "laptop-router", "router-server"],
        ),
    ]


def test_an_interface_takes_no_time_and_has_the_rate_and_the_queue_of_its_host() -> None:
    network = resolve(graph({"from": "laptop", "to": "server"}))
    [nic] = [link for link in network.links if link.nic_of == "laptop"]
    assert (nic.rate_bps, nic.delay_ns, nic.queue.kind) == (50_000_000, 0, "fq")  # type: ignore[union-attr]
    assert network.base_rtt_s(network.flows[0]) == 0.02


def test_links_keep_their_numbers_in_front_of_interfaces() -> None:
    with_nic = resolve(graph({"from": "laptop", "to": "server"}))
    without = resolve(graph({"from": "laptop", "to": "server"}, hosts=None))
    names = [link.name for link in without.links]
    assert [link.name for link in with_nic.links] == [*names, "laptop-nic"]


def test_a_host_without_an_interface_changes_nothing() -> None:
    scenario = graph({"from": "laptop", "to": "server"}, hosts=[{"name": "laptop"}])
    assert resolve(scenario) == resolve(graph({"from": "laptop", "to": "server"}, hosts=None))


def test_an_empty_interface_is_unlimited() -> None:
    network = resolve(graph({"from": "laptop", "to": "server"}, hosts=[{"name": "laptop", "nic": {}}]))
    assert (network.links[-1].rate_bps, network.links[-1].queue) == (None, None)


def test_links_that_change_their_routes_leave_interfaces_out() -> None:
    """A link that begins at a host begins behind its interface, which is crossed once."""
    links = [{**LINKS[0], "reroutes": [{"at": "0.5 s", "via": ["slow"]}]}, LINKS[1]]
    links.append({**LINKS[0], "name": "slow", "delay": "5 ms"})
    topology = {"kind": "graph", "nodes": ["laptop", "router", "server"], "links": links}
    network = resolve(graph({"from": "laptop", "to": "server"}).with_values({"topology": topology}))
    [later] = network.flows[0].reroutes
    named = [[network.hops[i].name for i in route or ()] for route in (later.forward, later.reverse)]
    assert named == [["laptop-nic", "slow", "router-server"], ["router-server-reverse", "slow-reverse"]]


def test_the_plan_says_which_link_is_an_interface() -> None:
    found = plan(graph({"from": "server", "to": "laptop"}))
    assert [link["nic"] for link in found["links"]] == [False] * 4 + [True]
    assert found["flows"][0]["hosts"] == [0, 1]


def test_a_queue_of_an_interface_may_be_relative_to_the_path() -> None:
    """50 Mbit/s times 20 ms in segments of 1514 B."""
    nic = {"rate": "50 Mbit/s", "queue": {"kind": "drop_tail", "size": "1 bdp"}}
    network = resolve(graph({"from": "laptop", "to": "server"}, hosts=[{"name": "laptop", "nic": nic}]))
    assert network.links[-1].queue.packets == 82  # type: ignore[union-attr]


def test_hosts_are_part_of_the_digest_and_survive_toml() -> None:
    scenario = graph({"from": "laptop", "to": "server"})
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    assert scenario.digest != graph({"from": "laptop", "to": "server"}, hosts=None).digest


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([{"name": "lap"}], r'^hosts\[0\].name: unknown host "lap"; did you mean "laptop"\?$'),
        ([{"name": "laptop"}] * 2, r'^hosts\[1\].name: "laptop" is used twice; give each a name of its own$'),
        ([{"name": "laptop", "nic": {"rate": "0 bit/s"}}], r"^hosts\[0\].nic.rate: must be more than 0"),
        ([{"name": "laptop", "nic": {"delay": "1 ms"}}], r"^hosts\[0\].nic.delay: unknown key"),
        ([{"nic": {}}], r'^hosts\[0\].name: missing; write for example name = "laptop"$'),
        (
            [{"name": "laptop", "nic": {"queue": {"size": "1 bdp"}}}],
            r"^hosts\[0\].nic.queue.size: a link of unlimited rate has no BDP",
        ),
    ],
)
def test_a_mistake_in_a_host_has_a_line(hosts: list[Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        graph({"from": "laptop", "to": "server"}, hosts=hosts)


def test_in_a_dumbbell_a_flow_has_to_name_the_host() -> None:
    with pytest.raises(ScenarioError, match=r'^hosts\[0\].name: unknown host "laptop", or name it in a flow'):
        dumbbell({})
