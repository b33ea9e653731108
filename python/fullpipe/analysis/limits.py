"""Bounds and neutral values of metrics, requested metrics without a value, counts of unfinished transfers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.lazy import pl

# Bounds of metrics: confidence intervals in tables and figures are truncated at these bounds.


def bounds_of(metric: str) -> Bounds:
    """Return the smallest and largest possible value of a metric, in its unit; 0 and infinity if unknown.

    >>> bounds_of("jain"), bounds_of("rtt_mean")
    ((0.0, 1.0), (0.0, inf))
    """
    return BY_NAME[metric].bounds if metric in BY_NAME else NO_LESS_THAN_0


def bounds_of_difference(metric: str, reference: float) -> Bounds:
    """Return the bounds of a metric's difference from the mean of the reference, in its unit.

    >>> bounds_of_difference("rtt_mean", 0.25), bounds_of_difference("utilisation", 0.75)
    ((-0.25, inf), (-0.75, 0.25))
    """
    least, most = bounds_of(metric)
    return min(least - reference, 0.0), max(most - reference, 0.0)


# Neutral values of metrics, such as a fair share. Heat maps show a neutral value in the middle colour.


_NEUTRAL = {measure.name: measure.neutral for measure in MEASURES if measure.neutral}


def with_neutral(metrics: Collection[str]) -> list[str]:
    """Return metrics, followed by the metrics that give their neutral values (see `Measure.neutral`).

    >>> with_neutral(["share", "goodput"])
    ['share', 'goodput', 'equal_share']
    """
    others = (_NEUTRAL.get(name) for name in metrics)
    return list(dict.fromkeys((*metrics, *(name for name in others if isinstance(name, str)))))


def neutral_of(metric: str, values: pl.DataFrame, groups: Collection[str]) -> float | None:
    """Return the neutral value of a metric for some groups of flows; None if runs differ or it is a bound.

    Args:
        metric: Name of the metric.
        values: Table of `values_of` that has the metrics of `with_neutral`.
        groups: Names of groups of flows, as in the column `of`.
    """
    neutral = _NEUTRAL.get(metric)
    if not isinstance(neutral, str):
        return neutral
    found = values.filter(pl.col("metric") == neutral, pl.col("of").is_in(list(groups)))["value"].unique()
    return found[0] if len(found) == 1 and found[0] not in bounds_of(metric) else None


# Metrics that the user requested but for which no run has a value.


def unanswered(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """Return a line of text for every requested metric without a value, with the metric's meaning.

    >>> unanswered(["goodput", "jain"], {"goodput", "jain"})
    []
    """
    missing = [name for name in dict.fromkeys(asked) if name not in known]
    return [f"no run has a value of {name} ({BY_NAME[name].meaning})" for name in missing]


# Unfinished transfers and pages. Statistics of completion times leave out unfinished transfers, so tables
# show the number of unfinished transfers.


TIMES: Mapping[str, str] = {measure.name: measure.times for measure in MEASURES if measure.times}
"""Prefix of the two metrics with the counts of transfers or pages (`BEGAN`, `UNFINISHED`), by metric of
completion times. See `Measure.times`."""
BEGAN, UNFINISHED = "_began", "_unfinished"
"""Suffixes of two metrics of transfers or pages: the number that began, and the share that did not finish."""


class Counts(NamedTuple):
    """Number of transfers or pages that began, and number of these that did not finish."""

    unfinished: int
    began: int

    @property
    def share(self) -> float:
        """Unfinished transfers or pages as a share of those that began; 0 if none began."""
        return self.unfinished / self.began if self.began else 0.0

    def __str__(self) -> str:
        return f"{self.unfinished:,} of {self.began:,} unfinished"


def with_counts(metrics: Iterable[str]) -> list[str]:
    """Return metrics, and after them the counts of transfers or pages for every metric of completion times.

    >>> with_counts(["page_p50", "goodput"])
    ['page_p50', 'goodput', 'page_began', 'page_unfinished']
    """
    named = list(metrics)
    counts = [f"{TIMES[name]}{end}" for name in named if name in TIMES for end in (BEGAN, UNFINISHED)]
    return list(dict.fromkeys((*named, *counts)))


def counted(values: pl.DataFrame) -> pl.DataFrame:
    """Add the columns `began` and `unfinished` to a table of values, as `values_of` gives it.

    For metrics of completion times the columns count the transfers or pages that began, and those that did
    not finish. The columns are null for other metrics, and if the table lacks the metrics with these counts.
    """
    keys = values.columns[: values.columns.index("metric")]
    known = set(values["metric"].unique())
    starts = [s for s in sorted(set(TIMES.values())) if {f"{s}{BEGAN}", f"{s}{UNFINISHED}"} <= known]
    if not starts:
        return values.with_columns(pl.lit(None, pl.Int64).alias(column) for column in ("began", "unfinished"))
    counts = pl.concat([_counts(values, keys, start) for start in starts])
    return values.join(counts, on=[*keys, "metric"], how="left", nulls_equal=True, maintain_order="left")


def _counts(values: pl.DataFrame, keys: list[str], start: str) -> pl.DataFrame:
    """Return the columns `began` and `unfinished` for the metrics of completion times whose counts have the
    prefix `start`."""
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
    """Return the counts of a row with the columns `began` and `unfinished`; None if the columns are missing
    or all transfers finished."""
    return Counts(row["unfinished"], row["began"]) if row.get("unfinished") else None


def unfinished_shown(row: Mapping[str, Any]) -> str:
    """Return text to append to a mean completion time: the number of unfinished transfers or pages; empty if
    all finished.

    >>> unfinished_shown({"began": 78, "unfinished": 16})
    ' (16 of 78 unfinished)'
    """
    counts = counts_of(row)
    return f" ({counts})" if counts else ""


def left_out_of_cells(label: str, cells: Sequence[Mapping[str, Any]]) -> str:
    """Return a line with the number of unfinished transfers or pages of the cells of a table; empty if all
    finished.

    Args:
        label: Label of the metric, with its unit.
        cells: Rows with the columns metric, `began` and `unfinished`.

    >>> left_out_of_cells("p95 (ms)", [{"metric": "fct_p95", "began": 78, "unfinished": 16}])
    'p95 leaves out unfinished transfers: 16 of 78'
    """
    found = [counts for cell in cells if (counts := counts_of(cell))]
    if not found:
        return ""
    most = max(found, key=lambda counts: counts.share)
    things = "pages" if TIMES.get(cells[0]["metric"]) == "page" else "transfers"
    total = f"{sum(each.unfinished for each in found):,} of {sum(cell['began'] or 0 for cell in cells):,}"
    at_most = f", at most {most.unfinished:,} of {most.began:,} in a cell" if len(cells) > 1 else ""
    name, _, _ = label.rpartition(" (")
    return f"{name or label} leaves out unfinished {things}: {total}{at_most}"
