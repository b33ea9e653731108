"""A sweep in a shared folder: its plan, the chunks that are left, and the runs that failed.

<store>/.work/<sweep>/plan.json     what is to be run, and by which versions
                      chunks/       ranges of jobs that are not over: open, claimed
                      planning/     one chunk of the same kind, held while chunks are made
                      failed/       a file per failed run
                      clock/        a file per process, to read the file system's clock
"""

import errno
import json
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fullpipe import files
from fullpipe.cluster.chunks import STATES, Chunks, Claim, Range
from fullpipe.cluster.failures import error_told, told
from fullpipe.cluster.lease import FileSystemClock
from fullpipe.cluster.owner import Owner
from fullpipe.cluster.plan import Plan
from fullpipe.cluster.sizes import FIRST_CHUNKS
from fullpipe.errors import FolderError, FullpipeError

WORK = ".work"
"""Where the sweeps of a store are."""
_PLAN = "plan.json"
_PAUSE_S = 0.2
_MOST_BYTES = 65_536
"""Of what is read of the message of a failed run."""


@dataclass(frozen=True)
class Failure:
    """A run that failed: its place among the jobs, and why."""

    index: int
    error: FullpipeError


class SweepFolder:
    """The folder of one sweep, as one process sees it."""

    def __init__(self, path: Path, owner: Owner | None = None) -> None:
        self.path = path
        self._owner = owner or Owner.here()
        self.chunks = self._chunks("chunks")

    @property
    def is_there(self) -> bool:
        """Whether it has not been removed, as the command does at the end."""
        return (self.path / _PLAN).exists()

    def plan(self) -> Plan:
        """What is to be run.

        Raises:
            VersionError: If this version cannot read it.
            FileNotFoundError: If the sweep is over and gone.
        """
        path = self.path / _PLAN
        return Plan.from_json(path.read_bytes(), str(path))

    def fail(self, index: int, error: Exception) -> None:
        """Say why a run failed."""
        with suppress(FileNotFoundError), files.hidden(self.path / "failed") as place:
            files.put(place / "failure", json.dumps(told(error)).encode())
            (place / "failure").replace(self._failure(index))

    def forget(self, index: int) -> None:
        """A run that failed before is to be made again, or has been."""
        self._failure(index).unlink(missing_ok=True)

    def failure(self, index: int) -> Failure | None:
        """Why a run failed, if it did."""
        try:
            with self._failure(index).open("rb") as file:
                data = json.loads(file.read(_MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            data = None
        return Failure(index, error_told(data))

    def failures(self) -> list[Failure]:
        """All of them, in their order."""
        return [failure for failure in map(self.failure, self._failed()) if failure]

    @classmethod
    def of_plan(cls, root: Path, plan: Plan) -> "SweepFolder":
        """The folder of a plan in a store."""
        return cls(root / WORK / plan.id)

    def open_again(self, missing: Sequence[int], runs: int) -> None:
        """Make chunks of the jobs that are missing and in no chunk, such as those that failed before."""
        with self._planning():
            free = pieces(missing, _first_runs(runs), self.chunks.pending())
            for index in self._failed():
                if any(chunk.start <= index < chunk.stop for chunk in free):
                    self.forget(index)
            for chunk in free:
                self.chunks.add(chunk)

    def remove(self) -> None:
        """Everything is in the store: nothing is left of the sweep at once."""
        work = self.path.parent
        if self.is_there:
            with suppress(OSError), files.hidden(work) as place:
                self.path.rename(place / "over")
        with suppress(OSError):  # other sweeps are in it
            work.rmdir()

    def leave(self) -> None:
        """This process has no more to do with the sweep."""
        with suppress(OSError):
            (self.path / "clock" / str(self._owner)).unlink()

    @contextmanager
    def _planning(self) -> Iterator[None]:
        """Only one process at a time makes chunks; the turn of a killed one is taken over like a chunk."""
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
    """The folder of a plan in a store, with every missing job in a chunk.

    Raises:
        FolderError: If it cannot be written.
    """
    folder = SweepFolder.of_plan(root, plan)
    try:
        while True:
            with suppress(FileNotFoundError):  # another command has just finished and removed it
                _make_unless_there(folder.path, plan, missing)
                folder.open_again(missing, plan.runs)
                return folder
    except OSError as error:
        raise FolderError(f"{folder.path}: cannot be written: {error.strerror or error}") from error


def sweeps_in(root: Path) -> list[SweepFolder]:
    """The sweeps of a store that are not over, in the order of their names."""
    return [SweepFolder(path.parent) for path in sorted((root / WORK).glob(f"[0-9a-f]*/{_PLAN}"))]


def pieces(indices: Iterable[int], longest: int, taken: Iterable[Range] = ()) -> list[Range]:
    """Ranges of so many jobs at most that cover some jobs, and leave out what chunks have already.

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
    """Of a chunk, before any is given back."""
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
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another process was quicker
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
