"""Wi-Fi cells in a scenario: ports, presets, rates, and a dumbbell around one."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.scenario import Port, resolve
from fullpipe.scenario.model.cells import wifi
from fullpipe.scenario.model.cells.wifi import PRESETS
from fullpipe.scenario.model.link.queues import DropTail

CELL: dict[str, Any] = {
    "name": "home",
    "kind": "wifi",
    "stations": [{"node": "laptop", "rate": {"mcs": 7}, "errors": 0.02}, {"node": "phone"}],
}
LONE = {"stations": [{"node": "laptop"}]}


def scenario(*flows: dict[str, Any], cell: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """A dumbbell around a cell; one download to the laptop, if nothing else is said."""
    topology = {"kind": "dumbbell", "bottleneck": {"cell": "home"}, "access": {"delay": "10 ms"}}
    return Scenario(
        **{
            "name": "x",
            "duration": "1 s",
            "topology": topology,
            "cells": [{**CELL, **(cell or {})}],
            "flows": [{"cca": "cubic", **flow} for flow in flows or ({"station": "laptop"},)],
            **more,
        }
    )


def routes(found: Scenario, flow: int = 0) -> tuple[list[str], list[str]]:
    network = resolve(found)
    routed = network.flows[flow]
    return [network.hops[i].name for i in routed.forward], [network.hops[i].name for i in routed.reverse]


def test_every_station_has_a_port_down_and_one_up() -> None:
    [medium] = resolve(scenario()).media
    assert [(port.name, port.node) for port in medium.ports] == [
        ("home-laptop-down", "access-point"),
        ("home-laptop-up", "laptop"),
        ("home-phone-down", "access-point"),
        ("home-phone-up", "phone"),
    ]


def test_a_download_comes_by_the_wire_and_its_acks_leave_by_the_port_of_the_station() -> None:
    assert routes(scenario()) == (
        ["cubic-1-sender", "home-laptop-down"],
        ["home-laptop-up", "cubic-1-sender-reverse"],
    )


@pytest.mark.parametrize("way", [{"upload": True}, {"direction": "reverse"}])
def test_an_upload_goes_the_other_way(way: dict[str, Any]) -> None:
    found = scenario({"station": "phone", **way})
    assert routes(found) == (
        ["home-phone-up", "cubic-1-receiver-reverse"],
        ["cubic-1-receiver", "home-phone-down"],
    )
    [routed] = resolve(found).flows
    assert (routed.source, routed.target) == ("phone", "cubic-1-receiver")


def test_upload_is_another_spelling_of_the_same_experiment() -> None:
    ways: list[dict[str, Any]] = [{"upload": True}, {"direction": "reverse"}, {}]
    digests = [scenario({"station": "phone", **way}).digest for way in ways]
    assert digests[0] == digests[1] != digests[2]


def test_without_a_wire_the_other_host_stands_at_the_access_point() -> None:
    found = scenario(
        cell=LONE, topology={"kind": "dumbbell", "bottleneck": {"cell": "home"}}, flows=[{"cca": "reno"}]
    )
    assert routes(found) == (["home-laptop-down"], ["home-laptop-up"])


def test_flows_of_a_station_are_of_one_host_which_may_have_an_interface() -> None:
    hosts = [{"name": "laptop", "nic": {"rate": "1 Gbit/s"}}]
    found = scenario({"upload": True}, {}, cell=LONE, hosts=hosts)
    assert routes(found, 0)[0] == ["laptop-nic", "home-laptop-up", "cubic-1-receiver-reverse"]
    first, second = (routed.hosts for routed in resolve(found).flows)
    assert first is not None
    assert second is not None
    assert first[0] == second[1] == "laptop"


def test_in_a_graph_routes_cross_the_ports_and_a_via_names_the_station() -> None:
    graph = {
        "kind": "graph",
        "nodes": ["laptop", "phone", "router", "server"],
        "links": [{"from": "router", "to": "server", "rate": "1 Gbit/s", "delay": "5 ms", "duplex": True}],
    }
    flow = {"from": "server", "to": "laptop", "via": ["home-laptop-reverse"]}
    found = scenario(flow, cell={"access_point": "router"}, topology=graph)
    assert routes(found) == (
        ["router-server-reverse", "home-laptop-down"],
        ["home-laptop-up", "router-server"],
    )


def packets(port: Port) -> int | None:
    """The limit of a queue that is first in, first out."""
    assert isinstance(port.queue, DropTail)
    return port.queue.packets


def test_a_station_s_queue_is_of_what_it_sends() -> None:
    stations = [{"node": "laptop", "queue": {"packets": 9}}, {"node": "phone"}]
    [medium] = resolve(scenario(cell={"stations": stations, "queue": {"packets": 7}})).media
    assert [packets(port) for port in medium.ports] == [7, 9, 7, 7]


def test_a_size_relative_to_the_path_goes_by_the_rate_of_the_station() -> None:
    """HE80 MCS 7 of one stream is 360.3 Mbit/s; times 20 ms, in segments of 1514 B."""
    queue = {"queue": {"size": "1 bdp"}, "streams": 1}
    [medium] = resolve(scenario({"station": "laptop"}, {"station": "phone"}, cell=queue)).media
    assert packets(medium.ports[0]) == int(360_294_117 * 0.02 / 8 / 1514)


@pytest.mark.parametrize(
    ("standard", "width", "mcs", "streams", "guard_ns", "mbps"),
    [
        ("802.11n", 20, 7, 1, 800, 65.0),
        ("802.11n", 20, 7, 1, 400, 72.2),
        ("802.11n", 40, 7, 2, 400, 300.0),
        ("802.11ac", 80, 9, 1, 800, 390.0),
        ("802.11ac", 80, 9, 2, 400, 866.7),
        ("802.11ac", 160, 0, 1, 800, 58.5),
        ("802.11ax", 20, 11, 1, 800, 143.4),
        ("802.11ax", 80, 11, 1, 3200, 510.4),
        ("802.11ax", 160, 11, 1, 800, 1201.0),
    ],
)
def test_rates_are_those_of_the_standard(
    standard: str, width: int, mcs: int, streams: int, guard_ns: int, mbps: float
) -> None:
    assert wifi.rate_bps(standard, width, mcs, streams, guard_ns) / 1e6 == pytest.approx(mbps, abs=0.05)


def test_802_11ac_leaves_out_what_its_encoders_cannot_share() -> None:
    """MCS 9 in 20 MHz makes no whole number of bits in a symbol unless three streams share them."""
    missing = {
        (width, mcs, streams)
        for width in (20, 40, 80, 160)
        for mcs in range(10)
        for streams in (1, 2, 3, 4)
        if not wifi.exists("802.11ac", width, mcs, streams)
    }
    assert missing == {(20, 9, 1), (20, 9, 2), (20, 9, 4), (80, 6, 3), (160, 9, 3)}


def test_an_ideal_rate_is_the_highest_there_is() -> None:
    [medium] = resolve(scenario(cell={"standard": "802.11ac", "width": "20 MHz", "streams": 1})).media
    assert medium.params["station_mcs"] == [7, 8]


def test_rates_are_chosen_only_where_there_is_a_choice() -> None:
    stations: list[dict[str, object]] = [
        {"node": "a"},
        {"node": "b", "snr": "20 dB"},
        {"node": "c", "rate": "minstrel"},
        {"node": "d", "rate": {"mcs": 3}, "snr": {"mean": "20 dB", "spread": "3 dB", "memory": "2 s"}},
    ]
    [medium] = resolve(scenario({"station": "a"}, cell={"stations": stations})).media
    assert medium.params["station_rates"] == ["fixed", "ideal", "minstrel", "fixed"]
    assert medium.params["station_snr"] == [[], [20.0, 0.0, 1.0], [], [20.0, 3.0, 2.0]]
    assert medium.params["station_mcs"] == [11, 11, 11, 3]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_key_beside_a_preset_takes_the_place_of_what_it_sets(preset: str) -> None:
    [medium] = resolve(scenario(cell={"preset": preset, "guard_interval": "800 ns", "streams": 1})).media
    assert medium.params["guard_interval_ns"] == 800
    assert medium.params["standard"] == PRESETS[preset]["standard"]
    assert medium.ports[0].queue is not None


@pytest.mark.parametrize("preset", PRESETS)
def test_a_null_beside_a_preset_says_nothing(preset: str) -> None:
    plain = scenario(cell={"preset": preset})
    for key in PRESETS[preset]:
        found = scenario(cell={"preset": preset, key: None})
        assert found == plain == Scenario.from_toml(found.to_toml())


def test_another_preset_takes_the_place_of_all_that_the_first_one_set() -> None:
    found = scenario(cell={"preset": "ns3"})
    assert found.to_dict()["cells"] == [{**CELL, "preset": "ns3"}]
    assert found.with_values({"cells.0.preset": "old-11n"}) == scenario(cell={"preset": "old-11n"})


def test_packets_come_up_together_unless_the_cell_or_its_preset_says_otherwise() -> None:
    cells: list[dict[str, Any]] = [{}, {"release_each": True}, {"preset": "ns3"}]
    cells.append({"preset": "ns3", "release_each": False})
    media = [resolve(scenario(cell=said)).media[0] for said in cells]
    assert [medium.params["release_each"] for medium in media] == [False, True, True, False]


def test_cells_survive_toml() -> None:
    stations: list[dict[str, object]] = [
        {"node": "laptop", "rate": "ideal", "snr": "23.5 dB"},
        {"node": "phone", "rate": "minstrel", "snr": {"mean": "20 dB", "spread": "3 dB", "memory": "2 s"}},
    ]
    found = scenario(
        {"station": "phone", "upload": True},
        cell={"preset": "p4-host", "stations": stations, "max_ampdu": "64 KiB"},
    )
    assert Scenario.from_toml(found.to_toml()) == found


def lone(**station: Any) -> dict[str, Any]:
    return {"cell": {"stations": [{"node": "laptop", **station}]}, "flows": [{"cca": "cubic"}]}


def narrow(**station: Any) -> dict[str, Any]:
    told = lone(**station)
    return {**told, "cell": {**told["cell"], "standard": "802.11ac", "width": "20 MHz", "streams": 1}}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"cell": {"standard": "802.11x"}}, 'cells[0].standard: unknown value "802.11x"; did you mean'),
        (
            narrow(rate={"mcs": 9}),
            "cells[0].stations[0].rate.mcs: 802.11ac has no MCS 9 at 20 MHz with 1 stream; the highest is 8",
        ),
        ({"cell": {"stations": []}}, "cells[0].stations: has 0, must have at least 1"),
        (
            lone(snr=float("nan")),
            'cells[0].stations[0].snr: expected a ratio such as "30 dB", from -100 to 100, got nan',
        ),
        (lone(errors=1), "cells[0].stations[0].errors: must be less than 1, got 1"),
        (
            lone(rate="fast"),
            'cells[0].stations[0].rate.law: unknown value "fast"; there is fixed, ideal, minstrel',
        ),
        (
            lone(snr={"mean": "20 dB", "spread": "-1 dB"}),
            "cells[0].stations[0].snr.spread: must be at least 0, got",
        ),
        (
            lone(snr={"mean": "20 dB", "spread": "1 dB", "memory": "0 s"}),
            "cells[0].stations[0].snr.memory: must be at least",
        ),
        (lone(snr={"spread": "1 dB"}), "cells[0].stations[0].snr.mean: "),
        (lone(rate={}), "cells[0].stations[0].rate.mcs: missing"),
        (
            lone(rate={"law": "minstrel", "mcs": 1}),
            "cells[0].stations[0].rate.mcs: minstrel chooses the MCS",
        ),
        (lone(rate={"mcs": 12}), "cells[0].stations[0].rate.mcs: must be at most 11, got 12"),
        (lone(streams=4), "cells[0].stations[0].streams: 4 are more than the 2 of the cell"),
        (
            {"cell": {"standard": "802.11ac", "band": "2.4 GHz"}},
            "cells[0].band: 802.11ac has no 2.4 GHz; did you",
        ),
        (
            {"cell": {"standard": "802.11n", "width": "80 MHz"}},
            "cells[0].width: 802.11n has no 80 MHz; did you",
        ),
        (
            {"cell": {"guard_interval": "400 ns"}},
            'cells[0].guard_interval: 802.11ax has no 400 ns; did you mean "800 ns"?',
        ),
        ({"cell": {"standard": "802.11n", "streams": 5}}, "cells[0].streams: 802.11n has at most 4, got 5"),
        ({"cell": {"control_rate": "7 Mbit/s"}}, "cells[0].control_rate: OFDM has 6, 9, 12, 18"),
        ({"cell": {"preset": "home"}}, 'cells[0].preset: unknown value "home"; did you mean "home-ax"?'),
        ({"flows": [{"cca": "cubic"}]}, "flows[0].station: missing; there is laptop, phone"),
        ({"flows": [{"cca": "cubic", "station": "tv"}]}, 'flows[0].station: unknown station "tv"'),
        (
            {"flows": [{"cca": "cubic", "station": "phone", "hosts": ["phone", "server"]}]},
            'flows[0].hosts: the station receives, "phone"',
        ),
        (
            {"flows": [{"cca": "cubic", "station": "phone", "upload": True, "direction": "forward"}]},
            "flows[0].upload: direction is given as well",
        ),
        (
            {"topology": {"kind": "dumbbell", "bottleneck": {"cell": "work"}}},
            'topology.bottleneck.cell: unknown cell "work"; there is home; cells are written as [[cells]]',
        ),
        (
            {"topology": {"kind": "dumbbell", "bottleneck": {"cell": "home", "rate": "9 Mbit/s"}}},
            "topology.bottleneck.rate: a cell replaces the link; leave this key out",
        ),
        (
            {
                "topology": {
                    "kind": "dumbbell",
                    "bottleneck": {"cell": "home"},
                    "reverse": {"rate": "9 Mbit/s"},
                }
            },
            "topology.reverse: a cell carries both directions; leave it out",
        ),
        (
            {
                "topology": {"kind": "dumbbell", "bottleneck": {"rate": "9 Mbit/s", "delay": "1 ms"}},
                "flows": [{"cca": "cubic", "station": "phone"}],
                "cells": None,
            },
            "flows[0].station: only in a dumbbell whose bottleneck is a cell",
        ),
    ],
)
def test_a_mistake_has_one_line(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as told:
        scenario(**more)
    assert len(told.value.problems) == 1
    assert str(told.value).startswith(message)


def test_a_hundred_thousand_stations_are_refused_at_once() -> None:
    with pytest.raises(ScenarioError, match=r"^cells\[0\].stations: has 100000, must have at most 2007$"):
        scenario(cell={"stations": [{"node": "phone"}] * 100_000})
