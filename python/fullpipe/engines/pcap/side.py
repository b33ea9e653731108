"""Position of a capture on the path (at the sender, at the receiver, or between them), and losses seen
there."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Connection, Floats, Sent
from fullpipe.engines.pcap.headers import ACK, NONE, RST, SYN
from fullpipe.scenario.model.tcp import DEFAULT_MSS_BYTES, IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES

# Classification of segments that fill a hole: retransmitted after a loss, or overtaken (reordered).
# Timestamps, or IPv4 identifications that count packets, show whether a segment was retransmitted or
# overtaken. Without timestamps and such identifications, time decides: no retransmission is captured within
# an RTT after the hole was seen. So a segment that fills the hole earlier was overtaken. A later segment was
# retransmitted, unless reordering delays segments by more than an RTT.


Booleans = npt.NDArray[np.bool_]
_STEPS, _BACK = 23, 0.05
"""Number of steps (from one ID to the next) in a sample, and the largest allowed share of decreasing steps.
P(random IDs decrease at most once in 23 steps) is about 3e-6. A few decreases are allowed, because a
retransmission that advances the highest byte can overtake other segments."""
_LEAST_OWN = 0.5
"""Smallest share of the IDs in a range that belong to captured packets, if IDs count the packets of the
connection. All other IDs belong to packets that were dropped before the capture point."""
_HALF = 1 << 15
"""Half of the range of 16-bit numbers. The later of two numbers is ahead of the other by less than this value
(RFC 1982, section 3.2)."""
_STEP = 1 / 4
"""Width of the bins in which times since a hole was seen are counted, as a share of the RTT."""
_FEW = 0.05
"""Largest relative error with which a number of retransmissions is reported."""


@dataclass(frozen=True)
class Holes:
    """Classification of segments, shape (n,) each."""

    is_again: Booleans
    """Whether a segment was retransmitted although its bytes were not captured before."""
    is_doubtful: Booleans
    """Whether it is unknown if a segment was retransmitted or overtaken."""
    is_original: Booleans
    """Whether a segment is an original that its retransmission overtook."""


@dataclass(frozen=True)
class Arrivals:
    """Segments with payload in the order of capture."""

    data: Sent
    """Segments of the sender."""
    rows: Ints
    """Indices of the segments with payload in `data`, shape (n,)."""
    packets: Ints
    """Number of full-sized packets in each segment, shape (n,)."""
    overtaking: Ints
    """For each segment, the first captured segment that ends at a higher byte, shape (n,)."""
    first: Ints
    """First captured segment with any of a segment's bytes, shape (n,); -1 if the bytes were not captured
    before."""

    @cached_property
    def ends(self) -> Ints:
        """Sequence number after the payload of each segment."""
        return self.data.seq[self.rows] + self.data.payload[self.rows]

    @cached_property
    def fills(self) -> Booleans:
        """Whether a segment fills a hole: its bytes are new and below the highest byte seen."""
        known = np.concatenate([self.ends[:1], np.maximum.accumulate(self.ends)[:-1]])
        return np.asarray((self.ends < known) & (self.first < 0))

    @cached_property
    def came(self) -> Ints:
        """Number of the sender's packets captured up to each segment, shape (n,)."""
        packets = np.ones(self.data.identity.size, dtype=np.int64)
        packets[self.rows] = self.packets
        return np.cumsum(packets)[self.rows]

    @cached_property
    def counts(self) -> bool:
        """Whether IPv4 identifications count the packets of the connection, as in Linux (`inet_id`).

        RFC 6864 does not require a counter, so the IDs are tested. The test uses only segments that advance
        the highest byte, because the sender sent these segments in the captured order. The IDs of these
        segments must hardly ever decrease, and captured packets must have at least half of the IDs in most
        spans of 23 steps. A counter for all connections of a host fails the test. Such a counter does not
        show the order of packets, because it can wrap while this connection pauses.
        """
        advances = np.diff(np.maximum.accumulate(self.ends), prepend=-1) > 0
        numbers, came = self.data.identity[self.rows][advances], self.came[advances]
        steps = np.diff(numbers)
        if steps.size < _STEPS or float((~_is_ahead(steps)).mean()) > _BACK:
            return False
        counted = _signed(numbers[_STEPS:] - numbers[:-_STEPS])
        return float(np.median(counted * _LEAST_OWN - (came[_STEPS:] - came[:-_STEPS]))) <= 0

    def sent_after(self, one: Ints, other: Ints) -> tuple[Booleans, Booleans]:
        """Return whether each segment in `one` was sent after the segment in `other`, and whether this order
        is known.

        Both arguments are indices of segments.
        """
        stamps, numbers = self.data.ts_val[self.rows], self.data.identity[self.rows]
        stamped = (stamps[one] != NONE) & (stamps[other] != NONE)
        by_stamp = (stamps[one] - stamps[other]).astype(np.int32) > 0
        early, late = np.minimum(one, other), np.maximum(one, other)
        numbered = self.counts & (self.came[late] - self.came[early] < _HALF)
        overtaken_by = _signed(numbers[early] - numbers[late])
        # A segment cannot have been overtaken by more packets than were captured so far.
        numbered &= overtaken_by * _LEAST_OWN <= self.came[late]
        return np.where(stamped, by_stamp, _is_ahead(numbers[one] - numbers[other])), stamped | numbered

    def told(self, rtt_s: float | None) -> Holes:
        """Classify segments that fill holes, and segments that were captured twice.

        Args:
            rtt_s: The smallest RTT, or None if it is unknown.
        """
        newer, known = self.sent_after(np.arange(self.rows.size), self.overtaking)
        waited_s = self.data.time_s[self.rows] - self.data.time_s[self.rows[self.overtaking]]
        by_time = self.fills & ~known
        is_again = self.fills & np.where(known, newer, waited_s >= (rtt_s or 0.0))
        is_original = self._is_original()
        is_again[self.first[is_original]] = True
        is_doubtful = np.zeros_like(by_time)
        if rtt_s is None or rtt_s <= 0:
            is_doubtful = by_time
        elif _most_wrong(waited_s[by_time] / rtt_s) > _FEW * (is_again | (self.first >= 0)).sum():
            is_doubtful = by_time & (waited_s >= (1 - _STEP) * rtt_s)
        return Holes(is_again & ~is_doubtful, is_doubtful, is_original)

    def _is_original(self) -> Booleans:
        """Return, for each segment, whether it was captured after its own retransmission."""
        copies = np.flatnonzero(self.first >= 0)
        is_older, known = self.sent_after(self.first[copies], copies)
        found = np.zeros(self.rows.size, dtype=bool)
        found[copies] = is_older & known
        return found


def _signed(steps: Ints) -> Ints:
    """Return differences of 16-bit numbers, from -32,768 to 32,767."""
    return (steps + _HALF & 0xFFFF) - _HALF


def _is_ahead(steps: Ints) -> Booleans:
    """Whether a 16-bit number is later than another, from their difference."""
    return np.asarray(_signed(steps) > 0)


def _most_wrong(waits: Floats) -> int:
    """Return an upper bound of the number of misclassified segments.

    `waits` are the times since the hole was seen, in RTTs, counted in bins of 1/4 RTT. Longer reordering is
    rarer, so no later bin has more overtaken segments than the last bin of the first RTT. The segments in
    this last bin may be retransmissions if the true RTT is shorter.
    """
    last = int(((waits >= 1 - _STEP) & (waits < 1)).sum())
    _, beyond = np.unique((waits[waits >= 1] / _STEP).astype(np.int64), return_counts=True)
    return last + int(np.minimum(beyond, last).sum())


# The payload of a full segment: taken from the handshake, or guessed from the sizes of segments.


_ETHERNET, _JUMBO, _LEAST_MTU = 1_500, 9_000, 1_280
"""MTUs: of Ethernet, of jumbo frames, and the smallest MTU of IPv6 (RFC 8200, section 5)."""
_IP6_MORE_BYTES = 20
"""Bytes by which the IPv6 header is larger than the IPv4 header (RFC 8200, section 3)."""
_MOST_SEEN = 16
"""Largest number of captured sizes that are tried as MSS: the sizes with the most payload. The limit bounds
the CPU time."""


def announced_mss(connection: Connection) -> int | None:
    """Return the MSS of the handshake minus the bytes of options; None if the handshake was not captured."""
    said = [one.mss_bytes for one in connection.sent if one.mss_bytes]
    options = _options_bytes(connection)
    return min(said) - options if said and min(said) > options else None


def mss_of(connection: Connection, sender: int) -> int:
    """Return the payload of a full segment of a direction, without options."""
    payload = connection.sent[sender].payload
    said = announced_mss(connection)
    if said is not None or not payload.any():
        return said or DEFAULT_MSS_BYTES
    ip_bytes = IP_AND_TCP_HEADERS_BYTES + (_IP6_MORE_BYTES if ":" in connection.ends[0] else 0)
    return _guessed(payload[payload > 0], ip_bytes + _options_bytes(connection))


def _options_bytes(connection: Connection) -> int:
    """Return the bytes of options in a full segment. SYNs are ignored, because the other end can decline the
    timestamps that a SYN offers."""
    stamped = any(((one.ts_val != NONE) & ((one.flags & SYN) == 0)).any() for one in connection.sent)
    return TIMESTAMPS_BYTES if stamped else 0


def _guessed(sizes: Ints, headers_bytes: int) -> int:
    """Guess the MSS from the sizes that carry most of the payload.

    A packet that fits into an Ethernet frame is one segment. A larger packet is a jumbo frame, or a
    super-packet of whole segments. If larger packets carry most of the payload, the MSS is the size such that
    packets whose sizes are its multiples carry the most payload. Usual sizes are tried first and are
    preferred in ties. If there is no such size, as on loopback, the MSS is the size that carries the most
    payload.
    """
    values, counts = np.unique(sizes, return_counts=True)
    bytes_ = values * counts
    ethernet, jumbo, least = (mtu - headers_bytes for mtu in (_ETHERNET, _JUMBO, _LEAST_MTU))
    is_single = values <= ethernet
    if 2 * bytes_[is_single].sum() >= bytes_.sum():
        return int(values[is_single][np.argmax(bytes_[is_single])])
    by_bytes = np.argsort(-bytes_, kind="stable")
    seen = values[by_bytes][(values > ethernet)[by_bytes] & (values < _JUMBO)[by_bytes]]
    tried = [jumbo, *range(ethernet, least - 1, -1), *sorted(seen[:_MOST_SEEN].tolist(), reverse=True)]
    whole = [int(bytes_[values % mss == 0].sum()) for mss in tried]
    best = int(np.argmax(whole))
    return tried[best] if 2 * whole[best] > bytes_.sum() else int(values[by_bytes[0]])


# The position of a capture on the path of a connection, from the response times of both ends.


_NEAR = 0.1
"""A capture counts as taken at an end if the RTT to that end is at most this share of the whole RTT."""


@dataclass(frozen=True)
class Side:
    """The position of a capture on the path of a flow."""

    name: str
    """sender, receiver, middle, or unknown."""
    sender_s: float | None
    """Smallest RTT between the point of capture and the sender; None if no sample was captured."""
    receiver_s: float | None
    """Smallest RTT between the point of capture and the receiver; None if no sample was captured."""
    handshake_s: float | None
    """RTT of the handshake: from the SYN to the ACK of the SYN-ACK."""
    is_idle: bool = False
    """Whether the RTT to the sender is unknown for two reasons: the handshake was not captured, and the
    sender was idle at every ACK whose timestamp was echoed."""


@dataclass(frozen=True)
class Echoes:
    """The timestamps of ACKs that later data echo (RFC 7323, section 4.1), ordered by time, shape (n,)."""

    seen_s: Floats
    """Times at which the ACKs were captured."""
    took_s: Floats
    """Time from the capture of an ACK to the first data that echo its timestamp: the RTT to the sender, plus
    the time in which the sender waited before it sent data."""
    is_prompt: npt.NDArray[np.bool_]
    """Whether the sender had data in flight at every ACK with that timestamp. Without data in flight, the
    sender can have been idle, so that its next data came late."""


def side_of(data: Sent, acks: Sent, answers_s: Floats) -> Side:
    """Return the position of the capture on the path of a flow.

    Args:
        data: Segments from the sender of data.
        acks: Segments from the receiver.
        answers_s: Times from captured data to the captured ACK of these data, shape (n,).
    """
    of_sender, of_receiver, handshake_s = _handshake_s(data, acks)
    echoes = echoes_of(data, acks)
    sender_s, receiver_s = _least(of_sender, echoes.took_s), _least(of_receiver, answers_s)
    if sender_s is None or receiver_s is None or sender_s + receiver_s <= 0:
        return Side("unknown", sender_s, receiver_s, handshake_s)
    share = sender_s / (sender_s + receiver_s)
    if share <= _NEAR:
        return Side("sender", sender_s, receiver_s, handshake_s)
    if not of_sender and not echoes.is_prompt.any():
        return Side("unknown", None, receiver_s, handshake_s, is_idle=True)
    return Side("receiver" if share >= 1 - _NEAR else "middle", sender_s, receiver_s, handshake_s)


def echoes_of(data: Sent, acks: Sent) -> Echoes:
    """Return the timestamps of ACKs that data echo, with the time until the echo."""
    stamped = np.flatnonzero((acks.ts_val != NONE) & (acks.ack != NO_ACK))
    values, first, place = np.unique(acks.ts_val[stamped], return_index=True, return_inverse=True)
    acked = np.full(values.size, NO_ACK)
    np.maximum.at(acked, place, acks.ack[stamped])
    chosen = np.flatnonzero((data.ts_ecr != NONE) & (data.payload > 0) & ((data.flags & SYN) == 0))
    ends = data.seq[chosen] + data.payload[chosen]
    sent = np.concatenate([ends[:1], np.maximum.accumulate(ends)[:-1]])
    echoed, answer = np.unique(data.ts_ecr[chosen], return_index=True)
    _, here, there = np.intersect1d(values, echoed, assume_unique=True, return_indices=True)
    seen_s, answer = acks.time_s[stamped[first[here]]], answer[there]
    took_s = data.time_s[chosen[answer]] - seen_s
    is_prompt = (acked[here] < sent[answer]) & (
        ends[answer] > sent[answer]
    )  # excludes retransmissions after an RTO
    order = np.argsort(seen_s, kind="stable")
    order = order[took_s[order] >= 0]
    return Echoes(seen_s[order], took_s[order], is_prompt[order])


def _least(of_handshake: list[float], others: Floats) -> float | None:
    return min([*of_handshake, *([float(others.min())] if others.size else [])], default=None)


def _handshake_s(data: Sent, acks: Sent) -> tuple[list[float], list[float], float | None]:
    """Return the RTTs of the handshake: to the sender, to the receiver, and in total."""
    for client, server, sender_opened in ((data, acks, True), (acks, data, False)):
        syns = np.flatnonzero((client.flags & (SYN | ACK | RST)) == SYN)
        answers = np.flatnonzero((server.flags & (SYN | ACK)) == SYN | ACK)
        if syns.size != 1 or answers.size != 1:  # the answer to a retransmitted SYN is ambiguous
            continue
        done = np.flatnonzero((client.ack >= 0) & (client.ack != NO_ACK) & ((client.flags & SYN) == 0))
        to_server = float(server.time_s[answers[0]] - client.time_s[syns[0]])
        if not done.size or to_server < 0:
            continue
        to_client = float(client.time_s[done[0]] - server.time_s[answers[0]])
        if to_client < 0:
            continue
        halves = ([to_client], [to_server]) if sender_opened else ([to_server], [to_client])
        return *halves, to_client + to_server
    return [], [], None
