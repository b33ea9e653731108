"""Reading of a capture file through a window that moves forward; gzip is decompressed on the fly.

For any file size, only the bytes in the window are in memory, and no decompressed data are written to disk.
"""

import os
import zlib
from io import FileIO

PIECE = 1 << 22
"""Size of the window in bytes."""
MOST_UNPACKED_BYTES = 2_000_000_000
"""Largest number of decompressed bytes of a gzip file. A capture of 1.1 million full Ethernet frames has 1.7
GB."""
_MOST_MEMBERS = 1 << 17
"""Largest number of members of a gzip file: four times as many as bgzip makes for 2 GB in members of 64
kB."""
_PACKED_BYTES = 1 << 16
"""Compressed bytes per read."""
_GZIP = b"\x1f\x8b"
"""Magic number of gzip (RFC 1952, section 2.3.1)."""
_WITH_GZIP_HEADER = zlib.MAX_WBITS | 16


class Source:
    """The bytes of a capture in order."""

    damage = ""
    """Reason why the bytes end too early, or ""."""

    def some(self, most: int) -> bytes:
        """Return the next bytes, at least one and up to `most`, or nothing at the end."""
        raise NotImplementedError

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer at the end."""
        parts = []
        while size and (part := self.some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def skip(self, size: int) -> int:
        """Skip the next `size` bytes and return the number of bytes that existed."""
        left = size
        while left and (part := self.some(min(left, PIECE))):
            left -= len(part)
        return size - left


class _Plain(Source):
    """An uncompressed file."""

    def __init__(self, file: FileIO) -> None:
        self._file = file

    def some(self, most: int) -> bytes:
        return self._file.read(most)

    def skip(self, size: int) -> int:
        there = max(min(size, os.fstat(self._file.fileno()).st_size - self._file.tell()), 0)
        self._file.seek(there, os.SEEK_CUR)
        return there


class _Gzip(Source):
    """The content of a gzip file with one or several members (RFC 1952, section 2.2)."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._member = zlib.decompressobj(_WITH_GZIP_HEADER)
        self._members = 1
        self._left = MOST_UNPACKED_BYTES

    def some(self, most: int) -> bytes:
        found = b""
        while not found and not self._is_bounded():
            known = self._member.unconsumed_tail or self._member.unused_data
            packed = known or self._file.read(_PACKED_BYTES)
            if self._member.eof:
                if not packed.startswith(
                    _GZIP[:1]
                ):  # the end of the file, or padding, which gzip(1) also ignores
                    return b""
                self._member, self._members = zlib.decompressobj(_WITH_GZIP_HEADER), self._members + 1
            try:
                found = self._member.decompress(packed, min(most, self._left))
            except zlib.error:
                self.damage = "its gzip data are damaged"
            if not packed and not found and not self._member.eof:
                self.damage = "its gzip data are cut"
        self._left -= len(found)
        return found

    def _is_bounded(self) -> bool:
        """Whether a limit stops reading; `damage` then has the reason."""
        if not self._left:
            most = f"{MOST_UNPACKED_BYTES / 1e9:g} GB"
            self.damage = f"it unpacks to more than {most}; only the first {most} are read"
        elif self._members > _MOST_MEMBERS:
            self.damage = f"it has more than {_MOST_MEMBERS:,} gzip members; only the first members are read"
        return bool(self.damage)


def source_of(file: FileIO) -> Source:
    """Return the bytes of an open file, decompressed if they are gzip.

    Raises:
        OSError: If the file cannot be read. Later reads can raise OSError, too.
    """
    is_packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    return _Gzip(file) if is_packed else _Plain(file)


class Pieces:
    """A capture through a window that moves forward."""

    def __init__(self, file: FileIO) -> None:
        self._source = source_of(file)
        self.data = b""
        """The bytes in the window."""
        self.base = 0
        """Offset of the window in the capture."""
        self.is_last = False
        """Whether the capture ends with the window."""
        self.is_beyond = False
        """Whether the window begins after the end of the capture."""

    @property
    def damage(self) -> str:
        """Reason why the bytes read so far end too early, or ""."""
        return self._source.damage

    def move(self, to: int) -> bool:
        """Move the window to a later offset, and return whether it has any bytes."""
        left = self.data[to - self.base :]
        ahead = max(to - self.base - len(self.data), 0)
        self.is_beyond = self._source.skip(ahead) < ahead
        self.data, self.base = left + self._source.read(PIECE - len(left)), to
        self.is_last = len(self.data) < PIECE
        return bool(self.data)
