"""Remarks on findings in the data of a test that Flent does not report, one line each."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.described import (
    Names,
    cca_of,
    discipline,
    mss_of,
    queue_of,
    retransmissions,
    totals_of,
)
from fullpipe.engines.flent.document import Document, number
from fullpipe.engines.flent.series import Series, Timing
from fullpipe.engines.imported.measurement import STAND_IN
from fullpipe.errors import brief
from fullpipe.runs.spans import together_bps

_NAMED = 4
"""Largest number of flows that a remark names; for further flows, a remark has only their number."""
_APART = 0.01
"""Relative difference between the mean of Flent's sum of streams and their total goodput above which a remark
is made."""
_FAR_BELOW = 0.5
"""Ratio of TCP's RTT to the RTT of pings below which a proxy or NAT is assumed to split the connection into
two. Without a proxy or NAT, TCP passes the same queues as a ping, so the ratio cannot be this small."""
_LEAST_MS = 1.0
"""Differences between TCP's RTT and a ping's RTT up to this value are attributed to processing at hosts."""
_HEADERS_BYTES = (40, 60)
"""Headers of IPv4 or IPv6 and TCP without options (RFC 9293, section 3.7.1). Timestamps add 12 B
(RFC 7323)."""


@dataclass(frozen=True)
class Test:
    """A test with its series, for remarks."""

    document: Document
    series: Sequence[Series]
    left: Sequence[str]
    timing: Timing
    names: Names

    @property
    def streams(self) -> list[Series]:
        """The TCP flows."""
        return [one for one in self.series if one.kind == "tcp"]


def remarks_of(test: Test) -> tuple[str, ...]:
    """Return all remarks, in a fixed order."""
    return tuple(line for rule in _RULES for line in rule(test))


def _sums(test: Test) -> Iterator[str]:
    """Remark on Flent's sums of streams. At a time at which a stream has no value, Flent's sum omits the
    stream, so the mean of the sum can differ from the total goodput."""
    for word, is_upload in (("upload", True), ("download", False)):
        name = f"TCP {word} sum"
        sums = [value for value in test.document.results.get(name, ()) if value is not None]
        of_way = [totals_of(one, test.timing) for one in test.streams if one.is_upload == is_upload]
        spans = [(one.start_s, one.end_s) for one in of_way]
        goodput = (together_bps([one.goodput_bps for one in of_way], spans) or 0.0) / 1e6
        mean = float(np.mean(sums)) if sums else 0.0
        if goodput and sums and abs(mean - goodput) > _APART * goodput:
            yield (
                f'"{name}": its mean is {mean:.4g} Mbit/s, but the goodput is {goodput:.4g} Mbit/s (all bytes'
                " over the time from the first start to the last end): whenever a stream has no value, the"
                " sum leaves it out"
            )


def _fell_back(test: Test) -> Iterator[str]:
    flows = [one.flow for one in test.streams if one.algorithm == "dctcp-reno"]
    if flows:
        yield f"{named(flows)}: DCTCP ran as Reno, because ECN was not negotiated"


def _servers_algorithm(test: Test) -> Iterator[str]:
    """Remark on downloads whose algorithm, which is that of the server, differs from the algorithm of
    uploads."""
    downloads = [one for one in test.streams if not one.is_upload]
    uploads = {one.algorithm for one in test.streams if one.is_upload and one.algorithm}
    own = uploads or {test.names.default}
    used = sorted({one.algorithm for one in downloads if one.algorithm})
    if not downloads:
        return
    if not used:
        flows = named([one.flow for one in downloads])
        yield f"{flows}: the file does not name the server's algorithm; the scenario has {STAND_IN} instead"
    elif set(used) != own:
        mine = brief(", ".join(sorted(filter(None, own)))) or "another"
        yield (
            f"{named([one.flow for one in downloads])}: downloads show the congestion control of the server,"
            f" {', '.join(used)}, not that of the test host, {mine}"
        )


def ended_on_the_way(test: Test) -> list[tuple[str, float, float]]:
    """Return the flows whose RTT is far below that of pings to the same host, with both RTTs in ms."""
    found = []
    for one in test.streams:
        own_ms, ping_ms = _rtt_ms(one, test.timing), _ping_ms(test, one.host)
        if own_ms < _FAR_BELOW * ping_ms and ping_ms - own_ms > _LEAST_MS:
            found.append((one.flow, own_ms, ping_ms))
    return found


def _ended_on_the_way(test: Test) -> Iterator[str]:
    """Remark on a proxy or NAT that splits connections into two."""
    found = ended_on_the_way(test)
    if found:
        own_ms, ping_ms = (float(np.median(values)) for values in list(zip(*found, strict=True))[1:])
        yield (
            f"{named([flow for flow, *_ in found])}: a proxy or NAT splits these connections into two: the"
            f" RTT of TCP is {own_ms:.3g} ms where pings take {ping_ms:.3g} ms"
        )


def _rtt_ms(one: Series, timing: Timing) -> float:
    """Return the median of a socket's RTTs, or netperf's last RTT; NaN if unknown.

    netperf's last RTT is not used for downloads, as the socket at the test host sends almost nothing.
    """
    values = one.column("tcp_rtt", one.sockets)
    values = values[~np.isnan(values)]
    if values.size:
        return float(np.median(values))
    last_us = number(one.meta.get("TCPI_RTT")) if one.is_upload else None
    return last_us / 1e3 if last_us else math.nan


def _ping_ms(test: Test, host: str) -> float:
    """Return the median RTT of pings to a host while streams run; NaN without pings."""
    begin_s, end_s = test.timing.delay_s, test.timing.delay_s + test.timing.length_s
    values = []
    for one in test.series:
        if one.kind == "ping" and one.host == host:
            times_s = test.timing.since(one.column("t", one.values))
            values.append(one.column("val", one.values)[(times_s >= begin_s) & (times_s <= end_s)])
    every = np.concatenate(values) if values else np.array([])
    return float(np.median(every)) if every.size else math.nan


def _no_room_for_timestamps(test: Test) -> Iterator[str]:
    stamps = test.document.table("SYSCTLS").get("net.ipv4.tcp_timestamps")
    if number(stamps) in (None, 0.0):
        return
    found = {}
    for one in test.streams:
        mss, mtu = mss_of(one), number(one.meta.get("TCPI_PMTU")) or 1500.0
        if mss and mtu - mss in _HEADERS_BYTES:
            found[one.flow] = mss
    if found:
        sizes = ", ".join(f"{mss} B" for mss in sorted(set(found.values())))
        yield (
            f"{named(list(found))}: the MSS of {sizes} leaves no room for timestamps, which this host uses"
            f" (tcp_timestamps = {brief(str(stamps))}): another host than the addressed one may answer"
        )


def _no_number(test: Test) -> Iterator[str]:
    wrong = [
        one.flow
        for one in test.streams
        if one.meta.get("TCP_RETRANSMIT") is not None and retransmissions(one) is None
    ]
    if wrong:
        yield f"{named(wrong)}: the value of TCP_RETRANSMIT is impossible, so it is ignored"


def _means_as_probes(test: Test) -> Iterator[str]:
    probes = [one for one in test.series if one.kind == "probe" and "dur" in one.points[0]]
    stalled = sum(one.stalled for one in probes)
    if probes:
        left = f"; samples of stalls that are left out: {stalled}" if stalled else ""
        yield (
            f"{named([one.flow for one in probes])}: netperf's UDP_RR: each value is a mean over one sample,"
            f" and losses are unknown{left}"
        )


def _names(test: Test) -> Iterator[str]:
    """Remark on names of algorithms that are ambiguous, unknown or missing."""
    called = {one.algorithm for one in test.streams}
    if "bbr" in called and "bbr" not in test.names.given:
        release = test.document.text("KERNEL_RELEASE") or "unknown"
        yield f'kernels name all versions of BBR "bbr"; the release {release} has {test.names.bbr}'
    unknown = sorted(name for name in called if name and test.names.known(name) is None)
    if unknown:
        yield f"{', '.join(unknown)}: Fullpipe has no such algorithm; the scenario has {STAND_IN} instead"
    unsaid = [one for one in test.streams if one.is_upload and not one.algorithm]
    if unsaid:
        ccas = ", ".join(sorted({cca_of(one, test.names) for one in unsaid}))
        flows = named([one.flow for one in unsaid])
        yield f"{flows}: the file does not name the algorithm; the scenario has {ccas} instead"


def _interpolated(test: Test) -> Iterator[str]:
    flows = [one.flow for one in test.series if one.is_interpolated]
    if flows:
        yield f"{named(flows)}: the file has no raw values; Flent's interpolated values are used instead"


def _left_out(test: Test) -> Iterator[str]:
    qdisc, known = discipline(test.document), queue_of(test.document)
    if qdisc and known is None:
        yield f"{qdisc}: scenarios do not support this queue of the test host, so the scenario leaves it out"
    if test.left:
        yield f"series that are not read: {named(test.left)}"


def _path(test: Test) -> Iterator[str]:
    yield "the path is unknown: its rate and delay are placeholders; `fullpipe twin` estimates them"


_RULES: tuple[Callable[[Test], Iterator[str]], ...] = (
    _sums,
    _fell_back,
    _servers_algorithm,
    _ended_on_the_way,
    _no_room_for_timestamps,
    _no_number,
    _means_as_probes,
    _names,
    _interpolated,
    _left_out,
    _path,
)


def named(flows: Sequence[str]) -> str:
    """Return a text with the names of the first flows and the number of further flows."""
    first, rest = ", ".join(flows[:_NAMED]), len(flows) - _NAMED
    return f"{first} and {rest} more" if rest > 0 else first
