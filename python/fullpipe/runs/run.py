"""A finished run: its tables and its metadata."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullpipe import lazy
from fullpipe.errors import ResultError, ScenarioError
from fullpipe.runs.encoding import Encoded, columns, has_no_rows, is_large
from fullpipe.runs.kept import Kept
from fullpipe.runs.meta import EngineId, Meta
from fullpipe.runs.schema import TABLES
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.base import recorded, stored

if TYPE_CHECKING:
    import polars as pl

_SCENARIOS = 256
_CONTENT = tuple(name for name in Meta.model_fields if name not in ("point", "scenario"))
"""Members of meta.json that are equal in runs of the same content at different sweep points."""
_UNCHECKED = "an older version stored this run without checksums, so changed bytes are not noticed"


@lru_cache(_SCENARIOS)
def _scenario(text: str) -> Scenario:
    """Parse a scenario from JSON. The result is cached, as parsing is slow and all seeds share the
    scenario."""
    with stored():
        return Scenario(**json.loads(text))


def _is_of_content(one: Meta, other: Meta) -> bool:
    """Whether metadata differ at most in the sweep point and in the name of the scenario."""
    if one is other:
        return True
    mine, theirs = vars(one), vars(other)
    if not all(mine[name] is theirs[name] or mine[name] == theirs[name] for name in _CONTENT):
        return False
    return one.scenario is other.scenario or {**one.scenario, "name": ""} == {**other.scenario, "name": ""}


class _Tables(Mapping[str, "pl.DataFrame"]):
    """Tables in the folder of a run. A table is read at its first use, unless it is already in memory."""

    def __init__(self, kept: Kept, at_hand: Mapping[str, pl.DataFrame]) -> None:
        self.kept = kept
        self._at_hand = at_hand
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in TABLES:
            raise KeyError(name)
        if name in self._at_hand:
            return self._at_hand[name]
        if name not in self._read:
            self._read[name] = self.kept.table(name)
        return self._read[name]

    def apart(self) -> _Tables:
        """Return the same tables as a new object.

        The new object owns the frames that it makes. If the tables are large, both objects share the frames
        instead.
        """
        at_hand = self._at_hand
        found = _Tables(self.kept, at_hand.apart() if isinstance(at_hand, Encoded) else at_hand)
        if is_large(sum(known.bytes for known in self.kept.sums.tables.values())):
            found._read = self._read  # shared, as reading large tables again would be slow
        return found

    def columns(self, name: str) -> Mapping[str, list[Any]]:
        """Return the values of a table by column, without making a frame."""
        if name in self._at_hand:
            return columns(self._at_hand, name)
        return columns(self._read, name) if name in self._read else self.kept.columns(name)

    def has_no_rows(self, name: str) -> bool:
        """Whether a table is empty, according to meta.json."""
        if name in self._at_hand:
            return has_no_rows(self._at_hand, name)
        if self.kept.has_checksums:
            return name not in self.kept.sums.tables
        return self[name].is_empty()

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


@dataclass(frozen=True, eq=False)
class Run:
    """One scenario, run once by one engine with one seed.

    Args:
        meta: Metadata: scenario, engine, seed and versions.
        tables: Tables by name, as described in `fullpipe.runs.TABLES`.
        folder: Folder of a stored run, else None.
    """

    meta: Meta
    tables: Mapping[str, pl.DataFrame]
    folder: Path | None = None

    @classmethod
    def load(cls, folder: str | Path, at_hand: Mapping[str, pl.DataFrame] | None = None) -> Run:
        """Load a finished run from its folder. Tables are read at their first use, except those `at_hand`.

        A warning is issued for runs of older versions: they have no checksums, so changed bytes go unnoticed.

        Raises:
            NoRunError: If the folder does not contain a finished run.
        """
        kept = Kept.read(Path(folder))
        if not kept.has_checksums:
            warnings.warn(f"{folder}: {_UNCHECKED}", stacklevel=2)
        return cls.from_kept(kept, at_hand)

    @classmethod
    def from_kept(cls, kept: Kept, at_hand: Mapping[str, pl.DataFrame] | None = None) -> Run:
        """Return the run in a folder that has been read."""
        return cls(kept.meta, _Tables(kept, at_hand or {}), kept.folder)

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.meta.seed

    @property
    def engine(self) -> EngineId:
        """The engine of the run, with its versions."""
        return self.meta.engine

    @property
    def place(self) -> str:
        """Folder in a store with the runs of the scenario; see `Meta.place`."""
        return self.meta.place

    @property
    def files(self) -> Mapping[str, str]:
        """SHA-256 of every file, besides the scenario, that results depend on; see `Meta.files`."""
        return self.meta.files

    @property
    def root(self) -> str | None:
        """The store of the run; None if it is in memory only."""
        return str(self.folder.parent.parent) if self.folder else None

    @property
    def store(self) -> Path | None:
        """Absolute path of the store of the run; None if it is in memory only."""
        return self.folder.absolute().parents[1] if self.folder else None

    @property
    def kept(self) -> Kept | None:
        """The stored files of the run. None if the run is not stored, or if its metadata differ from the
        stored metadata in more than the sweep point and the name of the scenario."""
        kept = self.tables.kept if isinstance(self.tables, _Tables) else None
        return kept if kept and _is_of_content(self.meta, kept.meta) else None

    @property
    def number(self) -> int | None:
        """ID of the run in the index, from its content; None if the run is not stored or has no checksums."""
        return self.kept.number if self.kept else None

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the stored run (`Kept.fingerprint`); empty if the run is not stored."""
        return self.kept.fingerprint if self.kept else ""

    def named(self, scenario: dict[str, Any]) -> Run:
        """Return this run with `scenario`, which may differ from its scenario only in the name."""
        if self.meta.scenario == scenario:
            return self
        return Run(self.meta.model_copy(update={"scenario": scenario}), self.tables, self.folder)

    def with_labels(self, given: Mapping[str, str]) -> Run:
        """Return this run with more labels in its scenario."""
        if not given:
            return self  # `meta` would open a listed run
        scenario = self.meta.scenario
        labels = {**scenario.get("labels", {}), **given}
        return self.named({**scenario, "labels": labels})

    def apart(self) -> Run:
        """Return this run as a new object for measuring. The new object owns the frames of small tables, so
        that the frames are freed with the object. A frame takes three times the bytes of its table."""
        if not isinstance(self.tables, _Tables):
            return self
        found = Run(self.meta, self.tables.apart(), self.folder)
        vars(found)["scenario"] = self.scenario
        return found

    def at(self, point: Mapping[str, Any], scenario: Scenario | None = None) -> Run:
        """Return this run as a run of another point of a sweep.

        Args:
            point: Swept paths with their values.
            scenario: The scenario of the run, if it is already parsed.
        """
        found = self
        if self.meta.point != point:
            found = Run(self.meta.model_copy(update={"point": dict(point)}), self.tables, self.folder)
        if scenario is not None:
            vars(found)["scenario"] = scenario  # sets the cached property `scenario`
        return found

    def is_empty(self, table: str) -> bool:
        """Whether a table has no rows. The table is not read to find this out.

        Raises:
            KeyError: If no such table exists.
        """
        return has_no_rows(self.tables, table)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dictionaries; None for values that were not measured.

        This method is meant for small tables. The method makes no frame, since making a frame takes longer
        than reading a few rows.

        Raises:
            KeyError: If no such table exists.
        """
        found = columns(self.tables, table)
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow, with values from the end of the warm-up to the end of the run. Exceptions are
        stated in the meaning of a column."""
        return self.tables["flows"]

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer, including those in the warm-up, which `metrics.measured_transfers` omits."""
        return self.tables["transfers"]

    @property
    def videos(self) -> pl.DataFrame:
        """One row per flow that plays a video, including the warm-up."""
        return self.tables["videos"]

    @property
    def probes(self) -> pl.DataFrame:
        """One row per packet of pings, probes and calls, including those in the warm-up."""
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
        """One row per link, with values from the end of the warm-up to the end of the run."""
        return self.tables["links_summary"]

    @property
    def variables(self) -> pl.DataFrame:
        """One row per sample and internal variable of a flow or a link; empty unless the scenario records
        them (`record.variables`)."""
        return self.tables["variables"]

    @property
    def conditions(self) -> pl.DataFrame:
        """One row per link and change of its rate or delay, starting at 0 s."""
        return self.tables["conditions"]

    @property
    def packets(self) -> pl.DataFrame:
        """One row per captured packet; empty without `record.packets` in the scenario."""
        return self.tables["packets"]

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario of the run, without a sweep.

        Raises:
            ResultError: If the stored scenario is invalid.
        """
        try:
            text = json.dumps(self.meta.scenario)
            if '"file"' in text:  # the file may have changed or moved since the run
                with recorded(self.meta.files):
                    return Scenario(**self.meta.scenario)
            return _scenario(text)
        except (ScenarioError, TypeError) as error:
            first = str(error).partition("\n")[0]
            raise ResultError(
                f"{self.folder or self.name}: the stored scenario is invalid: {first}"
            ) from error

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.meta.scenario["name"])

    def summary(self) -> dict[str, Any]:
        """Return the run as one JSON object; see `fullpipe.metrics.summary`."""
        return dict(lazy.method("summary")(self))

    def plot(self, *quantities: str, only: list[str] | None = None) -> Any:
        """Draw quantities over time.

        Args:
            quantities: Names in `fullpipe.plots.QUANTITIES`. Without names, "goodput", "rtt", "cwnd" and
                "queue" are drawn.
            only: Names of the flows to draw. None: all flows.

        Returns:
            A matplotlib figure.

        Raises:
            ValueError: If a quantity is unknown or was not sampled.
        """
        return lazy.method("plot")(self, *quantities, only=only)

    def __repr__(self) -> str:
        engine, seed = self.meta.engine.name, self.meta.seed
        return f"Run({self.name!r}, engine={engine!r}, seed={seed}, folder={str(self.folder)!r})"
