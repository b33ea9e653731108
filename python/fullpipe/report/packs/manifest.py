"""List of a pack: its scenarios and runs, and the checksums of its files and tables."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fullpipe.errors import InputFileError
from fullpipe.runs.meta import DIGEST, EngineId

LIST, READ_ME = "study.json", "README.md"
"""Members of a pack beside the folders."""
FILES, RUNS = "files", "runs"
"""Folders of a pack."""
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(pattern=r"^\w+$")]


class PackError(InputFileError):
    """A pack cannot be written or read, or is damaged: which file, what is wrong, and what to do."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackedRun(_Frozen):
    """One run of a study, made or to be made."""

    scenario: Annotated[int, Field(ge=0)]
    """Place among the scenarios of the list."""
    engine: EngineId
    """Engine and versions that made the run, or would."""
    seed: Annotated[int, Field(ge=0, lt=1 << 64)]
    point: dict[str, Any] = {}
    """Swept paths and their values."""
    digest: Annotated[str, Field(pattern=DIGEST)]
    tables: dict[_Name, _Sha256] = {}
    """SHA-256 of every table with rows; empty for a run that was not made."""

    @property
    def folder(self) -> str:
        """Folder of the run below `runs`."""
        return f"{self.digest}/{self.engine.name}-{self.seed}"


class Manifest(_Frozen):
    """Content of study.json."""

    format: Literal[1] = 1
    fullpipe: str
    """Version that wrote the pack, with its commit if it is known."""
    versions: dict[str, str] = {}
    """Versions of Python and of packages that made the runs."""
    scenarios: tuple[dict[str, Any], ...]
    """Scenarios without a sweep, as plain data; recordings are named below `files`."""
    runs: tuple[PackedRun, ...]
    files: dict[str, _Sha256]
    """SHA-256 of every member but this list, by its name."""

    @property
    def is_made(self) -> bool:
        """Whether the checksums of some run's tables are known."""
        return any(run.tables for run in self.runs)

    def to_json(self) -> bytes:
        """Return the list as it is written."""
        return self.model_dump_json().encode()

    @classmethod
    def from_json(cls, data: bytes, where: str) -> Manifest:
        """Return the list that `to_json` wrote.

        Raises:
            PackError: If it is none, or contradicts itself.
        """
        try:
            found = cls.model_validate_json(data)
        except (ValidationError, RecursionError) as error:
            first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "too deeply nested"
            raise PackError(f"{where}: {LIST} is no list of a pack: {first}") from None
        if any(run.scenario >= len(found.scenarios) for run in found.runs):
            raise PackError(f"{where}: {LIST} names a scenario that it does not have")
        return found
