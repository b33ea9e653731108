"""Errors of an engine against the reference: per case and group of flows, and their summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import polars as pl

from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.statistics import t_interval
from fullpipe.validation.agree.case import Case
from fullpipe.validation.compare import EngineComparison

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "case": pl.String,
    "family": pl.String,
    "of": pl.String,
    "engine": pl.String,
    "quantity": pl.String,
    "runs": pl.Int64,
    "reference": pl.Float64,
    "value": pl.Float64,
    "error": pl.Float64,
    "real": pl.Boolean,
    "scatter": pl.List(pl.Float64),
}
LEVEL = 0.99
"""Confidence level of the interval that distinguishes a difference from chance. The level is high because
there are hundreds of differences."""
_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class ErrorTarget:
    """A metric that is compared with the reference, and its largest acceptable errors."""

    metric: str
    title: str
    floor: float
    """Least divisor of an error, in the unit of the metric: it replaces smaller reference values."""
    median: float
    """Target of the median error, as a share."""
    p95: float
    """Target of the 95th percentile of errors, as a share."""


QUANTITIES = (
    ErrorTarget("goodput", "goodput", 0.0, 0.005, 0.03),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.02, 0.08),
    ErrorTarget("retransmitted", "retransmissions", 20.0, 0.10, 0.40),
    ErrorTarget("fct_p50", "completion time", 0.0, 0.02, 0.10),
)
"""Metrics with their error targets. Errors of retransmissions are divided by at least 20 packets, so that 2
packets instead of 1 are not an error of 100 %. The mean RTT is a mean over time, of samples that all engines
take in the same way. The completion time is the median over flows of a given size; flows without a size have
no completion time."""


def errors_of(
    case: Case, comparison: EngineComparison, quantities: Iterable[ErrorTarget] = QUANTITIES
) -> pl.DataFrame:
    """The errors of every engine in a case, one row per group of flows and quantity.

    Formula: error = mean of (value - reference) over the common seeds / max(|mean reference|, floor).
    Runs are paired by seed, because a seed gives the flows the same start times in every engine, and start
    times have a large effect if flows compete.

    Returns:
        The columns case, family, of, engine, quantity; runs (of the engine); reference and value (means in
        the unit of the metric); error; real (whether Student's 99 % interval of the mean difference excludes
        0; null for a single pair); scatter (deviations of the reference's runs from their mean, divided by
        the same number as the error).
    """
    return pl.DataFrame(list(_errors(case, comparison, quantities)), schema=SCHEMA, orient="row")


def _errors(
    case: Case, comparison: EngineComparison, quantities: Iterable[ErrorTarget]
) -> Iterator[tuple[object, ...]]:
    wanted = {quantity.metric: quantity for quantity in quantities}
    for row in comparison.rows:
        if row.kind == "flows" and row.of not in TOTALS and row.metric in wanted:
            reference, of_reference = row.mean(comparison.reference), row.values[comparison.reference]
            scale = max(abs(reference), wanted[row.metric].floor)
            scatter = [_relative(value - reference, scale) for value in of_reference]
            for engine in row.judgements:
                apart = [value - of for of, value in zip(of_reference, row.values[engine], strict=False)]
                error, real = _relative(sum(apart) / len(apart), scale), _real(apart)
                what = (case.name, case.family, row.of, engine, row.metric)
                yield *what, len(apart), reference, row.mean(engine), error, real, scatter


def _relative(difference: float, of: float) -> float | None:
    return difference / of if of else None


def _real(differences: Sequence[float]) -> bool | None:
    """Whether the mean difference exceeds chance."""
    return 0.0 not in t_interval(differences, LEVEL) if len(differences) > 1 else None


def large(errors: pl.DataFrame, quantities: Iterable[ErrorTarget]) -> pl.DataFrame:
    """Errors above the target for the 95th percentile."""
    aims = {quantity.metric: quantity.p95 for quantity in quantities}
    return errors.filter(
        pl.col("error").abs() > pl.col("quantity").replace_strict(aims, return_dtype=pl.Float64)
    )


def beyond(errors: pl.DataFrame, quantities: Iterable[ErrorTarget]) -> pl.DataFrame:
    """Errors above the target for the 95th percentile that exceed chance or come from a single run."""
    return large(errors, quantities).filter(pl.col("real").fill_null(value=True))


def chance(errors: pl.DataFrame, name: str, by: Sequence[str] = ()) -> pl.DataFrame:
    """The errors that the reference would show against itself if its runs had started at other times.

    In each of 1000 draws, and for every error, two samples are drawn with replacement from the runs of the
    reference. The size of a sample is the number n of compared runs. The error is the difference of both
    means, times sqrt(n / (n - 1)), because a bootstrap of n runs is too narrow by this factor. All quantities
    and groups of flows of a case use the same draws. The errors of a draw are sorted by size, and the sizes
    are averaged by rank over all draws.

    Source: Efron 1979, "Bootstrap methods: another look at the jackknife".

    Args:
        errors: Errors of one engine, as `errors_of` returns them.
        name: Value of the column engine.
        by: Grouping columns besides the quantity, such as "family".

    Returns:
        The columns of `by`, engine, quantity and error, in the order of the errors. Cases with a single run
        of the reference are left out.
    """
    keys = [*by, "quantity"]
    known = errors.filter(pl.col("real").is_not_null(), pl.col("error").is_not_null())
    sizes = []
    for key, rows in known.group_by(keys, maintain_order=True):
        drawn = [_drawn(*row) for row in rows.select("case", "scatter", "runs").iter_rows()]
        ranked = np.sort(np.abs(drawn), axis=0).mean(axis=1)
        labels = {column: pl.lit(label) for column, label in zip(keys, key, strict=True)}
        sizes.append(pl.DataFrame({"error": ranked}).with_columns(engine=pl.lit(name), **labels))
    columns = {column: SCHEMA[column] for column in (*by, "engine", "quantity", "error")}
    return pl.concat([pl.DataFrame(schema=columns), *(made.select(list(columns)) for made in sizes)])


def _drawn(case: str, scatter: Sequence[float], runs: int) -> np.ndarray:
    values, dice = np.asarray(scatter), np.random.Generator(np.random.PCG64(crc32(case.encode())))
    once, again = (dice.choice(values, (_DRAWS, runs)).mean(axis=1) for _ in range(2))
    return np.asarray((once - again) * np.sqrt(values.size / (values.size - 1)))


def summarised(errors: pl.DataFrame, by: Iterable[str] = ()) -> pl.DataFrame:
    """Number, median, 90th and 95th percentile and maximum of the sizes of errors, per engine and quantity.

    Args:
        errors: Errors as `errors_of` or `chance` returns them.
        by: Grouping columns besides engine and quantity, such as "family".

    Returns:
        The columns of `by`, engine, quantity, n, median, p90, p95 and max, in the order of the errors.
    """
    size = pl.col("error").abs()
    return errors.group_by(*by, "engine", "quantity", maintain_order=True).agg(
        n=size.count().cast(pl.Int64),
        median=size.median(),
        p90=size.quantile(0.9, "linear"),
        p95=size.quantile(0.95, "linear"),
        max=size.max(),
    )
