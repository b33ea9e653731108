"""The program that runs in the guest: compiled from `guest/`, or taken from another machine."""

import hashlib
import lzma
import subprocess
import tarfile
import tempfile
import zlib
from functools import cache
from pathlib import Path

from fullpipe.engines import cache as caches
from fullpipe.engines.linux.install import toolchain
from fullpipe.engines.linux.install.installed import folder
from fullpipe.errors import EngineError, InstallOptionError

_ENGINE = Path(__file__).parent.parent
_SOURCES = _ENGINE / "guest"
_COMPILER = ("gcc", "-std=gnu11", "-O2", "-static", "-s", "-Wl,--build-id=none")


@cache
def sources() -> str:
    """Return a fingerprint of this engine's code: the guest's program, and the code that writes its script
    and reads its results."""
    digest = hashlib.sha256()
    for path in sorted(_ENGINE.rglob("*.*")):
        if path.suffix in (".py", ".c", ".h"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def program() -> Path:
    """Return the path of the guest's program, compiled or not."""
    return folder() / _program_name()


def compile_program() -> Path:
    """Return the guest's program. It is compiled if it is missing or its sources have changed.

    Raises:
        EngineError: If there is no compiler, or it fails.
    """
    final = program()
    if final.is_file():
        return final
    found = toolchain.compiler()
    if not found.present:
        raise EngineError(f"{found.detail}; {found.remedy}")
    with tempfile.TemporaryDirectory(dir=caches.made("linux")) as work:
        made = Path(work) / "guest"
        files = sorted(str(path) for path in _SOURCES.glob("*.c"))
        done = subprocess.run(
            [*_COMPILER, "-o", str(made), *files], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise EngineError(f"gcc cannot compile the guest's program:\n{done.stderr}")
        made.replace(final)
    return final


def take_program(archive: Path) -> None:
    """Install the guest's program from an archive or a file made on another machine.

    Raises:
        InstallOptionError: If the program is not in it, or was compiled from other sources.
        EngineError: If it cannot be read.
    """
    name = _program_name()
    try:
        with tarfile.open(archive) as tar:
            member = next((m for m in tar if Path(m.name).name == name), None)
            content = tar.extractfile(member) if member else None
            data = content.read() if content else None
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error):
        data = archive.read_bytes() if archive.name == name else None
    except OSError as error:
        raise EngineError(f"{archive}: {error.strerror}") from error
    if data is None:
        raise InstallOptionError(
            f"{archive}: has no {name}; that file is in the cache of a machine on which the engine of this "
            "version of fullpipe is installed"
        )
    partial = program().with_suffix(".part")
    partial.write_bytes(data)
    partial.chmod(0o755)
    partial.replace(program())


def _program_name() -> str:
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.glob("*.[ch]")):
        digest.update(path.read_bytes())
    return f"guest-{digest.hexdigest()[:12]}"
