"""The kernel, compiled from Debian's source."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from fullpipe.engines.base import Say
from fullpipe.engines.linux.install import debian
from fullpipe.errors import EngineError, InstallOptionError

# Runs of make in a kernel tree. make ends when fullpipe ends.


_LAST_LINES = 15
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _end_with(parent: int) -> None:
    """Let the kernel end this process, which becomes make, when fullpipe ends. A make that continued would
    damage the tree during the next build."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def make(tree: Path, environment: Mapping[str, str], targets: list[str], say: Say | None) -> None:
    """Make targets; `say` is called for every hundred files that are compiled.

    Raises:
        EngineError: If make fails. Its message has the end of make's output.
    """
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
        process_group=0,
        preexec_fn=partial(_end_with, os.getpid()),  # noqa: PLW1509 (no threads)
    ) as process:
        try:
            for line in process.stdout or ():
                said = [*said[-_LAST_LINES:], line.rstrip()]
                compiled += line.startswith("  CC ")
                if say and line.startswith("  CC ") and compiled % 100 == 0:
                    say(f"  {compiled:,} files")
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)  # compilers, too
            raise
    if process.returncode:
        raise EngineError("\n".join([f"{' '.join(command)} failed in {tree}:", *said]))


# The source tree of a kernel: Debian's newest package, or a folder of the user.


SUITES = ("sid", "trixie-backports", "trixie", "bookworm-backports", "bookworm")
"""Suites of Debian, with the newest kernel first."""
SOURCE = re.compile(r"linux-source-([0-9]+)\.([0-9]+)")
_HISTORY = ".git"


def newest(mirror: debian.Mirror, version: str | None) -> debian.Package:
    """Find the source package of a version such as "6.1", or of the newest kernel in Debian.

    Raises:
        InstallOptionError: If Debian has no such package.
        EngineError: If an index cannot be downloaded and no other suite has the requested version.
    """
    names = SOURCE.pattern if version is None else re.escape(f"linux-source-{version}")
    passed_over: list[debian.InconsistentError] = []
    for suite in SUITES:
        try:
            found = mirror.packages(suite, "all", names)
        except debian.InconsistentError as error:
            if version is None:
                raise
            passed_over.append(error)
            continue
        if found:
            return max(found, key=lambda p: (_of_name(p.name), _parts(p.version)))
    if passed_over:
        raise passed_over[0]
    raise InstallOptionError(f"Debian has no linux-source-{version}; leave out --version for the newest")


def _of_name(name: str) -> tuple[int, ...]:
    match = SOURCE.fullmatch(name)
    return tuple(int(part) for part in match.groups()) if match else ()


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def unpack(package: Path, folder: Path, say: Say) -> Path:
    """Unpack the source tree of a package, without files that this kind of kernel does not need.

    Raises:
        EngineError: If the package is damaged, or a member leads out of its folder.
    """
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
                with debian.opened(source, package) as inner:
                    debian.extract(inner, tree, _wanted)
    done.touch()
    return tree


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return a member of the archive without the top folder in its name, or None for an unneeded member."""
    path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
    return None if is_useless(path) else member.replace(name=str(path), deep=False)


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
    """Whether a file is code for hardware that the guest lacks. False for files of the build system."""
    text = path.as_posix()
    parts = path.parts
    other_machine = parts[:1] == ("arch",) and len(parts) > 2 and parts[1] not in ("um", "x86")
    useless = other_machine or text.startswith(_ELSEWHERE)
    return useless and not path.name.startswith(_DESCRIBES) and "." in path.name


def check(source: Path) -> None:
    """Check that a folder is a kernel's source tree.

    Raises:
        InstallOptionError: If the folder has no arch/um/Kconfig.
    """
    if not (source / "arch" / "um" / "Kconfig").is_file():
        raise InstallOptionError(f"{source}: not a kernel tree, as arch/um/Kconfig is missing")


def copy(source: Path, folder: Path, say: Say) -> Path:
    """Copy the user's tree, which stays unchanged. An existing copy is replaced if the tree has changed.

    Raises:
        EngineError: If the copy cannot be cleaned.
    """
    tree, done = folder / "tree", folder / "unpacked"
    if done.exists() and _changed_ns(source) < done.stat().st_mtime_ns:
        return tree
    done.unlink(missing_ok=True)
    shutil.rmtree(tree, ignore_errors=True)
    say(f"copying {source}")
    begun_ns = time.time_ns()
    shutil.copytree(source, tree, symlinks=True, ignore=lambda *_: {_HISTORY})
    make(tree, os.environ, ["mrproper"], None)
    done.touch()
    os.utime(done, ns=(begun_ns, begun_ns))
    return tree


def _changed_ns(tree: Path) -> int:
    """Return the time of the last change in a tree, ignoring its git history."""
    latest = 0
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != _HISTORY]
        latest = max(latest, *(os.lstat(os.path.join(folder, name)).st_mtime_ns for name in (".", *files)))
    return latest


# A Linux kernel that runs as one process in virtual time: User Mode Linux, built from a source tree.
#
# Four values of the tree are changed, all of them in arch/um. The code of TCP and of the queue disciplines is
# unchanged.


_HERE = Path(__file__).parent
FRAGMENT = _HERE / "kernel.config"
_RADIOS = _HERE / "radios"
_DRIVERS = Path("drivers/net/wireless/virtual")
_ALGORITHM = re.compile(r"^config (TCP_CONG_\w+)$", re.MULTILINE)
_ABOUT_FILES = 600
_STAMP = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "fullpipe",
    "KBUILD_BUILD_HOST": "fullpipe",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
"""Variables that make builds reproducible on all machines."""


@dataclass(frozen=True)
class Edit:
    """A replacement of a value in the source tree."""

    files: str
    """Pattern of files, at least one of which must contain the value."""
    found: str
    becomes: str


EDITS = (
    # TCP counts its timers in ticks. With the default of 100 ticks per second, timeouts and delayed ACKs
    # would be ten times coarser than with 1,000.
    Edit("arch/um/Kconfig", r"(config HZ\s+int\s+default )\d+", r"\g<1>1000"),
    # The clock and the shortest timer have a resolution of 1 ns. In virtual time, reading the clock is only
    # arithmetic.
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MULTIPLIER\s+)\d+", r"\g<1>1"),
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MIN_DELTA\s+)\d+", r"\g<1>1"),
    # The kernel's random numbers come from a seed.
    Edit("arch/um/os-Linux/util.c", r"(\breturn\s+)getrandom\b", r"\g<1>fullpipe_random"),
)


def edit(tree: Path) -> None:
    """Change the values in a source tree, unless this was done before.

    Raises:
        EngineError: If a value is not at its place in all supported kernels.
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
                f"this kernel differs from all supported kernels: {change.files} has no {change.found}; "
                "try another version, as in --version 6.12"
            )
    util = tree / "arch/um/os-Linux/util.c"
    text = util.read_text(encoding="utf-8")
    last_include = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
    seeded = (_HERE / "seeded.c").read_text(encoding="utf-8")
    util.write_text(text[:last_include] + seeded + text[last_include:], encoding="utf-8")
    done.touch()


def add_radios(tree: Path) -> None:
    """Add Fullpipe's driver of radios to the kernel's drivers.

    Raises:
        EngineError: If the tree lacks the folder for such drivers.
    """
    drivers = tree / _DRIVERS
    if not (drivers / "Kconfig").is_file():
        raise EngineError(f"this kernel has no folder {_DRIVERS}; leave out --version for the newest kernel")
    shutil.copyfile(_RADIOS / "fullpipe_wifi.c", drivers / "fullpipe_wifi.c")
    for name, added in (
        ("Kconfig", (_RADIOS / "Kconfig").read_text(encoding="ascii")),
        ("Makefile", "obj-$(CONFIG_FULLPIPE_WIFI) += fullpipe_wifi.o\n"),
    ):
        text = (drivers / name).read_text(encoding="utf-8")
        if "FULLPIPE_WIFI" not in text:
            (drivers / name).write_text(text + added, encoding="utf-8")


def configuration(tree: Path) -> str:
    """Return a kernel's configuration: the base, radios if their driver was added, and all algorithms."""
    offered = _ALGORITHM.findall((tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8"))
    parts = [
        FRAGMENT,
        *([_RADIOS / "kernel.config"] if (tree / _DRIVERS / "fullpipe_wifi.c").exists() else []),
    ]
    chosen = "".join(part.read_text(encoding="utf-8") for part in parts)
    return chosen + "".join(f"CONFIG_{name}=y\n" for name in offered)


def build(tree: Path, tools: Mapping[str, str], jobs: int, say: Say) -> Path:
    """Compile a kernel and return its file. Files that are already compiled are reused.

    Raises:
        EngineError: If a command fails. Its message has the end of the command's output.
    """
    environment = {**os.environ, **_STAMP, **tools}
    configured, wanted = tree / ".fullpipe-configured", configuration(tree)
    if not configured.exists() or configured.read_text(encoding="utf-8") != wanted:
        draft = configured.with_suffix(".part")
        draft.write_text(wanted, encoding="utf-8")
        make(tree, environment, [f"KCONFIG_ALLCONFIG={draft}", "allnoconfig"], None)
        draft.replace(configured)
    say(f"compiling about {_ABOUT_FILES} files, which takes about 5 minutes on one processor")
    make(tree, environment, ["-j", str(jobs), "linux"], say)
    built = tree / "linux"
    if not built.is_file():
        raise EngineError(f"{tree}: make succeeded but made no kernel")
    return built
