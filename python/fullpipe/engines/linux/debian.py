"""Packages from a Debian mirror: found by name, fetched with resume and checksum, opened without dpkg."""

import hashlib
import lzma
import os
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fullpipe.engines.base import Say
from fullpipe.errors import EngineError

_CHUNK = 1 << 20
_TIMEOUT_S = 60
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60


def mirror() -> str:
    """The mirror, which $FULLPIPE_DEBIAN_MIRROR may name."""
    return os.environ.get("FULLPIPE_DEBIAN_MIRROR", "https://deb.debian.org/debian").rstrip("/")


@dataclass(frozen=True)
class Package:
    """One version of a package on the mirror."""

    name: str
    version: str
    url: str
    sha256: str
    size: int


def packages(suite: str, architecture: str) -> Iterator[Package]:
    """Every package of a suite, from its index.

    Raises:
        EngineError: If the index cannot be fetched.
    """
    url = f"{mirror()}/dists/{suite}/main/binary-{architecture}/Packages.xz"
    text = lzma.decompress(_get(url)).decode()
    for paragraph in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line[1:])
        if "Filename" in fields:
            yield Package(
                fields["Package"],
                fields["Version"],
                f"{mirror()}/{fields['Filename']}",
                fields["SHA256"],
                int(fields["Size"]),
            )


def fetch(package: Package, folder: Path, say: Say) -> Path:
    """The file of a package in a folder; what is there of it is not fetched again.

    Raises:
        EngineError: If it cannot be fetched, or is not what the index says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / package.url.rsplit("/", 1)[-1]
    if final.exists():
        return final
    partial = final.with_name(f"{final.name}.part")
    had = partial.stat().st_size if partial.exists() else 0
    if had < package.size:
        say(
            f"fetching {final.name}, {package.size / 1e6:.0f} MB" + (f", from {had / 1e6:.0f}" if had else "")
        )
        _append(package.url, partial, had, package.size, say)
    with partial.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != package.sha256:
        partial.unlink()
        raise EngineError(f"{package.url}: damaged on the way; the same command fetches it again")
    partial.rename(final)
    return final


@contextmanager
def contents(package: Path) -> Iterator[tarfile.TarFile]:
    """The files of a package, to be read from front to back."""
    with package.open("rb") as file:
        name = _seek_member(file, "data.tar")
        if not name:
            raise EngineError(f"{package}: no Debian package; delete it and install again")
        with tarfile.open(fileobj=file, mode="r|*") as tar:
            yield tar


def _seek_member(file: IO[bytes], prefix: str) -> str:
    """Go to the content of the first member of an ar archive whose name starts so."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        return ""
    while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
        name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        if name.startswith(prefix):
            return name
        file.seek(size + size % 2, os.SEEK_CUR)
    return ""


def _get(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise _unreachable(url, error) from error


def _append(url: str, path: Path, had: int, size: int, say: Say) -> None:
    request = urllib.request.Request(url, headers={"Range": f"bytes={had}-"} if had else {})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            resumed = answer.status == 206
            with path.open("ab" if resumed else "wb") as file:
                done, told = (had if resumed else 0), 0
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
                    done += len(chunk)
                    if 10 * done // size > told:
                        told = 10 * done // size
                        say(f"  {100 * done // size} %")
    except OSError as error:
        raise _unreachable(url, error) from error


def _unreachable(url: str, error: OSError) -> EngineError:
    reason = getattr(error, "reason", None) or error
    return EngineError(
        f"{url}: {reason}; the same command continues when the network is back. "
        "$FULLPIPE_DEBIAN_MIRROR names another mirror"
    )
