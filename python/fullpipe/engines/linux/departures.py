"""Times at which flows start, send datagrams and write data, computed before the guest runs."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fullpipe.engines.linux.tc.qdisc import ETHERNET_BYTES
from fullpipe.scenario import Network, RoutedFlow
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.tcp import IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES, Tcp
from fullpipe.scenario.model.workloads.datagrams import Datagrams, Udp
from fullpipe.scenario.model.workloads.writers import Cbr, OnOff
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

# Random number streams equal to the streams of the native simulator, so that both engines draw equal values.


_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


class Stream:
    """The random number stream of a seed and a name, equal to the simulator's `Rng::stream`."""

    def __init__(self, seed: int, name: str) -> None:
        state = 0xCBF29CE484222325
        for byte in name.encode():
            state = ((state ^ byte) * 0x100000001B3) & _MASK
        self._state = state ^ (seed * _STEP) & _MASK
        self.next()

    def next(self) -> int:
        """Return 64 random bits."""
        self._state = (self._state + _STEP) & _MASK
        z = ((self._state ^ (self._state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        return float(self.next() >> 11) / 2**53

    def exponential_ns(self, mean_ns: int) -> int:
        """Return an exponentially distributed time with this mean, at least 1 ns."""
        return max(1, int(-math.log(1.0 - self.unit()) * mean_ns))


def bits(seed: int, name: str) -> int:
    """Return 53 bits that depend only on the seed and the name."""
    return Stream(seed, name).next() >> 11


def start_ns(start_ns: int, jitter_ns: int, seed: int, stream: str) -> int:
    """Return the start of a flow with random jitter. All engines draw the same start from the same random
    number stream."""
    return start_ns + int(Stream(seed, f"start/{stream}").unit() * jitter_ns)


# Departure times of a flow's datagrams, equal to the departure times in the simulator.


def departures_ns(workload: Datagrams, stream: str, start_ns: int, end_ns: int, seed: int) -> list[int]:
    """Return all departure times in [start_ns, end_ns), using the random stream `stream`.

    Datagrams leave at a constant interval or as a Poisson process, continuously or in active periods. An
    active period begins with a datagram, except in a Poisson process.
    """
    poisson = isinstance(workload, Udp) and workload.spacing == "poisson"
    gaps = Stream(seed, f"departures/{stream}") if poisson else None
    interval_ns = workload.interval_ns

    def gap() -> int:
        return gaps.exponential_ns(interval_ns) if gaps else interval_ns

    def first(at_ns: int) -> int:
        return at_ns + gap() if gaps else at_ns

    periods = _Periods(workload, Stream(seed, f"periods/{stream}")) if _has_periods(workload) else None
    until_ns = start_ns + periods.on() if periods else None
    found: list[int] = []
    next_ns = first(start_ns)
    while True:
        while periods and until_ns is not None and until_ns <= next_ns and until_ns <= end_ns:
            begin_ns = until_ns + periods.off()
            until_ns = begin_ns + periods.on()
            next_ns = first(begin_ns)
        if next_ns >= end_ns:
            return found
        found.append(next_ns)
        next_ns += gap()


def _has_periods(workload: Datagrams) -> bool:
    return isinstance(workload, Udp) and workload.on_s is not None


class _Periods:
    """Durations of alternating active and silent periods, constant or exponentially distributed."""

    def __init__(self, workload: Datagrams, stream: Stream) -> None:
        assert isinstance(workload, Udp)
        self._on_ns = to_nanoseconds(workload.on_s or 0)
        self._off_ns = to_nanoseconds(workload.off_s or 0)
        self._stream = stream if workload.periods == "exponential" else None

    def on(self) -> int:
        return self._draw(self._on_ns)

    def off(self) -> int:
        return self._draw(self._off_ns)

    def _draw(self, mean_ns: int) -> int:
        return self._stream.exponential_ns(mean_ns) if self._stream else mean_ns


# Paces of an application in the guest. A pace is the rate at which the application writes data from a given
# time on.
#
# The guest writes a packet after each interval of a pace. The simulator also writes a packet at the beginning
# of a pace. After silence, the guest's pace therefore begins one interval earlier. Without room for this
# interval, a pace of one packet per nanosecond is inserted for 2 ns, so that the first packet is written
# immediately.


MOST_PACES = 64
"""Maximum number of a flow's paces in the guest."""
UNLIMITED_BPS = -1
_AT_ONCE_NS = 2


class Pace(NamedTuple):
    """A start time, and the payload rate in bits per second from then on."""

    at_ns: int
    rate_bps: int


def paces(flow: Flow, tcp: Tcp, start_ns: int, end_ns: int) -> tuple[Pace, ...]:
    """Compute a flow's paces in the guest. The tuple is empty if the application never limits the flow."""
    segment_bits = tcp.mss_bytes * BITS
    found, before = list[Pace](), Pace(start_ns, 0)
    for at_ns, rate_bps in _begun(_of_flow(flow, start_ns, end_ns), start_ns):
        if rate_bps > 0:
            interval_ns = segment_bits * NANOSECONDS // rate_bps
            if before.rate_bps == 0 and before.at_ns + interval_ns <= at_ns:
                found.append(Pace(at_ns - interval_ns, rate_bps))
            else:
                found += [Pace(at_ns, segment_bits * NANOSECONDS), Pace(at_ns + _AT_ONCE_NS, rate_bps)]
        else:
            found.append(Pace(at_ns, rate_bps))
        before = found[-1]
    return tuple(found)


def _begun(wanted: Iterator[Pace], start_ns: int) -> Iterator[Pace]:
    """Yield the paces that apply at or after the start of the flow. The pace in force at the start of the
    flow begins at that start."""
    known = list(wanted)
    for pace, following in pairwise([*known, None]):
        if pace and (following is None or following.at_ns > start_ns):
            yield Pace(max(pace.at_ns, start_ns), pace.rate_bps)


def _of_flow(flow: Flow, start_ns: int, end_ns: int) -> Iterator[Pace]:
    """Yield the paces of a flow's `application` or `workload` in the scenario."""
    for pace in flow.application or ():
        yield Pace(to_nanoseconds(pace.at_s), UNLIMITED_BPS if pace.rate_bps is None else pace.rate_bps)
    match flow.workload:
        case Cbr(rate_bps=rate_bps):
            yield Pace(start_ns, rate_bps)
        case OnOff(rate_bps=rate_bps, on_s=on_s, off_s=off_s):
            at_ns = start_ns
            while at_ns < end_ns:
                yield Pace(at_ns, UNLIMITED_BPS if rate_bps is None else rate_bps)
                yield Pace(at_ns + to_nanoseconds(on_s), 0)
                at_ns += to_nanoseconds(on_s) + to_nanoseconds(off_s)


# Sizes of a flow's packets, and the flows that cross each link.


_LEAST_MTU_BYTES = 576
_LARGEST_FRAME_BYTES = 1514


def routes_of(routed: RoutedFlow, *, to_receiver: bool) -> Iterator[tuple[int, ...]]:
    """Yield all routes of a flow's data, or of its ACKs, in order of time, as indices of links."""
    yield routed.forward if to_receiver else routed.reverse
    for new in routed.reroutes:
        route = new.forward if to_receiver else new.reverse
        if route is not None:
            yield route


def crossing(network: Network) -> list[list[RoutedFlow]]:
    """Return, for each link, the flows that cross the link at some time of the run."""
    found: list[list[RoutedFlow]] = [[] for _ in network.links]
    for routed in network.flows:
        both = (*routes_of(routed, to_receiver=True), *routes_of(routed, to_receiver=False))
        for hop in {hop for route in both for hop in route}:
            if hop < len(found):
                found[hop].append(routed)
    return found


def frame_bytes(crossed_by: Sequence[RoutedFlow]) -> int:
    """Return the size in bytes, with overhead, of the largest packet on a link, or 1,514 B if no flow crosses
    the link."""
    sizes = [mtu_bytes(routed) + routed.tcp.link_overhead_bytes for routed in crossed_by]
    return max(sizes, default=_LARGEST_FRAME_BYTES)


def overhead_bytes(crossed_by: Sequence[RoutedFlow]) -> int:
    """Return the bytes that the link layer adds to a packet. `check` ensures that all flows have equal
    overhead."""
    return crossed_by[0].tcp.link_overhead_bytes if crossed_by else ETHERNET_BYTES


def mtu_bytes(routed: RoutedFlow) -> int:
    """Return the size of a flow's largest IP packet in bytes."""
    tcp, datagrams = routed.tcp, routed.flow.datagrams
    if datagrams:
        return max(_LEAST_MTU_BYTES, datagrams.payload_bytes + datagrams.headers_bytes)
    return tcp.mss_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * tcp.timestamps


def has_accecn(tcp: Tcp, kind: str) -> bool:
    """Whether a connection requests AccECN. Prague with ECN always requests AccECN."""
    return tcp.ecn == "accecn" or (tcp.ecn is True and kind == "prague")


def accecn_option_bytes(routed: RoutedFlow) -> int:
    """Return the size of the AccECN option in data packets in bytes (`tcp_options_fit_accecn` in the
    kernel)."""
    kind = routed.flow.cca.kind if routed.flow.cca else ""
    return 12 if has_accecn(routed.tcp, kind) and routed.tcp.accecn_option is not False else 0
