"""The bytes of a flow in cells: pieces that every segment and every ACK has whole or not at all.

With cells the history of a flow is arrays: which segment carried a cell, for the how-manieth time, and which
ACK was the first to report it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Sent

_MOST_PAIRS_EACH = 3
"""Transmissions of cells for each segment of either end. Segments and ACKs have an edge each, so that a flow
has more only if everything is sent more than three times on average. It bounds memory by the number of
segments."""


class TooFragmentedError(Exception):
    """A flow whose segments overlap in more ways than can be followed."""


@dataclass(frozen=True)
class Cells:
    """Cells by number, in the order of bytes, and their transmissions, by cell and then by time."""

    begin: Ints
    """First byte, shape (cells,)."""
    length: Ints
    """Bytes, shape (cells,)."""
    cell: Ints
    """Of every transmission, shape (transmissions,)."""
    segment: Ints
    """That carried it, by its place among the segments with payload."""
    nth: Ints
    """How often the cell was seen before."""
    first: Ints
    """Where the transmissions of each cell begin, shape (cells + 1,)."""
    acked: Ints
    """The first ACK at or above the end of a cell, by its place; the number of ACKs if there is none."""
    sacked: Ints
    """The first ACK that reports it selectively, likewise."""

    @property
    def reported(self) -> Ints:
        """The first ACK that says in either way that a cell arrived."""
        return np.minimum(self.acked, self.sacked)


def cells_of(seq: Ints, payload: Ints, acks: Sent, highest: Ints) -> Cells:
    """The cells of a flow.

    Args:
        seq: Of the segments with payload, in the order of time, shape (n,).
        payload: Their bytes, shape (n,).
        acks: What the receiver sent, m segments.
        highest: The highest acknowledgement up to each of these, shape (m,).

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
    """Which blocks report what arrived out of order, and not a duplicate (RFC 2883), shape (blocks,)."""
    return ~is_duplicate(acks)


def is_duplicate(acks: Sent) -> npt.NDArray[np.bool_]:
    """Which blocks are a DSACK: the first one, below the acknowledgement or within the second (RFC 2883,
    section 4), shape (blocks,)."""
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
    """The highest acknowledgement up to each segment; none that is beyond what was sent counts."""
    possible = np.where(acks.ack <= most + 1, acks.ack, NO_ACK)  # a FIN takes one
    return np.maximum.accumulate(possible) if possible.size else possible


def _sacked(begins: Ints, ends: Ints, rows: Ints, cells: int, none: int) -> Ints:
    """The first ACK that has a block over each cell."""
    found = np.full(cells, none, dtype=np.int64)
    if not rows.size:
        return found
    keys = begins * (cells + 1) + ends
    _, earliest = np.unique(keys, return_index=True)  # a block that is repeated says nothing new
    earliest.sort()
    behind = list(range(cells + 1))  # the next cell that no block has had, found in shorter and shorter steps
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
