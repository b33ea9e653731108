"""Runs that are found through the index of their store. Files of a run are read only if its data is used."""

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

    from fullpipe.runs.executor import Job
    from fullpipe.runs.meta import EngineId, Meta
    from fullpipe.runs.store import Address

_BYTES_A_JOB = 1 << 14
"""Maximum size of the index in bytes per job. Reading more takes longer than looking up one run."""


class Found(NamedTuple):
    """A row of the index table `found`; see `entries.FOUND` for its columns."""

    number: int
    origin: str
    fingerprint: str
    stamp: str


class Listing:
    """Runs of a store that are in the index table `found`, by folder."""

    def __init__(self, root: Path, found: Mapping[str, Sequence[Found]]) -> None:
        self._root, self._found = str(root), found

    @classmethod
    def read(cls, root: Path, jobs: int) -> Listing | None:
        """Read the index. None if this would take longer than looking up the run of each job.

        Damaged files and files of older versions are ignored.
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
        """Return the run of a job, if the index has the run and the sizes and times of its files are
        unchanged."""
        for place in dict.fromkeys((at.place, at.digest)):  # in the order of `Store.find`
            name = f"{place}/{at.engine.name}-{job.seed}"
            folder = f"{self._root}/{name}"
            for found in self._found.get(name, ()):  # several rows if a run was replaced
                if found.origin == at.origin and is_unchanged(folder, found.stamp):
                    return ListedRun(folder, found, at, job)
        return None


def _by_folder(segments: Iterable[Segment]) -> dict[str, list[Found]]:
    """Read the tables `found` from the index's files. Return each run's rows, by the run's folder.

    polars is not used for two reasons. In an untrusted store, a small file can contain data that polars
    expands to many times its size. Importing polars also takes as long as looking up hundreds of runs.
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
    """Whether all values are strings if `kind` is "text", else non-negative integers of up to 63 bits."""
    is_typed = set(map(type, values)) <= {str if kind == "text" else int}
    return is_typed and (kind == "text" or (min(values, default=0) >= 0 and max(values, default=0) < 1 << 63))


class ListedRun(Run):
    """A run whose files are read only when they are first used.

    Damaged bytes are then noticed, even if the sizes and times of the files are unchanged.
    """

    _path: str
    _found: Found
    _at: Address
    _job: Job

    def __new__(cls, *listed: Any, **changed: Any) -> Run:  # type: ignore[misc]
        """Make a plain run for `dataclasses.replace`, which passes all fields."""
        return Run(**changed) if changed else super().__new__(cls)

    def __init__(self, path: str, found: Found, at: Address, job: Job) -> None:
        vars(self).update(_path=path, _found=found, _at=at, _job=job, scenario=job.scenario)

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(self._path)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._job.seed

    @property
    def engine(self) -> EngineId:
        """The engine and its versions."""
        return self._at.engine

    @property
    def place(self) -> str:
        """Folder in the store with the runs of the scenario."""
        return self._at.place

    @property
    def files(self) -> Mapping[str, str]:
        """SHA-256 of every file that the scenario uses. Most scenarios use no file."""
        return self.meta.files if self._at.has_files else {}

    @property
    def root(self) -> str | None:
        """The folder of the run's store."""
        return self._path.rsplit("/", 2)[0]

    @property
    def number(self) -> int | None:
        """ID of the run in the index, computed from the content of the run."""
        return self._found.number

    @property
    def fingerprint(self) -> str:
        """Digest of packet counts and summaries. Runs with equal packets and summaries have equal digests."""
        return self._found.fingerprint

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._job.scenario.name

    @cached_property
    def _read(self) -> Run:
        return self._open()

    def apart(self) -> Run:
        """Return this run as a new object for measuring, as `Run.apart` does."""
        return (self._read if "_read" in vars(self) else self._open()).apart()

    def _open(self) -> Run:
        """Return the run as it is stored.

        Raises:
            NoRunError: If the run is damaged, or was deleted.
        """
        try:
            kept, at = Kept.read(self.folder), self._at
        except NoRunError as error:
            if self.folder.exists():
                raise
            raise NoRunError(
                f"{self.folder}: was deleted while the command ran; run the command again"
            ) from error
        found = kept.meta.digest, kept.meta.engine, kept.meta.seed, kept.number
        if found != (at.digest, at.engine, self.seed, self.number):
            told = f"run the command again, after deleting {self.root}/{FOLDER} if it fails again"
            raise NoRunError(f"{self.folder}: not the run that the index of the store has; {told}")
        return Run.from_kept(kept).named(self._at.named).at(self._job.point, self._job.scenario)

    @property
    def meta(self) -> Meta:
        """The metadata of the run."""
        return self._read.meta

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The tables by name."""
        return self._read.tables
