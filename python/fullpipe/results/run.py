"""A finished run: its tables and where they come from."""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from fullpipe.errors import NoRunError, ResultError
from fullpipe.results.schema import TABLES
from fullpipe.scenario import Scenario

META = "meta.json"


class EngineId(BaseModel):
    """Which engine, and which version of its code and of its model: what results depend on besides."""

    model_config = ConfigDict(frozen=True)

    name: str
    version: str
    model_version: str
    code: str = ""
    """Fingerprints of the algorithms that were brought along; empty if there are none."""


class Meta(BaseModel):
    """Where a run comes from: the content of meta.json, and all that differs between two equal runs."""

    model_config = ConfigDict(frozen=True)

    scenario: dict[str, Any]
    """The scenario as TOML has it."""
    digest: str
    engine: EngineId
    seed: int
    duration_s: float
    wall_s: float
    """Time that the simulation took, without the start of the interpreter, reading and writing."""
    cpu_s: float
    """Processor time of the same."""
    data_packets: int
    """Data packets sent in the whole run, the warm-up and what is sent after the stop of a flow included."""
    packet_hops: int
    """Packets, data and ACKs, times the links that they crossed."""
    not_measured: tuple[str, ...] = ()
    """Columns that the engine cannot measure, which are null throughout, as "table.column", and tables that
    stay empty."""
    otherwise: dict[str, str] = {}
    """Columns that are something else for connections than their meaning says, as "table.column", and why.
    They are not compared with the same columns of other engines."""
    started: str
    """Date and time, UTC, ISO 8601."""
    host: dict[str, str | int | None]
    versions: dict[str, str]


class _Tables(Mapping[str, pl.DataFrame]):
    """Tables in a folder, each read when it is first asked for, unless it is at hand."""

    def __init__(self, folder: Path, at_hand: Mapping[str, pl.DataFrame]) -> None:
        self._folder = folder
        self._at_hand = at_hand
        self._read = cache(self._from_disk)

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in TABLES:
            raise KeyError(name)
        return self._at_hand[name] if name in self._at_hand else self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def _from_disk(self, name: str) -> pl.DataFrame:
        path = self._folder / f"{name}.parquet"
        try:
            return pl.read_parquet(path, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            again = f"delete the folder {self._folder} to run it again"
            raise ResultError(f"{path}: cannot be read: {error}; {again}") from error


@dataclass(frozen=True, eq=False)
class Run:
    """One scenario, run once by one engine with one seed.

    Args:
        meta: Where it comes from.
        tables: The tables by name, as `fullpipe.results.TABLES` describes them.
        folder: Where it is kept, if it is.
    """

    meta: Meta
    tables: Mapping[str, pl.DataFrame]
    folder: Path | None = None

    @classmethod
    def load(cls, folder: str | Path, at_hand: Mapping[str, pl.DataFrame] | None = None) -> "Run":
        """A finished run from its folder; tables are read when they are first used, but for those `at_hand`.

        Raises:
            NoRunError: If the folder does not hold a finished run.
        """
        folder = Path(folder)
        try:
            meta = Meta.model_validate_json((folder / META).read_bytes())
        except FileNotFoundError:
            raise NoRunError(f"{folder}: no finished run; there is no {META}") from None
        except (OSError, ValidationError) as error:
            raise NoRunError(f"{folder}: no finished run; {META} cannot be read: {error}") from error
        missing = [name for name in TABLES if not (folder / f"{name}.parquet").is_file()]
        if missing:
            raise NoRunError(f"{folder}: no finished run; there is no {missing[0]}.parquet")
        return cls(meta, _Tables(folder, at_hand or {}), folder)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow, over warmup..end; the meaning of every column says what it covers."""
        return self.tables["flows"]

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer, those of the warm-up included, which `metrics.measured_transfers` leaves
        out."""
        return self.tables["transfers"]

    @property
    def videos(self) -> pl.DataFrame:
        """One row per flow that plays a video, the warm-up included."""
        return self.tables["videos"]

    @property
    def probes(self) -> pl.DataFrame:
        """One row per packet of pings, probes and calls, those of the warm-up included."""
        return self.tables["probes"]

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and flow."""
        return self.tables["series"]

    @property
    def links(self) -> pl.DataFrame:
        """One row per sample and link."""
        return self.tables["links"]

    @property
    def links_summary(self) -> pl.DataFrame:
        """One row per link, over warmup..end."""
        return self.tables["links_summary"]

    @property
    def variables(self) -> pl.DataFrame:
        """One row per sample, flow and internal variable; empty unless the scenario records them."""
        return self.tables["variables"]

    @property
    def packets(self) -> pl.DataFrame:
        """One row per packet captured; empty unless the scenario says where to capture."""
        return self.tables["packets"]

    @property
    def scenario(self) -> Scenario:
        """What was run, without a sweep."""
        return Scenario(**self.meta.scenario)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.meta.scenario["name"])

    def summary(self) -> dict[str, Any]:
        """The run as one JSON object: see `fullpipe.metrics.summary`."""
        # What is built on runs is looked up by name, because a run must not depend on it.
        return dict(import_module("fullpipe.metrics").summary(self))

    def plot(self, *quantities: str, only: list[str] | None = None) -> Any:
        """Draw quantities over time, such as "goodput", "rtt", "cwnd" and "queue"; all four if none is named.

        Args:
            quantities: Names in `fullpipe.plots.QUANTITIES`.
            only: Keep the flows of these names.

        Returns:
            A matplotlib figure.

        Raises:
            ValueError: If a quantity is unknown or was not sampled.
        """
        plots = import_module("fullpipe.plots")
        chosen = (quantities,) if quantities else ()
        labels = plots.flow_labels(self)
        wanted = None if only is None else [labels.get(name, name) for name in only]
        return plots.overview({self.name: plots.presented(self)}, *chosen, only=wanted)[0]

    def __repr__(self) -> str:
        engine, seed = self.meta.engine.name, self.meta.seed
        return f"Run({self.name!r}, engine={engine!r}, seed={seed}, folder={str(self.folder)!r})"


def host() -> dict[str, str | int | None]:
    """The machine, for the record."""
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result could depend on, for the record."""
    packages = ("fullpipe", "numpy", "polars", "pydantic")
    return {"python": platform.python_version()} | {package: version(package) for package in packages}


def version(package: str) -> str:
    """The installed version of a package, "unknown" if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def meta_text(meta: Meta) -> str:
    """The content of meta.json."""
    return json.dumps(meta.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
