"""Atomic writes of files: data is written in a hidden folder, flushed to disk, and renamed.

A killed process leaves its hidden folder behind, and the next writer in the same folder removes the hidden
folder. A running writer holds a lock on its hidden folder. Only processes on the same kernel reliably see
this lock. So hidden folders of other machines are removed after a day, since no writer takes a day.
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
"""Prefix of the names of hidden folders."""
_ABANDONED_S = 86_400
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def write(path: Path, data: bytes) -> None:
    """Write a file as `replace` does.

    Raises:
        ResultError: If the file cannot be written.
    """
    try:
        replace(path, data)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {error.strerror or error}") from error


def make_folder(folder: Path) -> None:
    """Make a folder unless it exists.

    Raises:
        ResultError: If the folder cannot be made, for example because there is a file of the same name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder}: not a folder to write to: {error.strerror or error}") from error


def write_csv(path: Path, table: "pl.DataFrame", digits: int = 6) -> Path:
    """Write a table with `digits` decimals, and return its path.

    Raises:
        ResultError: If the file cannot be written.
    """
    write(path, table.write_csv(float_precision=digits).encode())
    return path


def replace(path: Path, data: bytes) -> None:
    """Write a file as `drafted` does. A pipe or a device is written directly.

    Raises:
        OSError: If the file cannot be written.
    """
    with suppress(FileNotFoundError), open(os.open(path, os.O_WRONLY), "wb") as there:
        if not stat.S_ISREG(os.fstat(there.fileno()).st_mode):
            there.write(data)
            return
    with drafted(path) as draft:
        put(draft, data)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Yield a draft of a file, which replaces the file when the context ends without an error.

    At any time, also after a crash, either the whole old or the whole new file exists. Missing folders are
    made. Symlinks are followed. Access rights are preserved.

    Raises:
        OSError: If the file cannot be written.
    """
    final = Path(os.path.realpath(path))
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # the folder's name belongs to a file
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
    """Restrict the input files of scenarios to one folder within this context.

    The restriction applies to this thread, and to threads that run in a copy of its context (`contextvars`).
    Use this context for untrusted scenarios.
    """
    token = _only_in.set(folder.resolve())
    try:
        yield
    finally:
        _only_in.reset(token)


def check_input(path: Path) -> None:
    """Refuse an input file outside the folder of `inputs_only_in`, without accessing it.

    Raises:
        PermissionError: If inputs may be read from another folder only.
    """
    folder = _only_in.get()
    if folder is not None and not path.resolve().is_relative_to(folder):
        raise PermissionError(errno.EACCES, "this scenario may only use the files that come with fullpipe")


def open_regular(path: "Path | str") -> FileIO:
    """Open a file for reading. A pipe is refused without waiting for data.

    Raises:
        OSError: If it cannot be read, or is no regular file.
    """
    file = FileIO(path, opener=_without_waiting)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return file


def read_regular(path: "Path | str", offset: int = 0, most: int | None = None) -> bytes:
    """Read at most `most` bytes of a regular file from `offset` on, with few system calls.

    A pipe is refused without waiting for data, as by `open_regular`.

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
            content += more  # a single call reads 2 GB at most
        return content
    finally:
        os.close(descriptor)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def put(path: "Path | str", data: "bytes | memoryview") -> None:
    """Write a new file with few system calls."""
    descriptor = os.open(path, _NEW, 0o666)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Wait until a file, or the list of a folder's entries, is on disk."""
    with _opened(path) as descriptor:
        os.fsync(descriptor)


def sync_disk(path: Path) -> None:
    """Wait until all data written to the file system of a path is on disk."""
    import ctypes  # imported here, as most commands do not need ctypes

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:  # not on macOS
        os.sync()
        return
    with _opened(path) as descriptor:
        if syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def exchange(one: Path, other: Path) -> bool:
    """Swap two paths in one step. Return False if the system or the file system cannot do so.

    Raises:
        OSError: If the swap fails for another reason.
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
    """Yield a new hidden folder inside a folder, for drafts. The hidden folder is removed when the context
    ends."""
    place, lock = _new(folder)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove the hidden folders in a folder whose writing processes have ended."""
    for place in folder.glob(f"{HIDDEN}*"):
        with suppress(OSError):  # another process removed it, or it belongs to another user
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if _is_abandoned(place, lock):
                    shutil.rmtree(place)
            finally:
                os.close(lock)


def _new(folder: Path) -> tuple[Path, int]:
    """Make a hidden folder, and return it with the descriptor that keeps it locked."""
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
    """Whether this process got the lock; None on a file system without locks on folders."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@cache
def kernel() -> str:
    """Return an ID of the running kernel. Processes on the same kernel see each other's locks in every file
    system."""
    try:
        return (
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")[:16]
        )
    except OSError:
        return f"{getnode():x}"
