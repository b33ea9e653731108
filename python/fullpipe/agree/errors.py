"""How far an engine is from the reference: errors per case and group of flows, and what sums them up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from fullpipe.agree.case import Case
from fullpipe.compare import Comparison
from fullpipe.metrics.measures import ALL

SCHEMA = {
    "case": pl.String,
    "family": pl.String,
    "of": pl.String,
    "engine": pl.String,
    "quantity": pl.String,
    "reference": pl.Float64,
    "value": pl.Float64,
    "error": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is held against the reference."""

    metric: str
    title: str
    floor: float
    """A smaller reference value counts as this one, in the unit of the metric."""
    median: float
    """The median error that is aimed at, as a share."""
    p95: float
    """The 95th percentile that is aimed at."""


QUANTITIES = (
    Quantity("goodput", "goodput", 0.0, 0.005, 0.03),
    Quantity("srtt_mean", "mean RTT", 0.0, 0.02, 0.08),
    Quantity("retransmitted", "retransmissions", 20.0, 0.10, 0.40),
)
"""Differences in retransmissions are shares of at least 20 packets: 2 in place of 1 is no error of 100 %. The
mean RTT is that over time, of samples that all engines take alike."""


def errors_of(case: Case, comparison: Comparison) -> pl.DataFrame:
    """The errors of every engine in a case, one row per group of flows and quantity.

    Formula: error = (value - reference) / max(|reference|, floor), of means over seeds.

    Returns:
        The columns case, family, of, engine, quantity, reference, value (in the unit of the metric), error.
    """
    return pl.DataFrame(list(_errors(case, comparison)), schema=SCHEMA, orient="row")


def _errors(case: Case, comparison: Comparison) -> Iterator[tuple[object, ...]]:
    wanted = {quantity.metric: quantity for quantity in QUANTITIES}
    for row in comparison.rows:
        if row.kind == "flows" and row.of != ALL and row.metric in wanted:
            reference, floor = row.mean(comparison.reference), wanted[row.metric].floor
            for engine in row.judgements:
                value = row.mean(engine)
                error = _relative(value - reference, max(abs(reference), floor))
                yield case.name, case.family, row.of, engine, row.metric, reference, value, error


def _relative(difference: float, of: float) -> float | None:
    return difference / of if of else None


def summarised(errors: pl.DataFrame, by: Iterable[str] = ()) -> pl.DataFrame:
    """Number, median, 95th percentile and maximum of the sizes of errors, per engine and quantity.

    Args:
        errors: As `errors_of` gives them.
        by: Columns to keep apart besides, such as "family".

    Returns:
        The columns of `by`, engine, quantity, n, median, p95 and max, in the order of the errors.
    """
    size = pl.col("error").abs()
    return errors.group_by(*by, "engine", "quantity", maintain_order=True).agg(
        n=size.count().cast(pl.Int64),
        median=size.median(),
        p95=size.quantile(0.95, "linear"),
        max=size.max(),
    )
