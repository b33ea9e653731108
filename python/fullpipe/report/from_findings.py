"""Findings as a table of values, for the means and figures that reports of runs have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from fullpipe.analysis.values import MEASURED, column
from fullpipe.report.runs.points import VARIANT, Points
from fullpipe.validation.compare.finding import Finding

CASE = "case"
"""Path of points that names a scenario of a suite."""


@dataclass(frozen=True)
class FindingPoints(Points):
    """Values of both sides of findings as if they had been read from runs."""

    frame: pl.DataFrame | None = None
    known_bulk: frozenset[int] = frozenset()

    @classmethod
    def of_findings(
        cls, name: str, findings: Sequence[Finding], bulk: frozenset[int]
    ) -> FindingPoints | None:
        """The values per seed of every side; None if the file has means only.

        Args:
            name: The scenario's name.
            findings: Findings with any number of sides and points.
            bulk: Entries of `flows` that are bulk flows.
        """
        rows: dict[str, dict[str, Any]] = {}
        for each in findings:
            for side, values in zip(each.sides, each.values, strict=True):
                for seed, value in enumerate(values, 1):
                    row = {
                        **_place(each, side),
                        "seed": seed,
                        "engine": "",
                        **_measured(each),
                        "value": value,
                    }
                    rows.setdefault(repr([row[key] for key in row if key != "value"]), row)
        if not rows or max(row["seed"] for row in rows.values()) < 2:
            return None
        paths = dict.fromkeys(key for row in rows.values() for key in row if key not in _OTHERS)
        columns: dict[str, Any] = {key: column([row.get(key, "-") for row in rows.values()]) for key in paths}
        columns |= {key: [row[key] for row in rows.values()] for key in ("seed", "engine", *MEASURED)}
        frame = pl.DataFrame(columns, schema_overrides={"entry": pl.Int64, "seed": pl.Int64})
        return cls(name, [], [], {}, "", frame, bulk)

    @cached_property
    def values(self) -> pl.DataFrame:
        """See `Points`."""
        assert self.frame is not None
        return self.frame

    @cached_property
    def every_value(self) -> pl.DataFrame:
        """See `Points`."""
        return self.values

    @cached_property
    def bulk(self) -> frozenset[int]:
        """See `Points`."""
        return self.known_bulk

    @property
    def count(self) -> int:
        """See `Points`."""
        return self.values.select([*self.paths, "seed"]).n_unique()


_OTHERS = ("seed", "engine", *MEASURED)


def _place(found: Finding, side: str) -> Mapping[str, Any]:
    """The point, the case if there is one, and the side."""
    return {**({CASE: found.case} if found.case else {}), **found.point, VARIANT: side}


def _measured(found: Finding) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "entry": found.entry,
        "of": found.of,
        "metric": found.metric,
        "unit": found.unit,
    }
