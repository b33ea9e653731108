"""The TCP connections of a capture with the segments of both ends: times in s, sequence numbers in bytes."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.headers import ACK, NONE, RST, SYN, Segments

Floats = npt.NDArray[np.float64]
NO_ACK = -(1 << 62)
"""Value of a missing acknowledgement."""
MOST_CONNECTIONS = 256
"""Largest number of connections that are read: the connections with the most payload. All other connections
are only counted."""
_MAPPED_HIGH = 0xFFFF << 32
_End = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint16]]
"""Upper and lower half of the address, and the port, of each segment."""
_TWICE_NS = 1_000_000
_NEAR = 4
"""The copy of a packet is captured less than 1 ms after the packet, and at most this number of packets of the
same direction later."""


@dataclass(frozen=True, eq=False)
class Sent:
    """The segments from one end of a connection, in the order of capture; arrays of shape (n,)."""

    time_s: Floats
    """Time since the capture's first TCP segment."""
    seq: Ints
    """Sequence number, unwrapped and relative: 0 is the first byte of payload, and a SYN has -1. Without a
    SYN in the capture, 0 is the lowest captured byte."""
    payload: Ints
    """Bytes of payload."""
    ack: Ints
    """Cumulative acknowledgement, as a `seq` of the other end; NO_ACK without one."""
    flags: npt.NDArray[np.uint16]
    window_bytes: Ints
    """Receive window; -1 if it is unknown because the handshake with the window scale was not captured."""
    ecn: npt.NDArray[np.uint8]
    """ECN bits of the IP header: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE."""
    wire_bytes: Ints
    identity: Ints
    """Identification of IPv4, modulo 65,536; -1 for IPv6."""
    ts_val: Ints
    """Timestamp; -1 if the segment has none."""
    ts_ecr: Ints
    """Echoed timestamp; -1 if the segment has none."""
    sack_row: Ints
    """Segment of each SACK block, as an ascending index, shape (m,)."""
    sack_left: Ints
    """First byte of each SACK block, as a `seq` of the other end, shape (m,)."""
    sack_right: Ints
    """First byte after each SACK block, as a `seq` of the other end, shape (m,)."""
    mss_bytes: int | None
    """MSS announced in the SYN; None if the SYN was not captured or lacks the option."""
    scale: int | None
    """Window scale announced in the SYN; None if the SYN was not captured or lacks the option."""
    sack_permitted: bool | None
    """Whether the SYN has the SACK-permitted option; None if the SYN was not captured."""
    zero: int
    """Sequence number on the wire that corresponds to 0 in `seq`, modulo 2**32."""

    @property
    def payload_bytes(self) -> int:
        """Total payload in bytes, retransmissions included."""
        return int(self.payload.sum())


@dataclass(frozen=True, eq=False)
class Connection:
    """A TCP connection as captured on one interface."""

    ends: tuple[str, str]
    """Address and port of both ends, as in "10.0.0.1.80". The first end sent the SYN. Without a captured
    handshake, the first end sent the first captured packet."""
    sent: tuple[Sent, Sent]
    """Segments from each end, in the order of `ends`."""
    interface: int
    views: int = 1
    """Number of interfaces that captured the connection. `sent` is from one of these interfaces: interfaces
    with both directions are preferred, then the one with the most data segments, then the one with the
    earliest data."""
    twice: int = 0
    """Number of packets that were captured twice. `sent` has only the first copy of such a packet."""
    number: int = 1
    """Position of this connection among all connections between the same two ends, in the order of time, from
    1."""
    far: "Connection | None" = None
    """The same connection as captured by the interface that captured the data last; None if no other
    interface captured both directions."""


@dataclass(frozen=True)
class Connections:
    """The connections with the most payload, and the number of omitted connections."""

    found: list[Connection]
    others: int


def connections_of(segments: Segments) -> Connections:
    """Return the connections to which segments belong. The segments must be in the order of time.

    A pair of ends has several connections if a later SYN has another sequence number.
    """
    keys = keys_of(segments)
    payload = np.bincount(keys, weights=segments.payload)
    chosen = np.argsort(-payload, kind="stable")[:MOST_CONNECTIONS]
    order = np.argsort(keys, kind="stable")
    begins = np.searchsorted(keys[order], np.arange(payload.size + 1))
    sack_begins = segments.sack_begins
    found = []
    for key in np.sort(chosen):
        rows = order[begins[key] : begins[key + 1]]
        for number, part in enumerate(_incarnations(segments, rows), 1):
            found.append(replace(_best_view(segments, part, sack_begins), number=number))
    return Connections(found, payload.size - chosen.size)


def keys_of(segments: Segments) -> Ints:
    """Return the index of each segment's pair of ends, in the order of capture, shape (n,)."""
    mine, other = (
        (address[:, 0], address[:, 1], segments.ports[:, n])
        for n, address in enumerate((segments.source, segments.target))
    )
    is_first = _is_less(mine, other)
    columns = {
        f"{end}{n}": np.where(is_first, pair[n], opposite[n])
        for end, pair, opposite in (("first", mine, other), ("second", other, mine))
        for n in range(3)
    }
    frame = pl.DataFrame(columns)
    known = frame.unique(maintain_order=True).with_row_index("key")
    joined = frame.join(known, on=frame.columns, how="left", maintain_order="left")
    return joined["key"].to_numpy().astype(np.int64)


def _is_less(one: _End, other: _End) -> npt.NDArray[np.bool_]:
    """Whether each end in `one` is less than the corresponding end in `other`, in a total order of addresses
    and ports."""
    found = one[1] < other[1]
    for n in (0, 2):
        found = np.where(one[n] == other[n], found, one[n] < other[n])
    return np.asarray(found)


def _incarnations(segments: Segments, rows: Ints) -> list[Ints]:
    """Return the segments of each successive connection of a pair of ends. Every connection begins with a new
    SYN, except a connection that was open before the capture."""
    flags, payload = segments.flags[rows], segments.payload[rows]
    opens = np.flatnonzero((flags & (SYN | ACK | RST)) == SYN)
    numbers = segments.seq[rows[opens]]
    begins = opens[1:][numbers[1:] != numbers[:-1]]
    if opens.size and payload[: opens[0]].any():
        begins = np.concatenate([opens[:1], begins])
    parts = [part for part in np.split(rows, begins) if segments.payload[part].any()]
    largest = sorted(parts, key=lambda part: -int(segments.payload[part].sum()))[:_MOST_ANEW]
    return sorted(largest, key=lambda part: int(part[0])) or [rows]


_MOST_ANEW = 16
"""Largest number of connections that are read per pair of ends: the connections with the most payload."""


def _best_view(segments: Segments, rows: Ints, sack_begins: Ints) -> Connection:
    """Return a connection as captured on its best interface.

    An interface with both directions is best, then one with more data segments, then one with earlier data.
    """
    seen = np.unique(segments.interface[rows])
    if seen.size == 1:
        return _connection(segments, rows, sack_begins, 1)
    views = [rows[segments.interface[rows] == interface] for interface in seen]

    def merit(view: Ints) -> tuple[bool, int, float]:
        is_both = (
            np.unique(segments.ports[view, 0]).size > 1
            or np.unique(segments.source[view], axis=0).shape[0] > 1
        )
        data = view[segments.payload[view] > 0]
        return is_both, data.size, -float(segments.time_ns[data].mean()) if data.size else 0.0

    best = max(views, key=merit)
    found = _connection(segments, best, sack_begins, seen.size)
    others = [view for view in views if view is not best and merit(view)[0]]
    if not others:
        return found
    far = _connection(segments, min(others, key=lambda view: merit(view)[2]), sack_begins, seen.size)
    if far.ends != found.ends:
        far = replace(far, ends=found.ends, sent=(far.sent[1], far.sent[0]))
    return replace(found, far=far)


def _connection(segments: Segments, rows: Ints, sack_begins: Ints, views: int) -> Connection:
    first = rows[0]
    same = (segments.source[rows] == segments.source[first]).all(axis=1)
    is_first = same & (segments.ports[rows, 0] == segments.ports[first, 0])
    opening = segments.flags[rows] & (SYN | ACK)
    if ((opening == SYN) & ~is_first).any() or ((opening == (SYN | ACK)) & is_first).any():
        is_first = ~is_first
    once = ~_is_twice(segments, rows, is_first)
    kept, is_first = rows[once], is_first[once]
    mine, other = (
        f"{_address(address[first])}.{segments.ports[first, n]}"
        for n, address in enumerate((segments.source, segments.target))
    )
    ends = (mine, other) if is_first[0] else (other, mine)  # the first packet is never a copy
    sent = ends_of(segments, kept, is_first, sack_begins)
    return Connection(ends, sent, int(segments.interface[first]), views, int((~once).sum()))


def ends_of(
    segments: Segments, rows: Ints, is_first: npt.NDArray[np.bool_], sack_begins: Ints
) -> tuple[Sent, Sent]:
    """Return the segments from both ends of a connection.

    Args:
        segments: Segments of a capture.
        rows: Indices of the connection's segments, in the order of time, shape (n,).
        is_first: Whether each of these segments is from the first end, shape (n,).
        sack_begins: Index of the first SACK block of each segment.
    """
    numbers = _unwrapped(segments, rows, is_first)
    sent = tuple(
        _sent(segments, rows, is_first == of_first, numbers[not of_first], numbers[of_first], sack_begins)
        for of_first in (True, False)
    )
    is_scaled = _is_scaled(sent)
    scaled = tuple(_with_scale(one, is_scaled) for one in sent)
    return scaled[0], scaled[1]


def _is_twice(segments: Segments, rows: Ints, is_first: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether packets are copies of an IPv4 packet that was captured shortly before."""
    found = np.zeros(rows.size, dtype=bool)
    columns = (
        segments.identity,
        segments.seq,
        segments.ack,
        segments.flags,
        segments.payload,
        segments.window,
    )
    for direction in (True, False):
        place = np.flatnonzero(is_first == direction)
        of = rows[place]
        for back in range(1, _NEAR + 1):
            later, earlier = of[back:], of[:-back]
            same = (segments.identity[later] > 0) & (
                segments.time_ns[later] - segments.time_ns[earlier] < _TWICE_NS
            )
            for column in (*columns, segments.ts_val):
                same &= column[later] == column[earlier]
            found[place[back:][same]] = True
    return found


def _unwrapped(segments: Segments, rows: Ints, is_first: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return unwrapped numbers of both ends' bytes, from the first byte of payload, shape (n,) each.

    The numbers of an end are the sequence numbers in its own segments, and the acknowledgements in segments
    of the other end. Each number is within 2 GB of the previous number (RFC 9293, section 3.4).
    """
    flags = segments.flags[rows]
    has_ack = ((flags & ACK) != 0) & ((flags & RST) == 0)
    found = []
    for of_first in (True, False):
        is_own = is_first == of_first
        valid = is_own | has_ack
        raw = np.where(is_own, segments.seq[rows], segments.ack[rows])
        steps = np.diff(raw[valid]).astype(np.int32).astype(np.int64)
        whole = np.full(rows.size, NO_ACK, dtype=np.int64)
        whole[valid] = np.concatenate([[0], np.cumsum(steps)])[: int(valid.sum())]
        opening = np.flatnonzero(is_own & ((flags & SYN) != 0))
        data = is_own & (segments.payload[rows] > 0)
        if opening.size:
            base = int(whole[opening[0]]) + 1
        else:
            base = int(whole[data].min() if data.any() else whole[valid].min() if valid.any() else 0)
        whole[valid] -= base
        found.append(whole)
    return found[0], found[1]


def _sent(
    segments: Segments,
    rows: Ints,
    own: npt.NDArray[np.bool_],
    numbers: Ints,
    of_other: Ints,
    sack_begins: Ints,
) -> Sent:
    """Return the segments from one end; `of_other` has the acknowledgements in these segments."""
    chosen = rows[own]
    is_opening = (segments.flags[chosen] & SYN) != 0
    seq = numbers[own]
    ack = of_other[own]
    counts = sack_begins[chosen + 1] - sack_begins[chosen]
    sack_row = np.repeat(np.arange(chosen.size), counts)
    place = np.repeat(sack_begins[chosen] - np.cumsum(counts) + counts, counts) + np.arange(sack_row.size)
    raw_ack = segments.ack[chosen[sack_row]]
    edges = [
        (edge[place] - raw_ack).astype(np.uint32).astype(np.int32) + ack[sack_row]
        for edge in (segments.sack_left, segments.sack_right)
    ]
    usable = (ack[sack_row] != NO_ACK) & (edges[1] > edges[0])
    opening = chosen[is_opening][:1]

    def said(values: npt.NDArray[np.int32] | npt.NDArray[np.int8]) -> int | None:
        return int(values[opening[0]]) if opening.size and values[opening[0]] != NONE else None

    return Sent(
        time_s=np.asarray(segments.time_ns[chosen] * 1e-9, dtype=np.float64),
        seq=seq,
        payload=segments.payload[chosen].astype(np.int64),
        ack=ack,
        flags=segments.flags[chosen],
        window_bytes=segments.window[chosen].astype(np.int64),
        ecn=segments.ecn[chosen],
        wire_bytes=segments.wire_bytes[chosen].astype(np.int64),
        identity=segments.identity[chosen].astype(np.int64),
        ts_val=segments.ts_val[chosen],
        ts_ecr=segments.ts_ecr[chosen],
        sack_row=sack_row[usable],
        sack_left=edges[0][usable],
        sack_right=edges[1][usable],
        mss_bytes=said(segments.mss),
        scale=said(segments.scale),
        sack_permitted=bool(segments.sack_permitted[opening[0]]) if opening.size else None,
        zero=int(segments.seq[chosen[0]] - seq[0]) % 2**32 if chosen.size else 0,
    )


def _is_scaled(sent: Sequence[Sent]) -> bool | None:
    """Whether windows are scaled, which is the case if both SYNs have the option (RFC 7323, section 2.2);
    None if unknown."""
    opened = [one for one in sent if one.sack_permitted is not None]
    if any(one.scale is None for one in opened):
        return False
    return True if len(opened) == len(sent) else None


def _with_scale(one: Sent, is_scaled: bool | None) -> Sent:
    """Convert windows to bytes, or to -1 if the scale is unknown. The window of a SYN is never scaled."""
    is_opening = (one.flags & SYN) != 0
    other = NONE if is_scaled is None else one.window_bytes << ((one.scale or 0) if is_scaled else 0)
    return replace(one, window_bytes=np.where(is_opening, one.window_bytes, other))


def _address(pair: npt.NDArray[np.uint64]) -> str:
    high, low = int(pair[0]), int(pair[1])
    if high == 0 and low & ~0xFFFFFFFF == _MAPPED_HIGH:
        return str(ipaddress.IPv4Address(low & 0xFFFFFFFF))
    return str(ipaddress.IPv6Address(high << 64 | low))
