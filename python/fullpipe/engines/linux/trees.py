"""Where the source tree of a kernel comes from: Debian's newest package, or a folder of somebody's."""

import os
import re
import shutil
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fullpipe.engines.base import Say
from fullpipe.engines.linux import debian
from fullpipe.engines.linux.make import make
from fullpipe.errors import WishError

SUITES = ("sid", "trixie-backports", "trixie", "bookworm-backports", "bookworm")
"""Of Debian, with the newest kernel first."""
_SOURCE = re.compile(r"linux-source-(\d+)\.(\d+)")
_HISTORY = ".git"


def newest(version: str | None) -> debian.Package:
    """The source package of a version such as "6.1", or of the newest kernel that Debian has.

    Raises:
        WishError: If there is none.
    """
    for suite in SUITES:
        found = [p for p in debian.packages(suite, "all") if _SOURCE.fullmatch(p.name)]
        fitting = [p for p in found if version is None or p.name == f"linux-source-{version}"]
        if fitting:
            return max(fitting, key=lambda p: (_of_name(p.name), _parts(p.version)))
    raise WishError(f"Debian has no linux-source-{version}; leave out --version for the newest")


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
        WishError: If it is no kernel tree.
    """
    if not (source / "arch" / "um" / "Kconfig").is_file():
        raise WishError(f"{source}: no kernel tree; there is no arch/um/Kconfig")


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
    make(tree, os.environ, ["mrproper"], None)
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
