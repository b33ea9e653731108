"""Flent's tests, each declared once: its series, whose names say what they are, and its default plot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullpipe.errors import UnknownNameError

ICMP = "Ping (ms) ICMP"
DELAY_S = 5.0
"""Pings run so long before streams and after them."""
LENGTH_S = 60.0
STEP_S = 0.2
_FAR_MS = (0.0, 0.0, 160.0, 260.0, 40.0, 80.0)
"""What the servers of a test with several are further away, there and back."""


@dataclass(frozen=True)
class FlentTest:
    """One of Flent's tests."""

    name: str
    title: str
    series: tuple[str, ...]
    plot: str = "totals"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """As Flent's files have them."""
    hosts: int = 1

    @property
    def has_load(self) -> bool:
        """Whether streams run, with pings before and after them."""
        return any(one.startswith("TCP") for one in self.series)


def server(number: int) -> str:
    """What a server is called, from 1, in a test with several."""
    return f"server{number}"


def extra_rtt_ms(number: int) -> float:
    """How much longer the round trip to a server is than to the nearest, unless it is said."""
    return _FAR_MS[number % len(_FAR_MS)]


def _up(*words: str) -> list[str]:
    return [f"TCP upload {word}" for word in words]


def _down(*words: str) -> list[str]:
    return [f"TCP download {word}" for word in words]


def _udp(*words: str) -> list[str]:
    return [f"Ping (ms) UDP {word}" for word in words]


def _numbered(way: str, count: int) -> list[str]:
    return [f"TCP {way}::{n}" for n in range(1, count + 1)]


def _streams(way: str, count: int, name: str = "") -> FlentTest:
    """Several streams one way."""
    title = f"{count} TCP streams, {way}, with a ping"
    parameters = {f"{way}_streams": count}
    short = {"upload": "up", "download": "down"}[way]
    return FlentTest(
        name or f"tcp_{count}{short}", title, (*_numbered(way, count), ICMP), parameters=parameters
    )


def _far(
    name: str, title: str, labels: Iterable[str], ways: Iterable[str] = ("upload", "download")
) -> FlentTest:
    """Streams and a ping to each of several servers."""
    marks = {"BE": "CS0", "BK": "CS1"}
    known = list(labels)
    per_server = [
        [*(f"TCP {way} {label} {server(n)}" for way in ways), f"Ping (ms) ICMP{n} {server(n)}"]
        for n, label in enumerate(known, 1)
    ]
    parameters = {
        "labels": ",".join(known),
        "markings": ",".join(marks[label[:2]] for label in known),
        "ping_labels": ",".join(f"ICMP{n}" for n in range(1, len(known) + 1)),
    }
    series = tuple(one for of_one in per_server for one in of_one)
    return FlentTest(name, title, series, "all_scaled", parameters, len(known))


def _variable(name: str, title: str, hosts: int, ways: Iterable[str]) -> FlentTest:
    """The same without labels."""
    known = list(ways)
    per_server = [
        [*(f"TCP {way} {server(n)}" for way in known), f"Ping (ms) ICMP {server(n)}"]
        for n in range(1, hosts + 1)
    ]
    return FlentTest(
        name, title, tuple(one for of_one in per_server for one in of_one), "all_scaled", hosts=hosts
    )


def _against(other: str) -> FlentTest:
    """CUBIC and another algorithm, in two classes and both ways."""
    words = [f"{cca} {mark}" for mark in ("BE", "CS1") for cca in ("Cubic", other)]
    series = (*_up(*words), *_down(*words), *_udp("BE", "CS1", "CS6"), ICMP)
    return FlentTest(
        f"cubic_{other.lower()}", f"CUBIC and {other} in two classes, both ways", series, "all_scaled"
    )


_CLASSES, _EFFORTS = ("BE", "BK", "CS5", "EF"), ("BE", "BE2", "BE3", "BE4")
_LEVELS = ("CS0_BE", "CS1_BK", *(f"CS{n}" for n in range(2, 8)))
_BE = (*_up(*_EFFORTS), *_down(*_EFFORTS))
_BE_PROBED = (*_BE, *_udp("BE1", "BE2", "BE3"), ICMP)
_RRUL = (*_up(*_CLASSES), *_down(*_CLASSES), *_udp("EF", "BK", "BE"), ICMP)

_DECLARED = (
    FlentTest("tcp_1up", "One TCP upload with a ping", ("TCP upload", ICMP)),
    *(_streams("upload", count) for count in (2, 4, 6, 8, 12, 50)),
    _streams("upload", 16, "tcp_nup"),
    FlentTest("tcp_upload", "A TCP upload with a ping", ("TCP upload", ICMP)),
    FlentTest("tcp_1down", "One TCP download with a ping", ("TCP download", ICMP)),
    *(_streams("download", count) for count in (2, 4, 6, 8, 12)),
    _streams("download", 4, "tcp_ndown"),
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
        "The same with best effort alone",
        _BE_PROBED,
        "all_scaled",
    ),
    FlentTest(
        "rrul_noclassification",
        "The same with probes alone in classes",
        (*_BE, *_udp("EF", "BK", "BE"), ICMP),
        "all_scaled",
    ),
    FlentTest(
        "rrul_be_nflows",
        "The same with streams by number",
        (
            *(f"TCP {way} BE::{n}" for way in ("upload", "download") for n in range(1, 5)),
            *_udp("BE"),
            ICMP,
        ),
        "all_scaled",
        {"upload_streams": 4, "download_streams": 4},
    ),
    FlentTest(
        "rrul_cs8",
        "Response under load in eight classes",
        (*_up(*_LEVELS), *_down(*_LEVELS), *_udp(*reversed(_LEVELS)), ICMP),
        "all_scaled",
    ),
    FlentTest("rrul_icmp", "Best effort both ways with a ping alone", (*_BE, ICMP), "all"),
    FlentTest(
        "rrul_up",
        "Uploads in four classes, three UDP probes and a ping",
        tuple(one for one in _RRUL if "download" not in one),
        "all_scaled",
    ),
    _far("rtt_fair", "Streams both ways to four servers, two classes", ("BE1", "BE2", "BK1", "BK2")),
    _far("rtt_fair4be", "Streams both ways to four servers", ("BE1", "BE2", "BE3", "BE4")),
    _far("rtt_fair6be", "Streams both ways to six servers", (f"BE{n}" for n in range(1, 7))),
    _far("rtt_fair_up", "Uploads to four servers", ("BE1", "BE2", "BE3", "BE4"), ("upload",)),
    _variable("rtt_fair_var", "Streams both ways to two servers or more", 2, ("upload", "download")),
    _variable("rtt_fair_var_up", "Uploads to two servers or more", 2, ("upload",)),
    _variable("rtt_fair_var_down", "Downloads from two servers or more", 2, ("download",)),
    *map(_against, ("BBR", "Reno", "CDG", "DCTCP", "Ledbat", "Westwood")),
    FlentTest("ping", "A ping and a UDP probe, without load", (ICMP, "Ping (ms) UDP"), "ping"),
    FlentTest("voip", "One way of a call", ("VoIP::delay",), "voip_delay"),
    FlentTest(
        "voip-1up", "One way of a call beside a TCP upload", ("VoIP::delay", "TCP upload"), "totals_loss"
    ),
    FlentTest("voip-rrul", "One way of a call beside `rrul_be`", ("VoIP::delay", *_BE_PROBED), "totals_loss"),
    FlentTest("http", "Pages over HTTP", ("HTTP latency",), "http_delay"),
    FlentTest("http-1up", "Pages over HTTP beside a TCP upload", ("HTTP latency", "TCP upload")),
    FlentTest("http-1down", "Pages over HTTP beside a TCP download", ("HTTP latency", "TCP download")),
    FlentTest("http-rrul", "Pages over HTTP beside `rrul_be`", ("HTTP latency", *_BE_PROBED), "totals_delay"),
)
TESTS: Mapping[str, FlentTest] = {test.name: test for test in _DECLARED}
"""By name."""


def declared(name: str) -> FlentTest:
    """The test of a name.

    Raises:
        UnknownNameError: If there is none.
    """
    if name not in TESTS:
        raise UnknownNameError("test", name, TESTS, "fullpipe list flent-tests")
    return TESTS[name]


def with_streams(test: FlentTest, count: int) -> FlentTest:
    """`tcp_nup` or `tcp_ndown` with another number of streams; any other test as it is."""
    way = {"tcp_nup": "upload", "tcp_ndown": "download"}.get(test.name)
    return _streams(way, count, test.name) if way else test
