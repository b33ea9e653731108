"""Runs on disk: `<root>/<digest>/<engine>-<seed>/`. A folder of that name is always a finished run."""

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
from fullpipe.runs import order, population
from fullpipe.runs.encoded import only
from fullpipe.runs.entries import origin_of
from fullpipe.runs.kept import Kept
from fullpipe.runs.meta import DIGEST, EngineId, Meta
from fullpipe.runs.run import Run
from fullpipe.runs.sums import META, columns_today
from fullpipe.runs.writer import FEW, SUMMARIES, Writer, finished
from fullpipe.scenario import Scenario

if TYPE_CHECKING:
    from fullpipe.runs.index import Index
    from fullpipe.runs.listed import Listing

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class Merged:
    """What became of the runs of another store."""

    copied: int = 0
    there: int = 0
    """How many had been in this one before."""
    damaged: list[str] = field(default_factory=list)
    """Why others were not copied, one line each."""

    def count(self, is_copied: bool) -> None:
        """Count a run."""
        self.copied += is_copied
        self.there += not is_copied


@dataclass(frozen=True)
class Address:
    """Where a store has the runs of a scenario by an engine, and what tells them from others there."""

    scenario: Scenario
    engine: EngineId
    digest: str
    place: str
    named: dict[str, Any]

    @cached_property
    def has_files(self) -> bool:
        """Whether runs may rest on files besides the scenario: code of algorithms, or recordings."""
        return bool(self.engine.code) or any(population.recordings_in(self.named))

    @cached_property
    def origin(self) -> str:
        """See `entries.origin_of`."""
        return origin_of(self.digest, self.engine, columns_today())


@dataclass(frozen=True)
class Store:
    """A folder of runs, addressed by what was run.

    A run is written in a hidden folder and renamed when it is complete, so an interrupted one never counts.
    What a killed process leaves there goes when the next run is made.
    """

    root: Path
    _writer: Writer | None = field(default=None, repr=False, compare=False)

    def folder(self, place: str, engine: str, seed: int) -> Path:
        """Where a run is or would be; `place` is `Meta.place`."""
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
        """The finished run of a scenario, if there is one by this version of the engine and of its model.

        `digest` stands for what the engine reads of the scenario; left out, it reads everything. `named` is
        the scenario as plain data, if that is at hand. `place` is the folder of its runs, if that is not the
        digest: see `meta.place_of`. Older versions kept them below the digest, where they are found, too.

        The run bears the name of `scenario`, which is no part of what is simulated. A run with a damaged file
        is not finished: every byte is held against its checksum.
        """
        digest = digest or scenario.digest
        for folder in dict.fromkeys((place or digest, digest)):
            if not os.access(f"{self.root}/{folder}/{engine.name}-{seed}/{META}", os.F_OK):
                continue  # most often, and much quicker than an exception
            if found := finished(self.folder(folder, engine.name, seed), digest, engine, seed):
                return found.named(named or scenario.to_dict())
        return None

    @contextmanager
    def batch(self) -> Iterator[Store]:
        """This store; what is saved in it is made durable together when the context ends, however it ends.

        A run that is saved outside of any is durable when `save` returns. A process that is killed loses
        nothing of what is saved; a machine that loses power, what is not yet durable.
        """
        writer = Writer(self.root)
        try:
            yield Store(self.root, writer)
        finally:
            writer.close()

    def prepare(self, place: str) -> None:
        """Make the folder, and find out before anything is computed whether a run can be written.

        Args:
            place: See `Meta.place`.

        Raises:
            FolderError: If no run can.
            ResultError: If none of this scenario can, because its folder is a link to elsewhere.
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
        """Keep a run, in place of one of the same content by another version of the engine.

        An equal one that is there stays.

        Returns:
            The run with its tables on disk, or as it is if another process has taken its place.

        Raises:
            DiskFullError: If the disk is full.
            ResultError: If it cannot be written.
        """
        final = self.folder(run.meta.place, run.meta.engine.name, run.meta.seed)
        try:
            with self._writing() as writer:
                written = writer.write(run, final)
        except OSError as error:
            reason = error.strerror or error
            raise self._full(error) or ResultError(f"{final}: cannot be written: {reason}") from error
        summaries = only(run.tables, SUMMARIES)  # the rest is read again if it is wanted
        if written:
            return Run.from_kept(written, summaries)
        try:
            return Run.from_kept(Kept.read(final), summaries).named(run.meta.scenario)
        except NoRunError:
            return run

    def delete(self, folders: Iterable[Path]) -> None:
        """Delete runs of this store.

        Raises:
            FolderError: If one cannot be deleted, or is no run of this store.
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
        """Copy the runs of another store into this one, byte for byte; a run that is here stays.

        Raises:
            NoRunError: If the other one is no folder.
            FolderError: If this one cannot be written.
            DiskFullError: If the disk is full.
        """
        if not other.root.is_dir():
            raise NoRunError(f"{other.root}: no folder of runs")
        merged = Merged()
        with self.batch() as batch:
            for folder in other._folders():
                try:
                    kept = Kept.read(folder)
                    if not kept.has_its_name:
                        raise NoRunError(f"{folder}: holds a run that has another name")
                    if not kept.is_whole:
                        raise NoRunError(f"{folder}: damaged")
                    merged.count(batch._bring(kept))
                except ResultError as error:
                    if isinstance(error, FolderError | DiskFullError):
                        raise
                    merged.damaged.append(str(error))
            batch.note_order(order.merged(order.read(other.root), order.read(self.root)))
            with suppress(OSError), batch._writing() as writer:
                population.merge_asked(self.root, writer.open(), other.root)
        return merged

    def _bring(self, kept: Kept) -> bool:
        """Copy a run of another store unless there is one; says whether it was copied."""
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
        """Which runs there are, and what is known of all without opening any.

        Raises:
            NoRunError: If there is no such folder.
        """
        from fullpipe.runs.index import up_to_date  # here: it needs polars, and runs are found without

        try:
            return up_to_date(self.root)
        except OSError as error:
            raise NoRunError(f"{self.root}: no folder of runs: {error.strerror or error}") from error

    def listing(self, jobs: int) -> Listing | None:
        """The runs that are found without being read; None if so many jobs are looked up in less time."""
        if jobs <= FEW:
            return None
        from fullpipe.runs.listed import Listing  # here: most sweeps are short

        return Listing.read(self.root, jobs)

    def enlist(self, run: Run) -> None:
        """Note a run that `find` has read, so that it is found without being read, when the batch ends."""
        if self._writer and isinstance(kept := getattr(run.tables, "kept", None), Kept):
            self._writer.enlist(kept, run.tables)

    def __iter__(self) -> Iterator[Run]:
        """Every finished run, in the order in which scenarios were named, and of one by engine and seed.
        Tables are checked when read."""
        known = dict.fromkeys(order.read(self.root))
        folders = self._folders()
        others = {folder.parent.name: folder for folder in folders if folder.parent.name not in known}
        places = order.places(self.root, ((digest, _told(folder)) for digest, folder in others.items()))
        for folder in sorted(folders, key=lambda each: (places[each.parent.name], order.by_size(each.name))):
            with suppress(NoRunError):
                yield Run.load(folder)

    def note_order(self, digests: Iterable[str]) -> None:
        """Keep in which order scenarios were named, for all that reads this store, if it can be written."""
        before = order.read(self.root)
        after = order.merged(before, list(dict.fromkeys(digests)))
        if after != before:
            with suppress(OSError), self._writing() as writer:
                order.write(self.root, writer.open(), after)

    def note_content(self, metas: Iterable[Meta]) -> None:
        """Note which content of files was asked for, if any run has files and the store can be written."""
        named = {json.dumps([meta.scenario["name"], meta.files]): meta for meta in metas if meta.files}
        if named:
            with suppress(OSError), self._writing() as writer:
                population.note_asked(self.root, writer.open(), named.values())

    def _check(self, folder: Path) -> None:
        """Raise FolderError unless a folder is where runs of this store are, and not behind a link."""
        parent = folder.parent.resolve()
        is_of_digest = parent.parent == self.root.resolve() and re.fullmatch(DIGEST, parent.name)
        if not is_of_digest or folder.name.startswith("."):
            raise FolderError(f"{folder}: no run of {self.root}")

    def _folders(self) -> list[Path]:
        paths = sorted(self.root.glob(f"*/*/{META}"))
        return [path.parent for path in paths if not path.parent.name.startswith(".")]

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        """The writer of the batch, or one for now."""
        if self._writer:
            yield self._writer
            return
        with closing(Writer(self.root)) as writer:
            yield writer

    def _full(self, error: Exception) -> DiskFullError | None:
        """What to say if the disk, or what one may have of it, is full."""
        if getattr(error, "errno", None) not in _NO_ROOM:
            return None
        kept = len(self._folders())
        told = f"{self.root}: the disk is full; {kept} runs are kept; the same command continues"
        return DiskFullError(told)


def _told(folder: Path) -> str:
    """What the scenario of a run says, as text."""
    with suppress(NoRunError):
        meta = Kept.read(folder).meta
        return order.told(meta.scenario["name"], meta.point, meta.scenario)
    return ""
