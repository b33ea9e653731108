"""The compiler and its helpers: what the machine has, and what can be borrowed from Debian's packages."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fullpipe.engines.base import Finding, Say
from fullpipe.engines.linux import debian
from fullpipe.errors import EngineError

_SUITE = "bookworm"
_BORROWED = ("flex", "bison", "m4")
"""What kernels need to read their configuration; the packages need nothing but the C library."""


@cache
def compiler() -> Finding:
    """Whether programs can be compiled and linked statically."""
    remedy = "install gcc and the static C library (Debian: gcc libc6-dev)"
    if not shutil.which("gcc"):
        return Finding("compiler", False, "there is no gcc", remedy, needed=False)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        command = ["gcc", "-static", "-o", f"{folder}/a", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Finding("compiler", False, "gcc cannot link statically", remedy, needed=False)
    return Finding("compiler", True, shutil.which("gcc") or "", needed=False)


def lacking() -> list[str]:
    """Programs that the build of a kernel needs and that are not here; flex and bison are borrowed."""
    return [name for name in ("make", "bc", "ld", "nice") if not shutil.which(name)]


def words() -> tuple[str, str]:
    """What there is to say of the build tools, and what to do."""
    names = ", ".join(lacking())
    return (f"there is no {names}" if names else "make, bc, ld", "install them (Debian: make bc binutils)")


def check() -> None:
    """Make sure that a kernel can be built.

    Raises:
        EngineError: With everything that is missing.
    """
    found = compiler()
    reasons = [] if found.present else [f"{found.detail}; {found.remedy}"]
    if lacking():
        reasons.append("; ".join(words()))
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        reasons.append(f"this is {platform.system()} on {platform.machine()}; it needs Linux on x86_64")
    if reasons:
        raise EngineError("\n".join(reasons))


def _borrow(folder: Path, say: Say) -> None:
    found = {p.name: p for p in debian.packages(_SUITE, "amd64") if p.name in _BORROWED}
    for name in _BORROWED:
        if name not in found:
            raise EngineError(f"{debian.mirror()} has no {name}")
        with debian.contents(debian.fetch(found[name], folder / "packages", say)) as tar:
            tar.extractall(folder, filter="tar")


def borrowed(folder: Path, say: Say) -> Mapping[str, str]:
    """Variables with which make finds flex and bison: the machine's own, or those of packages in `folder`.

    Raises:
        EngineError: If they cannot be fetched.
    """
    if all(shutil.which(name) for name in ("flex", "bison")):
        return {}
    if not (folder / "usr" / "bin" / "m4").exists():
        try:
            _borrow(folder, say)
        except EngineError as error:
            text = "flex or bison is missing: install them with your package manager. They cannot be borrowed"
            raise EngineError(f"{text}, because {error}") from error
    binaries, share = folder / "usr" / "bin", folder / "usr" / "share"
    return {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "M4": str(binaries / "m4"),
        "BISON_PKGDATADIR": str(share / "bison"),
    }
