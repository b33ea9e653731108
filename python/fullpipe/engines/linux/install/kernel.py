"""Finds or copies the source tree of a kernel, edits it, and compiles the kernel."""

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
from pathlib import Path, PurePath, PurePosixPath

from fullpipe.engines.base import Say
from fullpipe.engines.linux.install import debian
from fullpipe.errors import EngineError, InstallOptionError

# Runs make in a source tree. If fullpipe exits, the host's kernel kills make (PR_SET_PDEATHSIG).


_LAST_LINES = 15
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _end_with(parent: int) -> None:
    """Have the host's kernel end this process when fullpipe ends. This process executes make, which would
    otherwise survive fullpipe and change the source tree during the next build."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def make(tree: Path, environment: Mapping[str, str], targets: list[str], say: Say | None) -> None:
    """Run make for some targets, and call `say` after every 100 compiled files.

    Raises:
        EngineError: If make fails. The message of the error has the end of make's output.
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
            os.killpg(process.pid, signal.SIGTERM)  # also ends the compilers that make started
            raise
    if process.returncode:
        raise EngineError("\n".join([f"{' '.join(command)} failed in {tree}:", *said]))


# The source tree of a kernel: unpacked from a Debian package, or copied from a folder of the user.


SUITES = ("sid", "trixie-backports", "trixie", "bookworm-backports", "bookworm")
"""Suites of Debian. Debian suites, those with newer kernels first."""
SOURCE = re.compile(r"linux-source-([0-9]+)\.([0-9]+)")
_HISTORY = ".git"


def newest(mirror: debian.Mirror, version: str | None) -> debian.Package:
    """Find the package with the sources of a kernel version such as "6.1", or of Debian's newest kernel.

    Raises:
        InstallOptionError: If no suite of Debian has the requested version.
        EngineError: If an index cannot be downloaded or verified, and no other suite has the requested
        version.
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
    """Unpack the source tree in a package, without files that User Mode Linux does not need.

    Raises:
        EngineError: If the package is damaged, or a member is outside the target folder.
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
    """Return a member of the archive without the top folder in its name, or None if the guest does not need
    it."""
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
_SCRIPTS = PurePosixPath("tools/testing/selftests/net/packetdrill")
"""Folder of the kernel's tests of TCP, and the settings that the tests share."""


def is_useless(path: PurePosixPath) -> bool:
    """Whether a file is code for hardware that the guest lacks. Files of the build system and tests of TCP
    are always needed."""
    text = path.as_posix()
    parts = path.parts
    if path.parent == _SCRIPTS and is_script(path):
        return False
    other_machine = parts[:1] == ("arch",) and len(parts) > 2 and parts[1] not in ("um", "x86")
    useless = other_machine or text.startswith(_ELSEWHERE)
    return useless and not path.name.startswith(_DESCRIBES) and "." in path.name


def is_script(path: PurePath) -> bool:
    """Whether a file is a packetdrill script or the settings that all scripts share."""
    return path.suffix == ".pkt" or path.name == "defaults.sh"


def keep_scripts(tree: Path, folder: Path) -> None:
    """Copy the packetdrill scripts of a kernel into `folder`, which is replaced. Old kernels have none."""
    scripts = tree / _SCRIPTS
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for script in scripts.iterdir() if scripts.is_dir() else ():
        if is_script(script):
            shutil.copyfile(script, partial / script.name)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def check(source: Path) -> None:
    """Check that a folder is a kernel's source tree.

    Raises:
        InstallOptionError: If the folder has no arch/um/Kconfig.
    """
    if not (source / "arch" / "um" / "Kconfig").is_file():
        raise InstallOptionError(
            f"{source}: not the source tree of a kernel, because it lacks arch/um/Kconfig"
        )


def copy(source: Path, folder: Path, say: Say) -> Path:
    """Copy the user's source tree, which stays unchanged. An earlier copy is reused unless the tree has
    changed.

    Raises:
        EngineError: If `make mrproper` fails in the copy.
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
    """Return the time of the last change of a file or folder in a tree, ignoring the folder .git."""
    latest = 0
    for folder, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if name != _HISTORY]
        latest = max(latest, *(os.lstat(os.path.join(folder, name)).st_mtime_ns for name in (".", *files)))
    return latest


# Builds User Mode Linux: a kernel that runs as one process, in virtual time.
# The build changes four values of the source tree, all in arch/um. The code of TCP and of the qdiscs is
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
"""Environment variables with which a build gives the same kernel on every machine with the same tools."""


@dataclass(frozen=True)
class Edit:
    """A change of one value in the source tree, as a regular expression and its replacement."""

    files: str
    """Glob pattern of files. At least one of these files must contain the value."""
    found: str
    becomes: str


EDITS = (
    # TCP's timers have a resolution of one tick. With the default of 100 ticks per second, timeouts and
    # delayed ACKs would be ten times as coarse as with 1,000 ticks per second.
    Edit("arch/um/Kconfig", r"(config HZ\s+int\s+default )\d+", r"\g<1>1000"),
    # With these values, the clock has a resolution of 1 ns and the shortest timer takes 1 ns.
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MULTIPLIER\s+)\d+", r"\g<1>1"),
    Edit("arch/um/**/*.[ch]", r"(#define\s+TIMER_MIN_DELTA\s+)\d+", r"\g<1>1"),
    # The kernel takes its random numbers from the generator in seeded.c, which has a given seed.
    Edit("arch/um/os-Linux/util.c", r"(\breturn\s+)getrandom\b", r"\g<1>fullpipe_random"),
)


def edit(tree: Path) -> None:
    """Apply `EDITS` to a source tree, unless an earlier build has applied them.

    Raises:
        EngineError: If the tree lacks one of the values.
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
    """Add Fullpipe's driver of Wi-Fi radios to the source tree.

    Raises:
        EngineError: If the tree lacks drivers/net/wireless/virtual.
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
    """Return the configuration of a kernel: kernel.config, the options for radios if the tree has their
    driver, and all congestion control algorithms of the tree."""
    offered = _ALGORITHM.findall((tree / "net" / "ipv4" / "Kconfig").read_text(encoding="utf-8"))
    parts = [
        FRAGMENT,
        *([_RADIOS / "kernel.config"] if (tree / _DRIVERS / "fullpipe_wifi.c").exists() else []),
    ]
    chosen = "".join(part.read_text(encoding="utf-8") for part in parts)
    return chosen + "".join(f"CONFIG_{name}=y\n" for name in offered)


def build(tree: Path, tools: Mapping[str, str], jobs: int, say: Say) -> Path:
    """Compile a kernel, and return its path. make compiles only files that have changed since the last build.

    Raises:
        EngineError: If a command fails. The message of the error has the end of the command's output.
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
