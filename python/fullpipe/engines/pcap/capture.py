"""Reading of a pcap or pcapng file as TCP connections."""

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from fullpipe.engines.pcap.blocks import Interface, Ints, Records, same_as
from fullpipe.engines.pcap.connections import Connection, Floats, connections_of, keys_of
from fullpipe.engines.pcap.headers import Left, Segments, decode
from fullpipe.errors import InputFileError, brief

MOST_SEGMENTS = 1_100_000
"""Largest number of segments that are read from a file. This limit and the limit in `window` restrict memory
to 700 MB."""
LONGEST_S = 86_400.0
"""Longest total time during which at least one connection of a capture is open."""
_BETWEEN_NS = 1_000_000_000
"""Longest pause (time without an open connection) in captures of more than a day; longer pauses are
shortened."""
_SET_BACK_NS = 1_000_000_000
"""A larger decrease of time means that the clock was set back. A smaller decrease means that records are out
of order."""


@dataclass(frozen=True)
class Capture:
    """The TCP content of a capture file."""

    connections: list[Connection]
    """The connections with the most payload, in the order of their first segments."""
    others: int
    """Number of other connections."""
    began_ns: int
    """Time of the capture's first TCP segment, in ns since 1970."""
    duration_s: float
    """Time from the capture's first TCP segment to its last."""
    packets: int
    """Packets in the file, of any kind."""
    segments: int
    """TCP segments in the file."""
    interfaces: list[Interface]
    left: Left
    """Numbers of unused packets by reason."""
    damage: str
    """Reason why reading stopped before the end of the file, in one line, or ""."""
    set_back_s: Floats
    """Every amount by which the clock was set back. Later times are shifted so that time continues."""
    left_out_s: float
    """Total time that was removed from pauses (times without an open connection), in captures of more than a
    day."""


def read(path: Path) -> Capture:
    """Read the TCP connections of a capture.

    Times in `Connection.sent[n]` are seconds since the capture's first TCP segment. Sequence numbers, windows
    and lengths are in bytes. `fullpipe.engines.pcap.flows_of(capture.connections)` returns the bulk flows
    with their RTTs, bytes in flight, estimates of the congestion window, and retransmissions.

    Args:
        path: A pcap of either byte order, in microseconds or nanoseconds, or a pcapng; also as gzip. Snap
            lengths can be as small as the headers, as payload is never read.

    Raises:
        InputFileError: If the file cannot be read, is not a capture, or has no TCP; the message has one line.
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
    """Return the TCP segments in the order of the file (or None), the records, and the unused packets.

    Raises:
        InputFileError: If the file cannot be read or is not a capture; the message has one line.
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
            records.damage = (
                f"it has more than {most:,} TCP segments; only the first {most:,} segments are read"
            )
            break
    return _joined(parts) if parts else None, records, left


def _nothing(records: Records, left: Left) -> str:
    """Return the reason for which a file has no TCP segments."""
    if not records.count:
        return f"has no packet{f': {records.damage}' if records.damage else ''}"
    reasons = {
        "are of link types that are not read": left.other_link,
        "are not IP": left.not_ip,
        "are not TCP": left.not_tcp,
        "are fragments of IP": left.fragments,
        "were cut before the end of the TCP header (a larger snap length is needed)": left.cut,
        "have lengths that contradict each other, or no time": left.damaged,
        "have no time (simple packet blocks)": records.untimed,
    }
    told = ", ".join(f"{count:,} {why}" for why, count in reasons.items() if count)
    end = f"; {records.damage}" if records.damage else ""
    return f"has no TCP segment: of {records.count:,} packets {told}{end}"


def _joined(parts: list[Segments]) -> Segments:
    """Concatenate parts of the segments. Every field of the parts is removed once it is concatenated, so that
    no segment is in memory twice."""
    begins = np.cumsum([0, *(part.seq.size for part in parts)])
    for part, begin in zip(parts, begins, strict=False):
        part.sack_row += begin
    joined = {}
    for one in fields(Segments):
        joined[one.name] = np.concatenate([vars(part).pop(one.name) for part in parts])
    parts.clear()
    return Segments(**joined)


def _in_order(segments: Segments) -> Floats:
    """Undo setbacks of the clock, sort by time, and return the setbacks in s."""
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
    """Shorten times without an open connection, and return the total time cut, in s.

    A connection is open from its first segment to its last.
    """
    keys = keys_of(segments)
    last = np.zeros(keys.max() + 1, dtype=np.int64)
    np.maximum.at(last, keys, np.arange(keys.size))
    is_between = np.maximum.accumulate(last[keys])[:-1] == np.arange(keys.size - 1)
    excess_ns = np.where(is_between, np.maximum(np.diff(segments.time_ns) - _BETWEEN_NS, 0), 0)
    segments.time_ns[1:] -= np.cumsum(excess_ns)
    return float(excess_ns.sum()) * 1e-9


def _cut(path: Path, began_ns: int) -> str:
    """Return the remedy for a capture that is too long: the command of editcap(1) that extracts one day."""
    begin = datetime.fromtimestamp(began_ns // 10**9, UTC).astimezone()  # editcap takes local times
    first, last = (f"{time:%Y-%m-%d %H:%M:%S}" for time in (begin, begin + timedelta(seconds=LONGEST_S)))
    return (
        "connections are open for more than a day of this time, which is the maximum; cut the capture, as in"
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
