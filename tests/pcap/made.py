"""Captures made byte by byte, and connections made packet by packet."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
CLIENT, SERVER = "192.0.2.1", "198.51.100.7"
V4, V6 = 0x0800, 0x86DD


@dataclass(frozen=True)
class Tcp:
    """A TCP segment; its payload is never written."""

    seq: int
    ack: int = 0
    flags: int = ACK
    payload: int = 0
    window: int = 1000
    options: bytes = b""
    ports: tuple[int, int] = (40_000, 5_201)

    def header(self) -> bytes:
        """With options filled up."""
        options = self.options + b"\0" * (-len(self.options) % 4)
        offset = (20 + len(options)) // 4 << 12 | self.flags
        fields = (*self.ports, self.seq % 2**32, self.ack % 2**32, offset, self.window, 0, 0)
        return struct.pack("!HHIIHHHH", *fields) + options


def stamps(value: int, echo: int) -> bytes:
    """Timestamps, as Linux aligns them."""
    return struct.pack("!BBBBII", 1, 1, 8, 10, value % 2**32, echo % 2**32)


def sacks(*blocks: tuple[int, int]) -> bytes:
    """Selective acknowledgements."""
    edges = [edge % 2**32 for block in blocks for edge in block]
    return struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)


def opening(mss: int = 1460, scale: int | None = 7) -> bytes:
    """Options of a SYN."""
    return (
        struct.pack("!BBH", 2, 4, mss)
        + b"\x04\x02\x01\x01"
        + (b"" if scale is None else bytes([1, 3, 3, scale]))
    )


def ip4(segment: Tcp, ends: tuple[str, str] = (CLIENT, SERVER), **fields: int) -> bytes:
    """Headers of IPv4 and TCP; `total` is the length that it says, `fragment` the field of that name."""
    tcp = segment.header()
    total = fields.get("total", 20 + len(tcp) + segment.payload)
    addresses = b"".join(bytes(map(int, end.split("."))) for end in ends)
    head = struct.pack(
        "!BBHHHBBH",
        0x45,
        fields.get("tos", 0),
        total,
        fields.get("identity", 0),
        fields.get("fragment", 0),
        64,
        fields.get("protocol", 6),
        0,
    )
    return head + addresses + tcp


def ip6(segment: Tcp, extensions: Sequence[tuple[int, bytes]] = (), jumbo: bool = False) -> bytes:
    """Headers of IPv6, extension headers by number, and TCP."""
    tcp = segment.header()
    numbers = [number for number, _ in extensions] + [6]
    bodies = [bytes([after]) + body[1:] for (_, body), after in zip(extensions, numbers[1:], strict=True)]
    length = 0 if jumbo else sum(map(len, bodies)) + len(tcp) + segment.payload
    addresses = bytes.fromhex("20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02")
    return struct.pack("!IHBB", 0x60200000, length, numbers[0], 64) + addresses + b"".join(bodies) + tcp


def ethernet(packet: bytes, kind: int = V4, tags: Sequence[int] = ()) -> bytes:
    """With VLAN tags of these types."""
    return (
        b"\x02" * 12 + b"".join(struct.pack("!HH", tag, 7) for tag in tags) + struct.pack("!H", kind) + packet
    )


@dataclass(frozen=True)
class Record:
    """A captured packet: when, its captured bytes, and how long it was on the wire."""

    time_ns: int
    data: bytes
    length: int
    interface: int = 0


def record(time_s: float, data: bytes, payload: int = 0, interface: int = 0) -> Record:
    """A packet without its payload."""
    return Record(round(time_s * 1e9), data, len(data) + payload, interface)


def pcap(records: Iterable[Record], link_type: int = 1, order: str = "<", unit_ns: int = 1_000) -> bytes:
    """The first format, in microseconds or nanoseconds."""
    magic = {1_000: 0xA1B2C3D4, 1: 0xA1B23C4D}[unit_ns]
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 96, link_type)]
    for one in records:
        second, rest_ns = divmod(one.time_ns, 10**9)
        parts.append(
            struct.pack(f"{order}IIII", second, rest_ns // unit_ns, len(one.data), one.length) + one.data
        )
    return b"".join(parts)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A block of the second format."""
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """An option of a block."""
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<") -> bytes:
    """A section header."""
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link_type: int = 1, order: str = "<", options: bytes = b"") -> bytes:
    """A description of an interface."""
    return block(1, struct.pack(f"{order}HHI", link_type, 0, 96) + options, order)


def packet(one: Record, order: str = "<", per_s: int = 10**6) -> bytes:
    """An enhanced packet block, with so many ticks in a second."""
    ticks = one.time_ns * per_s // 10**9
    fields = (one.interface, ticks >> 32, ticks & 0xFFFFFFFF, len(one.data), one.length)
    return block(6, struct.pack(f"{order}5I", *fields) + one.data + bytes(-len(one.data) % 4), order)


def pcapng(records: Iterable[Record], link_type: int = 1, order: str = "<") -> bytes:
    """The second format, with one interface in microseconds."""
    return section(order) + interface(link_type, order) + b"".join(packet(one, order) for one in records)


SEQ, ACKED, PORTS, OPTIONS = 38, 42, 34, 54
"""Where these are in a frame of Ethernet and IPv4."""


def repeated(
    one: Record, times_us: NDArray[np.int64], numbers: Mapping[int, NDArray[np.int64]]
) -> NDArray[np.uint8]:
    """A row of bytes for each time: a record of a pcap, with other 32-bit numbers at places of its data."""
    rows = np.tile(np.frombuffer(pcap([one])[24:], np.uint8), (len(times_us), 1))
    rows[:, :8] = np.column_stack(np.divmod(times_us, 10**6)).astype("<u4").view(np.uint8)
    for place, values in numbers.items():
        written = (values % 2**32).astype(">u4").view(np.uint8)
        rows[:, 16 + place : 20 + place] = written.reshape(-1, 4)
    return rows


def many(count: int, size: int, step: int, *, is_acked: bool) -> bytes:
    """A pcap of so many segments of a size, one step of bytes and 20 us behind the other."""
    rows = np.arange(count)
    sent = record(0, ethernet(ip4(Tcp(0, 1, payload=size))), size)
    found = [repeated(sent, 20 * rows, {SEQ: 1 + step * rows})]
    if is_acked:
        ack = record(0, ethernet(ip4(swapped(Tcp(1, 0)), (SERVER, CLIENT))))
        found.append(repeated(ack, 20 * rows + 10, {ACKED: 1 + step * rows + size}))
    return pcap([]) + np.stack(found, axis=1).tobytes()


def written(folder: Path, data: bytes) -> Path:
    """A file of it."""
    path = folder / "made.pcap"
    path.write_bytes(data)
    return path


def swapped(segment: Tcp) -> Tcp:
    """From the other end."""
    return replace(segment, ports=segment.ports[::-1])


def acknowledged(
    times_s: Iterable[float],
    rtt_s: float = 0.04,
    size: int = 1000,
    ends: tuple[str, str] = (CLIENT, SERVER),
    ports: tuple[int, int] = (40_000, 5_201),
) -> list[Record]:
    """A handshake and segments at times, each acknowledged an RTT later, captured at the sender."""
    said = [
        (0.0, Tcp(1000, 0, SYN, options=opening()), False),
        (rtt_s, Tcp(5000, 1001, SYN | ACK, options=opening()), True),
        (rtt_s + 1e-4, Tcp(1001, 5001), False),
    ]
    for n, time_s in enumerate(times_s):
        said.append((time_s, Tcp(1001 + size * n, 5001, payload=size), False))
        said.append((time_s + rtt_s, Tcp(5001, 1001 + size * (n + 1)), True))
    found = []
    for time_s, segment, is_back in said:
        sent = replace(segment, ports=ports)
        packet = ip4(swapped(sent), (ends[1], ends[0])) if is_back else ip4(sent, ends)
        found.append(record(time_s, ethernet(packet), segment.payload))
    return sorted(found, key=lambda one: one.time_ns)


def download(rate_bps: float, seconds: float, *later_s: float) -> list[Record]:
    """Full segments at a constant rate, and single ones at later times, over a path of 40 ms."""
    step_s = 1514 * 8 / rate_bps
    times_s = [0.1 + n * step_s for n in range(int(seconds / step_s))]
    return acknowledged([*times_s, *later_s], size=1448)
