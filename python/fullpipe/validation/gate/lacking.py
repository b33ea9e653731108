"""Metrics that the base has and the change lacks: a change that loses a metric has not become better."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import nan

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.validation.baseline import COLUMNS
from fullpipe.validation.compare.finding import Finding, Subject
from fullpipe.validation.gate.measured import Point


def lacking(base: Point, change: Point, metrics: Collection[str]) -> Iterator[Finding]:
    """Findings on metrics that every run of the base has, and not every run of the change.

    Regressed if no run of the change has it, and undecided if some have.
    """
    ours = _values(change)
    for key, (of, values) in _values(base).items():
        kind, entry, metric = key[0], key[1], key[2]
        had = ours.get(key, (of, []))[1]
        if metric not in metrics or len(values) < len(base.sums) or len(had) == len(change.sums):
            continue
        yield Finding(
            subject=Subject(kind, entry, of, metric, BY_NAME[metric].unit, base.point, base.case),
            rule="lacking",
            sides=("base", "change"),
            values=(values, had),
            margin=Margin(),
            allowed=0.0,
            better="",
            verdict="undecided" if had else "worse",
            decision="undecided" if had else "regressed",
            reason=f"{len(had) or 'no'} run{'s' if len(had) > 1 else ''} of the change"
            f" {'have' if len(had) > 1 else 'has'} it",
            difference=nan,
        )


def _values(point: Point) -> dict[tuple[str, int | None, str, str], tuple[str, Sequence[float]]]:
    """Name and known values of every metric of every group. Entries go by their place."""
    table = pl.DataFrame(point.rows, schema=COLUMNS, orient="row")
    place = pl.when(pl.col("entry").is_null()).then("of").otherwise(pl.lit(""))
    found = table.group_by("kind", "entry", "metric", place.alias("place"), maintain_order=True).agg(
        of=pl.col("of").first(), values=pl.col("value").drop_nulls()
    )
    return {
        (row["kind"], row["entry"], row["metric"], row["place"]): (row["of"], row["values"])
        for row in found.iter_rows(named=True)
    }
