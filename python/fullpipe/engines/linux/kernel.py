"""A Linux kernel that runs as one process in virtual time: User Mode Linux, built from a source tree.

Four values of the tree are changed, all of them in arch/um, so TCP and the queue disciplines are Linux's own.
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from fullpipe.engines.base import Say
from fullpipe.engines.linux import debian
from fullpipe.errors import EngineError

HERE = Path(__file__).parent
FRAGMENT = HERE / "kernel.config"

SUITES = ("sid", "trixie-backports", "trixie", "bookworm-backports", "bookworm")
"""Of Debian, with the newest kernel first."""
_SOURCE = re.compile(r"linux-source-(\d+)\.(\d+)")
_ALGORITHM = re.compile(r"^config (TCP_CONG_\w+)$", re.MULTILINE)
_HISTORY = ".git"
_LAST_LINES = 15
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
_ABOUT_FILES = 600
_STAMP = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "fullpipe",
    "KBUILD_BUILD_HOST": "fullpipe",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
"""What would otherwise differ from build to build, and from one machine to the other."""


@dataclass(frozen=True)
class Edit:
    """A value in the source tree that becomes another."""

    files: str
    """A pattern of files, of which at least one must hold it."""
    found: str
    becomes: str


EDITS = (
    # TCP counts its timers in ticks: a hundred a second make timeouts and delayed ACKs ten times too coarse.
    Edit("arch/um/Kconfig", r"(config HZ\s+int\s+default )\d+", r"\g<1>1000"),
    # The clock and the shortest timer are whole nanoseconds: reading the clock is arithmetic in virtual time.
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MULTIPLIER\s+)\d+", r"\g<1>1"),
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MIN_DELTA\s+)\d+", r"\g<1>1"),
    # What is random in the kernel comes from a seed.
    Edit("arch/um/os-Linux/util.c", r"(\breturn\s+)getrandom\b", r"\g<1>fullpipe_random"),
)


def newest(version: str | None) -> debian.Package:
    """The source package of a version such as "6.1", or of the newest kernel that Debian has.

    Raises:
        EngineError: If there is none.
    """
    for suite in SUITES:
        found = [p for p in debian.packages(suite, "all") if _SOURCE.fullmatch(p.name)]
        fitting = [p for p in found if version is None or p.name == f"linux-source-{version}"]
        if fitting:
            return max(fitting, key=lambda p: (_of_name(p.name), _parts(p.version)))
    raise EngineError(f"Debian has no linux-source-{version}; leave out --version for the newest")


def _of_name(name: str) -> tuple[int, ...]:
    match = _SOURCE.fullmatch(name)
    return tuple(int(part) for part in match.groups()) if match else ()


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def unpack(package: Path, folder: Path, say: Say) -> Path:
    """The source tree of a package, without what a kernel of this kind has no use for."""
    tree = folder / "tree"
    done = folder / "unpacked"
    if done.exists():
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    say("unpacking, which takes a minute")
    with debian.contents(package) as outer:
        for member in outer:
            source = outer.extractfile(member) if ".tar." in member.name else None
            if source:
                with tarfile.open(fileobj=source, mode="r|*") as inner:
                    inner.extractall(tree, members=_wanted(inner), filter="tar")
    done.touch()
    return tree


def _wanted(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
        if not is_useless(path):
            yield member.replace(name=str(path), linkname=member.linkname, deep=False)


_ELSEWHERE = (
    "drivers/gpu",
    "drivers/media",
    "drivers/infiniband",
    "drivers/staging",
    "sound",
    "tools/testing",
)
_DESCRIBES = ("Kconfig", "Makefile", "Kbuild")


def is_useless(path: PurePosixPath) -> bool:
    """Whether a file is code of hardware that the guest does not have; what describes the build is kept."""
    text = path.as_posix()
    parts = path.parts
    other_machine = parts[:1] == ("arch",) and len(parts) > 2 and parts[1] not in ("um", "x86")
    useless = other_machine or text.startswith(_ELSEWHERE)
    return useless and not path.name.startswith(_DESCRIBES) and "." in path.name


def check(source: Path) -> None:
    """Make sure that a folder is somebody's tree.

    Raises:
        EngineError: If it is no kernel tree.
    """
    if not (source / "arch" / "um" / "Kconfig").is_file():
        raise EngineError(f"{source}: no kernel tree; there is no arch/um/Kconfig")


def copy(source: Path, folder: Path, say: Say) -> Path:
    """A copy of somebody's tree, which itself is left alone; made anew if that has changed since.

    Raises:
        EngineError: If it cannot be cleaned.
    """
    tree, done = folder / "tree", folder / "unpacked"
    if done.exists() and _changed_ns(source) < done.stat().st_mtime_ns:
        return tree
    done.unlink(missing_ok=True)
    shutil.rmtree(tree, ignore_errors=True)
    say(f"copying {source}")
    begun_ns = time.time_ns()
    shutil.copytree(source, tree, symlinks=True, ignore=lambda *_: {_HISTORY})
    _make(tree, os.environ, ["mrproper"], None)
    done.touch()
    os.utime(done, ns=(begun_ns, begun_ns))
    return tree


def _changed_ns(tree: Path) -> int:
    """When anything in a tree was changed last, its history aside."""
    latest = 0
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != _HISTORY]
        latest = max(latest, *(os.lstat(os.path.join(folder, name)).st_mtime_ns for name in (".", *files)))
    return latest


def edit(tree: Path) -> None:
    """Change the values. A tree that has been changed stays as it is.

    Raises:
        EngineError: If one of them is not where it was in every kernel so far.
    """
    done = tree / ".fullpipe-edited"
    if done.exists():
        return
    for change in EDITS:
        hits = 0
        for path in tree.glob(change.files):
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            changed, times = re.subn(change.found, change.becomes, text)
            if times:
                path.write_text(changed, encoding="utf-8", errors="surrogateescape")
                hits += times
        if not hits:
            raise EngineError(
                f"this kernel differs from those that fullpipe knows: {change.files} has no {change.found}; "
                "another one may do, as in --version 6.12"
            )
    util = tree / "arch/um/os-Linux/util.c"
    text = util.read_text(encoding="utf-8")
    last_include = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
    seeded = (HERE / "seeded.c").read_text(encoding="utf-8")
    util.write_text(text[:last_include] + seeded + text[last_include:], encoding="utf-8")
    done.touch()


def configuration(tree: Path) -> str:
    """What a kernel is to have: our fragment, and every algorithm that the tree offers, its own ones too."""
    offered = _ALGORITHM.findall((tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8"))
    return FRAGMENT.read_text(encoding="utf-8") + "".join(f"CONFIG_{name}=y\n" for name in offered)


def build(tree: Path, tools: Mapping[str, str], jobs: int, say: Say) -> Path:
    """Compile. What is compiled already is not compiled again.

    Raises:
        EngineError: If a command fails, with the end of what it said.
    """
    environment = {**os.environ, **_STAMP, **tools}
    configured, wanted = tree / ".fullpipe-configured", configuration(tree)
    if not configured.exists() or configured.read_text(encoding="utf-8") != wanted:
        draft = configured.with_suffix(".part")
        draft.write_text(wanted, encoding="utf-8")
        _make(tree, environment, [f"KCONFIG_ALLCONFIG={draft}", "allnoconfig"], None)
        draft.replace(configured)
    say(f"compiling about {_ABOUT_FILES} files, which takes some 5 minutes of a processor")
    _make(tree, environment, ["-j", str(jobs), "linux"], say)
    built = tree / "linux"
    if not built.is_file():
        raise EngineError(f"{tree}: make has left no kernel")
    return built


def _end_with(parent: int) -> None:
    """End this process, soon to be make, when fullpipe ends, however it does: two would spoil one tree."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _make(tree: Path, environment: Mapping[str, str], targets: list[str], say: Say | None) -> None:
    command = ["nice", "make", "ARCH=um", *targets]
    said: list[str] = []
    compiled = 0
    with subprocess.Popen(
        command,
        cwd=tree,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=partial(_end_with, os.getpid()),  # noqa: PLW1509 (no threads)
    ) as process:
        try:
            for line in process.stdout or ():
                said = [*said[-_LAST_LINES:], line.rstrip()]
                compiled += line.startswith("  CC ")
                if say and line.startswith("  CC ") and compiled % 100 == 0:
                    say(f"  {compiled:,} files")
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise EngineError("\n".join([f"{' '.join(command)} failed in {tree}:", *said]))
