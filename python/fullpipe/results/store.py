"""Runs on disk: `<root>/<digest>/<engine>-<seed>/`. A folder of that name is always a finished run."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from fullpipe.errors import NoRunError, ResultError
from fullpipe.results.run import META, EngineId, Run, meta_text
from fullpipe.results.schema import TABLES
from fullpipe.scenario import Scenario

_RACES = 10


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

        The run bears the name of `scenario`, which is no part of what is simulated.
        """
        try:
            run = Run.load(self.folder(scenario.digest, engine.name, seed))
        except NoRunError:
            return None
        if run.meta.engine != engine or run.meta.digest != scenario.digest:
            return None
        return Run(run.meta.model_copy(update={"scenario": scenario.to_dict()}), run.tables, run.folder)

    def save(self, run: Run) -> Run:
        """Keep a run, in place of one of the same scenario, engine and seed.

        Returns:
            The same run, with its tables on disk instead of in memory.

        Raises:
            ResultError: If it cannot be written.
        """
        final = self.folder(run.meta.digest, run.meta.engine.name, run.meta.seed)
        partial = final.with_name(f".{final.name}-{uuid4().hex}")
        try:
            partial.mkdir(parents=True)
            try:
                _write(run, partial)
                _publish(partial, final)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise ResultError(f"{final}: cannot be written: {error.strerror or error}") from error
        return Run.load(final)

    def __iter__(self) -> Iterator[Run]:
        """Every finished run, in the order of the names of their folders."""
        for path in sorted(self.root.glob(f"*/*/{META}")):
            if not path.parent.name.startswith("."):
                yield Run.load(path.parent)


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


def _publish(partial: Path, final: Path) -> None:
    """Give a complete folder its final name; what had that name before gives way."""
    for _ in range(_RACES):
        try:
            partial.rename(final)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        outdated = final.with_name(f".{final.name}-{uuid4().hex}")
        with suppress(FileNotFoundError):  # another process may have been quicker
            final.rename(outdated)
            shutil.rmtree(outdated)
    raise ResultError(f"{final}: other processes keep writing the same run")
