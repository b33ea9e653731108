"""The archive of a packed study, and its manifest."""

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
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fullpipe import files
from fullpipe.errors import InputFileError, brief
from fullpipe.runs.meta import DIGEST, EngineId

# Manifest of a pack: its scenarios and runs, and the checksums of its files and tables.


LIST, READ_ME = "study.json", "README.md"
"""Names of the members of a pack that are in no folder."""
FILES, RUNS = "files", "runs"
"""Folders of a pack."""
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(pattern=r"^\w+$")]


class PackError(InputFileError):
    """A pack cannot be written or read, or is damaged. The message has the file, the fault and the cure."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackedRun(_Frozen):
    """One run of a study, finished or planned."""

    scenario: Annotated[int, Field(ge=0)]
    """Index of the scenario in `Manifest.scenarios`."""
    engine: EngineId
    """Engine and versions that made a finished run, or that will make a planned run."""
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    point: dict[str, Any] = {}
    """Swept paths and their values."""
    digest: Annotated[str, Field(pattern=DIGEST)]
    tables: dict[_Name, _Sha256] = {}
    """SHA-256 of every table with rows; empty for a planned run."""

    @property
    def folder(self) -> str:
        """Folder of the run, relative to `runs`."""
        return f"{self.digest}/{self.engine.name}-{self.seed}"


class Manifest(_Frozen):
    """Content of study.json."""

    format: Literal[1] = 1
    fullpipe: str
    """Version of fullpipe that wrote the pack, with its commit if known."""
    versions: dict[str, str] = {}
    """Versions of Python and of packages that made the runs."""
    scenarios: tuple[dict[str, Any], ...]
    """Scenarios without a sweep, as plain data; recordings have their names in the folder `files`."""
    runs: tuple[PackedRun, ...]
    files: dict[str, _Sha256]
    """SHA-256 of every member except study.json, by the name of the member."""

    @property
    def is_made(self) -> bool:
        """Whether the pack has checksums of the tables of at least one run."""
        return any(run.tables for run in self.runs)

    def to_json(self) -> bytes:
        """Return the bytes of study.json."""
        return self.model_dump_json().encode()

    @classmethod
    def from_json(cls, data: bytes, where: str) -> Manifest:
        """Return the manifest that `to_json` wrote.

        Raises:
            PackError: If `data` is not a manifest, or a run names a missing scenario.
        """
        try:
            found = cls.model_validate_json(data)
        except (ValidationError, RecursionError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "too deeply nested"
            raise PackError(f"{where}: {LIST} does not describe a pack: {first}") from None
        if any(run.scenario >= len(found.scenarios) for run in found.runs):
            raise PackError(f"{where}: {LIST} is damaged: a run refers to a scenario that is missing")
        return found


# The zip file of a pack. A pack is untrusted: names, sizes and checksums are checked before use.


MOST_MEMBERS = 1_000_000
MOST_BYTES = 50_000_000_000
"""Maximum number of bytes of all members together, unpacked."""
_MOST_LIST_BYTES = 32_000_000
"""Maximum size of study.json in bytes. Reading this file takes about forty times its size in memory."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that unpack in bounded pieces; `zipfile` unpacks all other methods without a bound."""
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    RuntimeError,  # a member is encrypted, or needs an unsupported version of zip
    *(OverflowError, ValueError),  # an offset or a size is outside the file
)
"""Exceptions of `zipfile` for a damaged file, or a file that is not a zip file."""
_CHUNK = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that equal studies give equal bytes."""
_PART = re.compile(r"[^\x00-\x1f\x7f/\\:]{1,255}")


@dataclass(frozen=True)
class Pack:
    """An open pack, whose manifest has been checked against its members."""

    path: Path
    manifest: Manifest
    _zip: zipfile.ZipFile

    def extract(self, folder: str, into: Path) -> None:
        """Unpack a folder of the pack.

        Raises:
            PackError: If a member is damaged, or its checksum differs from the manifest.
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
                raise PackError(f"{self.path}: {name} is damaged: its SHA-256 differs from the one in {LIST}")
            draft.flush()
            (place / "draft").replace(target)


@contextmanager
def opened(path: Path) -> Iterator[Pack]:
    """Open a pack.

    Raises:
        PackError: If the file is not a pack, or has content that a pack never has: paths that leave the
            folder, links, members that the manifest does not name, or more than the allowed bytes or members.
    """
    try:
        with _zip(path) as archive:
            members = _members(path, archive)
            manifest = Manifest.from_json(_list_of(path, archive, members), str(path))
            listed, there = set(manifest.files), set(members) - {LIST}
            if listed != there:
                name = min(listed ^ there)
                what = f"lacks {name}" if name in listed else f"has {name}, which {LIST} does not name"
                raise PackError(f"{path}: {what}; the pack is damaged")
            yield Pack(path, manifest, archive)
    except FileNotFoundError:
        raise PackError(f"{path}: no such file") from None
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror or error}") from None


def _zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except _DAMAGED as error:
        raise PackError(f"{path}: is not a pack of `fullpipe pack`: {brief(str(error))}") from None


def write(path: Path, manifest: Manifest, contents: Mapping[str, Path | bytes]) -> None:
    """Write a pack; `contents` has every member except study.json, each as a file or as bytes.

    Raises:
        PackError: If the pack cannot be written, or study.json would be too large.
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
    info.file_size = content.stat().st_size  # a member above 2 GB needs a ZIP64 header
    with files.open_regular(content) as file, archive.open(info, "w") as member:
        shutil.copyfileobj(file, member, _CHUNK)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Check that a pack may have every member of a zip file, and return the members by name.

    Raises:
        PackError: If a pack may not have a member, or there are too many members or bytes.
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
            raise PackError(f'{path}: "{info.filename}" has a compression that no pack has')
        found[info.filename] = info
    return found


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with files.open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_member(name: str) -> bool:
    """Whether a pack may have a member of this name: a path in one of its folders, or a file beside these
    folders."""
    first, *rest = name.split("/")
    if name in (LIST, READ_ME):
        return True
    is_below = all(_PART.fullmatch(part) and part not in (".", "..") for part in rest)
    return first in (FILES, RUNS) and bool(rest) and is_below


def _list_of(path: Path, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> bytes:
    if LIST not in members:
        raise PackError(f"{path}: is not a pack of `fullpipe pack`: {LIST} is missing")
    if members[LIST].file_size > _MOST_LIST_BYTES:
        raise PackError(f"{path}: {LIST} is larger than {_MOST_LIST_BYTES // 10**6} MB")
    try:
        return archive.read(LIST)
    except _DAMAGED as error:
        raise PackError(f"{path}: {LIST} is damaged: {brief(str(error))}") from None
