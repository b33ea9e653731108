"""The source tree of a kernel: Debian's newest package, or a folder of the user's."""

import os
import re
import shutil
import tarfile
import time
from pathlib import Path, PurePosixPath

from fullpipe.engines.base import Say
from fullpipe.engines.linux.install import archives, debian
from fullpipe.engines.linux.install.make import make
from fullpipe.errors import InstallOptionError

SUITES = ("sid", "trixie-backports", "trixie", "bookworm-backports", "bookworm")
"""Suites of Debian, with the newest kernel first."""
SOURCE = re.compile(r"linux-source-([0-9]+)\.([0-9]+)")
_HISTORY = ".git"


def newest(mirror: debian.Mirror, version: str | None) -> debian.Package:
    """Find the source package of a version such as "6.1", or of the newest kernel in Debian.

    Raises:
        InstallOptionError: If there is none.
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
    with archives.contents(package) as outer:
        for member in outer:
            source = outer.extractfile(member) if ".tar." in member.name else None
            if source:
                with archives.opened(source, package) as inner:
                    archives.extract(inner, tree, _wanted)
    done.touch()
    return tree


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Remove the top folder from a member's name. None if the member is not needed."""
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
    """Whether a file is code for hardware that the guest lacks. Files for the build are needed."""
    text = path.as_posix()
    parts = path.parts
    other_machine = parts[:1] == ("arch",) and len(parts) > 2 and parts[1] not in ("um", "x86")
    useless = other_machine or text.startswith(_ELSEWHERE)
    return useless and not path.name.startswith(_DESCRIBES) and "." in path.name


def check(source: Path) -> None:
    """Check that a folder is a kernel's source tree.

    Raises:
        InstallOptionError: If it is not.
    """
    if not (source / "arch" / "um" / "Kconfig").is_file():
        raise InstallOptionError(f"{source}: not a kernel tree; there is no arch/um/Kconfig")


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
