"""The origin of a run: scenario, engine, seed and versions."""

import os
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fullpipe.commit import commit

DIGEST = "^[0-9a-f]{16}$"
"""What a digest is. Digests and names of engines are parts of paths, and a store may be a stranger's."""
ENGINE = "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"
"""What the name of an engine is: letters, digits, and `_`, `-` and `.`, which does not come first."""


MEASURED, CAPTURED = "measured", "captured"
"""Model versions of runs that were read from files of Flent, and from captures."""
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
"""Whole number that a column of 64 bits can hold."""
_Seconds = Annotated[float, Field(allow_inf_nan=False)]


class EngineId(BaseModel):
    """Which engine, and which version of its code and of its model: what results depend on besides."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(pattern=ENGINE)]
    version: str
    model_version: str
    code: str = ""
    """Fingerprints of the external algorithms; empty if there are none."""

    @property
    def is_of_a_file(self) -> bool:
        """Whether the run was measured elsewhere, and its scenario says nothing of the path."""
        return self.model_version in (MEASURED, CAPTURED)


class Meta(BaseModel):
    """Where a run comes from: the content of meta.json, and all that differs between two equal runs."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 0
    """Changes whenever a column of a table changes its name, its type or its meaning; 0 in runs that do not
    say. New tables and columns do not change it: in older runs they are empty, and null."""
    scenario: dict[str, Any]
    """The scenario as TOML has it."""
    digest: Annotated[str, Field(pattern=DIGEST)]
    """Stands for what the engine reads of the scenario: without the options of other engines."""
    engine: EngineId
    seed: _Count
    files: dict[str, str] = {}
    """SHA-256 of every file that the run rests on besides its scenario: source files and shared objects of
    algorithms, and recordings by their paths in the scenario."""
    point: dict[str, Any] = {}
    """The swept paths and names of variants with their values, in the sweep that made the run."""
    duration_s: _Seconds
    wall_s: _Seconds
    """Time that the simulation took, without the start of the interpreter, reading and writing."""
    cpu_s: _Seconds
    """Processor time of the same."""
    data_packets: _Count
    """Data packets sent in the whole run, the warm-up and what is sent after the stop of a flow included."""
    packet_hops: _Count
    """Packets, data and ACKs, times the links that they crossed."""
    not_measured: tuple[str, ...] = ()
    """Columns that the engine cannot measure, which are null throughout, as "table.column", and tables that
    stay empty."""
    otherwise: dict[str, str] = {}
    """Columns that are something else for connections than their meaning says, as "table.column", and why.
    They are not compared with the same columns of other engines."""
    remarks: tuple[str, ...] = ()
    """What the engine models differently in this scenario, which a comparison tells with it."""
    started: str
    """Date and time, UTC, ISO 8601."""
    host: dict[str, str | int | None]
    versions: dict[str, str]

    @property
    def place(self) -> str:
        """Folder of the run below its store: see `place_of`."""
        return place_of(self.digest, self.engine.code, self.files)

    @field_validator("scenario")
    @classmethod
    def _has_a_name(cls, scenario: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(scenario.get("name"), str):
            raise ValueError("a scenario has a name")
        return scenario


def place_of(digest: str, code: str, files: Mapping[str, str]) -> str:
    """Return the folder of runs below their store: the digest, which recordings have a part in.

    Runs of external algorithms have their code in it, too, so that those of several versions of a file stay
    side by side. Algorithms without a file have no part: their code has another fingerprint in every process.

    Args:
        digest: Digest of the scenario.
        code: Fingerprints of the external algorithms.
        files: SHA-256 of every file that the runs rest on, by its name.
    """
    if not (code and files):
        return digest
    import hashlib  # here: most runs rest on their scenario only

    return hashlib.sha256(" ".join([digest, *sorted(files.values())]).encode()).hexdigest()[: len(digest)]


def host() -> dict[str, str | int | None]:
    """The machine, for the record."""
    return dict(_host())


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result could depend on, for the record."""
    return dict(_versions())


@cache
def _host() -> dict[str, str | int | None]:
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


@cache
def _versions() -> dict[str, str]:
    packages = ("fullpipe", "numpy", "polars", "pydantic")
    known = {"commit": commit()} if commit() else {}
    return {"python": platform.python_version(), **known} | {name: version(name) for name in packages}


@cache
def version(package: str) -> str:
    """The installed version of a package, "unknown" if it is not installed."""
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return "unknown"
    # The first line of that name says it; to parse all lines takes longer than some runs.
    line = re.search(r"^Version: *(.+?)\s*$", found.read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else found.version
