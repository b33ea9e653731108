"""Unfinished transfers and pages: completion times leave them out, so that their count is shown beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from fullpipe.analysis.metrics.measures import MEASURES

TIMES: Mapping[str, str] = {measure.name: measure.times for measure in MEASURES if measure.times}
"""Prefix of the metrics that count what a metric of completion times leaves out: see `Measure.times`."""
BEGAN, UNFINISHED = "_began", "_unfinished"
"""Suffixes of these metrics."""


class Counts(NamedTuple):
    """Transfers or pages that began, and how many of them did not finish."""

    unfinished: int
    began: int

    @property
    def share(self) -> float:
        """Share of the unfinished ones; 0 if none began."""
        return self.unfinished / self.began if self.began else 0.0

    def __str__(self) -> str:
        return f"{self.unfinished:,} of {self.began:,} unfinished"


def with_counts(metrics: Iterable[str]) -> list[str]:
    """Return metrics with those that count the unfinished transfers or pages that they leave out.

    >>> with_counts(["page_p50", "goodput"])
    ['page_p50', 'goodput', 'page_began', 'page_unfinished']
    """
    named = list(metrics)
    counts = [f"{TIMES[name]}{end}" for name in named if name in TIMES for end in (BEGAN, UNFINISHED)]
    return list(dict.fromkeys((*named, *counts)))


def counted(values: pl.DataFrame) -> pl.DataFrame:
    """Add the columns `began` and `unfinished` to a table of values, as `values_of` gives it.

    For metrics of completion times they count the transfers or pages that began, and those that did not
    finish. They are null for other metrics, and if the table lacks the metrics that count.
    """
    keys = values.columns[: values.columns.index("metric")]
    known = set(values["metric"].unique())
    starts = [s for s in sorted(set(TIMES.values())) if {f"{s}{BEGAN}", f"{s}{UNFINISHED}"} <= known]
    if not starts:
        return values.with_columns(pl.lit(None, pl.Int64).alias(column) for column in ("began", "unfinished"))
    counts = pl.concat([_counts(values, keys, start) for start in starts])
    return values.join(counts, on=[*keys, "metric"], how="left", nulls_equal=True, maintain_order="left")


def _counts(values: pl.DataFrame, keys: list[str], start: str) -> pl.DataFrame:
    """Return the columns `began` and `unfinished` for the metrics of times with the prefix `start`."""
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
    """Return the counts of a row with the columns `began` and `unfinished`; None without them or if all
    finished."""
    return Counts(row["unfinished"], row["began"]) if row.get("unfinished") else None


def unfinished_shown(row: Mapping[str, Any]) -> str:
    """Return the suffix of a mean of completion times: empty if all finished.

    >>> unfinished_shown({"began": 78, "unfinished": 16})
    ' (16 of 78 unfinished)'
    """
    counts = counts_of(row)
    return f" ({counts})" if counts else ""
