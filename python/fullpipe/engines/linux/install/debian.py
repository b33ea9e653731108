"""Finds, downloads, verifies and unpacks packages of Debian."""

import hashlib
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from fullpipe.engines.base import Say
from fullpipe.engines.linux.install import download
from fullpipe.engines.linux.install.download import DoubtError
from fullpipe.errors import EngineError

# Unpacks packages without dpkg. Unpacked files stay inside the target folder, and their number and size are
# limited.


_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
_INDEX_MEMORY = 1 << 28
MOST_FILES = 400_000
MOST_BYTES = 8_000_000_000
"""Maximum unpacked size in bytes: four times the size of a kernel's sources."""

Choose = Callable[[tarfile.TarInfo], tarfile.TarInfo | None]
"""Function that changes a member of an archive, or returns None to leave the member out."""


def expanded(content: bytes, limit: int, url: str) -> str:
    """Decompress the content of an xz file, and return its text.

    Raises:
        EngineError: If the content is not an xz file, or its text has more than `limit` bytes.
    """
    unpacking = lzma.LZMADecompressor(memlimit=_INDEX_MEMORY)
    try:
        text = unpacking.decompress(content, limit)
    except lzma.LZMAError as error:
        raise EngineError(f"{url}: not an xz file: {error}; run the same command again") from error
    if not unpacking.eof:
        raise EngineError(f"{url}: cut off, or longer than the limit of {limit:,} bytes unpacked")
    return text.decode(errors="replace")


@contextmanager
def contents(package: Path) -> Iterator[tarfile.TarFile]:
    """Open the archive with the files of a Debian package. The files can only be read in order.

    Raises:
        EngineError: If the file is not a Debian package, or is damaged.
    """
    with package.open("rb") as file:
        if not _seek_member(file, "data.tar"):
            raise EngineError(f"{package}: not a Debian package; delete the file and install again")
        with opened(file, package) as tar:
            yield tar


@contextmanager
def opened(file: IO[bytes], package: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar archive in a package. The members of the archive can only be read in order.

    Raises:
        EngineError: If the file is not a tar archive, is damaged, or has a member outside the target folder.
    """
    try:
        with tarfile.open(fileobj=file, mode="r|*") as tar:
            yield tar
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as error:
        raise EngineError(
            f"{package}: cannot be unpacked: {error}; delete the file and install again"
        ) from error


def extract(tar: tarfile.TarFile, folder: Path, choose: Choose = lambda member: member) -> None:
    """Unpack an archive into a folder. Refuse devices, and links and names that lead out of the folder.

    Raises:
        EngineError: If the archive has more than `MOST_FILES` files or `MOST_BYTES` bytes.
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
                f"the archive exceeds {MOST_FILES:,} files or {MOST_BYTES:,} bytes at {member.name!r}, more "
                "than any package that is needed"
            )
        chosen = choose(member)
        if chosen:
            yield chosen


def _seek_member(file: IO[bytes], prefix: str) -> bool:
    """Move to the content of the first member of an ar archive whose name begins with `prefix`."""
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


# Downloads packages from a Debian mirror, continues interrupted downloads, and refuses packages that cannot
# be verified.
# Debian signs a list with the digests of a suite's indexes, and an index has the digests of its packages. For
# machines that cannot check signatures, pins.txt has the digests of known versions of packages.
# scripts/pins.py writes pins.txt.


_PINS = Path(__file__).parent / "pins.txt"
_MOST_RELEASE = 4_000_000
_MOST_INDEX = 40_000_000
_MOST_EXPANDED = 200_000_000
_MOST_PACKAGE = 1_000_000_000
_FIELDS: Mapping[str, str] = {
    "Package": r"[a-z0-9][a-z0-9.+-]+",
    "Version": r"[0-9][A-Za-z0-9.+~:-]*",
    "Filename": r"[!-~]+",
    "SHA256": r"[0-9a-f]{64}",
    "Size": r"[0-9]{1,12}",
}
"""Fields of a package in the index, and their allowed format. The format is checked because names of packages
become names of files."""


class InconsistentError(EngineError):
    """The digest of a suite's index is not the digest that Debian signed."""


@dataclass(frozen=True)
class Package:
    """One version of a package on the mirror."""

    name: str
    version: str
    url: str
    sha256: str
    size: int
    """Size of the package in bytes."""
    doubt: str = ""
    """Reason why the signature of the index could not be checked; empty if Debian signed the index."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Mirror:
    """A mirror of Debian, and how its packages are verified."""

    insecure: bool = False
    """Whether plain http is allowed."""
    unverified: bool = False
    """Whether packages are used without a check of Debian's signature."""

    @property
    def address(self) -> str:
        """The URL of the mirror.

        Raises:
            InstallOptionError: If the URL is not valid, or uses plain http without `insecure`.
        """
        return download.mirror(insecure=self.insecure)

    def packages(self, suite: str, architecture: str, names: str) -> list[Package]:
        """Find packages of a suite whose names match a pattern.

        Raises:
            EngineError: If the index cannot be downloaded or read, or its digest is not the digest that
            Debian signed.
        """
        part = f"main/binary-{architecture}/Packages.xz"
        url = f"{self.address}/dists/{suite}/{part}"
        try:
            expected, doubt = self._signed_digest(suite, part), ""
        except DoubtError as error:
            expected, doubt = None, str(error)
        index = download.content(url, _MOST_INDEX)
        if expected is not None and hashlib.sha256(index).hexdigest() != expected:
            raise InconsistentError(
                f"{url}: its digest is not the one that Debian signed: the mirror is being updated, or the "
                f"file was changed; run the same command in an hour, or {download.ELSEWHERE}"
            )
        text = expanded(index, _MOST_EXPANDED, url)
        paragraphs = re.finditer(rf"^Package: (?:{names})$(?:\n.+)*", text, re.MULTILINE)
        return [self._package(paragraph[0], url, doubt) for paragraph in paragraphs]

    def fetch(self, package: Package, folder: Path, say: Say) -> Path:
        """Download a package into a folder, and check its digest. A complete file from an earlier download is
        reused, and an incomplete download is continued.

        Raises:
            EngineError: If the package cannot be verified or downloaded, or does not match the index.
        """
        say(f"{package} of Debian, {self._proof(package)}")
        folder.mkdir(parents=True, exist_ok=True)
        final = folder / f"{package.name}_{package.version}.deb"
        if final.exists():
            if _digest(final) == package.sha256:
                return final
            say(f"{final.name} has changed since it was fetched; fetching it again")
            final.unlink()
        partial = final.with_name(f"{final.name}.part")
        had = partial.stat().st_size if partial.exists() else 0
        if had < package.size:
            since = f", from {had / 1e6:.0f}" if had else ""
            say(f"fetching {final.name}, {package.size / 1e6:.0f} MB{since}")
            download.append(package.url, partial, had, package.size, say)
        if _digest(partial) != package.sha256:
            partial.unlink()
            text = "damaged or changed on the way; run the same command again"
            raise EngineError(f"{package.url}: {text}, or {download.ELSEWHERE}")
        partial.rename(final)
        return final

    def _signed_digest(self, suite: str, part: str) -> str:
        """Return the SHA-256 of the index `part` of a suite, read from the list that Debian signed."""
        if self.unverified:
            raise DoubtError("--unverified was given")
        download.keyring()
        url = f"{self.address}/dists/{suite}/InRelease"
        text = download.signed(download.content(url, _MOST_RELEASE), url)
        if not re.search(rf"^(?:Suite|Codename): {suite}$", text, re.MULTILINE):
            raise EngineError(f"{url}: Debian signed this file for another suite; {download.ELSEWHERE}")
        found = re.search(rf"^ ([0-9a-f]{{64}}) +[0-9]+ {re.escape(part)}$", text, re.MULTILINE)
        if not found:
            raise EngineError(f"{url}: has no SHA-256 of {part}; {download.ELSEWHERE}")
        return found[1]

    def _package(self, paragraph: str, url: str, doubt: str) -> Package:
        given = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line[1:])
        for name, pattern in _FIELDS.items():
            if not re.fullmatch(pattern, given.get(name, "")):
                text = f"not an index of packages: {given['Package']} has no valid {name}"
                raise EngineError(f"{url}: {text}; {download.ELSEWHERE}")
        size = int(given["Size"])
        if size > _MOST_PACKAGE:
            raise EngineError(
                f"{url}: {given['Package']} has {size:,} bytes, more than any package that is needed"
            )
        address = f"{self.address}/{given['Filename']}"
        return Package(given["Package"], given["Version"], address, given["SHA256"], size, doubt)

    def _proof(self, package: Package) -> str:
        """Return a text that says how a package was verified.

        Raises:
            EngineError: If the package cannot be verified, and unverified packages are not allowed.
        """
        pinned = pins().get(str(package))
        if pinned not in (None, package.sha256):
            raise EngineError(
                f"{package.url}: the SHA-256 in the index differs from the known SHA-256, so the package was "
                f"changed; {download.ELSEWHERE}"
            )
        if not package.doubt:
            return f"signed by a key of {download.keyring()}"
        if pinned:
            return f"verified by its known digest ({package.doubt})"
        if self.unverified:
            return "NOT VERIFIED: the mirror is trusted"
        raise EngineError(
            f"{package} cannot be verified: {package.doubt}, and pins.txt has no digest of it; "
            f"{download.REMEDY}, or trust the mirror with --unverified"
        )


@cache
def pins() -> Mapping[str, str]:
    """Return the SHA-256 of known packages. A key is the name and the version, separated by a space."""
    return dict(_pinned(_PINS.read_text(encoding="ascii")))


def _pinned(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        digest, package = line.split("  ")
        yield package, digest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
