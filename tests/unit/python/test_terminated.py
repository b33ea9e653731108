"""Hosts that end TCP: two connections back to back, with a finite buffer between them."""

import re
from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario, ScenarioError
from fullpipe.analysis.metrics import bulk_flows
from fullpipe.engines.native.plan import plan
from fullpipe.scenario import resolve

BUFFER_BYTES = 100_000
BOTH_WAYS = {"duplex": True}
LINKS = [
    {"from": "laptop", "to": "nat", "rate": "100 Mbit/s", "delay": "0.2 ms", **BOTH_WAYS},
    {"from": "nat", "to": "server", "rate": "10 Mbit/s", "delay": "10 ms", **BOTH_WAYS},
]
UP = {"name": "up", "cca": "reno", "from": "laptop", "to": "server"}
DOWN = {"name": "down", "cca": "reno", "from": "server", "to": "laptop"}
PING = {"name": "ping", "workload": {"kind": "ping"}, "from": "laptop", "to": "server"}


def scenario(*flows: dict[str, Any], links: Any = LINKS, **nat: Any) -> Scenario:
    queue = {"kind": "drop_tail", "packets": 100}
    nodes = list(dict.fromkeys(end for link in links for end in (link["from"], link["to"])))
    return Scenario(
        name="x",
        duration="5 s",
        topology={"kind": "graph", "nodes": nodes, "links": [{"queue": queue, **link} for link in links]},
        hosts=[{"name": "nat", "terminated": True, "proxy_buffer": f"{BUFFER_BYTES} B", **nat}],
        flows=list(flows or (UP,)),
    )


def test_a_stream_is_two_connections_and_a_ping_is_none() -> None:
    network = resolve(scenario(UP, DOWN, PING, proxy_cca="cubic"))
    found = [(routed.name, routed.source, routed.target, routed.relayed) for routed in network.flows]
    assert [name for name, *_ in found] == ["up", "up-nat", "down", "down-nat", "ping"]
    assert [ends for _, *ends, _ in found][:2] == [["laptop", "nat"], ["nat", "server"]]
    assert [relayed is not None for *_, relayed in found] == [False, True, False, True, False]
    names = [[network.hops[i].name for i in routed.forward] for routed in network.flows]
    assert [len(route) for route in names] == [1, 1, 1, 1, 2]


def test_the_plan_says_whose_data_are_passed_on_and_by_which_algorithm() -> None:
    flows = plan(scenario(UP, DOWN, proxy_cca="cubic"))["flows"]
    relayed = {"from": 2, "buffer_bytes": BUFFER_BYTES}
    assert [flow.get("relayed") for flow in flows] == [None, {**relayed, "from": 0}, None, relayed]
    assert [flow["cca"]["kind"] for flow in flows] == ["reno", "cubic", "reno", "cubic"]
    assert [flow["cca"]["kind"] for flow in plan(scenario())["flows"]] == ["reno", "reno"]


def test_what_comes_goes_on_or_is_held() -> None:
    run = fullpipe.run(scenario(UP), seed=1)
    came, left = (run.flows["delivered_bytes"].to_list()[i] for i in (0, 1))
    assert 0 <= came - left <= BUFFER_BYTES
    assert left > 0.8 * 10e6 / 8 * 5
    near, far = run.flows["rtt_mean_s"].to_list()
    assert near < 0.002 < 0.02 < far


def test_metrics_count_what_was_described_once() -> None:
    assert bulk_flows(fullpipe.run(scenario(UP), seed=1))["flow"].to_list() == ["up"]


def test_without_the_key_nothing_is_ended() -> None:
    one = resolve(scenario().with_values({"hosts": [{"name": "nat", "terminated": False}]}))
    assert [routed.name for routed in one.flows] == ["up"]


def test_a_host_at_the_end_of_a_flow_ends_it_anyway() -> None:
    to_nat = {"name": "near", "cca": "reno", "from": "laptop", "to": "nat"}
    assert [routed.name for routed in resolve(scenario(to_nat)).flows] == ["near"]


def test_two_such_hosts_make_three_connections() -> None:
    links = [*LINKS, {"from": "server", "to": "far", "rate": "9 Mbit/s", "delay": "1 ms", **BOTH_WAYS}]
    hosts = [{"name": name, "terminated": True} for name in ("nat", "server")]
    one = scenario({**UP, "to": "far"}, links=links).with_values({"hosts": hosts})
    flows = plan(one)["flows"]
    assert [flow["name"] for flow in flows] == ["up", "up-nat", "up-nat-server"]
    assert [flow.get("relayed", {}).get("from") for flow in flows] == [None, 0, 1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"hosts": [{"name": "nat", "proxy_buffer": "1 MiB"}]}, "proxy_buffer: needs terminated = true"),
        ({"hosts.0.proxy_buffer": "1 kB"}, "hosts[0].proxy_buffer"),
        (
            {"flows.0.workload": {"kind": "web"}},
            'hosts[0].terminated: "up" passes "nat", which cannot forward separate transfers',
        ),
        (
            {"flows.0.reroutes": [{"at": "1 s", "via": ["nat"]}]},
            'hosts[0].terminated: "up" passes "nat" and its routes change',
        ),
        (
            {
                "topology.links": [
                    {"from": "laptop", "to": "nat", "rate": "9 Mbit/s", "delay": "1 ms"},
                    {"from": "nat", "to": "server", "rate": "9 Mbit/s", "delay": "1 ms"},
                    {"from": "server", "to": "laptop", "rate": "9 Mbit/s", "delay": "1 ms"},
                ]
            },
            'ACKs of "up" do not pass "nat"',
        ),
        (
            {"topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s", "delay": "1 ms"}}},
            "a dumbbell has no host between the ends of flows",
        ),
    ],
)
def test_what_cannot_be_ended_is_refused(changes: dict[str, Any], told: str) -> None:
    flows = {"flows": [{"cca": "reno", "hosts": ["nat", "server"]}]} if "topology" in changes else {}
    with pytest.raises(ScenarioError, match=re.escape(told)):
        scenario().with_values({**changes, **flows})
