"""The folder of a sweep, which machines share, and the progress of the sweeps of a store."""

import errno
import json
import os
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullpipe import engines, files
from fullpipe.cluster.leases import (
    FIRST_CHUNKS,
    STATES,
    Chunks,
    Claim,
    FileSystemClock,
    Owner,
    Range,
    error_told,
    told,
)
from fullpipe.cluster.plan import Plan
from fullpipe.errors import FolderError, FullpipeError, ResultError, VersionError
from fullpipe.runs.executor import Job, Outcome, Progress, RunSource, Update

# A sweep in a shared folder: its plan, the remaining chunks, and the failed runs.
#
# <store>/.work/<sweep>/plan.json     jobs, and the versions to run them with
#                       chunks/       ranges of unfinished jobs: open, claimed
#                       planning/     the chunk that a process holds while it makes the chunks of the sweep
#                       failed/       a file per failed run
#                       clock/        a file per process, for reading the clock of the file system


WORK = ".work"
"""Folder of the sweeps in a store."""
_PLAN = "plan.json"
_PAUSE_S = 0.2
_MOST_BYTES = 65_536
"""Maximum size of the stored error message of a failed run, in bytes."""


@dataclass(frozen=True)
class Failure:
    """A failed run: the index of its job, and its error."""

    index: int
    error: FullpipeError


class SweepFolder:
    """The folder of a sweep, for one process."""

    def __init__(self, path: Path, owner: Owner | None = None) -> None:
        self.path = path
        self._owner = owner or Owner.here()
        self.chunks = self._chunks("chunks")

    @property
    def is_there(self) -> bool:
        """Whether the folder still exists. A command removes the folder when all its runs are stored."""
        return (self.path / _PLAN).exists()

    def plan(self) -> Plan:
        """Read the plan of the sweep.

        Raises:
            VersionError: If this version of fullpipe cannot read the plan.
            FileNotFoundError: If the sweep was finished and removed.
        """
        path = self.path / _PLAN
        return Plan.from_json(path.read_bytes(), str(path))

    def fail(self, index: int, error: Exception) -> None:
        """Store the error of a failed run."""
        with suppress(FileNotFoundError), files.hidden(self.path / "failed") as place:
            files.put(place / "failure", json.dumps(told(error)).encode())
            (place / "failure").replace(self._failure(index))

    def forget(self, index: int) -> None:
        """Remove the stored error of a run."""
        self._failure(index).unlink(missing_ok=True)

    def failure(self, index: int) -> Failure | None:
        """Read the error of a run. None if the run has not failed."""
        try:
            with self._failure(index).open("rb") as file:
                data = json.loads(file.read(_MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            data = None
        return Failure(index, error_told(data))

    def failures(self) -> list[Failure]:
        """Read all failures in the order of the jobs."""
        return [failure for failure in map(self.failure, self._failed()) if failure]

    @classmethod
    def of_plan(cls, root: Path, plan: Plan) -> "SweepFolder":
        """Return the folder that the sweep of a plan has in a store. The folder need not exist."""
        return cls(root / WORK / plan.id)

    def open_again(self, missing: Sequence[int], runs: int) -> None:
        """Add chunks for missing jobs that are in no chunk, such as jobs that failed before."""
        with self._planning():
            free = pieces(missing, _first_runs(runs), self.chunks.pending())
            for index in self._failed():
                if any(chunk.start <= index < chunk.stop for chunk in free):
                    self.forget(index)
            for chunk in free:
                self.chunks.add(chunk)

    def remove(self) -> None:
        """Remove the folder atomically. Called when all runs are in the store."""
        work = self.path.parent
        if self.is_there:
            with suppress(OSError), files.hidden(work) as place:
                self.path.rename(place / "over")
        with suppress(OSError):  # fails if the folder has other sweeps
            work.rmdir()

    def leave(self) -> None:
        """Remove the file with which this process reads the clock of the file system."""
        with suppress(OSError):
            (self.path / "clock" / str(self._owner)).unlink()

    @contextmanager
    def _planning(self) -> Iterator[None]:
        """Context in which no other process makes chunks. A single chunk in the folder `planning` is the
        lock, so another process takes it over if its owner is killed."""
        turn = self._chunks("planning")
        held: Claim | None = None
        while held is None and self.is_there:
            held = turn.claim() or turn.take_over()
            if held is None:
                time.sleep(_PAUSE_S)
        try:
            yield
        finally:
            if held:
                turn.release(held)

    def _chunks(self, name: str) -> Chunks:
        return Chunks(self.path / name, self._owner, FileSystemClock(self.path / "clock", str(self._owner)))

    def _failed(self) -> list[int]:
        names = (self.path / "failed").glob("*.json")
        return sorted(int(path.stem) for path in names if path.stem.isdecimal())

    def _failure(self, index: int) -> Path:
        return self.path / "failed" / f"{index:07}.json"


def begin(root: Path, plan: Plan, missing: Sequence[int]) -> SweepFolder:
    """Return the folder of a plan in a store, with every missing job in a chunk. The folder is made if
    needed.

    Raises:
        FolderError: If the folder cannot be written.
    """
    folder = SweepFolder.of_plan(root, plan)
    try:
        while True:
            with suppress(FileNotFoundError):  # another command has just finished and removed the sweep
                _make_unless_there(folder.path, plan, missing)
                folder.open_again(missing, plan.runs)
                return folder
    except OSError as error:
        raise FolderError(f"{folder.path}: cannot be written: {error.strerror or error}") from error


def sweeps_in(root: Path) -> list[SweepFolder]:
    """Return the unfinished sweeps of a store, sorted by name."""
    return [SweepFolder(path.parent) for path in sorted((root / WORK).glob(f"[0-9a-f]*/{_PLAN}"))]


def pieces(indices: Iterable[int], longest: int, taken: Iterable[Range] = ()) -> list[Range]:
    """Return ranges of up to `longest` jobs that cover the given jobs, except those in `taken` chunks.

    >>> [str(piece) for piece in pieces([0, 1, 2, 7], 2, [Range(2, 4)])]
    ['0000000-0000002', '0000007-0000008']
    """
    busy = sorted(taken)
    found = list[Range]()
    for index in indices:
        place = bisect_right(busy, Range(index, sys.maxsize)) - 1
        if place >= 0 and index < busy[place].stop:
            continue
        last = found[-1] if found else None
        if last and last.stop == index and last.runs < longest:
            found[-1] = Range(last.start, index + 1)
        else:
            found.append(Range(index, index + 1))
    return found


def _first_runs(runs: int) -> int:
    """Return the number of runs of the first chunks of a sweep."""
    return max(1, runs // FIRST_CHUNKS)


def _make_unless_there(path: Path, plan: Plan, missing: Sequence[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        return
    files.remove_leftovers(path.parent)
    with files.hidden(path.parent) as place:
        _make(place / "sweep", plan, missing)
        try:
            (place / "sweep").rename(path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another process has made the folder
                raise


def _make(path: Path, plan: Plan, missing: Sequence[int]) -> None:
    for name in ("chunks", "planning"):
        for state in STATES:
            (path / name / state).mkdir(parents=True)
    for name in ("failed", "clock"):
        (path / name).mkdir()
    files.put(path / _PLAN, plan.to_json())
    (path / "planning" / "open" / str(Range(0, 1))).touch()
    for chunk in pieces(missing, _first_runs(plan.runs)):
        (path / "chunks" / "open" / str(chunk)).touch()


# Search for stored runs: before a sweep begins, and when another process has finished a job.


_PAUSES_S = (0.0, 0.5, 1.0, 2.0)


def stored(todo: Sequence[Job], source: RunSource, progress: Progress | None) -> dict[int, Outcome]:
    """Return the outcomes of jobs whose runs are already stored, by index of the job."""
    known = {}
    for index, job in enumerate(todo):
        run = source.find(job)
        if run:
            known[index] = Outcome(job, run)
            if progress:
                progress(Update(index, job, job.scenario.duration_s, "stored"))
    return known


def made_elsewhere(job: Job, source: RunSource, root: Path) -> Outcome:
    """Find a run that another process has stored. NFS may hide the run until its folders are listed again."""
    for pause_s in _PAUSES_S:
        time.sleep(pause_s)
        run = source.find(job)
        if run:
            return Outcome(job, run)
        for folder in (root, root / engines.place_of(engines.engine(job.engine), job.scenario)):
            with suppress(OSError):
                os.listdir(folder)
    told = f"finished, but not found in {root}: all workers need access to this folder; repeat the command"
    return Outcome(job, ResultError(told))


# Progress of the sweeps of a store, read from their folders.


@dataclass(frozen=True)
class Held:
    """A chunk that a process holds, and the time in s since the process renewed its claim."""

    claim: Claim
    age_s: float


@dataclass(frozen=True)
class Status:
    """Progress of a sweep: numbers of its open, claimed, failed and finished runs."""

    id: str
    name: str
    runs: int
    open_chunks: int
    open_runs: int
    held: tuple[Held, ...]
    failed: tuple[Failure, ...]

    @property
    def held_runs(self) -> int:
        """Number of runs in claimed chunks."""
        return sum(held.claim.range.runs for held in self.held)

    @property
    def finished(self) -> int:
        """Number of stored runs. A run is stored if its job is in no chunk and has not failed."""
        return max(0, self.runs - self.open_runs - self.held_runs - len(self.failed))

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as plain data for JSON."""
        claims = [
            {
                "host": held.claim.owner.host,
                "pid": held.claim.owner.pid,
                "runs": held.claim.range.runs,
                "age_s": round(held.age_s, 1),
            }
            for held in self.held
        ]
        return {
            "sweep": self.id,
            "scenario": self.name,
            "runs": self.runs,
            "finished": self.finished,
            "open": {"chunks": self.open_chunks, "runs": self.open_runs},
            "claimed": claims,
            "failed": [{"run": failure.index, "error": str(failure.error)} for failure in self.failed],
        }


def statuses(root: Path) -> list[Status | VersionError]:
    """Return the status of every unfinished sweep of a store, or an error if its plan cannot be read."""
    found = list[Status | VersionError]()
    for folder in sweeps_in(root):
        try:
            found.append(_status(folder))
        except FileNotFoundError:  # the sweep is finished
            continue
        except VersionError as error:
            found.append(error)
    return found


def _status(folder: SweepFolder) -> Status:
    plan = folder.plan()
    claims = [(claim, folder.chunks.age_s(claim)) for claim in folder.chunks.claimed()]
    opened = folder.chunks.open()
    status = Status(
        folder.path.name,
        plan.name,
        plan.runs,
        len(opened),
        sum(chunk.runs for chunk in opened),
        tuple(Held(claim, age_s) for claim, age_s in claims if age_s is not None),
        tuple(folder.failures()),
    )
    folder.leave()
    return status
