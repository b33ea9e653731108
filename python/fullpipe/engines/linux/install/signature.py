"""Whether Debian has signed a file: asked of gpgv, with the keys that this machine holds."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from fullpipe.engines.linux.install.download import ELSEWHERE
from fullpipe.errors import EngineError, InstallOptionError

_KEYRING = "FULLPIPE_DEBIAN_KEYRING"
_USUAL = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{kind}") for kind in ("gpg", "pgp"))
_TIMEOUT_S = 60
REMEDY = f"install gpgv and Debian's keys (debian-archive-keyring), or name a keyring in ${_KEYRING}"


class DoubtError(EngineError):
    """The signature of a file cannot be checked here. The message has the reason."""


def keyring() -> Path:
    """Return the file of trusted keys: $FULLPIPE_DEBIAN_KEYRING, or the keys of this machine.

    Raises:
        InstallOptionError: If the variable is not the name of a file.
        DoubtError: If this machine has no keys.
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
    """Return the part of a file that is signed by one of the keys.

    Raises:
        DoubtError: If there is no gpgv, there are no keys, or no signature is by one of them.
        EngineError: If a signature does not match the text.
    """
    keys = keyring()
    if not shutil.which("gpgv"):
        raise DoubtError("there is no gpgv on this machine")
    with tempfile.TemporaryDirectory() as folder:
        given, text = Path(folder) / "signed", Path(folder) / "text"
        given.write_bytes(content)
        command = ["gpgv", "--status-fd", "1", "--keyring", str(keys), "--output", str(text), str(given)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_TIMEOUT_S)
        said = {line.split()[1] for line in done.stdout.split(b"\n") if line.startswith(b"[GNUPG:] ")}
        if b"BADSIG" in said:
            raise EngineError(f"{url}: changed since it was signed; {ELSEWHERE}")
        if b"GOODSIG" not in said:
            raise DoubtError(f"{url} is not signed by a key of {keys}")
        return text.read_text(encoding="utf-8", errors="replace")
