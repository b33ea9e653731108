"""Analysis of a captured bulk flow: RTTs, bytes in flight, retransmissions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Connection, Floats, Sent
from fullpipe.engines.pcap.headers import NONE, RST, SYN
from fullpipe.engines.pcap.side import Arrivals, Side, announced_mss, echoes_of, mss_of, side_of
from fullpipe.engines.pcap.window import (
    Cells,
    TooFragmentedError,
    Window,
    cells_of,
    highest_of,
    is_duplicate,
    window_of,
)

LEAST_SEGMENTS = 10
"""A direction of a connection with at least this number of segments counts as a flow. The number is that of
an initial window (RFC 6928)."""


@dataclass(frozen=True)
class Retransmissions:
    """Retransmissions per segment with payload, shape (n,) each."""

    bytes: Ints
    """Retransmitted bytes of the segment: bytes that were captured before, or that fill a hole after a
    loss."""
    packets: Ints
    """Number of full segments in the retransmitted bytes. A captured super-packet counts as several
    segments."""
    is_late: npt.NDArray[np.bool_]
    """Whether the segment fills a hole because later segments overtook it."""
    is_doubtful: npt.NDArray[np.bool_]
    """Whether the segment fills a hole, and it is unknown if it was retransmitted or overtaken."""
    is_spurious: npt.NDArray[np.bool_]
    """Whether the segment is a spurious retransmission, proved by a DSACK (RFC 3708) or by the echo of an
    older timestamp (RFC 3522)."""

    @property
    def total(self) -> int | None:
        """Total number of retransmitted packets, or None if it is unknown."""
        return None if self.is_doubtful.any() else int(self.packets.sum())


@dataclass(frozen=True, eq=False)
class Flow:
    """One direction of a connection that carries data."""

    connection: Connection
    sender: int
    """The sending end: 0 or 1."""
    mss: int
    """Payload of a full segment, without options."""

    @property
    def is_mss_guess(self) -> bool:
        """Whether `mss` is a guess because the handshake was not captured."""
        return announced_mss(self.connection) is None

    @property
    def ends(self) -> tuple[str, str]:
        """Sender and receiver."""
        return self.connection.ends[self.sender], self.connection.ends[1 - self.sender]

    @property
    def name(self) -> str:
        """Name of the flow in runs."""
        number = self.connection.number
        return " - ".join(end.replace(":", "-") for end in self.ends) + (f" {number}" if number > 1 else "")

    @property
    def data(self) -> Sent:
        """Segments from the sender."""
        return self.connection.sent[self.sender]

    @property
    def acks(self) -> Sent:
        """Segments from the receiver."""
        return self.connection.sent[1 - self.sender]

    @cached_property
    def rows(self) -> Ints:
        """Indices in `data` of the n segments with payload, without keep-alives and zero-window probes
        (RFC 9293, sections 3.8.4 and 3.8.6.1)."""
        data = self.data
        ends = data.seq + data.payload
        known = np.concatenate([[-1], np.maximum.accumulate(ends)[:-1]]) if ends.size else ends
        is_probe = (data.payload == 1) & (ends <= known) & (data.seq == known - 1)
        return np.flatnonzero((data.payload > 0) & ((data.flags & (SYN | RST)) == 0) & ~is_probe)

    @property
    def has_timestamps(self) -> bool:
        """Whether data have timestamps."""
        return bool((self.data.ts_val[self.rows] != NONE).any())

    @cached_property
    def packets(self) -> Ints:
        """Number of full segments in each captured segment with payload, shape (n,). A super-packet (before
        the sender's offload splits it, or after the receiver's offload has merged it) counts as several."""
        return -(-self.data.payload[self.rows] // self.mss)

    @cached_property
    def sent_s(self) -> Floats:
        """Capture times of the segments with payload, shape (n,)."""
        return self.data.time_s[self.rows]

    @cached_property
    def highest(self) -> Ints:
        """The highest acknowledgement up to each segment of the receiver, shape (m,)."""
        data = self.data
        most = int((data.seq + data.payload).max()) if self.rows.size else 1 << 62
        return highest_of(self.acks, most)

    @cached_property
    def cells(self) -> Cells | None:
        """Cells (byte ranges that no segment or ACK splits) of the payload; None if no data were captured, or
        the segments are too fragmented."""
        if not self.rows.size:
            return None
        data = self.data
        try:
            return cells_of(data.seq[self.rows], data.payload[self.rows], self.acks, self.highest)
        except TooFragmentedError:
            return None

    @cached_property
    def answers_s(self) -> tuple[Floats, Floats, Floats]:
        """RTT samples between the point of capture and the receiver: the capture time of the ACK, and the
        RTTs of the oldest and the newest segment that this ACK acknowledges.

        An ACK of retransmitted data gives no sample (Karn's rule, RFC 6298, section 3).
        """
        cells = self.cells
        if cells is None or not self.acks.time_s.size:
            return np.array([]), np.array([]), np.array([])
        reported, size = cells.reported, self.acks.time_s.size
        known = np.flatnonzero((reported < size) & (np.diff(cells.first) > 0))
        segment = cells.segment[cells.first[known]]
        took_s = self.acks.time_s[reported[known]] - self.sent_s[segment]
        again = np.diff(cells.first)[known] > 1
        spoilt = np.zeros(size, dtype=bool)
        spoilt[reported[known[again | (took_s < 0)]]] = True
        good = ~spoilt[reported[known]]
        ack, took_s = reported[known][good], took_s[good]
        longest, least = np.full(size, -np.inf), np.full(size, np.inf)
        np.maximum.at(longest, ack, took_s)
        np.minimum.at(least, ack, took_s)
        chosen = np.unique(ack)
        return self.acks.time_s[chosen], longest[chosen], least[chosen]

    @cached_property
    def echoed_s(self) -> tuple[Floats, Floats]:
        """RTT samples from timestamps: the capture time of the ACK, and the time since the first segment with
        the echoed timestamp (RFC 7323, section 4.1). ACKs of retransmitted data also give such samples."""
        data, acks = self.data, self.acks
        stamped = self.rows[data.ts_val[self.rows] != NONE]
        values, first = np.unique(data.ts_val[stamped], return_index=True)
        progress = (
            np.concatenate([[False], np.diff(self.highest) > 0]) if self.highest.size else np.zeros(0, bool)
        )
        chosen = np.flatnonzero(progress & (acks.ts_ecr != NONE))
        place = np.searchsorted(values, acks.ts_ecr[chosen])
        place = np.minimum(place, max(values.size - 1, 0))
        same = values[place] == acks.ts_ecr[chosen] if values.size else np.zeros(chosen.size, bool)
        chosen, place = chosen[same], place[same]
        took_s = acks.time_s[chosen] - data.time_s[stamped[first[place]]]
        return acks.time_s[chosen][took_s >= 0], took_s[took_s >= 0]

    @cached_property
    def side(self) -> Side:
        """The position of the capture on the path."""
        return side_of(self.data, self.acks, self.answers_s[2])

    @cached_property
    def to_sender_s(self) -> Floats:
        """RTT between the point of capture and the sender at each segment of the receiver, shape (m,).

        The value is 0 if the capture was taken at the sender, or at an unknown position. Otherwise the value
        is interpolated between echoes of timestamps, because a queue on this part of the path can change the
        RTT. Without such echoes, the value is constant. Echoes of an idle sender give only upper bounds.
        """
        acks, side = self.acks, self.side
        if side.name in ("sender", "unknown") or not acks.time_s.size:
            return np.zeros(acks.time_s.size)
        echoes = echoes_of(self.data, acks)
        prompt = echoes.is_prompt
        if not prompt.any():
            return np.full(acks.time_s.size, side.sender_s or 0.0)
        known_s = np.interp(echoes.seen_s, echoes.seen_s[prompt], echoes.took_s[prompt])
        return np.interp(acks.time_s, echoes.seen_s, np.minimum(known_s, echoes.took_s))

    @cached_property
    def acked_s(self) -> Floats:
        """Arrival times of the receiver's segments at the sender, on the clock of the data, ascending,
        shape (m,)."""
        return np.maximum.accumulate(self.acks.time_s + self.to_sender_s)

    @cached_property
    def rtts_s(self) -> tuple[Floats, Floats]:
        """Times and RTT samples by TCP's rule: the RTT of the oldest segment that each ACK acknowledges.

        If Karn's rule forbids a sample of an ACK, the timestamp of the ACK gives the sample. The result is
        empty if the RTT to the sender is unknown.
        """
        if self.side.is_idle:
            return np.array([]), np.array([])
        seen_s, oldest_s, _ = self.answers_s
        echoed = ~np.isin(self.echoed_s[0], seen_s)
        times_s = np.concatenate([seen_s, self.echoed_s[0][echoed]])
        values = np.concatenate([oldest_s, self.echoed_s[1][echoed]])
        order = np.argsort(times_s, kind="stable")
        times_s, values = times_s[order], values[order]
        return times_s, values + self._back_s(times_s)

    @cached_property
    def newest_rtts_s(self) -> tuple[Floats, Floats]:
        """Times and RTTs of the newest segment that each ACK acknowledges, which exclude the delay of delayed
        ACKs."""
        if self.side.is_idle:
            return np.array([]), np.array([])
        seen_s, _, newest_s = self.answers_s
        return seen_s, newest_s + self._back_s(seen_s)

    @cached_property
    def least_rtt_s(self) -> float | None:
        """The smallest of the RTTs in `newest_rtts_s` and the RTT of the handshake; None without any RTT."""
        handshake = [] if self.side.handshake_s is None else [self.side.handshake_s]
        return min([*self.newest_rtts_s[1].tolist(), *handshake], default=None)

    def _back_s(self, times_s: Floats) -> Floats:
        """Return the RTT between the point of capture and the sender at given times."""
        if self.side.name == "sender" or not times_s.size:
            return np.zeros(times_s.size)
        return np.interp(times_s, self.acks.time_s, self.to_sender_s)

    @cached_property
    def window(self) -> Window | None:
        """Bytes in flight over time; None if data or ACKs were not captured."""
        rtt_s = self.least_rtt_s
        if self.cells is None or rtt_s is None or not self.has_acks:
            return None
        return window_of(self.cells, self.sent_s, self.acked_s, self.mss, rtt_s)

    @property
    def has_acks(self) -> bool:
        """Whether acknowledgements were captured."""
        return bool((self.acks.ack != NO_ACK).any())

    @cached_property
    def retransmissions(self) -> Retransmissions | None:
        """Retransmissions; None if data were not captured."""
        cells = self.cells
        if cells is None:
            return None
        count, size, copies = self.rows.size, cells.length[cells.cell], np.flatnonzero(cells.nth > 0)
        first = np.full(count, -1)
        first[cells.segment[copies]] = cells.segment[cells.first[cells.cell[copies]]]
        side = self.side
        rtt_s = None if side.sender_s is None else side.sender_s + (side.receiver_s or 0.0)
        arrivals = Arrivals(self.data, self.rows, self.packets, self.overtaking, first)
        holes = arrivals.told(rtt_s)
        again = np.bincount(cells.segment, size * (cells.nth > 0), count).astype(np.int64)
        again[holes.is_original] = 0
        resent = np.where(holes.is_again, self.data.payload[self.rows], again)
        is_late = holes.is_original | (arrivals.fills & ~holes.is_again & ~holes.is_doubtful)
        is_spurious = self._spurious(cells)
        is_spurious[first[holes.is_original]] |= is_spurious[holes.is_original]
        is_spurious &= ~holes.is_original
        return Retransmissions(resent, -(-resent // self.mss), is_late, holes.is_doubtful, is_spurious)

    @cached_property
    def overtaking(self) -> Ints:
        """For each segment, the first captured segment that ends at a higher byte, shape (n,). For a segment
        that was overtaken, the result is an earlier segment; for any other segment, a later one."""
        ends = self.data.seq[self.rows] + self.data.payload[self.rows]
        beyond = np.searchsorted(np.maximum.accumulate(ends), ends, side="right")
        return np.minimum(beyond, self.rows.size - 1)

    def _spurious(self, cells: Cells) -> npt.NDArray[np.bool_]:
        found = np.zeros(self.rows.size, dtype=bool)
        found[self._echoed_older(cells)] = True
        found[self._reported_twice(cells)] = True
        return found

    def _echoed_older(self, cells: Cells) -> Ints:
        """Return the spurious retransmissions: the ACK of their bytes echoes a timestamp from before the
        retransmission.

        An ACK of several segments echoes the timestamp of the first of them, which starts at the previous ACK
        (RFC 7323, section 4.3).
        """
        acks, acked = self.acks, cells.acked
        echoes = np.concatenate([[True], acked[1:] > acked[:-1]]) & (acked < acks.time_s.size)
        by_ack = echoes & (
            acked <= cells.sacked
        )  # an ACK with SACK blocks echoes the timestamp of the segment before the hole
        again = np.flatnonzero((cells.nth > 0) & by_ack[cells.cell])
        ack, segment = acked[cells.cell[again]], cells.segment[again]
        stamp, echo = self.data.ts_val[self.rows[segment]], acks.ts_ecr[ack]
        older = (stamp != NONE) & (echo != NONE) & ((stamp - echo).astype(np.int32) > 0)
        found: Ints = segment[older & (self.acked_s[ack] >= self.sent_s[segment])]
        return found

    def _reported_twice(self, cells: Cells) -> Ints:
        """Return, for every DSACK, the last earlier retransmission of the DSACK's first byte."""
        row, left, _ = self.duplicates.T
        cell = np.searchsorted(cells.begin, left, side="right") - 1
        row, cell = row[cell >= 0], cell[cell >= 0]
        sent = np.searchsorted(self.sent_s, self.acked_s[row], side="right")
        keys = cells.cell * (self.rows.size + 1) + cells.segment  # ascending
        last = np.searchsorted(keys, cell * (self.rows.size + 1) + sent) - 1
        is_again = (last >= cells.first[cell]) & (cells.nth[last] > 0)
        found: Ints = cells.segment[last[is_again]]
        return found

    @cached_property
    def duplicates(self) -> Ints:
        """DSACKs, one per row: index of the ACK, first byte, and byte after the last byte, shape (k, 3)."""
        acks, chosen = self.acks, is_duplicate(self.acks)
        return np.column_stack([acks.sack_row[chosen], acks.sack_left[chosen], acks.sack_right[chosen]])

    @cached_property
    def delivered(self) -> tuple[Floats, Ints]:
        """Times, and bytes delivered in order up to these times: from ACKs or, without ACKs, from captured
        data up to the first hole."""
        if self.has_acks:
            valid = self.highest != NO_ACK
            front = np.maximum(self.highest[valid], 0)
            cells = self.cells
            if cells is not None:  # a FIN does not count as payload
                front = np.minimum(front, int(cells.begin[-1] + cells.length[-1]))
            return self.acks.time_s[valid], front
        cells = self.cells
        if cells is None:
            return np.array([]), np.array([], dtype=np.int64)
        seen = np.diff(cells.first) > 0
        front_s = np.maximum.accumulate(self.sent_s[cells.segment[cells.first[:-1][seen]]])
        return front_s, np.cumsum(cells.length[seen])

    @cached_property
    def span_s(self) -> tuple[float, float]:
        """Start and end of the flow. The start is the first SYN or payload, and the end is the last ACK of
        new data or, without ACKs, the last payload."""
        data, acks = self.data, self.acks
        times = [*data.time_s[:1], *acks.time_s[:1]]
        begin_s = float(data.time_s[self.rows[0]]) if self.rows.size else float(min(times))
        opens = np.flatnonzero((data.flags & SYN) != 0)
        begin_s = min(begin_s, float(data.time_s[opens[0]])) if opens.size else begin_s
        times_s, front = self.delivered
        progress = np.flatnonzero(np.diff(front) > 0) + 1
        ends = [
            begin_s,
            *(times_s[progress[-1:]].tolist()),
            *(self.sent_s[-1:].tolist() if not self.has_acks else []),
        ]
        return begin_s, max(ends)

    @property
    def unseen_bytes(self) -> int:
        """Payload that was acknowledged but not captured."""
        cells = self.cells
        if cells is None or not self.has_acks:
            return 0
        missing = (np.diff(cells.first) == 0) & (cells.acked < self.acks.time_s.size)
        return int(cells.length[missing].sum())

    @property
    def is_too_fragmented(self) -> bool:
        """Whether data were captured but are too fragmented to analyse."""
        return bool(self.rows.size) and self.cells is None

    @cached_property
    def receiver_share(self) -> float | None:
        """Share of the time in which the receive window had no room for a segment; None if unknown."""
        known = np.flatnonzero((self.acks.window_bytes >= 0) & (self.acks.ack != NO_ACK))
        if self.window is None or not known.size:
            return None
        edges = np.maximum.accumulate(self.acks.ack[known] + self.acks.window_bytes[known])
        sent = np.maximum.accumulate(self.data.seq[self.rows] + self.data.payload[self.rows])
        times_s = self.window.time_s
        edge = edges[np.maximum(np.searchsorted(self.acked_s[known], times_s, side="right") - 1, 0)]
        reached = np.concatenate([[0], sent])[np.searchsorted(self.sent_s, times_s, side="right")]
        lasts_s = np.diff(times_s, append=times_s[-1])
        whole_s = float(lasts_s.sum())
        return float(lasts_s[edge - reached < self.mss].sum()) / whole_s if whole_s > 0 else None


def flows_of(connections: list[Connection]) -> tuple[list[Flow], int]:
    """Return the flows of connections in descending order of payload, and the number of directions with
    payload that are too short to be flows."""
    found, short = [], 0
    for connection in connections:
        for sender in (0, 1):
            flow = Flow(connection, sender, mss_of(connection, sender))
            if _is_long(flow):
                found.append(flow)
            elif connection.sent[sender].payload_bytes:
                short += 1
    return sorted(found, key=lambda flow: -_bytes(flow)), short


def _bytes(flow: Flow) -> int:
    _, front = flow.delivered
    return int(front[-1]) if front.size else flow.data.payload_bytes


def _is_long(flow: Flow) -> bool:
    return flow.rows.size >= LEAST_SEGMENTS or (
        not flow.rows.size and _bytes(flow) >= LEAST_SEGMENTS * flow.mss
    )
