"""A pcap or pcapng as TCP connections."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from fullpipe.engines.pcap.blocks import Interface, Ints, Records, same_as
from fullpipe.engines.pcap.connections import Connection, Floats, connections_of, keys_of
from fullpipe.engines.pcap.headers import Left, Segments, decode
from fullpipe.errors import InputFileError, brief

MOST_SEGMENTS = 1_100_000
"""That are read of a file; with the limit of `cells` it keeps memory under 700 MB."""
LONGEST_S = 86_400.0
"""Longest time in which connections of a capture may be open."""
_BETWEEN_NS = 1_000_000_000
"""Longer times without an open connection are shortened to it in captures of more than a day."""
_SET_BACK_NS = 1_000_000_000
"""A clock that goes back by more was set; by less, records are out of order."""


@dataclass(frozen=True)
class Capture:
    """What a file has of TCP."""

    connections: list[Connection]
    """Those with the most payload, in the order in which they were first seen."""
    others: int
    """Connections beyond those."""
    began_ns: int
    """Time of the first TCP segment, since 1970."""
    duration_s: float
    """From the first segment to the last."""
    packets: int
    """Packets in the file, of any kind."""
    segments: int
    """TCP segments among them."""
    interfaces: list[Interface]
    left: Left
    """Packets that are not used, and why."""
    damage: str
    """Why reading ended before the end of the file, in one line; empty if it did not."""
    set_back_s: Floats
    """By how much the clock was set back, each time; the times of packets behind go on from there."""
    left_out_s: float
    """Times without an open connection that were left out of a capture of more than a day."""


def read(path: Path) -> Capture:
    """Read the TCP connections of a capture.

    The times of `Connection.sent[n]` are seconds since the first segment; sequence numbers, windows and
    lengths are bytes. `fullpipe.engines.pcap.flows_of(capture.connections)` gives the bulk flows of them,
    with what their senders did: RTT, bytes in flight, estimate of the congestion window, retransmissions.

    Args:
        path: A pcap of either byte order, in microseconds or nanoseconds, or a pcapng; also as gzip. Snap
            lengths may be as small as the headers: payload is never looked at.

    Raises:
        InputFileError: If it cannot be read, is no capture, or has no TCP, in one line.
    """
    segments, records, left = segments_of(path)
    if segments is None:
        raise InputFileError(f"{path}: {_nothing(records, left)}")
    set_back_s = _in_order(segments)
    began_ns, span_s = int(segments.time_ns[0]), float(np.ptp(segments.time_ns)) * 1e-9
    left_out_s = _close_up(segments) if span_s > LONGEST_S else 0.0
    segments.time_ns -= began_ns
    duration_s = float(segments.time_ns[-1]) * 1e-9
    if duration_s > LONGEST_S:
        raise InputFileError(f"{path}: its packets span {span_s:,.0f} s, and {_cut(path, began_ns)}")
    found = connections_of(segments)
    return Capture(
        found.found,
        found.others,
        began_ns,
        duration_s,
        records.count,
        segments.seq.size,
        records.interfaces,
        left,
        records.damage,
        set_back_s,
        left_out_s,
    )


def segments_of(path: Path, most: int = MOST_SEGMENTS) -> tuple[Segments | None, Records, Left]:
    """The TCP segments of a capture in the order of the file, or None; what was read; what is not used.

    Raises:
        InputFileError: If it cannot be read or is no capture, in one line.
    """
    records, left = Records(path), Left()
    parts: list[Segments] = []
    count = 0
    for batch in records.batches():
        link_types = np.array([interface.link_type for interface in records.interfaces])
        batch.interface = same_as(records.interfaces)[batch.interface]
        part = decode(batch, link_types, left)
        if part is not None:
            parts.append(part)
            count += part.seq.size
        if count >= most:
            records.damage = f"it has more than {most:,} TCP segments; only the first ones are read"
            break
    return _joined(parts) if parts else None, records, left


def _nothing(records: Records, left: Left) -> str:
    """Why there is no TCP in a file."""
    if not records.count:
        return f"has no packet{f': {records.damage}' if records.damage else ''}"
    reasons = {
        "are of link types that are not read": left.other_link,
        "are no IP": left.not_ip,
        "are no TCP": left.not_tcp,
        "are fragments of IP": left.fragments,
        "were cut before the end of the TCP header (a larger snap length is needed)": left.cut,
        "have lengths that contradict each other, or no time": left.damaged,
        "have no time (simple packet blocks)": records.untimed,
    }
    told = ", ".join(f"{count:,} {why}" for why, count in reasons.items() if count)
    end = f"; {records.damage}" if records.damage else ""
    return f"has no TCP segment: of {records.count:,} packets {told}{end}"


def _joined(parts: list[Segments]) -> Segments:
    """Several one behind the other; they are empty afterwards, so that no two copies are kept."""
    begins = np.cumsum([0, *(part.seq.size for part in parts)])
    for part, begin in zip(parts, begins, strict=False):
        part.sack_row += begin
    joined = {}
    for one in fields(Segments):
        joined[one.name] = np.concatenate([vars(part).pop(one.name) for part in parts])
    parts.clear()
    return Segments(**joined)


def _in_order(segments: Segments) -> Floats:
    """Sort by time, after times behind a clock that was set back go on from there; by how much it was."""
    found = []
    for interface in np.unique(segments.interface):
        rows = np.flatnonzero(segments.interface == interface)
        steps = np.diff(segments.time_ns[rows])
        back = np.where(steps < -_SET_BACK_NS, -steps, 0)
        if back.any():
            segments.time_ns[rows[1:]] += np.cumsum(back)
            found += (back[back > 0] * 1e-9).tolist()
    if (np.diff(segments.time_ns) < 0).any():
        _reorder(segments, np.argsort(segments.time_ns, kind="stable"))
    return np.array(found)


def _close_up(segments: Segments) -> float:
    """Shorten times in which no connection is open, and return by how much together, in s.

    The ends of a connection are taken to be its first and its last segment.
    """
    keys = keys_of(segments)
    last = np.zeros(keys.max() + 1, dtype=np.int64)
    np.maximum.at(last, keys, np.arange(keys.size))
    is_between = np.maximum.accumulate(last[keys])[:-1] == np.arange(keys.size - 1)
    excess_ns = np.where(is_between, np.maximum(np.diff(segments.time_ns) - _BETWEEN_NS, 0), 0)
    segments.time_ns[1:] -= np.cumsum(excess_ns)
    return float(excess_ns.sum()) * 1e-9


def _cut(path: Path, began_ns: int) -> str:
    """Remedy for a capture that is too long: the command that cuts out its first day (editcap(1))."""
    begin = datetime.fromtimestamp(began_ns // 10**9, UTC).astimezone()  # editcap takes local times
    first, last = (f"{time:%Y-%m-%d %H:%M:%S}" for time in (begin, begin + timedelta(seconds=LONGEST_S)))
    return (
        "connections are open for more than a day of it, which is as much as is read; cut it, as in"
        f' editcap -A "{first}" -B "{last}" {brief(path.name)} part.pcapng'
    )


def _reorder(segments: Segments, order: Ints) -> None:
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    for one in fields(Segments):
        values = getattr(segments, one.name)
        if not one.name.startswith("sack_") or one.name == "sack_permitted":
            setattr(segments, one.name, values[order])
    rows = place[segments.sack_row]
    of_blocks = np.argsort(rows, kind="stable")
    segments.sack_row = rows[of_blocks]
    segments.sack_left, segments.sack_right = segments.sack_left[of_blocks], segments.sack_right[of_blocks]
