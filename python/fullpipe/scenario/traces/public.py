"""Public recordings with their licences and addresses. None of them ships with fullpipe."""

import hashlib
import http.client
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fullpipe.errors import UnknownNameError
from fullpipe.scenario.traces.files import TraceError

RAW = "https://raw.githubusercontent.com"
"""Address of files in repositories."""
_MOST_BYTES = 256_000_000
"""Largest file of unknown size."""
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Fetchable:
    """One file of a public set."""

    name: str
    """Name for `fullpipe trace fetch`: SET/FILE."""
    path: str
    """Path below `RAW`."""
    id: str
    """Blob id in git: SHA-1 of a header with the size, and the content."""
    size_bytes: int | None
    """Size of the file. None: unknown."""


@dataclass(frozen=True)
class PublicSet:
    """A published set of recordings."""

    name: str
    what: str
    licence: str
    page: str
    """Web page about the set."""
    files: tuple[Fetchable, ...]
    """Files that can be fetched one by one. Empty for sets in another form."""


@cache
def public_sets() -> tuple[PublicSet, ...]:
    """Return the public sets listed in `public-traces.toml`."""
    text = (files("fullpipe") / "data" / "public-traces.toml").read_text(encoding="utf-8")
    return tuple(_set(entry) for entry in tomllib.loads(text)["sets"])


def _set(entry: dict[str, object]) -> PublicSet:
    name, described = str(entry["name"]), entry.get("files", [])
    assert isinstance(described, list)
    start = f"{entry.get('repository')}/{entry.get('commit')}/{entry.get('folder')}"
    found = (
        Fetchable(f"{name}/{file['name']}", start + file["name"], file["id"], file.get("bytes"))
        for file in described
    )
    return PublicSet(name, str(entry["what"]), str(entry["licence"]), str(entry["page"]), tuple(found))


def choose(name: str) -> tuple[PublicSet, Fetchable]:
    """Return the file named SET/FILE, or SET if the set has one file.

    Raises:
        UnknownNameError: If no such set or file exists.
        TraceError: If the set has several files, or none that can be fetched.
    """
    for one in public_sets():
        if one.name == name and len(one.files) == 1:
            return one, one.files[0]
        if one.name == name and not one.files:
            raise TraceError(name, f"has no file to fetch alone; it is at {one.page}, licence: {one.licence}")
        if one.name == name:
            raise TraceError(name, f"has {len(one.files)} files; name one, such as {one.files[0].name}")
        for file in one.files:
            if file.name == name:
                return one, file
    known = [name for one in public_sets() for name in (one.name, *(file.name for file in one.files))]
    raise UnknownNameError("recording", name, known, "fullpipe trace list")


def fetch(file: Fetchable) -> bytes:
    """Download a file.

    Raises:
        TraceError: If the file cannot be read, or its size or id is not the listed one.
    """
    url = f"{RAW}/{file.path}"
    limit = file.size_bytes or _MOST_BYTES
    data = b"".join(_chunks(url, limit))
    if file.size_bytes is not None and len(data) != file.size_bytes:
        raise TraceError(
            url, f"{len(data):,} bytes are not the {file.size_bytes:,} that it had; nothing is kept"
        )
    if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != file.id:
        raise TraceError(url, f"is not the file with the id {file.id} of git; nothing is kept")
    return data


def _chunks(url: str, limit: int) -> Iterator[bytes]:
    """Yield the downloaded chunks. Raises TraceError beyond the limit."""
    come = 0
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            while come <= limit and (chunk := answer.read(1 << 20)):
                come += len(chunk)
                yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", None) or error).split())
        raise TraceError(url, f"{reason}; with a network, the same command fetches it") from error
    if come > limit:
        raise TraceError(url, f"longer than {limit:,} bytes; nothing is kept")
