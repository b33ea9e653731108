"""Runs on disk: `<root>/<digest>/<engine>-<seed>/`. A folder of that name is always a finished run."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from fullpipe.errors import DiskFullError, FolderError, NoRunError, ResultError
from fullpipe.io import files
from fullpipe.runs.kept import META, Kept, keep
from fullpipe.runs.meta import EngineId
from fullpipe.runs.run import Run
from fullpipe.scenario import Scenario

_RACES = 10
_SUMMARIES = ("flows", "links_summary", "transfers")
_WRITING = ".writing"
"""Where runs are written, before they are complete."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Store:
    """A folder of runs, addressed by what was run.

    A run is written in a hidden folder and renamed when it is complete, so an interrupted one never counts.
    What a killed process leaves there goes when the next run is made.
    """

    root: Path

    def folder(self, digest: str, engine: str, seed: int) -> Path:
        """Where a run is or would be."""
        return self.root / digest / f"{engine}-{seed}"

    def find(self, scenario: Scenario, engine: EngineId, seed: int, digest: str | None = None) -> Run | None:
        """The finished run of a scenario, if there is one by this version of the engine and of its model.

        `digest` stands for what the engine reads of the scenario; left out, it reads everything.

        The run bears the name of `scenario`, which is no part of what is simulated. A run with a damaged file
        is not finished: every byte is held against its checksum.
        """
        digest = digest or scenario.digest
        kept = _finished(self.folder(digest, engine.name, seed), digest, engine)
        return _named(Run.from_kept(kept), scenario.to_dict()) if kept else None

    def prepare(self, digest: str) -> None:
        """Make the folder, and find out before anything is computed whether a run can be written.

        Raises:
            FolderError: If no run can.
            ResultError: If none of this scenario can, because its folder is a link to elsewhere.
        """
        if (self.root / digest).is_symlink():
            raise ResultError(
                f"{self.root / digest}: is a link; remove it, or make a link of {self.root} itself"
            )
        try:
            str(self.root).encode()
            writing = self._writing()
            files.remove_leftovers(writing)
            with files.hidden(writing):
                pass
        except UnicodeEncodeError:
            name = str(self.root).encode(errors="backslashreplace").decode()
            raise FolderError(f"{name}: cannot be written: the name is not Unicode text") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self._full(error) or FolderError(f"{self.root}: cannot be written: {reason}") from error

    def save(self, run: Run) -> Run:
        """Keep a run, in place of one by another version of the engine; an equal one that is there stays.

        Returns:
            The run with its tables on disk, or as it is if another process has taken its place.

        Raises:
            DiskFullError: If the disk is full.
            ResultError: If it cannot be written.
        """
        final = self.folder(run.meta.digest, run.meta.engine.name, run.meta.seed)
        try:
            with files.hidden(self._writing()) as place:
                complete = place / "run"
                complete.mkdir()
                keep(complete, run.meta, run.tables)
                final.parent.mkdir(exist_ok=True)
                _publish(complete, final, run)
        except OSError as error:
            reason = error.strerror or error
            raise self._full(error) or ResultError(f"{final}: cannot be written: {reason}") from error
        try:
            # Summaries are small and wanted next; the rest is read again if it is wanted.
            kept = Run.from_kept(Kept.read(final), {name: run.tables[name] for name in _SUMMARIES})
        except NoRunError:
            return run
        return _named(kept, run.meta.scenario)

    def __iter__(self) -> Iterator[Run]:
        """Every finished run, in the order of the names of their folders. Tables are checked when read."""
        for folder in self._folders():
            with suppress(NoRunError):
                yield Run.load(folder)

    def _folders(self) -> list[Path]:
        paths = sorted(self.root.glob(f"*/*/{META}"))
        return [path.parent for path in paths if not path.parent.name.startswith(".")]

    def _writing(self) -> Path:
        folder = self.root / _WRITING
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _full(self, error: Exception) -> DiskFullError | None:
        """What to say if the disk, or what one may have of it, is full."""
        if getattr(error, "errno", None) not in _NO_ROOM:
            return None
        kept = len(self._folders())
        told = f"{self.root}: the disk is full; {kept} runs are kept; the same command continues"
        return DiskFullError(told)


def _finished(folder: Path, digest: str, engine: EngineId) -> Kept | None:
    """The run in a folder, if it is whole and of this scenario by this engine."""
    try:
        kept = Kept.read(folder)
    except NoRunError:
        return None
    is_it = (kept.meta.digest, kept.meta.engine) == (digest, engine)
    return kept if is_it and kept.is_intact else None


def _named(run: Run, scenario: dict[str, Any]) -> Run:
    """The run as one of `scenario`, which may have another name."""
    return Run(run.meta.model_copy(update={"scenario": scenario}), run.tables, run.folder)


def _publish(complete: Path, final: Path, run: Run) -> None:
    """Give a complete folder its final name, unless an equal run has it; anything else there gives way."""
    digest, engine = run.meta.digest, run.meta.engine
    for _ in range(_RACES):
        try:
            complete.rename(final)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _finished(final, digest, engine):
            return
        outdated = complete.with_name(f"outdated-{uuid4().hex}")
        with suppress(FileNotFoundError):  # another process may have been quicker
            final.rename(outdated)
            if _finished(outdated, digest, engine):  # put in place since we looked: it goes back
                with suppress(OSError):
                    outdated.rename(final)
            shutil.rmtree(outdated, ignore_errors=True)
    raise ResultError(f"{final}: other processes keep writing the same run")
