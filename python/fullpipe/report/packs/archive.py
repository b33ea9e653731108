"""The zip file of a pack. It is a stranger's: names, sizes and checksums are held before anything is used."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fullpipe import files
from fullpipe.errors import brief
from fullpipe.report.packs.manifest import FILES, LIST, READ_ME, RUNS, Manifest, PackError

MOST_MEMBERS = 1_000_000
MOST_BYTES = 50_000_000_000
"""Most bytes of all members together, unpacked."""
_MOST_LIST_BYTES = 32_000_000
"""Most bytes of the list, which takes some forty times as much memory while it is read."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression that unpacks piece by piece; others unpack without a bound."""
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    RuntimeError,  # a member is encrypted, or needs a version of zip that is not there
    *(OverflowError, ValueError),  # a place or a size is no number of bytes of this file
)
"""Exceptions of `zipfile` for what is no zip file, or a damaged one."""
_CHUNK = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that equal studies are equal files."""
_PART = re.compile(r"[^\x00-\x1f\x7f/\\:]{1,255}")


@dataclass(frozen=True)
class Pack:
    """A pack that is open, with a list that was checked against its members."""

    path: Path
    manifest: Manifest
    _zip: zipfile.ZipFile

    def extract(self, folder: str, into: Path) -> None:
        """Unpack a folder of the pack.

        Raises:
            PackError: If a member is not what the list says.
            ResultError: If a folder cannot be written.
            OSError: If a file cannot be written.
        """
        for name in self.manifest.files:
            if name.startswith(f"{folder}/"):
                self._extract(name, into / PurePosixPath(name).relative_to(folder))

    def has(self, folder: str) -> bool:
        """Whether the pack has a folder."""
        return any(name.startswith(f"{folder}/") for name in self.manifest.files)

    def _extract(self, name: str, target: Path) -> None:
        digest = hashlib.sha256()
        files.make_folder(target.parent)
        with files.hidden(target.parent) as place, (place / "draft").open("xb") as draft:
            try:
                with self._zip.open(name) as member:
                    while part := member.read(_CHUNK):
                        digest.update(part)
                        draft.write(part)
            except _DAMAGED as error:
                raise PackError(f"{self.path}: {name} is damaged: {brief(str(error))}") from None
            if digest.hexdigest() != self.manifest.files[name]:
                raise PackError(f"{self.path}: {name} is damaged: its SHA-256 is another one than listed")
            draft.flush()
            (place / "draft").replace(target)


@contextmanager
def opened(path: Path) -> Iterator[Pack]:
    """Open a pack.

    Raises:
        PackError: If it is none, or has what no pack has: paths that leave the folder, links, members that
            its list does not name, or more than a pack may hold.
    """
    try:
        with _zip(path) as archive:
            members = _members(path, archive)
            manifest = Manifest.from_json(_list_of(path, archive, members), str(path))
            listed, there = set(manifest.files), set(members) - {LIST}
            if listed != there:
                name = min(listed ^ there)
                what = "lacks" if name in listed else "has, unlisted,"
                raise PackError(f"{path}: {what} {name}; the pack is damaged")
            yield Pack(path, manifest, archive)
    except FileNotFoundError:
        raise PackError(f"{path}: no such file") from None
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror or error}") from None


def _zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise PackError(f"{path}: is no pack that `fullpipe pack` wrote: {brief(str(error))}") from None


def write(path: Path, manifest: Manifest, contents: Mapping[str, Path | bytes]) -> None:
    """Write a pack; `contents` are its members but the list, each a file or bytes.

    Raises:
        PackError: If it cannot be written.
    """
    listed = manifest.to_json()
    if len(listed) > _MOST_LIST_BYTES:
        raise PackError(f"{path}: has too many runs for one pack; pack parts of the store")
    try:
        with files.drafted(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, LIST, listed)
            for name, content in contents.items():
                _add(archive, name, content)
    except OSError as error:
        raise PackError(f"{path}: cannot be written: {error.strerror or error}") from error


def _add(archive: zipfile.ZipFile, name: str, content: Path | bytes) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    if isinstance(content, bytes):
        archive.writestr(info, content)
        return
    info.file_size = content.stat().st_size  # of more than 2 GB the header is another one
    with files.open_regular(content) as file, archive.open(info, "w") as member:
        shutil.copyfileobj(file, member, _CHUNK)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, all of which a pack may have.

    Raises:
        PackError: If there is another one.
    """
    found: dict[str, zipfile.ZipInfo] = {}
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise PackError(
            f"{path}: has more than {MOST_MEMBERS:,} members or {MOST_BYTES // 10**9} GB, which no pack has"
        )
    for info in infos:
        mode = info.external_attr >> 16
        if not is_member(info.filename) or info.filename in found:
            raise PackError(f'{path}: has the member "{info.filename}", which no pack has')
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or info.flag_bits & 1:
            raise PackError(f'{path}: "{info.filename}" is a link, a device or encrypted, which no pack has')
        if info.compress_type not in _METHODS:
            raise PackError(f'{path}: "{info.filename}" is compressed in a way that no pack is')
        found[info.filename] = info
    return found


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with files.open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_member(name: str) -> bool:
    """Whether a pack may have a member of a name: a path below one of its folders, or a file beside them."""
    first, *rest = name.split("/")
    if name in (LIST, READ_ME):
        return True
    is_below = all(_PART.fullmatch(part) and part not in (".", "..") for part in rest)
    return first in (FILES, RUNS) and bool(rest) and is_below


def _list_of(path: Path, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> bytes:
    if LIST not in members:
        raise PackError(f"{path}: is no pack that `fullpipe pack` wrote: it has no {LIST}")
    if members[LIST].file_size > _MOST_LIST_BYTES:
        raise PackError(f"{path}: {LIST} is larger than {_MOST_LIST_BYTES // 10**6} MB")
    try:
        return archive.read(LIST)
    except _DAMAGED as error:
        raise PackError(f"{path}: {LIST} is damaged: {brief(str(error))}") from None
