"""Completion times know nothing of what the end of a run left unfinished: how much that is, beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from fullpipe.analysis.metrics.measures import MEASURES

TIMES: Mapping[str, str] = {measure.name: measure.times for measure in MEASURES if measure.times}
"""How the names of the metrics begin that count what a metric of times leaves out: see `Measure.times`."""
BEGAN, UNFINISHED = "_began", "_unfinished"
"""How they end."""


class Counts(NamedTuple):
    """Of how many transfers or pages some were not finished."""

    unfinished: int
    began: int

    @property
    def share(self) -> float:
        """Of those that began; 0 if none did."""
        return self.unfinished / self.began if self.began else 0.0

    def __str__(self) -> str:
        return f"{self.unfinished:,} of {self.began:,} unfinished"


def with_counts(metrics: Iterable[str]) -> list[str]:
    """Metrics, and those that count what they leave out.

    >>> with_counts(["page_p50", "goodput"])
    ['page_p50', 'goodput', 'page_began', 'page_unfinished']
    """
    named = list(metrics)
    counts = [f"{TIMES[name]}{end}" for name in named if name in TIMES for end in (BEGAN, UNFINISHED)]
    return list(dict.fromkeys((*named, *counts)))


def counted(values: pl.DataFrame) -> pl.DataFrame:
    """A table of values, as `values_of` gives it, with the columns `began` and `unfinished`.

    They say of metrics of times, as far as the table has the metrics that count, how many transfers or pages
    began, and how many of those did not finish; they are null of all else.
    """
    keys = values.columns[: values.columns.index("metric")]
    known = set(values["metric"].unique())
    starts = [s for s in sorted(set(TIMES.values())) if {f"{s}{BEGAN}", f"{s}{UNFINISHED}"} <= known]
    if not starts:
        return values.with_columns(pl.lit(None, pl.Int64).alias(column) for column in ("began", "unfinished"))
    counts = pl.concat([_counts(values, keys, start) for start in starts])
    return values.join(counts, on=[*keys, "metric"], how="left", nulls_equal=True, maintain_order="left")


def _counts(values: pl.DataFrame, keys: list[str], start: str) -> pl.DataFrame:
    """What the metrics of times leave out that begin with `start`."""
    began, share = (
        values.filter(pl.col("metric") == f"{start}{end}").select(*keys, pl.col("value").alias(column))
        for end, column in ((BEGAN, "began"), (UNFINISHED, "unfinished"))
    )
    both = began.join(share, on=keys, how="inner", nulls_equal=True)
    names = pl.DataFrame({"metric": [name for name, times in TIMES.items() if times == start]})
    count = (pl.col("began") * pl.col("unfinished")).round().cast(pl.Int64)
    told = both.select(*keys, pl.col("began").cast(pl.Int64), count.alias("unfinished"))
    return told.join(names, how="cross")


def counts_of(row: Mapping[str, Any]) -> Counts | None:
    """The counts of a row with the columns `began` and `unfinished`; None if it has none, or all finished."""
    return Counts(row["unfinished"], row["began"]) if row.get("unfinished") else None


def unfinished_shown(row: Mapping[str, Any]) -> str:
    """What stands behind a mean of completion times: empty if all finished.

    >>> unfinished_shown({"began": 78, "unfinished": 16})
    ' (16 of 78 unfinished)'
    """
    counts = counts_of(row)
    return f" ({counts})" if counts else ""
