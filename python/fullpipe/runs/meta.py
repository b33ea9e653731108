"""The metadata of a run (meta.json): scenario, engine, seed and versions."""

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
"""Pattern of digests. Digests and names of engines are checked, because they become parts of paths and a
store can be untrusted."""
ENGINE = "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"
"""Pattern of names of engines: letters, digits, `_`, `-` and `.`, with no `.` at the beginning."""


READERS: Mapping[str, str] = {"pcap": "captured", "flent": "measured"}
"""Engines that import files of measurements, each with the model version of its runs. The engine with the
most detailed files comes first."""
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
"""Whole number that fits into a 64-bit column."""
_Seconds = Annotated[float, Field(allow_inf_nan=False)]


class EngineId(BaseModel):
    """The engine with the versions of its code and model. Results depend on the versions and on the
    scenario."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(pattern=ENGINE)]
    version: str
    model_version: str
    code: str = ""
    """Fingerprints of the external algorithms; empty if the run uses no external algorithm."""

    @property
    def is_of_a_file(self) -> bool:
        """Whether the run was imported from a measurement. The network path of an imported run is unknown."""
        return self.model_version in READERS.values()


class Meta(BaseModel):
    """The metadata of a run (meta.json). Equal runs can differ only in their metadata."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 0
    """Version of the tables; 0 if unknown. The version changes whenever a column changes its name, type or
    meaning. New tables and columns do not change the version: in older runs, they are empty or null."""
    scenario: dict[str, Any]
    """The scenario as plain data, spelt as in TOML."""
    digest: Annotated[str, Field(pattern=DIGEST)]
    """Digest of the scenario as the engine reads it, without the options of other engines."""
    engine: EngineId
    seed: _Count
    files: dict[str, str] = {}
    """SHA-256 of every file, besides the scenario, that results depend on: source files and shared objects of
    algorithms, and recordings by their paths in the scenario."""
    point: dict[str, Any] = {}
    """Point of the sweep to which the run belongs: swept paths with their values, and names of variants."""
    duration_s: _Seconds
    """Simulated time."""
    wall_s: _Seconds
    """Real time of the simulation, without the start of the interpreter and without reading and writing."""
    cpu_s: _Seconds
    """Processor time of the simulation."""
    data_packets: _Count
    """Data packets sent in the whole run, including the warm-up and packets after the stop of a flow."""
    packet_hops: _Count
    """Data packets and ACKs, each counted once per link that it crossed."""
    not_measured: tuple[str, ...] = ()
    """Columns that the engine cannot measure, as "table.column", and tables that it leaves empty. The columns
    are null."""
    otherwise: dict[str, str] = {}
    """Columns whose meaning differs from the schema, as "table.column", with their meaning in this run. These
    columns are not compared with other engines."""
    remarks: tuple[str, ...] = ()
    """Parts of the scenario that the engine models differently. Comparisons show them."""
    started: str
    """Start of the run, UTC, ISO 8601."""
    host: dict[str, str | int | None]
    """The machine on which the run was made, from `host`."""
    versions: dict[str, str]
    """Versions of Python and of packages."""

    @property
    def place(self) -> str:
        """Folder in the store with the runs of the scenario; see `place_of`."""
        return place_of(self.digest, self.engine.code, self.files)

    @field_validator("scenario")
    @classmethod
    def _has_a_name(cls, scenario: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(scenario.get("name"), str):
            raise ValueError("the scenario has no name")
        return scenario


def place_of(digest: str, code: str, files: Mapping[str, str]) -> str:
    """Return the folder in the store with the runs of a scenario.

    The folder is named after the digest of the scenario, which includes the content of recordings. For
    external algorithms, the folder also depends on their files, so that runs of several versions of a file
    are stored side by side. Algorithms without a file do not change the folder, as the fingerprint of their
    code differs in every process.

    Args:
        digest: Digest of the scenario.
        code: Fingerprints of external algorithms.
        files: SHA-256 of every file that results depend on, by its name.
    """
    if not (code and files):
        return digest
    import hashlib  # imported here, as most runs depend only on their scenario

    return hashlib.sha256(" ".join([digest, *sorted(files.values())]).encode()).hexdigest()[: len(digest)]


def host() -> dict[str, str | int | None]:
    """Return a description of this machine."""
    return dict(_host())


def versions() -> dict[str, str]:
    """Return the versions of Python and of packages that results could depend on."""
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
    """Return the installed version of a package, or "unknown" if it is not installed."""
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return "unknown"
    # Only the line "Version:" is read, as parsing all metadata takes longer than some runs.
    line = re.search(r"^Version: *(.+?)\s*$", found.read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else found.version
