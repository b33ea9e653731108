"""Stores: runs in folders `<root>/<digest>/<engine>-<seed>/`. A folder with such a name is a finished run."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullpipe.errors import DiskFullError, FolderError, NoRunError, ResultError
from fullpipe.runs import population, segments
from fullpipe.runs.encoding import META, columns_today, only
from fullpipe.runs.entries import origin_of
from fullpipe.runs.kept import Kept
from fullpipe.runs.meta import DIGEST, EngineId, Meta
from fullpipe.runs.run import Run
from fullpipe.runs.writer import FEW, SUMMARIES, Writer, finished
from fullpipe.scenario import Scenario

if TYPE_CHECKING:
    from fullpipe.runs.index import Index
    from fullpipe.runs.listed import Listing

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Merged:
    """Result of merging another store into this store."""

    copied: int = 0
    there: int = 0
    """Number of runs that this store already had."""
    damaged: list[str] = field(default_factory=list)
    """Errors of the runs that were not copied, one line each."""

    def count(self, is_copied: bool) -> None:
        """Count a run as copied, or as already in this store."""
        self.copied += is_copied
        self.there += not is_copied


@dataclass(frozen=True)
class Address:
    """Properties with which the stored runs of a scenario and an engine are found."""

    scenario: Scenario
    engine: EngineId
    digest: str
    place: str
    named: dict[str, Any]

    @cached_property
    def has_files(self) -> bool:
        """Whether results may depend on files besides the scenario: the code of algorithms, or recordings."""
        return bool(self.engine.code) or any(population.recordings_in(self.named))

    @cached_property
    def origin(self) -> str:
        """Hash of scenario, engine and schema, from `entries.origin_of`."""
        return origin_of(self.digest, self.engine, columns_today())


@dataclass(frozen=True)
class Store:
    """A folder of runs, in which a run is found by its scenario, engine and seed.

    Runs are written in a hidden folder and renamed when they are complete, so partial runs are never found.
    Files that a killed process leaves in the hidden folder are removed when the next run is stored.
    """

    root: Path
    _writer: Writer | None = field(default=None, repr=False, compare=False)

    def folder(self, place: str, engine: str, seed: int) -> Path:
        """Return the folder of a run, which need not exist. `place` is `Meta.place` of the run."""
        return Path(f"{self.root}/{place}/{engine}-{seed}")

    def find(
        self,
        scenario: Scenario,
        engine: EngineId,
        seed: int,
        digest: str | None = None,
        named: dict[str, Any] | None = None,
        place: str | None = None,
    ) -> Run | None:
        """Find the finished run of a scenario by the version of the engine and model in `engine`.

        The returned run has the name of `scenario`, as names do not affect the simulation. All checksums are
        verified, and damaged runs are not returned.

        Args:
            scenario: The scenario.
            engine: The engine and its versions.
            seed: The seed.
            digest: Digest of the part of the scenario that the engine reads. None: digest of the whole
                scenario.
            named: The scenario as plain data, if already computed.
            place: Folder of the runs, from `meta.place_of`; None if it is the digest. Runs of older versions
                are also found in the folder of the digest.

        Returns:
            The run, or None if no such run is stored.
        """
        digest = digest or scenario.digest
        for folder in dict.fromkeys((place or digest, digest)):
            if not os.access(f"{self.root}/{folder}/{engine.name}-{seed}/{META}", os.F_OK):
                continue  # the usual case; this check is much quicker than an exception
            if found := finished(self.folder(folder, engine.name, seed), digest, engine, seed):
                return found.named(named or scenario.to_dict())
        return None

    @contextmanager
    def batch(self) -> Iterator[Store]:
        """Return a context in which saved runs are not synchronized with the disk until its end.

        Outside such a context, every `save` synchronizes its run. A killed process loses no saved runs, but a
        power failure loses saved runs that are not yet synchronized.
        """
        writer = Writer(self.root)
        try:
            yield Store(self.root, writer)
        finally:
            writer.close()

    def prepare(self, place: str) -> None:
        """Make the folder of the store, and check that a run can be written. Called before a simulation.

        Args:
            place: Folder in the store for the runs: `Meta.place`.

        Raises:
            FolderError: If the store cannot be written.
            ResultError: If the scenario's folder is a symbolic link.
        """
        try:
            str(self.root).encode()
            with self._writing() as writer:
                writer.prepare(place)
        except UnicodeEncodeError:
            name = str(self.root).encode(errors="backslashreplace").decode()
            raise FolderError(f"{name}: cannot be written: the name is not Unicode text") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self._full(error) or FolderError(f"{self.root}: cannot be written: {reason}") from error

    def save(self, run: Run) -> Run:
        """Store a run. The run replaces a run of the same scenario and seed by another version of the engine.

        If the store already has an equal run, the stored run is not replaced.

        Returns:
            The stored run, or the given run if another process has just replaced the stored run.

        Raises:
            DiskFullError: If the disk is full.
            ResultError: If the run cannot be written.
        """
        final = self.folder(run.meta.place, run.meta.engine.name, run.meta.seed)
        try:
            with self._writing() as writer:
                written = writer.write(run, final)
        except OSError as error:
            reason = error.strerror or error
            raise self._full(error) or ResultError(f"{final}: cannot be written: {reason}") from error
        summaries = only(run.tables, SUMMARIES)  # other tables are read again if needed
        if written:
            return Run.from_kept(written, summaries)
        try:
            return Run.from_kept(Kept.read(final), summaries).named(run.meta.scenario)
        except NoRunError:
            return run

    def delete(self, folders: Iterable[Path]) -> None:
        """Delete runs of this store.

        Raises:
            FolderError: If a folder cannot be deleted, or is not a run of this store.
        """
        folders = list(folders)
        for folder in folders:
            self._check(folder)
        try:
            with self._writing() as writer:
                for folder in folders:
                    writer.remove(folder)
        except OSError as error:
            raise FolderError(f"{self.root}: cannot be written: {error.strerror or error}") from error

    def merge(self, other: Store) -> Merged:
        """Copy the runs of another store into this store, byte for byte. Runs of this store are not replaced.

        Raises:
            NoRunError: If the other store is not a folder.
            FolderError: If this store cannot be written.
            DiskFullError: If the disk is full.
        """
        if not other.root.is_dir():
            raise NoRunError(f"{other.root}: is not a folder; name a folder of stored runs")
        merged = Merged()
        with self.batch() as batch:
            for folder in other._folders():
                try:
                    kept = Kept.read(folder)
                    if not kept.has_its_name:
                        raise NoRunError(f"{folder}: the name of the folder does not match its run")
                    if not kept.is_whole:
                        raise NoRunError(f"{folder}: damaged")
                    merged.count(batch._bring(kept))
                except ResultError as error:
                    if isinstance(error, FolderError | DiskFullError):
                        raise
                    merged.damaged.append(str(error))
            batch.note_order(segments.merged(segments.read(other.root), segments.read(self.root)))
            with suppress(OSError), batch._writing() as writer:
                population.merge_asked(self.root, writer.open(), other.root)
        return merged

    def _bring(self, kept: Kept) -> bool:
        """Copy a run of another store unless this store has the run. Return whether the run was copied."""
        name, seed = kept.meta.engine.name, kept.meta.seed
        final, older = (self.folder(place, name, seed) for place in (kept.meta.place, kept.meta.digest))
        for folder in dict.fromkeys((final, older)):
            with suppress(NoRunError):
                here = Kept.read(folder)
                if here.is_whole and here.meta.place == kept.meta.place:
                    return False
        self.prepare(kept.meta.place)
        try:
            with self._writing() as writer:
                return writer.copy(kept, final) is not None
        except OSError as error:
            reason = error.strerror or error
            raise self._full(error) or FolderError(f"{final}: cannot be written: {reason}") from error

    def index(self) -> Index:
        """Return the index of all runs and their summaries. Runs that are already indexed are not opened.

        Raises:
            NoRunError: If the folder cannot be read.
        """
        from fullpipe.runs.index import up_to_date  # imported here, as finding runs does not need polars

        try:
            return up_to_date(self.root)
        except OSError as error:
            raise NoRunError(f"{self.root}: no folder of runs: {error.strerror or error}") from error

    def listing(self, jobs: int) -> Listing | None:
        """Return the runs that the index finds. None if looking up the run of each job is quicker."""
        if jobs <= FEW:
            return None
        from fullpipe.runs.listed import Listing  # imported here, as most sweeps are short

        return Listing.read(self.root, jobs)

    def enlist(self, run: Run) -> None:
        """Add to the index, at the end of the batch, a run that `find` has read. Later commands then find the
        run without reading its files."""
        if self._writer and isinstance(kept := getattr(run.tables, "kept", None), Kept):
            self._writer.enlist(kept, run.tables)

    def __iter__(self) -> Iterator[Run]:
        """Iterate over all finished runs: scenarios in the order in which commands ran them, and the runs of
        a scenario by engine and seed. The checksum of a table is verified when the table is read."""
        known = dict.fromkeys(segments.read(self.root))
        folders = self._folders()
        others = {folder.parent.name: folder for folder in folders if folder.parent.name not in known}
        places = segments.places(self.root, ((digest, _told(folder)) for digest, folder in others.items()))
        for folder in sorted(
            folders, key=lambda each: (places[each.parent.name], segments.by_size(each.name))
        ):
            with suppress(NoRunError):
                yield Run.load(folder)

    def note_order(self, digests: Iterable[str]) -> None:
        """Store the order of scenarios for later commands, if the store can be written."""
        before = segments.read(self.root)
        after = segments.merged(before, list(dict.fromkeys(digests)))
        if after != before:
            with suppress(OSError), self._writing() as writer:
                segments.write(self.root, writer.open(), after)

    def note_content(self, metas: Iterable[Meta]) -> None:
        """Store which content of files was requested last, if a run has files and the store is writable."""
        named = {json.dumps([meta.scenario["name"], meta.files]): meta for meta in metas if meta.files}
        if named:
            with suppress(OSError), self._writing() as writer:
                population.note_asked(self.root, writer.open(), named.values())

    def _check(self, folder: Path) -> None:
        """Raise FolderError unless a path is the folder of a run in this store, without symbolic links."""
        parent = folder.parent.resolve()
        is_of_digest = parent.parent == self.root.resolve() and re.fullmatch(DIGEST, parent.name)
        if not is_of_digest or folder.name.startswith("."):
            raise FolderError(f"{folder}: is not the folder of a run in {self.root}")

    def _folders(self) -> list[Path]:
        paths = sorted(self.root.glob(f"*/*/{META}"))
        return [path.parent for path in paths if not path.parent.name.startswith(".")]

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """Return the writer of the batch, or a temporary writer outside of a batch."""
        if self._writer:
            yield self._writer
            return
        with closing(Writer(self.root)) as writer:
            yield writer

    def _full(self, error: Exception) -> DiskFullError | None:
        """Return a DiskFullError if `error` says that the disk or the user's quota is full, else None."""
        if getattr(error, "errno", None) not in _NO_ROOM:
            return None
        kept = len(self._folders())
        told = f"{self.root}: the disk is full; {kept} runs are stored; free space and repeat the command"
        return DiskFullError(told)


def _told(folder: Path) -> str:
    """Return the text by which the scenario of a run is sorted; empty if the run is damaged."""
    with suppress(NoRunError):
        meta = Kept.read(folder).meta
        return segments.told(meta.scenario["name"], meta.point, meta.scenario)
    return ""
