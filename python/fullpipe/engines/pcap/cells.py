"""Division of the bytes of a flow into cells: ranges that no segment and no ACK splits.

With cells, the history of a flow fits into arrays: the segment of each transmission of a cell, which
transmission it was (1st, 2nd...), and the first ACK that reported the cell.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import NO_ACK, Sent

_MOST_PAIRS_EACH = 3
"""Most transmissions of cells per segment of both ends, which bounds memory. Each segment and each ACK adds
one edge, so that a flow exceeds it only if every byte is sent more than three times on average."""


class TooFragmentedError(Exception):
    """Segments of a flow overlap in too many ways to follow."""


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
        highest: The highest acknowledgement up to each of them, shape (m,).

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

    A DSACK is the first block of an ACK, below the acknowledgement or within the second block (RFC 2883,
    section 4).
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
    """Return the highest acknowledgement up to each segment. Those beyond the sent data are ignored."""
    possible = np.where(acks.ack <= most + 1, acks.ack, NO_ACK)  # a FIN takes one sequence number
    return np.maximum.accumulate(possible) if possible.size else possible


def _sacked(begins: Ints, ends: Ints, rows: Ints, cells: int, none: int) -> Ints:
    """Return the first ACK with a SACK block over each cell."""
    found = np.full(cells, none, dtype=np.int64)
    if not rows.size:
        return found
    keys = begins * (cells + 1) + ends
    _, earliest = np.unique(keys, return_index=True)  # repeated blocks add nothing
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
