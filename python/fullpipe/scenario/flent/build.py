"""Declarations of Flent's tests, and their conversion to scenarios on a given path."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.scenario import catalogue
from fullpipe.scenario.flent.families import (
    ICMP,
    LENGTH_S,
    STEP_S,
    FlentTest,
    Span,
    against,
    both_ways,
    down,
    extra_rtt_ms,
    far,
    flow_of,
    mark_of,
    mixed,
    server,
    streams,
    udp,
    up,
    variable,
    waves,
)
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario

# Declarations of Flent's tests: their series, whose names define the flows, and their default plots.


_CLASSES, _EFFORTS = ("BE", "BK", "CS5", "EF"), ("BE", "BE2", "BE3", "BE4")
_LEVELS = ("CS0_BE", "CS1_BK", *(f"CS{n}" for n in range(2, 8)))
_BE = (*up(*_EFFORTS), *down(*_EFFORTS))
_BE_PROBED = (*_BE, *udp("BE1", "BE2", "BE3"), ICMP)
_RRUL = (*up(*_CLASSES), *down(*_CLASSES), *udp("EF", "BK", "BE"), ICMP)
_TORRENT = [f"Torrent::{n}" for n in range(1, 7)]
_WHOLE, _WAVES = Span(0), tuple(Span(begins, 0, 1) for begins in (1, 3, 5))

_COUNTED: Mapping[str, Callable[[int], FlentTest]] = {
    "tcp_nup": lambda count: streams("upload", count, "tcp_nup"),
    "tcp_ndown": lambda count: streams("download", count, "tcp_ndown"),
    "rrul_var": both_ways,
    "rtt_fair_var": lambda count: variable(
        "rtt_fair_var", "Streams both ways to two servers or more", "upload", "download", hosts=count
    ),
    "rtt_fair_var_up": lambda count: variable(
        "rtt_fair_var_up", "Uploads to two servers or more", "upload", hosts=count
    ),
    "rtt_fair_var_down": lambda count: variable(
        "rtt_fair_var_down", "Downloads from two servers or more", "download", hosts=count
    ),
    "rtt_fair_var_mixed": mixed,
}
"""Tests with a variable number of streams, of pairs of streams, or of servers."""
COUNTED = tuple(_COUNTED)

_DECLARED = (
    FlentTest("tcp_1up", "One TCP upload with a ping", ("TCP upload", ICMP)),
    FlentTest(
        "tcp_1up_noping",
        "One TCP upload without a ping",
        ("TCP upload",),
        spans={"TCP upload": _WHOLE},
        delays=0,
    ),
    *(streams("upload", count) for count in (2, 4, 6, 8, 12, 50)),
    _COUNTED["tcp_nup"](16),
    FlentTest("tcp_upload", "A TCP upload with a ping", ("TCP upload", ICMP)),
    FlentTest("tcp_1down", "One TCP download with a ping", ("TCP download", ICMP)),
    *(streams("download", count) for count in (2, 4, 6, 8, 12)),
    _COUNTED["tcp_ndown"](4),
    FlentTest("tcp_download", "A TCP download with a ping", ("TCP download", ICMP)),
    FlentTest("tcp_bidirectional", "TCP both ways with a ping", ("TCP download", "TCP upload", ICMP)),
    FlentTest(
        "rrul",
        "Response under load: four classes both ways, three UDP probes and a ping",
        _RRUL,
        "all_scaled",
    ),
    FlentTest(
        "rrul_be",
        "Response under load: best effort both ways, three UDP probes and a ping",
        _BE_PROBED,
        "all_scaled",
    ),
    FlentTest(
        "rrul_noclassification",
        "Response under load: best effort both ways, three UDP probes in classes and a ping",
        (*_BE, *udp("EF", "BK", "BE"), ICMP),
        "all_scaled",
    ),
    FlentTest(
        "rrul_be_nflows",
        "Response under load: several best-effort streams each way, a UDP probe and a ping",
        (
            *(f"TCP {way} BE::{n}" for way in ("upload", "download") for n in range(1, 5)),
            *udp("BE"),
            ICMP,
        ),
        "all_scaled",
        {"upload_streams": 4, "download_streams": 4},
    ),
    _COUNTED["rrul_var"](1),
    FlentTest(
        "rrul_prio",
        "Best effort both ways, with a UDP probe and a ping, each with and without priority",
        (*_BE, *udp("BE1", "PRIO"), ICMP, f"{ICMP} PRIO"),
        "all_scaled",
    ),
    FlentTest(
        "rrul_torrent",
        "Six LEDBAT background streams and one best-effort stream, both ways",
        (*up(*_TORRENT, "BE"), *down(*_TORRENT, "BE"), *udp("EF", "BK", "BE"), ICMP),
        "all_scaled",
        summed="Torrent",
    ),
    FlentTest(
        "rrul_cs8",
        "Response under load in eight classes",
        (*up(*_LEVELS), *down(*_LEVELS), *udp(*reversed(_LEVELS)), ICMP),
        "all_scaled",
    ),
    FlentTest("rrul_icmp", "Best effort both ways with only a ping", (*_BE, ICMP), "all"),
    FlentTest(
        "rrul_up",
        "Uploads in four classes, three UDP probes and a ping",
        tuple(one for one in _RRUL if "download" not in one),
        "all_scaled",
    ),
    far("rtt_fair", "Streams both ways to four servers, two classes", ("BE1", "BE2", "BK1", "BK2")),
    far("rtt_fair4be", "Streams both ways to four servers", ("BE1", "BE2", "BE3", "BE4")),
    far("rtt_fair6be", "Streams both ways to six servers", (f"BE{n}" for n in range(1, 7))),
    far("rtt_fair_up", "Uploads to four servers", ("BE1", "BE2", "BE3", "BE4"), ("upload",)),
    *(make(2) for name, make in _COUNTED.items() if name.startswith("rtt_fair_var")),
    *map(against, ("BBR", "Reno", "CDG", "DCTCP", "Ledbat", "Westwood")),
    FlentTest("cubic_ledbat_1", "A CUBIC and a LEDBAT upload", ("TCP cubic", "TCP ledbat", ICMP)),
    waves(
        "tcp_2up_delay",
        "Two TCP uploads, the second starting later",
        {"TCP stream 1": Span(0, 1, 1), "TCP stream 2": Span(1)},
        delays=1,
    ),
    waves(
        "tcp_2up_square",
        "A CUBIC upload, while other uploads start and stop",
        dict(zip(("TCP cubic", "TCP cubic 2", "TCP reno", "TCP westwood"), (_WHOLE, *_WAVES), strict=True)),
        delays=0,
    ),
    waves(
        "tcp_4up_squarewave",
        "BBR and CUBIC uploads, starting one after the other",
        {"TCP bbr 1": _WHOLE, "TCP cubic 2": Span(1), "TCP cubic 3": Span(5), "TCP bbr 4": Span(3)},
        delays=6,
    ),
    FlentTest("udp_flood", "UDP at 100 Mbit/s with a ping", ("UDP upload", ICMP)),
    FlentTest("ping", "A ping and a UDP probe, without load", (ICMP, "Ping (ms) UDP"), "ping", delays=0),
    FlentTest("voip", "One direction of a call", ("VoIP::delay",), "voip_delay", delays=0),
    FlentTest(
        "voip-1up",
        "One direction of a call beside a TCP upload",
        ("VoIP::delay", "TCP upload"),
        "totals_loss",
    ),
    FlentTest(
        "voip-rrul", "One direction of a call beside `rrul_be`", ("VoIP::delay", *_BE_PROBED), "totals_loss"
    ),
    FlentTest("http", "Pages over HTTP", ("HTTP latency",), "http_delay", delays=0),
    FlentTest("http-1up", "Pages over HTTP beside a TCP upload", ("HTTP latency", "TCP upload")),
    FlentTest("http-1down", "Pages over HTTP beside a TCP download", ("HTTP latency", "TCP download")),
    FlentTest("http-rrul", "Pages over HTTP beside `rrul_be`", ("HTTP latency", *_BE_PROBED), "totals_delay"),
)
TESTS: Mapping[str, FlentTest] = {test.name: test for test in _DECLARED}
"""All tests by name."""


def declared(name: str) -> FlentTest:
    """Return the test with a name.

    Raises:
        UnknownNameError: If no such test exists.
    """
    if name not in TESTS:
        raise UnknownNameError("test", name, TESTS, "fullpipe list flent-tests")
    return TESTS[name]


def with_streams(test: FlentTest, count: int) -> FlentTest:
    """Return a test with another number of streams or servers, or unchanged if the number is fixed."""
    make = _COUNTED.get(test.name)
    return make(count) if make else test


# The path of a test: the parts of a scenario other than its flows.


DEFAULT = "ethernet-100m"
LINES = ("cable", "dsl", "fibre", "home-lte", "5g", "starlink-like", "home-wifi")
"""Scenarios of home lines. The file of each scenario names the sources of its values."""
PRESETS = (DEFAULT, "wifi-p4-host", *LINES)
"""Scenarios whose path a test can use: a testbed, a wireless host, and home lines."""
_KEPT = ("topology", "hosts", "cells", "tcp")
_CLIENT = "client"


@dataclass(frozen=True)
class TestPath:
    """The path of a test: a dumbbell with a link or a cell as bottleneck. The test host is at one end."""

    parts: Mapping[str, Any]
    """Keys of the scenario that describe the path."""
    station: str | None
    """The station of the cell that is the test host; None without a cell."""
    access_s: float
    """One-way delay of an access link, in s."""

    def ends(self, server: str, *, is_upload: bool) -> dict[str, Any]:
        """Return the keys of a flow between the test host and a server."""
        way = {"direction": "reverse"} if is_upload else {}
        if self.station:
            return {"station": self.station, **way}
        return {"hosts": [_CLIENT, server] if is_upload else [server, _CLIENT], **way}

    def further(self, rtt_ms: float) -> dict[str, Any]:
        """Return the keys of a flow that give its server an additional RTT.

        A round trip crosses the wire next to a cell twice, and access links of a dumbbell four times.
        """
        if not rtt_ms:
            return {}
        delay_s = self.access_s + rtt_ms * 1e-3 / (2 if self.station else 4)
        return {"access": {"delay": f"{delay_s:.9g} s"}}


def path_of(scenario: Scenario, qdisc: Mapping[str, Any] | None = None) -> TestPath:
    """Return the path of a scenario. `qdisc` replaces the queue of the test host.

    Raises:
        ScenarioError: If the scenario is a graph.
    """
    topology = scenario.topology
    if not isinstance(topology, Dumbbell):
        told = "the topology of this scenario is a graph; name a scenario with a dumbbell"
        raise ScenarioError([f'path "{scenario.name}": {told}'])
    tree = scenario.to_dict()
    parts = {key: tree[key] for key in _KEPT if key in tree}
    station = next((flow.station for flow in scenario.flows if flow.station), None)
    if station is None and topology.bottleneck.cell:
        station = next(one.node for cell in scenario.cells or () for one in cell.stations)
    if qdisc:
        parts["hosts"] = _with_queue(parts.get("hosts", ()), station or _CLIENT, qdisc)
    return TestPath(parts, station, topology.access.delay_s)


def _with_queue(hosts: Any, name: str, queue: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of `hosts`, with a queue at the network interface of one of these hosts."""
    known = {host["name"]: host for host in hosts}
    host = known.get(name, {"name": name})
    known[name] = {**host, "nic": {**host.get("nic", {}), "queue": dict(queue)}}
    return list(known.values())


# Conversion of a Flent test and a path to one scenario.


_SERVER = "server"
_APART = {
    "TCP": "10 ms",
    "UDP": "10 ms",
    "Ping": f"{STEP_S * 1e3:g} ms",
    "VoIP": "20 ms",
    "HTTP": f"{STEP_S * 1e3:g} ms",
}
"""Start jitter of the programs of a test, by the first word of the series. Flent starts the programs of a
test together."""
_LATENCY = {
    "Ping (ms) UDP": {"kind": "probe", "interval": "200 ms"},
    "Ping (ms)::UDP": {"kind": "probe", "interval": "200 ms"},
    "Ping (ms)": {"kind": "ping", "interval": "200 ms"},
    "VoIP": {"kind": "voip"},
}
_PAGES = {"kind": "web", "think": "0 s"}
"""http-getter loads the same pages repeatedly."""
_FLOOD = {"kind": "udp", "rate": "100 Mbit/s", "size": "1470 B"}
"""Default UDP load that Flent sends with iperf, in datagrams that fill an Ethernet frame."""


_PROGRAMS = {"torrent": "ledbat"}
"""Congestion control algorithms, by the name of the program in the name of a series. BitTorrent uses LEDBAT
(RFC 6817)."""


@dataclass(frozen=True)
class Choices:
    """Options of a test, from the command line."""

    ccas: Sequence[Any] = ("cubic",)
    """Algorithms that are assigned in turn to the streams whose algorithm the test does not define."""
    server_cca: Any = None
    """Algorithm of downloads, which the server sends. None: the algorithm of uploads."""
    length_s: float = LENGTH_S
    extra_rtts_ms: Sequence[float] = ()
    """Additional RTTs of the servers in ms, in order. Empty: the RTTs of `extra_rtt_ms`."""


def scenario_of(test: FlentTest, path: TestPath, choices: Choices | None = None) -> Scenario:
    """Return the scenario of a test on a path.

    Raises:
        ScenarioError: If the test cannot run on that path.
    """
    chosen = choices or Choices()
    ccas = cycle(chosen.ccas)
    flows = [_flow(one, test, path, chosen, ccas) for one in test.series]
    return Scenario(
        name=test.name,
        duration=f"{test.duration_s(chosen.length_s):g} s",
        warmup=f"{test.warmup_s:g} s",
        **path.parts,
        flows=flows,
        record={"interval": f"{STEP_S * 1e3:g} ms"},
    )


def _flow(series: str, test: FlentTest, path: TestPath, chosen: Choices, ccas: Any) -> dict[str, Any]:
    is_upload = "download" not in series and not series.startswith("HTTP")
    number = int(found[1]) if (found := re.search(r"server(\d+)$", series)) else 0
    mark = mark_of(series)
    return {
        "name": flow_of("VoIP" if series.startswith("VoIP") else series),
        **path.ends(server(number) if number else _SERVER, is_upload=is_upload),
        **path.further(_extra_rtt_ms(number, chosen)),
        **({"dscp": mark} if mark else {}),
        "start_jitter": _APART[series[:4].strip()],
        **(
            _load(series, test, chosen, ccas)
            if series.startswith(("TCP", "UDP", "HTTP"))
            else {"workload": _latency(series)}
        ),
    }


def _extra_rtt_ms(number: int, chosen: Choices) -> float:
    if not number:
        return 0.0
    if not chosen.extra_rtts_ms:
        return extra_rtt_ms(number - 1)
    return chosen.extra_rtts_ms[(number - 1) % len(chosen.extra_rtts_ms)]


def _latency(series: str) -> dict[str, Any]:
    return next(workload for start, workload in _LATENCY.items() if series.startswith(start))


def _load(series: str, test: FlentTest, chosen: Choices, ccas: Any) -> dict[str, Any]:
    when = {"start": f"{test.begin_s(series):g} s", "stop": f"{test.end_s(series, chosen.length_s):g} s"}
    if series.startswith("UDP"):
        return {"workload": _FLOOD, **when}
    of_server = not series.startswith("TCP") or "download" in series
    named = _named_algorithm(series)
    cca = named or (chosen.server_cca if of_server and chosen.server_cca else next(ccas))
    return {"cca": cca, "workload": _PAGES} if series.startswith("HTTP") else {"cca": cca, **when}


def _named_algorithm(series: str) -> str | None:
    """Return the algorithm in the name of a series, or None."""
    entries = catalogue.controllers()
    aliases = {alias: name for name, entry in entries.items() for alias in (name, *entry.aliases)}
    aliases |= _PROGRAMS
    return next(
        (aliases[word.lower()] for word in re.split(r" |::", series) if word.lower() in aliases), None
    )
