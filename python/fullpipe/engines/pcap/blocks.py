"""Records of a capture file in batches: the position, time and length of each packet in a piece of the file.

Formats: draft-ietf-opsawg-pcap (either byte order, microseconds or nanoseconds) and draft-ietf-opsawg-pcapng
(sections of either byte order, several interfaces, any resolution). A file is read in pieces, and only the
beginning of each packet, so that memory does not depend on the lengths that the file claims. The module
`pieces` decompresses gzip files.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fullpipe import files
from fullpipe.engines.pcap.pieces import Pieces, source_of
from fullpipe.errors import InputFileError, brief

Ints = npt.NDArray[np.int64]
MOST_HEADERS_BYTES = 320
"""Bytes of a packet that are decoded: enough for headers of Ethernet, IP with extensions, and TCP."""
MOST_INTERFACES = 4_096
_LONGEST_PACKET = 1 << 24
"""Longest packet. A larger length means damage."""
_LONGEST_SHORT_BLOCK = 1 << 16
"""Number of bytes of a section header or an interface description that are read. Only comments make such a
block longer."""
_LAST_SECOND = 1 << 33
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order, and unit in ns of the fraction of a second in times, by magic number."""
_SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"
MAGICS = (*_PCAP, _SECTION_MAGIC)
"""First four bytes of captures."""
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14


@dataclass
class Interface:
    """An interface on which packets were captured."""

    link_type: int
    name: str = ""
    number: int = 0
    """Index of the interface in its section."""
    resolution: int = 6
    """Value of if_tsresol: a negative power of 10 or, with the highest bit set, of 2."""
    offset_s: int = 0


@dataclass
class Batch:
    """Records of one piece of a file, shape (n,) each."""

    data: npt.NDArray[np.uint8]
    """The piece, padded with zeros."""
    at: Ints
    """Index of the first captured byte of each packet in the piece."""
    captured: Ints
    """Number of captured bytes of each packet that are decoded, at most `MOST_HEADERS_BYTES`."""
    wire_bytes: Ints
    time_ns: Ints
    """Time since 1970; -1 if the record has no valid time."""
    interface: Ints


@dataclass
class Records:
    """The records of a file, while it is read."""

    path: Path
    interfaces: list[Interface] = field(default_factory=list)
    count: int = 0
    """Packets read so far, of any kind."""
    damage: str = ""
    """Reason why reading stopped before the end of the file, or ""."""
    untimed: int = 0
    """Packets without a time, as in simple packet blocks."""

    def batches(self) -> Iterator[Batch]:
        """Yield all records of the file.

        Raises:
            InputFileError: If the file cannot be read, or is not a capture.
        """
        try:
            with files.open_regular(self.path) as file:
                pieces = Pieces(file)
                pieces.move(0)
                magic = pieces.data[:4]
                if magic in _PCAP:
                    yield from _Pcap(self, pieces, *_PCAP[magic]).batches()
                elif magic == _SECTION_MAGIC:
                    yield from _Pcapng(self, pieces).batches()
                else:
                    why = pieces.damage or f"is no pcap or pcapng: its magic number is {magic.hex()}"
                    raise InputFileError(f"{self.path}: {why}")
        except OSError as error:
            raise InputFileError(f"{self.path}: cannot be read: {error.strerror or error}") from None


def same_as(interfaces: Sequence[Interface]) -> Ints:
    """Return, for every interface, the index of the first equal interface.

    Each section of a file describes its interfaces again.
    """
    first: dict[tuple[int, str, int], int] = {}
    found = [
        first.setdefault((one.link_type, one.name, one.number), place) for place, one in enumerate(interfaces)
    ]
    return np.array(found, dtype=np.int64)


def is_file(path: Path) -> bool:
    """Whether a file, possibly gzip, begins like a pcap or a pcapng; False if it cannot be read."""
    try:
        with files.open_regular(path) as file:
            return source_of(file).read(4) in MAGICS
    except OSError:
        return False


class _Found:
    """Records found so far in the window of the file that is in memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        """One row per record: position, captured bytes, bytes on the wire, high and low half of the time,
        interface."""
        self.headers: list[int] = []
        """Positions of records that are decoded later, all in one step."""

    def batch(self, data: bytes, times_ns: "Ints", columns: "Ints") -> Batch:
        """Return the records as arrays."""
        padded = np.zeros(len(data) + MOST_HEADERS_BYTES + 64, dtype=np.uint8)
        padded[: len(data)] = np.frombuffer(data, dtype=np.uint8)
        captured = np.minimum(columns[:, 1], MOST_HEADERS_BYTES)
        return Batch(padded, columns[:, 0], captured, columns[:, 2], times_ns, columns[:, 5])


class _Format:
    """Base class of the two formats, pcap and pcapng."""

    begin = 0
    """Offset of the first record in the file."""
    where_cut = "after"
    """Word in messages for the place at which a file is cut: "after" or "within" the last packet."""

    def __init__(self, records: Records, pieces: Pieces) -> None:
        self._records, self._pieces = records, pieces

    def batches(self) -> Iterator[Batch]:
        """Yield all packets."""
        place = self.begin
        while self._pieces.move(place):
            found = _Found()
            place = self._scan(found)
            columns = self._columns(found)
            if columns.size:
                self._records.count += len(columns)
                yield found.batch(self._pieces.data, self._times_ns(columns), columns)
            if self._records.damage:
                return
        if self._pieces.is_beyond or self._pieces.damage:
            self._cut(f"{self.where_cut} packet {self._records.count:,}")

    def _cut(self, where: str) -> None:
        """Record in `damage` that the file ends too early."""
        self._records.damage = self._pieces.damage or f"it is cut {where}"

    def _scan(self, found: _Found) -> int:
        """Collect the complete records in the window. Return the offset of the next record in the file."""
        raise NotImplementedError

    def _columns(self, found: _Found) -> Ints:
        """Return the rows of all records found, shape (n, 6)."""
        return np.array(found.rows, dtype=np.int64).reshape(-1, 6)

    def _times_ns(self, columns: Ints) -> Ints:
        """Return the time of every row since 1970."""
        raise NotImplementedError


class _Pcap(_Format):
    """The pcap format: a header, and records."""

    begin = 24
    where_cut = "within"

    def __init__(self, records: Records, pieces: Pieces, order: str, unit_ns: int) -> None:
        super().__init__(records, pieces)
        self._unit_ns = unit_ns
        if len(pieces.data) < 24:
            raise InputFileError(f"{records.path}: {pieces.damage or 'ends within its header'}")
        (link_type,) = struct.unpack_from(f"{order}I", pieces.data, 20)
        records.interfaces.append(Interface(link_type & 0xFFFF))
        self._order, self._captured = order, struct.Struct(f"{order}I")

    def _scan(self, found: _Found) -> int:
        data, at, unpack = self._pieces.data, 0, self._captured.unpack_from
        end, add = len(data), found.headers.append
        while at + 16 <= end:
            (captured,) = unpack(data, at + 8)
            if captured > _LONGEST_PACKET:
                self._records.damage = _says(self._records.count + len(found.headers), captured)
                break
            if at + 16 + (captured if captured < MOST_HEADERS_BYTES else MOST_HEADERS_BYTES) > end:
                break
            add(at)
            at += 16 + captured
        if not self._records.damage and self._pieces.is_last and at < end:
            self._cut(f"within packet {self._records.count + len(found.headers) + 1:,}")
        return self._pieces.base + at

    def _columns(self, found: _Found) -> Ints:
        at = np.array(found.headers, dtype=np.int64)
        columns = np.zeros((len(at), 6), dtype=np.int64)
        if len(at):
            every = np.lib.stride_tricks.sliding_window_view(np.frombuffer(self._pieces.data, np.uint8), 16)
            second, fraction, captured, length = every[at].view(f"{self._order}u4").T
            columns[:, 0], columns[:, 1], columns[:, 2] = at + 16, captured, np.maximum(length, captured)
            columns[:, 3], columns[:, 4] = second, fraction
        return columns

    def _times_ns(self, columns: Ints) -> Ints:
        fractions_ns = np.minimum(columns[:, 4] * self._unit_ns, 999_999_999)
        return np.asarray(columns[:, 3] * 1_000_000_000 + fractions_ns)


def _says(before: int, length: int) -> str:
    return f"packet {before + 1:,} has an impossible length: {length:,} bytes"


class _Pcapng(_Format):
    """The pcapng format: blocks."""

    def __init__(self, records: Records, pieces: Pieces) -> None:
        super().__init__(records, pieces)
        self._order = "<"
        self._first = 0
        """Index, in the file, of the first interface of the section."""

    def _scan(self, found: _Found) -> int:
        """Collect the blocks whose headers are in the window. Return the file offset of the next block."""
        data, at, is_last = self._pieces.data, 0, self._pieces.is_last
        while at + 12 <= len(data):
            if data[at : at + 4] == _SECTION_MAGIC and not self._begins_section(data, at):
                break
            kind, length = struct.unpack_from(f"{self._order}II", data, at)
            if length < 12 or length % 4:
                self._records.damage = (
                    f"a block after packet {self._seen(found):,} has an impossible length: {length:,} bytes"
                )
                break
            wanted = min(length, MOST_HEADERS_BYTES + 32 if kind == _PACKET else _LONGEST_SHORT_BLOCK)
            if at + wanted > len(data) and kind in (_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE, _PACKET):
                if is_last:
                    self._cut(f"after packet {self._seen(found):,}")
                break
            self._take(kind, data, at, length, found)
            if self._records.damage:
                break
            at += length
        else:
            if is_last and at < len(data):
                self._cut(f"after packet {self._seen(found):,}")
        return self._pieces.base + at

    def _seen(self, found: _Found) -> int:
        return self._records.count + len(found.rows)

    def _begins_section(self, data: bytes, at: int) -> bool:
        """Read the byte order of a section. Return False if the section has no valid byte order."""
        order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(data[at + 8 : at + 12])
        if order is None:
            self._records.damage = "a section header has no byte order"
            return False
        self._order, self._first = order, len(self._records.interfaces)
        return True

    def _take(self, kind: int, data: bytes, at: int, length: int, found: _Found) -> None:
        if kind == _PACKET and length >= 32:
            number, high, low, captured, wire = struct.unpack_from(f"{self._order}5I", data, at + 8)
            self._add(found, (at + 28, captured, wire, high, low, number), length - 32)
        elif kind == _OLD_PACKET and length >= 32:
            number, _, high, low, captured, wire = struct.unpack_from(f"{self._order}HHIIII", data, at + 8)
            self._add(found, (at + 28, captured, wire, high, low, number), length - 32)
        elif kind == _SIMPLE:
            self._records.count += 1
            self._records.untimed += 1
        elif kind == _INTERFACE and length >= 20:
            self._add_interface(data[at + 8 : at + min(length, _LONGEST_SHORT_BLOCK) - 4])

    def _add(self, found: _Found, row: tuple[int, int, int, int, int, int], room: int) -> None:
        place, captured, wire, high, low, number = row
        number += self._first
        if number >= len(self._records.interfaces):
            self._records.damage = (
                f"packet {self._seen(found) + 1:,} names an interface that the file does not describe"
            )
        elif captured > room:
            self._records.damage = _says(self._seen(found), captured)
        else:
            found.rows.append((place, captured, max(wire, captured), high, low, number))

    def _add_interface(self, body: bytes) -> None:
        (link_type,) = struct.unpack_from(f"{self._order}H", body)
        made = Interface(link_type, number=len(self._records.interfaces) - self._first)
        for code, value in _options(body[8:], self._order):
            if code == _NAME:
                made.name = brief(value.rstrip(b"\0").decode(errors="replace"))
            elif code == _RESOLUTION and len(value) == 1:
                made.resolution = value[0]
            elif code == _OFFSET and len(value) == 8:
                (made.offset_s,) = struct.unpack(f"{self._order}q", value)
        if len(self._records.interfaces) >= MOST_INTERFACES:
            self._records.damage = f"it describes more than {MOST_INTERFACES:,} interfaces"
        else:
            self._records.interfaces.append(made)

    def _times_ns(self, columns: Ints) -> Ints:
        ticks = columns[:, 3].astype(np.uint64) << np.uint64(32) | columns[:, 4].astype(np.uint64)
        times_ns = np.empty(len(ticks), dtype=np.int64)
        for number in np.unique(columns[:, 5]):
            chosen = columns[:, 5] == number
            times_ns[chosen] = _nanoseconds(ticks[chosen], self._records.interfaces[number])
        return times_ns


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(f"{order}HH", data, at)
        if code == 0 or at + 4 + length > len(data):
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def _nanoseconds(ticks: npt.NDArray[np.uint64], of: Interface) -> Ints:
    """Convert ticks to times since 1970; -1 if they are out of range."""
    power = of.resolution & 0x7F
    if of.resolution & 0x80:
        coarse = max(power - 30, 0)  # the product below must fit into 64 bits
        kept, power = ticks >> np.uint64(min(coarse, 63)), power - coarse
        seconds = kept >> np.uint64(power)
        rest_ns = (kept & np.uint64((1 << power) - 1)) * np.uint64(10**9) >> np.uint64(power)
    elif power <= 19:
        seconds, rest = np.divmod(ticks, np.uint64(10**power))
        up, down = max(9 - power, 0), max(power - 9, 0)
        rest_ns = rest * np.uint64(10**up) // np.uint64(10**down)
    else:
        seconds, rest_ns = np.zeros_like(ticks), np.zeros_like(ticks)
    is_possible = seconds < _LAST_SECOND
    whole_s = np.where(is_possible, seconds, 0).astype(np.int64) + min(
        max(of.offset_s, -_LAST_SECOND), _LAST_SECOND
    )
    is_possible &= (whole_s >= 0) & (whole_s < _LAST_SECOND)
    return np.where(
        is_possible, np.where(is_possible, whole_s, 0) * 1_000_000_000 + rest_ns.astype(np.int64), -1
    )
