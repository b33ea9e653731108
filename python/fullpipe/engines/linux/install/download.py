"""Downloads files from a Debian mirror, and checks signatures of Debian."""

import http.client
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fullpipe.engines.base import Say
from fullpipe.errors import EngineError, InstallOptionError, shown

# Downloads a file over https, or reads it from a folder of this machine. A file that exceeds its expected
# size is refused.


_MIRROR = "FULLPIPE_DEBIAN_MIRROR"
ELSEWHERE = f"name another mirror in ${_MIRROR}"
_CHUNK = 1 << 20
_TIMEOUT_S = 60
_PARTIAL = 206


def mirror(*, insecure: bool) -> str:
    """Return the URL of the mirror: the value of $FULLPIPE_DEBIAN_MIRROR, or https://deb.debian.org/debian.

    Raises:
        InstallOptionError: If the URL is not valid, or uses plain http without `insecure`.
    """
    address = os.environ.get(_MIRROR, "https://deb.debian.org/debian").rstrip("/")
    scheme = address.partition(":")[0]
    if scheme == "http" and not insecure:
        text = "others can read and change downloads over plain http; name an https: address"
        raise InstallOptionError(
            f"${_MIRROR} is {shown(address)}: {text}, or accept the risk with --insecure"
        )
    if scheme not in ("https", "http", "file"):
        text = "not an address of a mirror; write https://HOST/debian or file:///FOLDER"
        raise InstallOptionError(f"${_MIRROR} is {shown(address)}: {text}")
    return address


def content(url: str, limit: int) -> bytes:
    """Download the content of a URL, up to `limit` bytes.

    Raises:
        EngineError: If the URL cannot be read, or its content has more than `limit` bytes.
    """
    with _opened(url) as answer:
        read = b"".join(_chunks(answer, url, limit))
    if len(read) > limit:
        raise EngineError(f"{url}: longer than the limit of {limit:,} bytes")
    return read


def append(url: str, path: Path, had: int, size: int, say: Say) -> None:
    """Download the rest of a file of `size` bytes whose first `had` bytes exist.

    Raises:
        EngineError: If the connection ends early, or more than `size` bytes arrive. Received bytes stay in
        the file.
    """
    with _opened(url, had) as answer:
        resumed = getattr(answer, "status", None) == _PARTIAL
        done, told = (had if resumed else 0), 0
        with path.open("ab" if resumed else "wb") as file:
            for chunk in _chunks(answer, url, size - done):
                done += len(chunk)
                if done > size:
                    raise EngineError(f"{url}: longer than the {size:,} bytes in the index")
                file.write(chunk)
                if 10 * done // size > told:
                    told = 10 * done // size
                    say(f"  {100 * done // size} %")
    if done < size:
        raise _broken(url, f"the download ended after {done:,} of {size:,} bytes")


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Refuses redirects from https to other protocols."""

    def redirect_request(self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any,
                         newurl: str) -> urllib.request.Request | None:  # fmt: skip
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise urllib.error.URLError("redirects from https to an address without https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opened(url: str, start: int = 0) -> Any:
    try:
        asked = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
        return urllib.request.build_opener(_NoDowngrade).open(asked, timeout=_TIMEOUT_S)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _broken(url, getattr(error, "reason", None) or error) from error


def _chunks(answer: Any, url: str, limit: int) -> Iterator[bytes]:
    """Yield chunks of the server's response, up to and including the chunk with which the total exceeds the
    limit."""
    come = 0
    while come <= limit:
        try:
            chunk = answer.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _broken(url, error) from error
        if not chunk:
            if getattr(answer, "length", None):  # number of announced bytes that are missing (http only)
                raise _broken(url, f"the connection ended {answer.length:,} bytes too early")
            return
        come += len(chunk)
        yield chunk


def _broken(url: str, reason: object) -> EngineError:
    words = " ".join(str(reason).split()) or type(reason).__name__
    return EngineError(f"{url}: {words}; run the same command later to continue, or {ELSEWHERE}")


# Checks with gpgv and the keys on this machine that Debian has signed a file.


_KEYRING = "FULLPIPE_DEBIAN_KEYRING"
_USUAL = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{kind}") for kind in ("gpg", "pgp"))
_SIGNATURE_TIMEOUT_S = 60
REMEDY = f"install gpgv and Debian's keys (debian-archive-keyring), or name a keyring in ${_KEYRING}"


class DoubtError(EngineError):
    """The signature of a file cannot be checked on this machine. The message has the reason."""


def keyring() -> Path:
    """Return the file of trusted keys: $FULLPIPE_DEBIAN_KEYRING, or the file of the package
    debian-archive-keyring.

    Raises:
        InstallOptionError: If the value of $FULLPIPE_DEBIAN_KEYRING is not the name of a file.
        DoubtError: If the variable is unset and debian-archive-keyring is not installed.
    """
    named = os.environ.get(_KEYRING)
    if named:
        if not Path(named).is_file():
            raise InstallOptionError(f"${_KEYRING} names {named}, which is not a file")
        return Path(named).absolute()
    found = next((path for path in _USUAL if path.is_file()), None)
    if found is None:
        raise DoubtError("Debian's keys are not on this machine")
    return found


def signed(content: bytes, url: str) -> str:
    """Return the part of a file that one of the trusted keys has signed.

    Raises:
        DoubtError: If gpgv or the keys are missing, or no trusted key has signed the file.
        EngineError: If a signature does not match the signed text.
    """
    keys = keyring()
    if not shutil.which("gpgv"):
        raise DoubtError("there is no gpgv on this machine")
    with tempfile.TemporaryDirectory() as folder:
        given, text = Path(folder) / "signed", Path(folder) / "text"
        given.write_bytes(content)
        command = ["gpgv", "--status-fd", "1", "--keyring", str(keys), "--output", str(text), str(given)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SIGNATURE_TIMEOUT_S)
        said = {line.split()[1] for line in done.stdout.split(b"\n") if line.startswith(b"[GNUPG:] ")}
        if b"BADSIG" in said:
            raise EngineError(f"{url}: changed after Debian signed it; {ELSEWHERE}")
        if b"GOODSIG" not in said:
            raise DoubtError(f"{url} is not signed by a key of {keys}")
        return text.read_text(encoding="utf-8", errors="replace")
