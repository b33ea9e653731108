"""Leases of chunks, which are ranges of jobs of a sweep: sizes, owners and claims; errors of their runs."""

import hashlib
import os
import platform
import random
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from fullpipe import files
from fullpipe.errors import EngineError, FullpipeError, ScenarioError

# Errors of runs as plain data (kind and message), for transfer between processes.


Told = dict[str, str]


def told(error: Exception) -> Told:
    """Convert an error to plain data."""
    kind = "ScenarioError" if isinstance(error, ScenarioError) else type(error).__name__
    return {"kind": kind, "message": str(error)}


def error_told(data: Any) -> FullpipeError:
    """Convert plain data from `told` to an error: a ScenarioError if it was one, else an EngineError."""
    try:
        kind, message = str(data["kind"]), str(data["message"])
    except (KeyError, TypeError):
        return EngineError("failed; the reason cannot be read")
    return ScenarioError(message.split("\n")) if kind == "ScenarioError" else EngineError(message)


# Sizes of chunks. Chunks are large enough that claims cost little, and small enough that all workers finish
# at about the same time.


SHORTEST_S = 1.0
"""Minimum duration of a chunk of several runs, in s."""
LONGEST_S = 10.0
"""Maximum duration of a chunk of several runs, in s."""
SHARE_S = 0.01
"""Minimum duration of a chunk divided by the number of workers, in s. With many workers, chunks must be
longer, as one scheduler or file server serves all workers."""
FIRST_CHUNKS = 128
"""Number of chunks at the start of a sweep. The number is high, so that each of many processes finds a free
chunk at the start."""


def chunk_runs(run_s: float | None, left: int, workers: int) -> int:
    """Return the size of the next chunk, by guided self-scheduling (Polychronopoulos and Kuck 1987).

    The size is half of a worker's share of the remaining runs, so that chunks become short towards the end.
    `SHORTEST_S`, `LONGEST_S` and `SHARE_S` bound the duration of a chunk.

    >>> [chunk_runs(None, 1000, 2), chunk_runs(0.01, 1000, 2), chunk_runs(0.01, 100_000, 2)]
    [1, 250, 1000]
    >>> chunk_runs(0.01, 1000, 1000)
    1000

    Args:
        run_s: Duration of a run in seconds. None before the first run.
        left: Number of runs that no worker holds, including this chunk.
        workers: Number of workers, including this one.
    """
    if run_s is None:
        return 1
    shortest_s = max(SHORTEST_S, SHARE_S * workers)
    least, most = (max(1, ceil(s / max(run_s, 1e-6))) for s in (shortest_s, max(shortest_s, LONGEST_S)))
    return min(max(left // (2 * max(1, workers)), least), most)


# The process that holds a chunk, identified by host name, kernel, PID namespace and process ID.


_WRITTEN = re.compile(r"([\w.-]{1,64})-([0-9a-f]{8})-(\d{1,10})", re.ASCII)


@dataclass(frozen=True)
class Owner:
    """A process on any machine."""

    host: str
    kernel: str
    """Hash of the running kernel and the PID namespace. Processes with the same hash can check each other's
    PIDs."""
    pid: int

    @classmethod
    def here(cls) -> "Owner":
        """Return this process."""
        host = re.sub(r"[^\w.-]", "_", platform.node(), flags=re.ASCII)[:64]
        return cls(host or "unknown", _namespace(), os.getpid())

    @classmethod
    def read(cls, text: str) -> "Owner | None":
        """Return the owner whose text `str` returned, or None if the text is not valid."""
        found = _WRITTEN.fullmatch(text)
        return cls(found[1], found[2], int(found[3])) if found else None

    @property
    def is_dead(self) -> bool:
        """Whether the process has certainly ended. Only processes of this machine can be checked."""
        if self.kernel != _namespace():
            return False
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:  # the process exists, and belongs to another user
            return False
        return False

    def __str__(self) -> str:
        return f"{self.host}-{self.kernel}-{self.pid}"


@cache
def _namespace() -> str:
    try:
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:
        processes = ""
    return hashlib.sha256(f"{files.kernel()} {processes}".encode()).hexdigest()[:8]


# Leases of chunks, timed by the clock of the file system.
# The clocks of machines differ, so only the clock of the file system is used. A claim is renewed by setting
# the time of its file to the current time of the file system. To measure the age of a claim, a second file is
# touched in the same way, and the times of the two files are compared. A file is opened before its time is
# read, since NFS would otherwise return a cached time.


LEASE_S = 30.0
"""Time in s since the last renewal after which another process may take over a claim."""
RENEW_S = 5.0
"""Interval of renewals, in s. Five renewals may fail before a claim is lost."""


class Clock(Protocol):
    """A clock for leases of chunks."""

    def touch(self, path: Path) -> None:
        """Set the time of a file to now.

        Raises:
            FileNotFoundError: If the file no longer exists.
        """

    def age_s(self, path: Path) -> float:
        """Return the time since a file was touched.

        Raises:
            FileNotFoundError: If the file no longer exists.
        """

    def passed_s(self) -> float:
        """Return a monotonic time of this process in s, with which checks are scheduled."""


class FileSystemClock:
    """The clock of the file system of a folder. `name` is the file that this process touches in the
    folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ours = folder / name

    def touch(self, path: Path) -> None:
        """Set the time of a file to now."""
        os.utime(path)

    def age_s(self, path: Path) -> float:
        """Return the time since a file was touched."""
        touched_s = _changed_s(path)
        self._ours.touch()
        return _changed_s(self._ours) - touched_s

    def passed_s(self) -> float:
        """Return the monotonic time of this machine in s."""
        return time.monotonic()


def _changed_s(path: Path) -> float:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)


# Chunks of a sweep. Worker processes claim chunks from a shared folder by atomic renames.
#
# A chunk is a range of jobs. A chunk is stored as an empty file, named after the range, in the folder of the
# chunk's state:
#
#     open/0000100-0000200                         can be claimed
#     claimed/0000100-0000150@node7-1a2b3c4d-812   held by a process until the lease runs out
#
# The file is removed when the runs of all its jobs are stored or have failed. A job that is in no chunk is
# therefore finished. A process that needs only a part of a chunk first adds the remaining jobs as a new
# chunk, and then shortens its claim. If the process is killed between these two steps, its claim overlaps the
# new chunk. The next owner of the claim then takes only the jobs before the new chunk. In this way, no job is
# lost, and no job is held by two processes.


_NAME = re.compile(r"(\d{7,9})-(\d{7,9})(?:@(.+))?", re.ASCII)
STATES = ("open", "claimed")


@dataclass(frozen=True, order=True)
class Range:
    """The jobs from `start` up to, but not including, `stop`."""

    start: int
    stop: int

    @property
    def runs(self) -> int:
        """Number of jobs."""
        return self.stop - self.start

    def __str__(self) -> str:
        return f"{self.start:07}-{self.stop:07}"


@dataclass(frozen=True)
class Claim:
    """A chunk that is held by a process."""

    range: Range
    owner: Owner

    @property
    def name(self) -> str:
        """Name of the claim's file."""
        return f"{self.range}@{self.owner}"


class Chunks:
    """The chunks in a folder, for one process. Threads may share the object."""

    def __init__(self, folder: Path, owner: Owner, clock: Clock) -> None:
        self.folder = folder
        self.owner = owner
        self._clock = clock
        self._lock = RLock()
        self._held = set[Claim]()
        self._ask_at_s: dict[str, float] | None = None
        """Times at which to check the age of claims of other processes, by name of the claim. None before the
        first check."""

    def open(self) -> list[Range]:
        """Return the free chunks in order."""
        return sorted(found for found, _ in self._listed("open"))

    def claimed(self) -> list[Claim]:
        """Return the claimed chunks in order."""
        owners = [(found, Owner.read(owner)) for found, owner in self._listed("claimed")]
        return [Claim(found, owner) for found, owner in sorted(owners, key=lambda o: o[0]) if owner]

    def pending(self) -> list[Range]:
        """Return all free and claimed chunks. Claims are listed twice, so that a chunk that another process
        moves in the meantime is not missed."""
        held = [claim.range for claim in self.claimed()]
        return sorted({*held, *self.open(), *(claim.range for claim in self.claimed())})

    def add(self, chunk: Range) -> None:
        """Add a free chunk."""
        with suppress(FileExistsError):
            os.close(os.open(self.folder / "open" / str(chunk), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    def claim(self) -> Claim | None:
        """Claim a random one of the first free chunks, so that processes rarely choose the same chunk. None
        if no chunk is free."""
        free = self.open()
        near = free[: 1 + 2 * len(self.claimed())] if free else []
        random.shuffle(near)
        for chunk in near:
            taken = self._take(self.folder / "open" / str(chunk), chunk)
            if taken:
                return taken
        return None

    def take_over(self) -> Claim | None:
        """Take over a chunk whose owner has ended or not renewed its lease. None if there is no such
        chunk."""
        with self._lock:
            others = [claim for claim in self.claimed() if claim not in self._held]
            soonest_s = 0.0 if self._ask_at_s is None else self._clock.passed_s() + LEASE_S
            known = self._ask_at_s or {}
            self._ask_at_s = {claim.name: known.get(claim.name, soonest_s) for claim in others}
            for claim in others:
                if self._has_expired(claim):
                    taken = self._take(
                        self.folder / "claimed" / claim.name, self._not_given_back(claim.range)
                    )
                    if taken:
                        return taken
        return None

    def age_s(self, claim: Claim) -> float | None:
        """Return the time since a claim was renewed. None if the claim no longer exists."""
        with suppress(FileNotFoundError):
            return self._clock.age_s(self.folder / "claimed" / claim.name)
        return None

    def renew(self, claim: Claim) -> bool:
        """Renew the lease. Returns False if another process has taken over the chunk."""
        with self._lock:
            if claim in self._held:
                with suppress(FileNotFoundError):
                    self._clock.touch(self.folder / "claimed" / claim.name)
                    return True
                self._held.discard(claim)
            return False

    def renew_all(self) -> None:
        """Renew every lease of this process."""
        with self._lock:
            for claim in list(self._held):
                self.renew(claim)

    def shorten(self, claim: Claim, stop: int) -> Claim:
        """Release the jobs from `stop` on, and return the shortened claim."""
        with self._lock:
            if not claim.range.start < stop < claim.range.stop or not self.renew(claim):
                return claim
            rest = Range(stop, claim.range.stop)
            self.add(rest)
            kept = Claim(Range(claim.range.start, stop), self.owner)
            if not self._move(claim, f"claimed/{kept.name}"):
                # another process took over the claim, which still includes the jobs of `rest`
                (self.folder / "open" / str(rest)).unlink(missing_ok=True)
                return claim
            self._held.add(kept)
            return kept

    def finish(self, claim: Claim) -> None:
        """Remove a chunk whose jobs are all in the store or have failed."""
        with self._lock:
            self._held.discard(claim)
            (self.folder / "claimed" / claim.name).unlink(missing_ok=True)

    def release(self, claim: Claim) -> None:
        """Make a claimed chunk free again."""
        self._move(claim, f"open/{claim.range}")

    def _move(self, claim: Claim, where: str) -> bool:
        with self._lock:
            self._held.discard(claim)
            with suppress(FileNotFoundError):
                (self.folder / "claimed" / claim.name).rename(self.folder / where)
                return True
            return False

    def _take(self, path: Path, chunk: Range) -> Claim | None:
        """Rename the file of a chunk to a claim of this process. The file is touched first, so that the claim
        does not begin as expired."""
        mine = Claim(chunk, self.owner)
        final = self.folder / "claimed" / mine.name
        with self._lock:
            try:
                self._clock.touch(path)
                path.rename(final)
            except FileNotFoundError:  # another process has claimed the chunk, or NFS lost its reply
                return None
            self._held.add(mine)
            return mine

    def _has_expired(self, claim: Claim) -> bool:
        assert self._ask_at_s is not None
        if claim.owner.is_dead:
            return True
        if self._clock.passed_s() < self._ask_at_s[claim.name]:
            return False
        age_s = self.age_s(claim)
        if age_s is None or age_s > LEASE_S:
            return age_s is not None
        self._ask_at_s[claim.name] = self._clock.passed_s() + LEASE_S - age_s
        return False

    def _not_given_back(self, chunk: Range) -> Range:
        """Return the part of a dead process's claim before the first job that the process had released."""
        given_back = [r.start for r in self.pending() if chunk.start < r.start < chunk.stop]
        return Range(chunk.start, min(given_back, default=chunk.stop))

    def _listed(self, state: str) -> list[tuple[Range, str]]:
        """Return the ranges in a state with the names of their owners. Empty if the sweep was removed."""
        try:
            names = os.listdir(self.folder / state)
        except FileNotFoundError:
            return []
        found = [
            match for match in map(_NAME.fullmatch, names) if match and bool(match[3]) == (state == "claimed")
        ]
        ranges = [(Range(int(match[1]), int(match[2])), match[3] or "") for match in found]
        return [(chunk, owner) for chunk, owner in ranges if chunk.runs > 0]
