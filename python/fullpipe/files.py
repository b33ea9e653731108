"""Writes files atomically: in a hidden folder, flushed to disk, and renamed.

A killed process leaves its hidden folder behind, and the next writer beside it removes that. A writer that
lives holds a lock, which only processes on the same running kernel are sure to see; so what others left goes
after a day, which no writer takes.
"""

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import getnode, uuid4

from fullpipe.errors import ResultError

if TYPE_CHECKING:
    import polars as pl

HIDDEN = ".fullpipe-"
"""How the names of hidden folders begin."""
_ABANDONED_S = 86_400
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def write(path: Path, data: bytes) -> None:
    """Write a file as `replace` does.

    Raises:
        ResultError: If it cannot be written.
    """
    try:
        replace(path, data)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {error.strerror or error}") from error


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there.

    Raises:
        ResultError: If it cannot be made, say because it is a file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder}: not a folder to write to: {error.strerror or error}") from error


def write_csv(path: Path, table: "pl.DataFrame", digits: int = 6) -> Path:
    """Write a table with so many digits behind the point, and return where.

    Raises:
        ResultError: If it cannot be written.
    """
    write(path, table.write_csv(float_precision=digits).encode())
    return path


def replace(path: Path, data: bytes) -> None:
    """Write a file as `drafted` does. A pipe or a device is written to as it is.

    Raises:
        OSError: If it cannot be written.
    """
    with suppress(FileNotFoundError), open(os.open(path, os.O_WRONLY), "wb") as there:
        if not stat.S_ISREG(os.fstat(there.fileno()).st_mode):
            there.write(data)
            return
    with drafted(path) as draft:
        put(draft, data)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A draft of a file, which becomes the file when the context ends without an error.

    At any time, also after a crash, the old or the new file is there, whole. Missing folders are made.
    Symlinks are followed. Access rights stay.

    Raises:
        OSError: If it cannot be written.
    """
    final = Path(os.path.realpath(path))
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # it is a file
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    remove_leftovers(final.parent)
    with hidden(final.parent) as folder:
        draft = folder / "draft"
        yield draft
        sync(draft)
        with suppress(FileNotFoundError):
            draft.chmod(stat.S_IMODE(final.stat().st_mode))
        draft.replace(final)


_only_in: ContextVar[Path | None] = ContextVar("only_in", default=None)


@contextmanager
def inputs_only_in(folder: Path) -> Iterator[None]:
    """Within, what a scenario names is read from this folder only, by this thread and those that it starts
    with its context: for scenarios of which no one says what they may read."""
    token = _only_in.set(folder.resolve())
    try:
        yield
    finally:
        _only_in.reset(token)


def check_input(path: Path) -> None:
    """Refuse an input file that must not be read, before anything is found out about it.

    Raises:
        PermissionError: If inputs are read from another folder only.
    """
    folder = _only_in.get()
    if folder is not None and not path.resolve().is_relative_to(folder):
        raise PermissionError(errno.EACCES, "no file is read for this scenario but those of fullpipe")


def open_regular(path: "Path | str") -> FileIO:
    """Open a file to read it. What is no regular file is not waited for: a pipe may never be written to.

    Raises:
        OSError: If it cannot be read, or is no regular file.
    """
    file = FileIO(path, opener=_without_waiting)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return file


def read_regular(path: "Path | str", offset: int = 0, most: int | None = None) -> bytes:
    """The bytes of a file from `offset` on, `most` of them at most, in as few calls of the system as that
    takes; otherwise as `open_regular`.

    Raises:
        OSError: If it cannot be read, or is no regular file.
    """
    descriptor = _without_waiting(str(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        size = found.st_size - offset if most is None else min(most, found.st_size - offset)
        content = os.pread(descriptor, max(size, 0), offset)
        while len(content) < size and (
            more := os.pread(descriptor, size - len(content), offset + len(content))
        ):
            content += more  # a call reads 2 GB at most
        return content
    finally:
        os.close(descriptor)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def put(path: "Path | str", data: "bytes | memoryview") -> None:
    """Write a new file, in as few calls of the system as that takes."""
    descriptor = os.open(path, _NEW, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until a file, or what a folder lists, is on disk."""
    with _opened(path) as descriptor:
        os.fsync(descriptor)


def sync_disk(path: Path) -> None:
    """Wait until everything is on disk that was written to the file system that holds a path."""
    import ctypes  # here, as below: most commands write nothing that has to last

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:  # not on macOS
        os.sync()
        return
    with _opened(path) as descriptor:
        if syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def exchange(one: Path, other: Path) -> bool:
    """Swap what two paths name in one step, and say whether that is possible here.

    Raises:
        OSError: If it fails for another reason.
    """
    import ctypes

    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if swap is None:  # only on Linux
        return False
    if not swap(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):  # not on NFS
        return False
    raise OSError(number, os.strerror(number))


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def hidden(folder: Path) -> Iterator[Path]:
    """A new hidden folder inside a folder, to write in and to rename from; it goes when the context ends."""
    place, lock = _new(folder)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove the hidden folders in a folder whose writing processes have ended."""
    for place in folder.glob(f"{HIDDEN}*"):
        with suppress(OSError):  # it is gone, or not ours
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if _is_abandoned(place, lock):
                    shutil.rmtree(place)
            finally:
                os.close(lock)


def _new(folder: Path) -> tuple[Path, int]:
    """A new hidden folder, and the descriptor that keeps it locked."""
    while True:
        place = folder / f"{HIDDEN}{kernel()}-{uuid4().hex}"
        place.mkdir()
        with suppress(FileNotFoundError):
            lock = os.open(place, os.O_RDONLY)
            if _locked(lock) is not False and place.exists():
                return place, lock
            os.close(lock)
        shutil.rmtree(place, ignore_errors=True)  # another process removed it before it was locked


def _is_abandoned(place: Path, lock: int) -> bool:
    locked = _locked(lock)
    if locked and place.name.startswith(f"{HIDDEN}{kernel()}-"):
        return True
    return locked is not False and time.time() - os.fstat(lock).st_mtime > _ABANDONED_S


def _locked(descriptor: int) -> bool | None:
    """Whether this process got the lock; None on a file system without locks of folders."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@cache
def kernel() -> str:
    """The running kernel: its processes see each other's locks, on any file system."""
    try:
        return (
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")[:16]
        )
    except OSError:
        return f"{getnode():x}"
