"""Runs on disk: `<root>/<digest>/<engine>-<seed>/`. A folder of that name is always a finished run."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import polars as pl

from fullpipe.errors import FolderError, NoRunError, ResultError
from fullpipe.results.run import META, EngineId, Run, meta_text
from fullpipe.results.schema import TABLES
from fullpipe.scenario import Scenario

_RACES = 10
_SUMMARIES = ("flows", "links_summary", "transfers")


@dataclass(frozen=True)
class Store:
    """A folder of runs, addressed by what was run.

    A run is written under a hidden name and renamed when it is complete, so an interrupted one never counts;
    hidden folders that a killed process left behind may be deleted.
    """

    root: Path

    def folder(self, digest: str, engine: str, seed: int) -> Path:
        """Where a run is or would be."""
        return self.root / digest / f"{engine}-{seed}"

    def find(self, scenario: Scenario, engine: EngineId, seed: int) -> Run | None:
        """The finished run of a scenario, if there is one by this version of the engine and of its model.

        The run bears the name of `scenario`, which is no part of what is simulated. A run with a damaged file
        is not finished.
        """
        run = _finished(self.folder(scenario.digest, engine.name, seed), scenario.digest, engine)
        return run and _named(run, scenario.to_dict())

    def prepare(self) -> None:
        """Make the folder, and find out before anything is computed whether it can be written.

        Raises:
            FolderError: If it cannot.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=".", dir=self.root):
                pass
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FolderError(f"{self.root}: cannot be written: {reason}") from error

    def save(self, run: Run) -> Run:
        """Keep a run, in place of one by another version of the engine; an equal one that is there stays.

        Returns:
            The run with its tables on disk, or as it is if another process has taken its place.

        Raises:
            ResultError: If it cannot be written.
        """
        final = self.folder(run.meta.digest, run.meta.engine.name, run.meta.seed)
        partial = final.with_name(f".{final.name}-{uuid4().hex}")
        try:
            partial.mkdir(parents=True)
            try:
                _write(run, partial)
                _publish(partial, final, run)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise ResultError(f"{final}: cannot be written: {error.strerror or error}") from error
        try:
            # Summaries are small and wanted next; the rest is read again if it is wanted.
            kept = Run.load(final, {name: run.tables[name] for name in _SUMMARIES})
        except NoRunError:
            return run
        return _named(kept, run.meta.scenario)

    def __iter__(self) -> Iterator[Run]:
        """Every finished run, in the order of the names of their folders."""
        for path in sorted(self.root.glob(f"*/*/{META}")):
            if not path.parent.name.startswith("."):
                yield Run.load(path.parent)


def _finished(folder: Path, digest: str, engine: EngineId) -> Run | None:
    """The run in a folder, if it is whole and of this scenario by this engine."""
    try:
        run = Run.load(folder)
        if (run.meta.digest, run.meta.engine) != (digest, engine):
            return None
        whole = all(
            pl.read_parquet_schema(folder / f"{name}.parquet") == dict(table.schema)
            for name, table in TABLES.items()
        )
    except (NoRunError, OSError, pl.exceptions.PolarsError):
        return None
    return run if whole else None


def _named(run: Run, scenario: dict[str, Any]) -> Run:
    """The run as one of `scenario`, which may have another name."""
    return Run(run.meta.model_copy(update={"scenario": scenario}), run.tables, run.folder)


def _write(run: Run, folder: Path) -> None:
    for name in TABLES:
        run.tables[name].write_parquet(folder / f"{name}.parquet")
    (folder / META).write_text(meta_text(run.meta), encoding="utf-8")
    for path in (*folder.iterdir(), folder):
        _flush(path)


def _flush(path: Path) -> None:
    """Make sure that a file is on disk before its folder gets its final name."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _publish(partial: Path, final: Path, run: Run) -> None:
    """Give a complete folder its final name, unless an equal run has it; anything else there gives way."""
    digest, engine = run.meta.digest, run.meta.engine
    for _ in range(_RACES):
        try:
            partial.rename(final)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _finished(final, digest, engine):
            return
        outdated = final.with_name(f".{final.name}-{uuid4().hex}")
        with suppress(FileNotFoundError):  # another process may have been quicker
            final.rename(outdated)
            if _finished(outdated, digest, engine):  # put in place since we looked: it goes back
                with suppress(OSError):
                    outdated.rename(final)
            shutil.rmtree(outdated, ignore_errors=True)
    raise ResultError(f"{final}: other processes keep writing the same run")
