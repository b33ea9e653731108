"""Cells in a scenario: media with ports, and routes over them."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError, run
from fullpipe.engines.native.plan import plan
from fullpipe.scenario import resolve

CELL = {
    "name": "cable",
    "kind": "shared",
    "hub": "headend",
    "rate": "30 Mbit/s",
    "delay": "1 ms",
    "stations": [{"node": "laptop"}, {"node": "phone", "queue": {"kind": "fq_codel"}}],
}
GRAPH = {
    "kind": "graph",
    "nodes": ["laptop", "phone", "headend", "server"],
    "links": [{"from": "headend", "to": "server", "rate": "1 Gbit/s", "delay": "10 ms", "duplex": True}],
}


def scenario(*flows: dict[str, Any], **more: Any) -> Scenario:
    flows = flows or ({"from": "laptop", "to": "server"},)
    return Scenario(
        **{
            "name": "x",
            "duration": "1 s",
            "topology": GRAPH,
            "cells": [CELL],
            "flows": [{"cca": "cubic", **flow} for flow in flows],
            **more,
        }
    )


def routes(found: Scenario, flow: int = 0) -> tuple[list[str], list[str]]:
    network = resolve(found)
    routed = network.flows[flow]
    return [network.hops[i].name for i in routed.forward], [network.hops[i].name for i in routed.reverse]


def test_a_route_up_crosses_the_port_of_the_station_and_acks_that_of_the_hub() -> None:
    assert routes(scenario()) == (
        ["cable-laptop", "headend-server"],
        ["headend-server-reverse", "cable-headend"],
    )


def test_from_station_to_station_a_route_passes_the_hub() -> None:
    assert routes(scenario({"from": "laptop", "to": "phone"})) == (
        ["cable-laptop", "cable-headend"],
        ["cable-phone", "cable-headend"],
    )


def test_ports_are_numbered_behind_the_links() -> None:
    network = resolve(scenario())
    assert [hop.name for hop in network.hops] == [
        *("headend-server", "headend-server-reverse"),
        *("cable-headend", "cable-laptop", "cable-phone"),
    ]
    assert network.flows[0].forward == (3, 0)


def test_the_base_rtt_counts_the_propagation_of_the_cell() -> None:
    network = resolve(scenario())
    assert network.base_rtt_s(network.flows[0]) == 0.022


def test_a_port_has_its_own_queue_or_that_of_the_cell() -> None:
    [medium] = resolve(scenario(cells=[{**CELL, "queue": {"kind": "drop_tail", "packets": 7}}])).media
    assert [port.queue.kind for port in medium.ports if port.queue] == ["drop_tail", "drop_tail", "fq_codel"]


def test_a_size_relative_to_the_path_goes_by_the_rate_of_the_cell() -> None:
    """30 Mbit/s times 22 ms in segments of 1514 B."""
    station = {"node": "laptop", "queue": {"size": "1 bdp"}}
    [medium] = resolve(scenario(cells=[{**CELL, "stations": [station]}])).media
    assert medium.ports[1].queue.packets == 54  # type: ignore[union-attr]


def test_the_plan_has_a_medium_with_its_ports() -> None:
    [medium] = plan(scenario())["media"]
    never_full = {"kind": "drop_tail", "packets": None, "bytes": None}
    assert medium == {
        "name": "cable",
        "stream": "cable",
        "kind": "shared",
        "params": {
            "rate_bps": 30_000_000,
            "delay_ns": 1_000_000,
            "grant_delay_ns": 4_000_000,
            "turn_bytes": 16_384,
            "overhead_ns": 10_000,
        },
        "ports": [
            {"name": "cable-headend", "stream": "cable-headend", "queue": never_full},
            {"name": "cable-laptop", "stream": "cable-laptop", "queue": never_full},
            {"name": "cable-phone", "stream": "cable-phone", "queue": {"kind": "fq_codel"}},
        ],
    }


def test_a_plan_without_cells_says_nothing_of_media() -> None:
    assert "media" not in plan(Scenario.named("parking-lot"))


def test_an_interface_is_in_front_of_the_port() -> None:
    found = scenario(hosts=[{"name": "laptop", "nic": {"rate": "1 Gbit/s"}}])
    assert routes(found)[0] == ["laptop-nic", "cable-laptop", "headend-server"]
    assert resolve(found).media[0].ports[1].node == "laptop-nic"


def test_a_route_may_be_led_over_the_port_of_a_station() -> None:
    other = {**CELL, "name": "fibre", "rate": "100 Mbit/s"}
    found = scenario({"from": "laptop", "to": "server", "via": ["fibre-laptop"]}, cells=[CELL, other])
    assert routes(found) == (["fibre-laptop", "headend-server"], ["headend-server-reverse", "fibre-headend"])


def test_cells_survive_toml() -> None:
    assert Scenario.from_toml(scenario().to_toml()) == scenario()


def overloaded(stations: int, turn: str = "16 KiB") -> Scenario:
    """Every station sends 100 Mbit/s of datagrams into a channel of 30 Mbit/s."""
    names = [f"station-{n}" for n in range(stations)]
    cell = {**CELL, "stations": [{"node": name} for name in names], "turn": turn, "overhead": "100 us"}
    flow = {"workload": {"kind": "udp", "rate": "100 Mbit/s", "size": "1000 B"}, "to": "headend"}
    return Scenario(
        name="overloaded",
        duration="6 s",
        warmup="1 s",
        topology={**GRAPH, "nodes": [*names, "headend", "server"]},
        cells=[{**cell, "queue": {"kind": "drop_tail", "packets": 100}}],
        flows=[{**flow, "name": name, "from": name} for name in names],
        record={"interval": "off"},
    )


@pytest.mark.parametrize("stations", [1, 2, 8])
@pytest.mark.parametrize(("turn", "packets"), [("1 B", 1), ("16 KiB", 15)])
def test_stations_share_the_channel_less_what_turns_cost(stations: int, turn: str, packets: int) -> None:
    """Each gets 8 B / (N (8 B / rate + overhead)), with packets of 1042 B on the wire."""
    bits = 8 * packets * 1042
    expected_bps = bits / (stations * (bits / 30e6 + 100e-6))
    links = run(overloaded(stations, turn)).links_summary
    found = links.filter(links["link"].str.starts_with("cable-station"))["forwarded_bytes"] * 8 / 5
    assert found.to_list() == pytest.approx([expected_bps] * stations, rel=0.005)


def test_a_lone_packet_waits_for_its_grant_and_the_overhead() -> None:
    """There and back: propagation, grant delay, overhead, and the packet at 30 Mbit/s."""
    flow = {"workload": {"kind": "ping", "interval": "50 ms"}, "from": "laptop", "to": "headend"}
    cells = [{**CELL, "grant_delay": "4 ms", "overhead": "100 us"}]
    found = run(Scenario(name="x", duration="1 s", topology=GRAPH, cells=cells, flows=[flow]))
    size = found.links_summary["forwarded_bytes"].sum() / found.links_summary["forwarded_packets"].sum()
    expected_s = 2 * (0.001 + 0.004 + 0.0001 + 8 * size / 30e6)
    assert found.flows["rtt_mean_s"].to_list() == pytest.approx([expected_s], abs=1e-8)


def cell(**more: Any) -> dict[str, Any]:
    return {"cells": [{**CELL, **more}]}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (cell(kind="radio"), r'^cells\[0\].kind: unknown value "radio"; there is shared, wifi, lte, nr$'),
        (cell(hub="head"), r'^cells\[0\].hub: unknown node "head"; did you mean "headend"\?$'),
        (cell(stations=[{"node": "tv"}]), r'^cells\[0\].stations\[0\].node: unknown node "tv"; there is'),
        (cell(stations=[{"node": "headend"}]), r'^cells\[0\]: stations\[0\].node: "headend" is the hub$'),
        (
            cell(stations=[{"node": "phone"}] * 2),
            r'^cells\[0\]: stations\[1\].node: "phone" is a station already$',
        ),
        (cell(stations=[]), r"^cells\[0\].stations: has 0, must have at least 1$"),
        (cell(name="server"), r'^cells\[0\].name: "server" is a node or a link already; choose another$'),
        ({"cells": [CELL, CELL]}, r'^cells\[1\].name: "cable" is used twice'),
        (cell(turn="0 B"), r'^cells\[0\].turn: must be at least 1 B, got "0 B"$'),
        (cell(rate="30"), r"^cells\[0\].rate: "),
        (
            {
                "topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s", "delay": "1 ms"}},
                "flows": [{"cca": "cubic"}],
            },
            r"^cells: a dumbbell can have one cell, instead of its bottleneck, as in bottleneck = { cell = "
            r'"cable" }',
        ),
    ],
)
def test_a_mistake_in_a_cell_has_a_line(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(**more)
