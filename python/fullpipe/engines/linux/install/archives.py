"""Unpacks packages without dpkg: what they hold stays below a folder, and has bounds."""

import lzma
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fullpipe.errors import EngineError

_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
_INDEX_MEMORY = 1 << 28
MOST_FILES = 400_000
MOST_BYTES = 8_000_000_000
"""Maximum unpacked size, four times that of a kernel's sources."""

Choose = Callable[[tarfile.TarInfo], tarfile.TarInfo | None]
"""Changes a member of an archive. None leaves it out."""


def expanded(content: bytes, limit: int, url: str) -> str:
    """Unpack the text of an xz file.

    Raises:
        EngineError: If it is not an xz file, or unpacks to more than `limit` bytes.
    """
    unpacking = lzma.LZMADecompressor(memlimit=_INDEX_MEMORY)
    try:
        text = unpacking.decompress(content, limit)
    except lzma.LZMAError as error:
        raise EngineError(f"{url}: not an xz file: {error}; the same command fetches it again") from error
    if not unpacking.eof:
        raise EngineError(f"{url}: cut off, or longer than {limit:,} bytes unpacked, which is too much")
    return text.decode(errors="replace")


@contextmanager
def contents(package: Path) -> Iterator[tarfile.TarFile]:
    """Open the files of a Debian package, to be read sequentially.

    Raises:
        EngineError: If it is not a Debian package, or is damaged.
    """
    with package.open("rb") as file:
        if not _seek_member(file, "data.tar"):
            raise EngineError(f"{package}: not a Debian package; delete it and install again")
        with opened(file, package) as tar:
            yield tar


@contextmanager
def opened(file: IO[bytes], package: Path) -> Iterator[tarfile.TarFile]:
    """Open an archive in a package, to be read sequentially.

    Raises:
        EngineError: If it is not an archive, is damaged, or has a member that leads out of its folder.
    """
    try:
        with tarfile.open(fileobj=file, mode="r|*") as tar:
            yield tar
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as error:
        raise EngineError(f"{package}: cannot be unpacked: {error}; delete it and install again") from error


def extract(tar: tarfile.TarFile, folder: Path, choose: Choose = lambda member: member) -> None:
    """Unpack an archive into a folder. Devices, and links and names that lead out of the folder, are refused.

    Raises:
        EngineError: If there are too many files or bytes.
        tarfile.TarError: If the archive is damaged, or a member is refused.
    """
    if not hasattr(tarfile, "data_filter"):
        raise EngineError("this Python cannot unpack archives safely; use Python 3.11.4 or newer")
    tar.extractall(folder, members=_chosen(tar, choose), filter="data")


def _chosen(tar: tarfile.TarFile, choose: Choose) -> Iterator[tarfile.TarInfo]:
    files = size = 0
    for member in tar:
        files, size = files + 1, size + member.size
        if files > MOST_FILES or size > MOST_BYTES:
            raise EngineError(
                f"{member.name!r} and what is before it have more than {MOST_FILES:,} files or "
                f"{MOST_BYTES:,} bytes, more than any package used here"
            )
        chosen = choose(member)
        if chosen:
            yield chosen


def _seek_member(file: IO[bytes], prefix: str) -> bool:
    """Move to the content of the first member of an ar archive whose name has this prefix."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        return False
    while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
        size = header[48:58].strip()
        if header.startswith(prefix.encode()):
            return True
        if not size.isdigit():
            return False
        file.seek(int(size) + int(size) % 2, os.SEEK_CUR)
    return False
