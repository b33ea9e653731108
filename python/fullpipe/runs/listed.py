"""Runs that are found by the index of their store, and read when more is wanted than the index says."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fullpipe import _native
from fullpipe.errors import NoRunError
from fullpipe.runs.entries import FOUND
from fullpipe.runs.kept import Kept, is_unchanged
from fullpipe.runs.run import Run
from fullpipe.runs.segments import FOLDER, DamagedError, Segment, paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from fullpipe.runs.jobs import Job
    from fullpipe.runs.meta import EngineId, Meta
    from fullpipe.runs.store import Address

_BYTES_A_JOB = 1 << 14
"""Limit of what is read of an index for each job: to read so much takes as long as to look a run up."""


class Found(NamedTuple):
    """A row of the index by which a run is found: see `entries.FOUND`."""

    number: int
    origin: str
    fingerprint: str
    stamp: str


class Listing:
    """The runs of a store that were written by us or read and checked, by their folders."""

    def __init__(self, root: Path, found: Mapping[str, Sequence[Found]]) -> None:
        self._root, self._found = str(root), found

    @classmethod
    def read(cls, root: Path, jobs: int) -> Listing | None:
        """Return what the index says; None if that takes longer to read than to look up the jobs.

        Files that are damaged or of older versions say nothing.
        """
        segments = []
        for path in paths(root):
            try:
                segment = Segment.read(path)
            except DamagedError:
                continue
            if "found" in segment:
                segments.append(segment)
        if sum(segment.bytes_of("found") for segment in segments) > jobs * _BYTES_A_JOB:
            return None
        return cls(root, _by_folder(segments))

    def run(self, at: Address, job: Job) -> Run | None:
        """The run of a job, if the index has it and its files are as large and as old as it says."""
        for place in dict.fromkeys((at.place, at.digest)):  # as `Store.find` looks
            name = f"{place}/{at.engine.name}-{job.seed}"
            folder = f"{self._root}/{name}"
            for found in self._found.get(name, ()):  # several if a run was replaced
                if found.origin == at.origin and is_unchanged(folder, found.stamp):
                    return ListedRun(folder, found, at, job)
        return None


def _by_folder(segments: Iterable[Segment]) -> dict[str, list[Found]]:
    """The rows of files of the index by folder.

    A store may be a stranger's: what polars reads can be many times as large as its bytes. Nor is it needed,
    and it takes as long to import as hundreds of runs to look up.
    """
    rows: dict[str, list[Found]] = {}
    for segment in segments:
        with suppress(DamagedError, ValueError, KeyError):
            columns = _native.columns(segment.content("found"))
            values = [columns[name] for name in FOUND]
            if not all(map(_is_of_kind, values, FOUND.values())):
                continue
            for number, folder, origin, fingerprint, stamp, _ in zip(*values, strict=True):
                rows.setdefault(folder, []).append(Found(number, origin, fingerprint, stamp))
    return rows


def _is_of_kind(values: Sequence[Any], kind: str) -> bool:
    """Whether all values are texts, or counts of 63 bits."""
    is_typed = set(map(type, values)) <= {str if kind == "text" else int}
    return is_typed and (kind == "text" or (min(values, default=0) >= 0 and max(values, default=0) < 1 << 63))


class ListedRun(Run):
    """A run of which nothing is read before it is wanted.

    Bytes that changed without other sizes or times are noticed when they are read.
    """

    _path: str
    _found: Found
    _at: Address
    _job: Job

    def __new__(cls, *listed: Any, **changed: Any) -> Run:  # type: ignore[misc]
        """Make a plain run for `dataclasses.replace`, which names all fields."""
        return Run(**changed) if changed else super().__new__(cls)

    def __init__(self, path: str, found: Found, at: Address, job: Job) -> None:
        vars(self).update(_path=path, _found=found, _at=at, _job=job, scenario=job.scenario)

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self._path)

    @property
    def seed(self) -> int:
        """The seed."""
        return self._job.seed

    @property
    def engine(self) -> EngineId:
        """The engine that ran it, with its versions."""
        return self._at.engine

    @property
    def place(self) -> str:
        """Folder of runs of its scenario below a store."""
        return self._at.place

    @property
    def files(self) -> Mapping[str, str]:
        """SHA-256 of every file that it rests on; most scenarios name none."""
        return self.meta.files if self._at.has_files else {}

    @property
    def root(self) -> str | None:
        """The store that has it."""
        return self._path.rsplit("/", 2)[0]

    @property
    def number(self) -> int | None:
        """Number that its content determines."""
        return self._found.number

    @property
    def fingerprint(self) -> str:
        """Equal for runs with equal packets and summaries."""
        return self._found.fingerprint

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._job.scenario.name

    @cached_property
    def _read(self) -> Run:
        return self._open()

    def apart(self) -> Run:
        """This run, to be measured: what is read of it goes with it."""
        return (self._read if "_read" in vars(self) else self._open()).apart()

    def _open(self) -> Run:
        """Return the run as it is stored.

        Raises:
            NoRunError: If it is damaged, or not there any more.
        """
        try:
            kept, at = Kept.read(self.folder), self._at
        except NoRunError as error:
            if self.folder.exists():
                raise
            raise NoRunError(f"{self.folder}: deleted after the command found it; run it again") from error
        found = kept.meta.digest, kept.meta.engine, kept.meta.seed, kept.number
        if found != (at.digest, at.engine, self.seed, self.number):
            told = f"run the command again, after deleting {self.root}/{FOLDER} if it fails again"
            raise NoRunError(f"{self.folder}: not the run that the index of the store has; {told}")
        return Run.from_kept(kept).named(self._at.named).at(self._job.point, self._job.scenario)

    @property
    def meta(self) -> Meta:
        """The origin of the run."""
        return self._read.meta

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Its tables by name."""
        return self._read.tables
