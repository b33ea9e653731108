"""Decoding of headers of captured packets in batches: link layer, IP, TCP and its options.

Link layers: Ethernet with VLAN tags (IEEE 802.1Q) and PPPoE (RFC 2516), Linux cooked 1 and 2, loopback, raw
IP (https://www.tcpdump.org/linktypes.html). IP: RFC 791 and 8200. TCP: RFC 9293, 7323, 2018, 3168, 9768.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Batch, Ints

ETHERNET, COOKED, COOKED_2, NULL, LOOP = 1, 113, 276, 0, 108
RAW = (12, 14, 101, 228, 229)
LINK_TYPES = (ETHERNET, COOKED, COOKED_2, NULL, LOOP, *RAW)
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
NONE = -1
"""Value of a missing timestamp, MSS or window scale."""
BLOCKS = 4
"""Largest number of SACK blocks in the options."""
_VLAN = (0x8100, 0x88A8, 0x9100)
_PPPOE, _PPP = 0x8864, {0x0021: 0x0800, 0x0057: 0x86DD}
_MOST_TAGS, _MOST_EXTENSIONS, _MOST_OPTIONS = 4, 8, 40
_LENGTH_OF_8 = (0, 43, 60)
"""IPv6 extension headers whose length field counts units of 8 B after the first 8 B: hop by hop, routing,
destination."""
_FRAGMENT, _AUTHENTICATION, _TCP = 44, 51, 6
_MAPPED = np.uint64(0xFFFF << 32)
Bytes = npt.NDArray[np.uint8]


@dataclass
class Left:
    """Numbers of unused packets by reason."""

    other_link: int = 0
    """Packets on unsupported link layers."""
    not_ip: int = 0
    not_tcp: int = 0
    fragments: int = 0
    cut: int = 0
    """Packets that were cut before the end of the TCP header."""
    damaged: int = 0
    """Packets with contradictory lengths, or without a time."""


@dataclass
class Segments:
    """TCP segments in the order of the file; arrays of shape (n,)."""

    time_ns: Ints
    interface: Ints
    """Number of the interface; in cooked captures, combined with the index of the device."""
    source: npt.NDArray[np.uint64]
    """Source address, shape (n, 2); IPv4 is mapped into IPv6 (RFC 4291, section 2.5.5.2)."""
    target: npt.NDArray[np.uint64]
    ports: npt.NDArray[np.uint16]
    """Ports of source and target, shape (n, 2)."""
    seq: npt.NDArray[np.uint32]
    ack: npt.NDArray[np.uint32]
    flags: npt.NDArray[np.uint16]
    window: npt.NDArray[np.int32]
    """Window field of the header, unscaled."""
    payload: npt.NDArray[np.int32]
    ecn: npt.NDArray[np.uint8]
    """ECN bits of the IP header: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE."""
    identity: npt.NDArray[np.int32]
    """Identification of the IPv4 header; -1 for IPv6."""
    wire_bytes: npt.NDArray[np.int32]
    ts_val: Ints
    ts_ecr: Ints
    mss: npt.NDArray[np.int32]
    scale: npt.NDArray[np.int8]
    sack_permitted: npt.NDArray[np.bool_]
    sack_row: Ints
    """Segment of each SACK block, ascending, shape (m,)."""
    sack_left: npt.NDArray[np.uint32]
    sack_right: npt.NDArray[np.uint32]

    @property
    def sack_begins(self) -> Ints:
        """Index of the first SACK block of each segment, shape (n + 1,)."""
        return np.searchsorted(self.sack_row, np.arange(self.seq.size + 1))


@dataclass
class _Rows:
    """Packets with the position of a header."""

    data: Bytes
    number: Ints
    """Index of the packet in the batch."""
    at: Ints
    """Index of the first byte of the header."""
    end: Ints
    """Index after the last captured byte."""

    def u8(self, offset: int) -> Ints:
        """Return a byte of every header."""
        return self.data[self.at + offset].astype(np.int64)

    def u16(self, offset: int) -> Ints:
        """Return two bytes in network order."""
        return self.u8(offset) << 8 | self.u8(offset + 1)

    def u32(self, offset: int) -> Ints:
        """Return four bytes in network order."""
        return self.u16(offset) << 16 | self.u16(offset + 2)

    def u64(self, offset: int) -> npt.NDArray[np.uint64]:
        """Return eight bytes in network order."""
        return self.u32(offset).astype(np.uint64) << np.uint64(32) | self.u32(offset + 4).astype(np.uint64)

    def among(self, chosen: npt.NDArray[np.bool_] | Ints) -> "_Rows":
        """Return the chosen packets."""
        return _Rows(self.data, self.number[chosen], self.at[chosen], self.end[chosen])

    def has(self, length: int) -> npt.NDArray[np.bool_]:
        """Whether `length` bytes of each header were captured."""
        found: npt.NDArray[np.bool_] = self.at + length <= self.end
        return found


def decode(batch: Batch, link_types: Ints, left: Left) -> Segments | None:
    """Return the TCP segments of a batch, or None if there are none.

    Args:
        batch: The records.
        link_types: Link type of every interface.
        left: Receives the numbers of unused packets.
    """
    rows = _Rows(batch.data, np.arange(batch.at.size), batch.at.copy(), batch.at + batch.captured)
    interface = batch.interface.copy()
    rows = _above_link(rows, link_types[batch.interface], interface, left)
    packets = _Packets.above_ip(rows, batch, left)
    if packets is None:
        return None
    return _tcp(packets, batch, interface, left)


def _above_link(rows: _Rows, types: Ints, interface: Ints, left: Left) -> _Rows:
    """Advance to the IP headers."""
    known = np.isin(types, LINK_TYPES)
    left.other_link += int((~known).sum())
    parts = []
    for kind in np.unique(types[known]):
        of_kind = rows.among(types == kind)
        if kind == ETHERNET:
            parts.append(_untagged(of_kind, 12, left))
        elif kind == COOKED:
            parts.append(_untagged(of_kind, 14, left))
        elif kind == COOKED_2:
            enough = of_kind.has(20)
            left.cut += int((~enough).sum())
            of_kind = of_kind.among(enough)
            interface[of_kind.number] += (1 + of_kind.u32(4)) << 16
            parts.append(_of_type(of_kind, of_kind.u16(0), 20, left))
        else:
            of_kind.at += 4 if kind in (NULL, LOOP) else 0
            parts.append(of_kind)
    return _joined(parts, rows)


def _joined(parts: list[_Rows], rows: _Rows) -> _Rows:
    if not parts:
        return rows.among(np.zeros(rows.at.size, dtype=bool))
    number, at, end = (
        np.concatenate([getattr(part, key) for part in parts]) for key in ("number", "at", "end")
    )
    order = np.argsort(number, kind="stable")
    return _Rows(rows.data, number[order], at[order], end[order])


def _untagged(rows: _Rows, offset: int, left: Left) -> _Rows:
    """Advance past the type at an offset, VLAN tags and PPPoE."""
    enough = rows.has(offset + 2)
    left.cut += int((~enough).sum())
    rows = rows.among(enough)
    rows.at += offset
    for _ in range(_MOST_TAGS):
        tagged = np.isin(rows.u16(0), _VLAN) & rows.has(6)
        if not tagged.any():
            break
        rows.at[tagged] += 4
    kinds = rows.u16(0)
    over_ppp = (kinds == _PPPOE) & rows.has(10)
    if over_ppp.any():
        inner = rows.u16(8)
        for protocol, kind in _PPP.items():
            kinds[over_ppp & (inner == protocol)] = kind
        rows.at[over_ppp] += 8
    return _of_type(rows, kinds, 2, left)


def _of_type(rows: _Rows, kinds: Ints, length: int, left: Left) -> _Rows:
    is_ip = (kinds == 0x0800) | (kinds == 0x86DD)
    left.not_ip += int((~is_ip).sum())
    found = rows.among(is_ip)
    found.at += length
    return found


@dataclass
class _Packets:
    """Packets of TCP over IP: positions of the TCP headers, and fields of the IP headers."""

    rows: _Rows
    source: npt.NDArray[np.uint64]
    target: npt.NDArray[np.uint64]
    ecn: Ints
    identity: Ints
    length: Ints
    """Length of the TCP segment with its header: from the IP header or, if the IP header has no length
    (super-packets), the rest of the packet."""

    @classmethod
    def above_ip(cls, rows: _Rows, batch: Batch, left: Left) -> "_Packets | None":
        """Return the TCP packets among packets positioned at their IP headers."""
        enough = rows.has(20)
        left.cut += int((~enough).sum())
        rows = rows.among(enough)
        version = rows.u8(0) >> 4
        left.not_ip += int((~np.isin(version, (4, 6))).sum())
        parts = [
            part
            for part in (
                _ip4(rows.among(version == 4), batch, left),
                _ip6(rows.among(version == 6), batch, left),
            )
            if part.rows.at.size
        ]
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate([part.rows.number for part in parts]), kind="stable")
        keys = ("source", "target", "ecn", "identity", "length")
        joined = {key: np.concatenate([getattr(part, key) for part in parts])[order] for key in keys}
        return cls(_joined([part.rows for part in parts], rows), **joined)


def _rest(rows: _Rows, batch: Batch, said: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the length of packets from their IP headers on, and whether their frames are that long.

    The length is taken from the IP header or, if it has no length, is the rest of the frame. A frame is
    shorter than this length if a tool has truncated the packet and its record.
    """
    on_wire = batch.at[rows.number] + batch.wire_bytes[rows.number] - rows.at
    return np.where(said > 0, said, on_wire), said <= on_wire


def _ip4(rows: _Rows, batch: Batch, left: Left) -> _Packets:
    header, total = (rows.u8(0) & 15) * 4, rows.u16(2)
    length, is_held = _rest(rows, batch, total)
    is_sound = (header >= 20) & (length >= header) & is_held
    is_fragment = (rows.u16(6) & 0x3FFF) != 0
    is_tcp = rows.u8(9) == _TCP
    left.damaged += int((~is_sound).sum())
    left.not_tcp += int((is_sound & ~is_tcp).sum())
    left.fragments += int((is_sound & is_tcp & is_fragment).sum())
    chosen = is_sound & is_tcp & ~is_fragment
    rows, header, length = rows.among(chosen), header[chosen], length[chosen]
    source, target = (
        np.column_stack([np.zeros(header.size, np.uint64), rows.u32(offset).astype(np.uint64) | _MAPPED])
        for offset in (12, 16)
    )
    found = _Packets(rows, source, target, rows.u8(1) & 3, rows.u16(4), length - header)
    found.rows.at += header
    return found


def _ip6(rows: _Rows, batch: Batch, left: Left) -> _Packets:
    enough = rows.has(40)
    left.cut += int((~enough).sum())
    rows = rows.among(enough)
    length, is_held = _rest(rows, batch, np.where(rows.u16(4) > 0, rows.u16(4) + 40, 0))
    left.damaged += int((~is_held).sum())
    rows, length = rows.among(is_held), length[is_held] - 40
    source, target = (np.column_stack([rows.u64(at), rows.u64(at + 8)]) for at in (8, 24))
    ecn, following = (rows.u16(0) >> 4) & 3, rows.u8(6)
    rows.at += 40
    is_fragment = np.zeros(length.size, dtype=bool)
    for _ in range(_MOST_EXTENSIONS):
        is_short = np.isin(following, _LENGTH_OF_8)
        extends = (is_short | np.isin(following, (_FRAGMENT, _AUTHENTICATION))) & rows.has(8)
        if not extends.any():
            break
        is_fragment |= extends & (following == _FRAGMENT) & ((rows.u16(2) & 0xFFF9) != 0)
        size = np.where(
            is_short, (rows.u8(1) + 1) * 8, np.where(following == _FRAGMENT, 8, (rows.u8(1) + 2) * 4)
        )
        following = np.where(extends, rows.u8(0), following)
        step = np.where(extends, size, 0)
        rows.at += np.minimum(step, np.maximum(rows.end - rows.at, 0))
        length = length - step
    is_tcp = following == _TCP
    left.not_tcp += int((~is_tcp).sum())
    left.fragments += int((is_tcp & is_fragment).sum())
    chosen = is_tcp & ~is_fragment
    identity = np.full(int(chosen.sum()), NONE, dtype=np.int64)
    return _Packets(rows.among(chosen), source[chosen], target[chosen], ecn[chosen], identity, length[chosen])


def _tcp(packets: _Packets, batch: Batch, interface: Ints, left: Left) -> Segments | None:
    rows = packets.rows
    enough, header = rows.has(20), (rows.u8(12) >> 4) * 4
    is_sound = (header >= 20) & (packets.length >= header) & (batch.time_ns[rows.number] >= 0)
    left.cut += int((~enough).sum())
    left.damaged += int((enough & ~is_sound).sum())
    chosen = enough & is_sound
    if not chosen.any():
        return None
    rows, header = rows.among(chosen), header[chosen]
    options = _Options.behind(rows, header)
    return Segments(
        time_ns=batch.time_ns[rows.number],
        interface=interface[rows.number],
        source=packets.source[chosen],
        target=packets.target[chosen],
        ports=np.column_stack([rows.u16(0), rows.u16(2)]).astype(np.uint16),
        seq=rows.u32(4).astype(np.uint32),
        ack=rows.u32(8).astype(np.uint32),
        flags=(rows.u16(12) & 0x1FF).astype(np.uint16),
        window=rows.u16(14).astype(np.int32),
        payload=(packets.length[chosen] - header).astype(np.int32),
        ecn=packets.ecn[chosen].astype(np.uint8),
        identity=packets.identity[chosen].astype(np.int32),
        wire_bytes=np.minimum(batch.wire_bytes[rows.number], 2**31 - 1).astype(np.int32),
        **vars(options),
    )


@dataclass
class _Options:
    """Options of TCP headers, with the fields of `Segments`."""

    ts_val: Ints
    ts_ecr: Ints
    mss: npt.NDArray[np.int32]
    scale: npt.NDArray[np.int8]
    sack_permitted: npt.NDArray[np.bool_]
    sack_row: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    sack_left: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    sack_right: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))

    @classmethod
    def behind(cls, rows: _Rows, header: Ints) -> "_Options":
        """Return the options of every segment, as far as they were captured."""
        count = rows.at.size
        found = cls(
            np.full(count, NONE, np.int64),
            np.full(count, NONE, np.int64),
            np.full(count, NONE, np.int32),
            np.full(count, NONE, np.int8),
            np.zeros(count, dtype=bool),
        )
        here = _Rows(rows.data, np.arange(count), rows.at + 20, np.minimum(rows.at + header, rows.end))
        blocks: list[tuple[Ints, Ints, Ints, Ints]] = []
        for _ in range(_MOST_OPTIONS):
            here = here.among(here.has(1) & (here.u8(0) != 0))
            if not here.at.size:
                break
            kind, length = here.u8(0), here.u8(1)
            is_padding = kind == 1
            is_whole = is_padding | (here.has(2) & (length >= 2) & (here.at + length <= here.end))
            here, kind, length = here.among(is_whole), kind[is_whole], length[is_whole]
            found._take(here, kind, length, blocks)
            here.at += np.where(kind == 1, 1, length)
        if blocks:
            row, number, edge, other = (np.concatenate(part) for part in zip(*blocks, strict=True))
            order = np.lexsort((number, row))
            found.sack_row = row[order]
            found.sack_left, found.sack_right = edge[order].astype(np.uint32), other[order].astype(np.uint32)
        return found

    def _take(
        self, here: _Rows, kind: Ints, length: Ints, blocks: list[tuple[Ints, Ints, Ints, Ints]]
    ) -> None:
        stamps = here.among((kind == 8) & (length == 10))
        self.ts_val[stamps.number], self.ts_ecr[stamps.number] = stamps.u32(2), stamps.u32(6)
        sizes = here.among((kind == 2) & (length == 4))
        self.mss[sizes.number] = sizes.u16(2)
        scales = here.among((kind == 3) & (length == 3))
        self.scale[scales.number] = np.minimum(scales.u8(2), 14)  # RFC 7323, section 2.3
        self.sack_permitted[here.number[(kind == 4) & (length == 2)]] = True
        for block in range(BLOCKS):
            of_block = here.among((kind == 5) & (length >= 10 + 8 * block))
            if not of_block.at.size:
                break
            numbers = np.full(of_block.at.size, block)
            blocks.append(
                (of_block.number, numbers, of_block.u32(2 + 8 * block), of_block.u32(6 + 8 * block))
            )
