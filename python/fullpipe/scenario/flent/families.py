"""Families of Flent's tests, and names of their series and flows."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from typing import Any

# Names of Flent's series and of the corresponding flows.


_PLAIN = re.compile(r"[^\w.+ -]+", re.ASCII)
_LONGEST = 100
COMPUTED = re.compile(r" (avg|sum|fairness)$|^TCP totals$|^VoIP::induced_delay$")
"""Series that Flent computes from other series."""
_CLASS = re.compile(r"(BK)\d*|\(?(CS[1-7])(_BK)?\)?|(EF)|(PRIO)|(Torrent)(::\d+)?")
"""Words in names of series that denote a class other than best effort."""
_MEANT: Mapping[str, int | str] = {"BK": "cs1", "Torrent": "cs1", "PRIO": 0x10 >> 2}
"""DSCP values of words in series' names that are not names of code points. BK means background. PRIO is the
TOS octet 0x10 (low delay, RFC 1349), whose upper 6 bits are the code point."""


def flow_of(series: str) -> str:
    """Return the name of a series' flow, without characters that names of flows cannot have.

    >>> flow_of("TCP upload::1"), flow_of("Ping (ms) UDP EF")
    ('TCP upload 1', 'Ping UDP EF')
    """
    plain = _PLAIN.sub(" ", series.replace("(ms)", " "))
    return " ".join(plain.split())[:_LONGEST].strip() or "series"


def mark_of(series: str) -> int | str | None:
    """Return the DSCP code point in the name of a series, or None for best effort.

    >>> mark_of("TCP upload BK"), mark_of("TCP upload::1")
    ('cs1', None)
    """
    found = next(filter(None, map(_CLASS.fullmatch, series.split())), None)
    if found is None:
        return None
    word: str = next(filter(None, found.groups()))
    return _MEANT.get(word, word.lower())


# The description of a Flent test, and families of tests that differ only in the number of streams or servers.


ICMP = "Ping (ms) ICMP"
DELAY_S = 5.0
"""Time in s for which pings run before and after the streams (option `-D` of Flent)."""
LENGTH_S = 60.0
STEP_S = 0.2
_FAR_MS = (0.0, 0.0, 160.0, 260.0, 40.0, 80.0)
"""Additional RTTs in ms of the servers in tests with several servers."""


@dataclass(frozen=True)
class Span:
    """The start and the duration of a stream, as multiples of a test's delay (`-D` of Flent) and length
    (`-l`).

    start = begins x delay, and duration = lengths x length + delays x delay.
    """

    begins: int
    lengths: int = 1
    delays: int = 0


_MIDDLE = Span(1)
"""Span of the streams in a test whose pings start before the streams and stop after them."""


@dataclass(frozen=True)
class FlentTest:
    """A test of Flent."""

    name: str
    title: str
    series: tuple[str, ...]
    plot: str = "totals"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters as in Flent's files."""
    hosts: int = 1
    spans: Mapping[str, Span] = field(default_factory=dict)
    """Start and duration of streams, where they differ from `_MIDDLE`."""
    delays: int = 2
    """Duration of the test = one length (`-l`) + this number x the delay (`-D`)."""
    summed: str = ""
    """First word of the names of the streams that Flent adds up in its sum. Empty: all streams."""

    def begin_s(self, series: str) -> float:
        """Return the start of a stream."""
        return self._span(series).begins * DELAY_S

    def end_s(self, series: str, length_s: float) -> float:
        """Return the end of a stream."""
        span = self._span(series)
        return (span.begins + span.delays) * DELAY_S + span.lengths * length_s

    def duration_s(self, length_s: float) -> float:
        """Return the duration of the whole test."""
        return length_s + self.delays * DELAY_S

    def length_s(self, duration_s: float, warmup_s: float) -> float:
        """Return the length (`-l`) of a test from its duration and warm-up."""
        delay_s = DELAY_S if self.spans else warmup_s
        return max(duration_s - self.delays * delay_s, duration_s / (1 + self.delays))

    @property
    def warmup_s(self) -> float:
        """Time until the streams begin; 0 if streams begin at different times."""
        return DELAY_S if self.delays and not self.spans else 0.0

    def _span(self, series: str) -> Span:
        return self.spans.get(series, _MIDDLE)


def server(number: int) -> str:
    """Return the name of a server, counted from 1, in a test with several servers."""
    return f"server{number}"


def extra_rtt_ms(number: int) -> float:
    """Return the default RTT to a server minus the RTT to the nearest server."""
    return _FAR_MS[number % len(_FAR_MS)]


def up(*words: str) -> list[str]:
    """Return names of uploads."""
    return [f"TCP upload {word}" for word in words]


def down(*words: str) -> list[str]:
    """Return names of downloads."""
    return [f"TCP download {word}" for word in words]


def udp(*words: str) -> list[str]:
    """Return names of UDP probes."""
    return [f"Ping (ms) UDP {word}" for word in words]


def streams(way: str, count: int, name: str = "") -> FlentTest:
    """Return a test with several streams in one direction."""
    title = f"{count} TCP streams, {way}, with a ping"
    parameters = {f"{way}_streams": count}
    short = {"upload": "up", "download": "down"}[way]
    numbered = [f"TCP {way}::{n}" for n in range(1, count + 1)]
    return FlentTest(name or f"tcp_{count}{short}", title, (*numbered, ICMP), parameters=parameters)


def both_ways(count: int) -> FlentTest:
    """Return a test with numbered pairs of streams in both directions, each pair with a probe."""
    labels = [f"{n} (CS0)" for n in range(count)]
    series = (
        *(f"TCP {way}::{label}" for way in ("upload", "download") for label in labels),
        *(f"Ping (ms)::UDP {label}" for label in labels),
        "Ping (ms)::ICMP",
    )
    title = "Streams both ways, one pair or more, each with a UDP probe"
    return FlentTest("rrul_var", title, series, "all_scaled", {"bidir_streams": count})


def far(
    name: str, title: str, labels: Iterable[str], ways: Iterable[str] = ("upload", "download")
) -> FlentTest:
    """Return a test with streams and a ping to each of several servers."""
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
    return FlentTest(name, title, tuple(chain(*per_server)), "all_scaled", parameters, len(known))


def variable(name: str, title: str, *ways: str, hosts: int = 2) -> FlentTest:
    """Return a test with best-effort streams and a ping to each of `hosts` servers."""
    per_server = [
        [*(f"TCP {way} BE {server(n)}" for way in ways), f"Ping (ms) ICMP {server(n)}"]
        for n in range(1, hosts + 1)
    ]
    return FlentTest(name, title, tuple(chain(*per_server)), "all_scaled", hosts=hosts)


def mixed(hosts: int) -> FlentTest:
    """Return a test like `variable` that alternates uploads and downloads between servers."""
    ways = list(islice(cycle(("up", "down")), hosts))
    per_server = [
        [f"TCP {way}load BE {server(n)}", f"Ping (ms) ICMP {server(n)}"] for n, way in enumerate(ways, 1)
    ]
    title = "Alternating uploads and downloads, two servers or more"
    told = {"data_directions": ",".join(ways)}
    return FlentTest("rtt_fair_var_mixed", title, tuple(chain(*per_server)), "all_scaled", told, hosts)


def against(other: str) -> FlentTest:
    """Return a test of CUBIC and another algorithm in two classes and both directions."""
    words = [f"{cca} {mark}" for mark in ("BE", "CS1") for cca in ("Cubic", other)]
    series = (*up(*words), *down(*words), *udp("BE", "CS1", "CS6"), ICMP)
    return FlentTest(
        f"cubic_{other.lower()}", f"CUBIC and {other} in two classes, both ways", series, "all_scaled"
    )


def waves(name: str, title: str, spans: Mapping[str, Span], delays: int) -> FlentTest:
    """Return a test of uploads that start and stop at different times, without a ping."""
    return FlentTest(name, title, tuple(spans), spans=spans, delays=delays)
