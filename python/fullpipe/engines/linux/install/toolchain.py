"""The compiler and its helpers: what the machine has, and what can be borrowed from Debian's packages."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fullpipe.engines.base import Requirement, Say
from fullpipe.engines.linux.install import archives, debian
from fullpipe.errors import EngineError, InstallOptionError

SUITE = "bookworm"
BORROWED = ("flex", "bison", "m4")
"""Programs that read a kernel's configuration. Their packages depend only on the C library."""


@cache
def compiler() -> Requirement:
    """Check that programs can be compiled and linked statically."""
    remedy = "install gcc and the static C library (Debian: gcc libc6-dev)"
    if not shutil.which("gcc"):
        return Requirement("compiler", False, "there is no gcc", remedy, needed=False)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        command = ["gcc", "-static", "-o", f"{folder}/a", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Requirement("compiler", False, "gcc cannot link statically", remedy, needed=False)
    return Requirement("compiler", True, shutil.which("gcc") or "", needed=False)


def lacking() -> list[str]:
    """Return missing programs that building a kernel needs, except flex and bison, which are downloaded."""
    return [name for name in ("make", "bc", "ld", "nice") if not shutil.which(name)]


def words() -> tuple[str, str]:
    """Return the state of the build tools, and the remedy."""
    names = ", ".join(lacking())
    return (f"there is no {names}" if names else "make, bc, ld", "install them (Debian: make bc binutils)")


def check() -> None:
    """Check that a kernel can be built.

    Raises:
        EngineError: If something is missing. The message lists everything.
    """
    found = compiler()
    reasons = [] if found.present else [f"{found.detail}; {found.remedy}"]
    if lacking():
        reasons.append("; ".join(words()))
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        reasons.append(f"this is {platform.system()} on {platform.machine()}; it needs Linux on x86_64")
    if reasons:
        raise EngineError("\n".join(reasons))


def _borrow(mirror: debian.Mirror, folder: Path, say: Say) -> None:
    """Unpack next to the folder and rename, so that the folder is never incomplete."""
    found = {p.name: p for p in mirror.packages(SUITE, "amd64", "|".join(BORROWED))}
    lacking = [name for name in BORROWED if name not in found]
    if lacking:
        raise EngineError(f"{mirror.address} has no {lacking[0]}")
    fetched = [mirror.fetch(found[name], folder.parent / "packages", say) for name in BORROWED]
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unpacking-") as made:
        for package in fetched:
            with archives.contents(package) as tar:
                archives.extract(tar, Path(made) / "tools")
        (Path(made) / "tools").replace(folder)


def borrowed(mirror: debian.Mirror, folder: Path, say: Say) -> Mapping[str, str]:
    """Return variables by which make finds flex and bison: the machine's, or those of packages in `folder`.

    Raises:
        InstallOptionError: If the mirror's address is not valid.
        EngineError: If the packages cannot be downloaded.
    """
    if all(shutil.which(name) for name in ("flex", "bison")):
        return {}
    if not folder.exists():
        try:
            _borrow(mirror, folder, say)
        except InstallOptionError:
            raise
        except EngineError as error:
            text = "flex or bison is missing: install them with your package manager. They cannot be borrowed"
            raise EngineError(f"{text}, because {error}") from error
    binaries, share = folder / "usr" / "bin", folder / "usr" / "share"
    return {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "M4": str(binaries / "m4"),
        "BISON_PKGDATADIR": str(share / "bison"),
    }
