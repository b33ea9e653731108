"""Installed parts of the engine: build tools, the guest's program, and the kernel with its features."""

import functools
import hashlib
import json
import lzma
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from fullpipe.engines import cache
from fullpipe.engines.base import Requirement, Say
from fullpipe.engines.linux.install import debian
from fullpipe.engines.linux.tc import qdisc
from fullpipe.errors import EngineError, InstallOptionError

# Names of Fullpipe's congestion control algorithms in a kernel.


_SAME = (
    "reno",
    "cubic",
    "bic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "scalable",
    "westwood",
    "vegas",
    "veno",
)
_ALSO = ("nv", "yeah", "cdg", "lp", "dctcp", "prague", "bbr2")
OURS = (*_SAME, *_ALSO, "bbr1", "bbr3")
"""Names of Fullpipe's algorithms that a kernel may have."""

ANSWERED = ("dctcp", "prague")
"""Algorithms that the receiver must also run, because these algorithms change the receiver's ACKs."""


def in_kernel(ours: str, known: Collection[str]) -> str | None:
    """Return the kernel's name of the algorithm `ours`, or None if the kernel lacks the algorithm.

    In kernels with BBRv3, the name of BBRv3 is "bbr" and the name of BBRv1 is "bbr1".
    """
    with_bbr3 = "bbr1" in known
    if ours == "bbr1":
        name = "bbr1" if with_bbr3 else "bbr"
    elif ours == "bbr3":
        name = "bbr" if with_bbr3 else "bbr3"
    else:
        name = ours
    return name if name in known else None


# The compiler and other build tools, installed on the machine or taken from Debian's packages.


SUITE = "bookworm"
BORROWED = ("flex", "bison", "m4")
"""Programs that a build of the kernel's configuration needs. The Debian packages of these programs depend
only on the C library, so the programs can be used on other distributions."""


@functools.cache
def compiler() -> Requirement:
    """Check that gcc can compile and statically link a program."""
    remedy = "install gcc and the static C library (Debian: gcc libc6-dev)"
    if not shutil.which("gcc"):
        return Requirement("compiler", False, "gcc is missing", remedy, needed=False)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        command = ["gcc", "-static", "-o", f"{folder}/a", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return Requirement("compiler", False, "gcc cannot link statically", remedy, needed=False)
    return Requirement("compiler", True, shutil.which("gcc") or "", needed=False)


def lacking() -> list[str]:
    """Return the missing build tools of a kernel, except flex and bison, which `borrowed` downloads."""
    return [name for name in ("make", "bc", "ld", "nice") if not shutil.which(name)]


def words() -> tuple[str, str]:
    """Return a text that lists the missing or present build tools, and says how to install missing ones."""
    names = ", ".join(lacking())
    return (f"missing: {names}" if names else "make, bc, ld", "install them (Debian: make bc binutils)")


def check() -> None:
    """Check that a kernel can be built.

    Raises:
        EngineError: If a build tool is missing. The message lists all missing tools.
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
    """Unpack flex, bison and m4 into a temporary folder, then rename it, so that `folder` is never
    incomplete."""
    found = {p.name: p for p in mirror.packages(SUITE, "amd64", "|".join(BORROWED))}
    lacking = [name for name in BORROWED if name not in found]
    if lacking:
        raise EngineError(f"{mirror.address} has no {lacking[0]}")
    fetched = [mirror.fetch(found[name], folder.parent / "packages", say) for name in BORROWED]
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unpacking-") as made:
        for package in fetched:
            with debian.contents(package) as tar:
                debian.extract(tar, Path(made) / "tools")
        (Path(made) / "tools").replace(folder)


def borrowed(mirror: debian.Mirror, folder: Path, say: Say) -> Mapping[str, str]:
    """Return the environment variables by which make finds flex and bison of Debian, unpacked in `folder`.

    The mapping is empty if flex and bison are installed on the machine.

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
            text = "flex or bison is missing: install both with your package manager. The download failed"
            raise EngineError(f"{text}, because {error}") from error
    binaries, share = folder / "usr" / "bin", folder / "usr" / "share"
    return {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "M4": str(binaries / "m4"),
        "BISON_PKGDATADIR": str(share / "bison"),
    }


# The record of the installed kernel and its features: installed.json in the engine's folder.


PERIODIC = "periodic"
"""Name in `Installed.qdiscs` of a feature that is not a qdisc: a filter that drops every n-th packet."""
INSTALL = "fullpipe engines install linux"


@dataclass(frozen=True)
class Installed:
    """An installed kernel and its features."""

    kernel: Path
    fingerprint: str
    release: str
    ccas: tuple[str, ...]
    """The kernel's names of its congestion control algorithms."""
    qdiscs: tuple[str, ...]
    accecn: bool
    radios: bool = False
    """Whether the kernel has the wireless stack and Fullpipe's radios (`engines install linux --radios`)."""


def everything() -> Installed:
    """Return an imaginary kernel with all features, to find problems that no kernel can solve."""
    does = (*qdisc.MAKERS, "htb", PERIODIC)
    return Installed(Path(), "none", "none", (*OURS, "bbr"), does, accecn=True)


def folder() -> Path:
    """Return the folder in Fullpipe's cache for the files of this engine."""
    return cache.folder("linux")


def scripts() -> Path:
    """Return the folder with the packetdrill scripts of kernels, one folder per version of the sources."""
    return folder() / "packetdrill"


def find() -> Installed | None:
    """Return the installed kernel, or None if no kernel is installed."""
    return _read(folder() / "installed.json")


def remember(installed: Installed) -> None:
    """Record in installed.json that a kernel is the installed kernel."""
    text = json.dumps({**asdict(installed), "kernel": str(installed.kernel)}, indent=2)
    partial = folder() / "installed.json.part"
    partial.write_text(text, encoding="utf-8")
    partial.replace(folder() / "installed.json")


def _read(path: Path) -> Installed | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        found = Installed(**{**read, "kernel": Path(read["kernel"]), **_tuples(read)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if found.kernel.is_file() else None


def _tuples(read: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(read[key]) for key in ("ccas", "qdiscs")}


# The program that runs in the guest: compiled from the folder guest/, or copied from another machine.


_ENGINE = Path(__file__).parent.parent
_SOURCES = _ENGINE / "guest"
_COMPILER = ("gcc", "-std=gnu11", "-O2", "-static", "-pthread", "-s", "-Wl,--build-id=none")


@functools.cache
def sources() -> str:
    """Return a fingerprint of this engine's code: the sources of the guest's program, and the Python modules
    that write the guest's script and read its results."""
    digest = hashlib.sha256()
    for path in sorted(_ENGINE.rglob("*.*")):
        if path.suffix in (".py", ".c", ".h"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def program() -> Path:
    """Return the path of the guest's program. The file is missing if the program has not been compiled."""
    return folder() / _program_name()


def compile_program() -> Path:
    """Return the path of the guest's program. Compile the program if it is missing or its sources have
    changed.

    Raises:
        EngineError: If gcc is missing or cannot compile the program.
    """
    final = program()
    if final.is_file():
        return final
    found = compiler()
    if not found.present:
        raise EngineError(f"{found.detail}; {found.remedy}")
    with tempfile.TemporaryDirectory(dir=cache.made("linux")) as work:
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
    """Install the guest's program from an archive that contains it, or from the file itself. The program can
    have been compiled on another machine.

    Raises:
        InstallOptionError: If the archive lacks the program, or the program was compiled from other sources.
        EngineError: If the file cannot be read.
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
            f"{archive}: has no {name}; copy this file from the cache of a machine that has the engine of "
            "this version of fullpipe"
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
