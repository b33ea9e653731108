"""Declarations of Flent's tests: their series, whose names define the flows, and their default plots."""

from collections.abc import Callable, Mapping

from fullpipe.errors import UnknownNameError
from fullpipe.scenario.flent.families import (
    ICMP,
    FlentTest,
    Span,
    against,
    both_ways,
    down,
    far,
    mixed,
    streams,
    udp,
    up,
    variable,
    waves,
)

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
