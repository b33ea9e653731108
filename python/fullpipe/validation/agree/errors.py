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
"""Of the interval that tells a difference from chance: there are hundreds of differences."""
_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class ErrorTarget:
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
    ErrorTarget("goodput", "goodput", 0.0, 0.005, 0.03),
    ErrorTarget("srtt_mean", "mean RTT", 0.0, 0.02, 0.08),
    ErrorTarget("retransmitted", "retransmissions", 20.0, 0.10, 0.40),
    ErrorTarget("fct_p50", "completion time", 0.0, 0.02, 0.10),
)
"""Differences in retransmissions are shares of at least 20 packets: 2 in place of 1 is no error of 100 %. The
mean RTT is that over time, of samples that all engines take alike. The completion time is the median over
flows of a given size; others have none."""


def errors_of(
    case: Case, comparison: EngineComparison, quantities: Iterable[ErrorTarget] = QUANTITIES
) -> pl.DataFrame:
    """The errors of every engine in a case, one row per group of flows and quantity.

    Formula: error = mean of (value - reference) over the seeds that both have / max(|mean reference|, floor).
    A seed begins the flows of every engine at the same moments, which decide much where flows meet: so runs
    are compared in pairs.

    Returns:
        The columns case, family, of, engine, quantity; runs, of the engine; reference and value, means in the
        unit of the metric; error; real, whether Student's 99 % interval of the mean difference leaves out 0,
        null of a single pair; scatter, the runs of the reference around their mean, as errors are given.
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
    """Whether the mean difference is more than chance."""
    return 0.0 not in t_interval(differences, LEVEL) if len(differences) > 1 else None


def large(errors: pl.DataFrame, quantities: Iterable[ErrorTarget]) -> pl.DataFrame:
    """Errors that are larger than is aimed at for the 95th percentile."""
    aims = {quantity.metric: quantity.p95 for quantity in quantities}
    return errors.filter(
        pl.col("error").abs() > pl.col("quantity").replace_strict(aims, return_dtype=pl.Float64)
    )


def beyond(errors: pl.DataFrame, quantities: Iterable[ErrorTarget]) -> pl.DataFrame:
    """Those of them that are more than chance, or of one run."""
    return large(errors, quantities).filter(pl.col("real").fill_null(value=True))


def chance(errors: pl.DataFrame, name: str, by: Sequence[str] = ()) -> pl.DataFrame:
    """The errors that the reference would show against itself, had its runs begun at other moments.

    For each of 1000 draws and every error, as many runs of the reference as were compared are drawn again
    with replacement, twice; the error is the difference of both means, times sqrt(n / (n - 1)), by which a
    bootstrap of n runs is too narrow. All quantities and groups of flows of a case come from the same draws.
    The errors of a draw are sorted by size, and the sizes of a rank averaged over the draws.

    Source: Efron 1979, "Bootstrap methods: another look at the jackknife".

    Args:
        errors: Of one engine, as `errors_of` gives them.
        name: What to call this in the column engine.
        by: Columns to keep apart besides the quantity, such as "family".

    Returns:
        The columns of `by`, engine, quantity and error, in the order of the errors. None of cases of which
        the reference has a single run.
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
    """Number, median, 95th percentile and maximum of the sizes of errors, per engine and quantity.

    Args:
        errors: As `errors_of` or `chance` gives them.
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
