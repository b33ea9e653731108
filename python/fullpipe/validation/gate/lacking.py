"""What the base has measured and the change has not: a change that loses a metric has not become better."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.validation.baseline import COLUMNS
from fullpipe.validation.compare.judge import Contrast
from fullpipe.validation.compare.matching import Match
from fullpipe.validation.gate.measured import Point
from fullpipe.validation.gate.verdicts import Found


def lacking(base: Point, change: Point, metrics: Collection[str]) -> Iterator[tuple[Match, Found]]:
    """Metrics that every run of the base has, and not every run of the change.

    Regressed if no run of the change has it, and undecided if some have.
    """
    ours = _counts(change)
    for key, (of, count, mean) in _counts(base).items():
        kind, entry, metric = key[0], key[1], key[2]
        had = ours.get(key, (of, 0, None))[1]
        if metric not in metrics or count < len(base.sums) or had == len(change.sums):
            continue
        assert mean is not None
        match = Match(kind, entry, of, metric, BY_NAME[metric].unit, Margin(), Contrast([mean], [], 0.0, ""))
        reason = f"{had or 'no'} run{'s' if had > 1 else ''} of the change {'have' if had > 1 else 'has'} it"
        yield match, Found("undecided" if had else "regressed", None, None, None, None, reason)


def _counts(point: Point) -> dict[tuple[str, int | None, str, str], tuple[str, int, float | None]]:
    """Of every metric of whom: the name, how many runs have it, and the mean. Entries go by their place."""
    table = pl.DataFrame(point.rows, schema=COLUMNS, orient="row")
    place = pl.when(pl.col("entry").is_null()).then("of").otherwise(pl.lit(""))
    found = table.group_by("kind", "entry", "metric", place.alias("place"), maintain_order=True).agg(
        of=pl.col("of").first(), count=pl.col("value").count(), mean=pl.col("value").mean()
    )
    return {
        (row["kind"], row["entry"], row["metric"], row["place"]): (row["of"], row["count"], row["mean"])
        for row in found.iter_rows(named=True)
    }
