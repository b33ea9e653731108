"""Reconstruction of the bytes in flight and of retransmissions of a captured connection."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Floats, Sent

# Division of the bytes of a flow into cells. A cell is a range of bytes that no edge of a segment, ACK or
# SACK block splits.
#
# With cells, the history of a flow fits into arrays: the segment of each transmission of a cell, which
# transmission it was (1st, 2nd...), and the first ACK that reported the cell.


_MOST_PAIRS_EACH = 3
"""Largest mean number of transmissions of cells per segment (of both ends), which bounds memory. Each segment
and each ACK adds one boundary between cells, so a flow exceeds the bound only if bytes are sent more than
three times on average."""


class TooFragmentedError(Exception):
    """Error for a flow with too many different overlaps of segments: its cells would need too much memory."""


@dataclass(frozen=True)
class Cells:
    """Cells in the order of bytes, and their transmissions, ordered by cell and then by time."""

    begin: Ints
    """First byte of each cell, shape (cells,)."""
    length: Ints
    """Bytes of each cell, shape (cells,)."""
    cell: Ints
    """Cell of each transmission, shape (transmissions,)."""
    segment: Ints
    """Segment of each transmission, as an index among segments with payload, shape (transmissions,)."""
    nth: Ints
    """Number of earlier transmissions of the same cell, shape (transmissions,)."""
    first: Ints
    """Index of the first transmission of each cell, shape (cells + 1,)."""
    acked: Ints
    """Index of the first cumulative ACK of each cell; the number of ACKs if there is none, shape (cells,)."""
    sacked: Ints
    """Index of the first selective ACK of each cell; the number of ACKs if there is none, shape (cells,)."""

    @property
    def reported(self) -> Ints:
        """Index of the first ACK that reports each cell, cumulatively or selectively."""
        return np.minimum(self.acked, self.sacked)


def cells_of(seq: Ints, payload: Ints, acks: Sent, highest: Ints) -> Cells:
    """Return the cells of a flow.

    Args:
        seq: Sequence numbers of the segments with payload, in the order of time, shape (n,).
        payload: Bytes of these segments, shape (n,).
        acks: The m segments of the receiver.
        highest: The highest acknowledgement up to each of these segments, shape (m,).

    Raises:
        TooFragmentedError: If there are too many transmissions of cells.
    """
    low, high = int(seq.min()), int((seq + payload).max())
    is_new = is_selective(acks)
    left, right = acks.sack_left[is_new], acks.sack_right[is_new]
    edges = np.sort(np.concatenate([seq, seq + payload, highest, left, right]))
    is_next = np.diff(edges, prepend=edges[0] - 1) > 0  # faster than np.unique, which hashes
    edges = edges[is_next & (edges >= low) & (edges <= high)]
    begins, ends = np.searchsorted(edges, seq), np.searchsorted(edges, seq + payload)
    counts = ends - begins
    if counts.sum() > _MOST_PAIRS_EACH * (seq.size + highest.size):
        raise TooFragmentedError
    segment = np.repeat(np.arange(seq.size), counts)
    cell = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(segment.size)
    order = np.argsort(cell, kind="stable")
    cell, segment = cell[order], segment[order]
    first = np.searchsorted(cell, np.arange(edges.size))
    sacked = _sacked(
        np.searchsorted(edges, np.clip(left, low, high)),
        np.searchsorted(edges, np.clip(right, low, high)),
        acks.sack_row[is_new],
        edges.size - 1,
        highest.size,
    )
    return Cells(
        edges[:-1],
        np.diff(edges),
        cell,
        segment,
        np.arange(cell.size) - first[cell],
        first,
        np.searchsorted(highest, edges[1:]),
        sacked,
    )


def is_selective(acks: Sent) -> npt.NDArray[np.bool_]:
    """Whether SACK blocks report out-of-order data rather than a duplicate (RFC 2883), shape (blocks,)."""
    return ~is_duplicate(acks)


def is_duplicate(acks: Sent) -> npt.NDArray[np.bool_]:
    """Whether SACK blocks are a DSACK, shape (blocks,).

    A DSACK is the first block of an ACK, and is below the cumulative acknowledgement or within the second
    block (RFC 2883, section 4).
    """
    row = acks.sack_row
    if not row.size:
        return np.zeros(0, dtype=bool)
    is_first = np.concatenate([[True], row[1:] != row[:-1]])
    below = acks.sack_right <= acks.ack[row]
    has_second = np.concatenate([row[1:] == row[:-1], [False]])
    after = np.minimum(np.arange(row.size) + 1, row.size - 1)
    within = (
        has_second & (acks.sack_left >= acks.sack_left[after]) & (acks.sack_right <= acks.sack_right[after])
    )
    found: npt.NDArray[np.bool_] = is_first & (below | within)
    return found


def highest_of(acks: Sent, most: int) -> Ints:
    """Return the highest acknowledgement up to each segment. ACKs beyond the sent data are ignored."""
    possible = np.where(acks.ack <= most + 1, acks.ack, NO_ACK)  # a FIN takes one sequence number
    return np.maximum.accumulate(possible) if possible.size else possible


def _sacked(begins: Ints, ends: Ints, rows: Ints, cells: int, none: int) -> Ints:
    """Return, for each cell, the first ACK with a SACK block that covers the cell."""
    found = np.full(cells, none, dtype=np.int64)
    if not rows.size:
        return found
    keys = begins * (cells + 1) + ends
    _, earliest = np.unique(keys, return_index=True)  # repeated blocks have no effect
    earliest.sort()
    behind = list(range(cells + 1))  # the next cell without a block: union-find with path compression
    values = found.tolist()
    for begin, end, row in zip(
        begins[earliest].tolist(), ends[earliest].tolist(), rows[earliest].tolist(), strict=True
    ):
        cell = begin
        while cell < end:
            if behind[cell] != cell:
                behind[cell] = behind[behind[cell]]
                cell = behind[cell]
                continue
            values[cell] = row
            behind[cell] = cell + 1
            cell += 1
    return np.array(values, dtype=np.int64)


# Reconstruction of a sender's bytes in flight from a capture: RFC 6675's pipe, with RACK's loss detection.
#
# A transmission is in flight from its send time until an ACK reports it or the sender marks it lost. The
# sender marks a transmission lost in three cases:
#
# - A later transmission was acknowledged (RFC 8985). The mark is immediate if three or more segments are
# acknowledged above a hole, or in recovery. Otherwise, the mark comes a quarter of the smallest RTT later.
# - The same bytes are retransmitted.
# - An RTO expires. A retransmission of the first outstanding bytes after a silence reveals the RTO.


_DUPLICATES = 3
"""Duplicate ACKs that start fast retransmit (RFC 5681, section 3.2)."""
_REORDERING_SHARE = 0.25
"""Reordering window as a share of the smallest RTT (RFC 8985, section 6.2)."""
_LEAST_TIMEOUT_S = 0.2
"""TCP_RTO_MIN of Linux; other stacks wait longer."""


@dataclass(frozen=True)
class Window:
    """Bytes in flight over time, shape (n,)."""

    time_s: Floats
    """Time of every event at the sender: a segment with payload, or an ACK."""
    in_flight: Ints
    """Bytes in flight after the event."""
    is_sent: npt.NDArray[np.bool_]
    """Whether the event is a segment with payload."""
    sacked: Ints
    """Bytes selectively acknowledged and not yet cumulatively acknowledged."""
    repairs: npt.NDArray[np.bool_]
    """Whether the sender is in recovery."""
    timeouts: Ints
    """Indices of segments retransmitted after an RTO."""

    @property
    def estimate(self) -> tuple[Floats, Ints]:
        """Estimate of the congestion window: times and bytes.

        The estimate is the bytes in flight after each burst of segments sent at one time. In recovery, the
        bytes in flight after each ACK are also estimates, because the window then follows the bytes in flight
        (RFC 6937). The estimate is exact for a sender that is limited only by its congestion window.
        """
        last = (self.is_sent | self.repairs) & np.concatenate([self.time_s[1:] > self.time_s[:-1], [True]])
        return self.time_s[last], self.in_flight[last]


@dataclass(frozen=True)
class _History:
    """Segments and ACKs at the sender, merged in the order of time."""

    sent_s: Floats
    acked_s: Floats
    acks_before: Ints
    """Number of ACKs before each segment."""
    segments_before: Ints
    """Number of segments before each ACK."""
    sent_place: Ints
    """Place of each segment in the common order."""
    acked_place: Ints
    """Place of each ACK in the common order."""

    @classmethod
    def merged(cls, sent_s: Floats, acked_s: Floats) -> "_History":
        """Merge segments and ACKs by time. At equal times, the ACK comes first, because an ACK releases
        data."""
        acks_before = np.searchsorted(acked_s, sent_s, side="right")
        segments_before = np.searchsorted(sent_s, acked_s, side="left")
        return cls(
            sent_s,
            acked_s,
            acks_before,
            segments_before,
            np.arange(sent_s.size) + acks_before,
            np.arange(acked_s.size) + segments_before,
        )


def window_of(cells: Cells, sent_s: Floats, acked_s: Floats, mss: int, least_rtt_s: float) -> Window:
    """Return the bytes in flight over time.

    Args:
        cells: Cells of the flow.
        sent_s: Send times of the segments with payload, ascending, shape (n,).
        acked_s: Arrival times of the ACKs at the sender, ascending, shape (m,).
        mss: Bytes of a full segment.
        least_rtt_s: The smallest RTT.
    """
    history = _History.merged(sent_s, acked_s)
    sacked = _sacked_bytes(cells, acked_s.size)
    repairs = _repairs(cells, history, sacked, mss)
    above = _lost_up_to(cells, history, repairs, least_rtt_s)
    ends = _ends(cells, history, above)
    timeouts = _timeouts(cells, history, ends)
    if timeouts.size:
        _end_at_timeouts(cells, history, timeouts, ends)
    size = cells.length[cells.cell]
    events = sent_s.size + acked_s.size
    begins = history.sent_place[cells.segment]
    counted = ends > begins
    change = np.bincount(begins[counted], size[counted], events + 1)
    change -= np.bincount(np.minimum(ends[counted], events), size[counted], events + 1)
    in_flight = np.cumsum(change)[:events].round().astype(np.int64)
    time_s, is_sent = np.empty(events), np.zeros(events, bool)
    time_s[history.sent_place], time_s[history.acked_place] = sent_s, acked_s
    is_sent[history.sent_place] = True
    acks_before = np.cumsum(~is_sent)
    sacked, repairs = (np.concatenate([[0], known])[acks_before] for known in (sacked, repairs))
    return Window(time_s, in_flight, is_sent, sacked, repairs.astype(bool), timeouts)


def _sacked_bytes(cells: Cells, acks: int) -> Ints:
    """Return the bytes selectively and not yet cumulatively acknowledged, after each ACK."""
    chosen = cells.sacked < cells.acked
    change = np.bincount(cells.sacked[chosen], cells.length[chosen], acks + 1)
    change -= np.bincount(cells.acked[chosen], cells.length[chosen], acks + 1)
    return np.cumsum(change)[:acks].round().astype(np.int64)


def _delivering(cells: Cells, history: _History) -> tuple[Ints, Ints, Ints]:
    """Return the cells that an ACK reports after a transmission, the last transmission of each cell before
    the first such ACK, and this ACK."""
    reported = cells.reported
    known = history.acks_before[cells.segment] <= reported[cells.cell]
    counts = np.bincount(cells.cell[known], minlength=reported.size)
    chosen = np.flatnonzero((counts > 0) & (reported < history.acked_s.size))
    return chosen, cells.first[chosen] + counts[chosen] - 1, reported[chosen]


def _lost_up_to(cells: Cells, history: _History, repairs: npt.NDArray[np.bool_], least_rtt_s: float) -> Ints:
    """Return, for every ACK, a number n: after this ACK, those of the first n segments that no ACK has
    reported are marked lost."""
    _, transmission, ack = _delivering(cells, history)
    segment = cells.segment[transmission]
    took_s = history.acked_s[ack] - history.sent_s[segment]
    certain = (cells.nth[transmission] == 0) | (took_s >= least_rtt_s)
    newest = np.full(history.acked_s.size, -1, dtype=np.int64)
    np.maximum.at(newest, ack[certain], segment[certain])
    newest = np.maximum.accumulate(newest)
    waited_s = (
        np.where(newest >= 0, history.sent_s[np.maximum(newest, 0)], 0.0) - _REORDERING_SHARE * least_rtt_s
    )
    patient = np.minimum(newest, np.searchsorted(history.sent_s, waited_s, side="right"))
    return np.maximum.accumulate(np.where(repairs, newest, patient))


def _repairs(cells: Cells, history: _History, sacked: Ints, mss: int) -> npt.NDArray[np.bool_]:
    """Return whether the sender is in recovery after each ACK.

    Recovery begins when three segments above a hole are reported. Recovery ends when all data sent before its
    beginning are acknowledged.
    """
    enough = sacked > (_DUPLICATES - 1) * mss
    found = enough.copy()
    highest_cell = np.concatenate([[0], np.maximum.accumulate(_last_cell(cells, history.sent_s.size))])
    begins, until = np.flatnonzero(enough), 0
    while begins.size:
        begin = int(begins[0])
        last = int(highest_cell[history.segments_before[begin]])
        until = max(int(cells.acked[last - 1]) if last else begin, begin + 1)
        found[begin:until] = True
        begins = begins[np.searchsorted(begins, until) :]
    return found


def _last_cell(cells: Cells, segments: int) -> Ints:
    """Return the index after the last cell of every segment."""
    found = np.zeros(segments, dtype=np.int64)
    np.maximum.at(found, cells.segment, cells.cell + 1)
    return found


def _ends(cells: Cells, history: _History, above: Ints) -> Ints:
    """Return, for every transmission, the event after which it is no longer in flight, as a place in the
    common order."""
    events = history.sent_place.size + history.acked_place.size
    places = np.concatenate([history.acked_place, [events]])
    lost = np.maximum(np.searchsorted(above, cells.segment, side="right"), history.acks_before[cells.segment])
    reported = cells.reported[cells.cell]
    ack = np.minimum(np.minimum(lost, reported), history.acked_place.size)
    ends = places[ack]
    again = np.flatnonzero(cells.nth > 0)
    ends[again - 1] = np.minimum(ends[again - 1], history.sent_place[cells.segment[again]])
    return ends


def _timeouts(cells: Cells, history: _History, ends: Ints) -> Ints:
    """Return the segments that retransmit, after a silence, the first outstanding bytes although no ACK has
    marked these bytes lost."""
    again = np.flatnonzero(cells.nth > 0)
    segment = cells.segment[again]
    unexpected = ends[again - 1] == history.sent_place[segment]
    acks = history.acks_before[segment]
    is_first = (cells.cell[again] == 0) | (cells.acked[np.maximum(cells.cell[again] - 1, 0)] < acks)
    last_s = np.where(
        acks > 0, history.acked_s[np.maximum(acks - 1, 0)] if history.acked_s.size else 0.0, -np.inf
    )
    before_s = np.where(segment > 0, history.sent_s[np.maximum(segment - 1, 0)], -np.inf)
    silent = history.sent_s[segment] - np.maximum(last_s, before_s) >= _LEAST_TIMEOUT_S
    return np.unique(segment[unexpected & is_first & silent])


def _end_at_timeouts(cells: Cells, history: _History, timeouts: Ints, ends: Ints) -> None:
    """End the time in flight of all transmissions before an RTO at the time of the RTO (RFC 5681, section
    3.1)."""
    following = np.searchsorted(timeouts, cells.segment, side="right")
    has = following < timeouts.size
    ends[has] = np.minimum(ends[has], history.sent_place[timeouts[following[has]]])
