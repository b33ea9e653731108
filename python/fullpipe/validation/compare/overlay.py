"""Series of several engines on one time axis: means over seeds, and the range that seeds span."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl

from fullpipe.analysis.metrics.samples import means_over
from fullpipe.runs import Run
from fullpipe.validation.compare.engines import Matched, matched_sides
from fullpipe.validation.compare.side import is_total, joint

STEPS = 200
"""The number of intervals that a run is divided into; samples in each are averaged against noise."""
_Aggregate = Callable[[pl.Expr], pl.Expr]
_QUANTITIES: Mapping[str, tuple[str, _Aggregate]] = {
    "goodput": ("goodput_bps", pl.Expr.sum),
    "rtt": ("srtt_s", pl.Expr.mean),
}
"""Column of the samples, and what becomes of the flows of a group."""


def overlay(runs: Mapping[str, Sequence[Run]]) -> pl.DataFrame:
    """Goodput and RTT of every group of flows over time: the columns engine, of, quantity, time_s (end of the
    interval), mean, low, high.

    `low` and `high` are the extremes over seeds; units are those of the samples. A run without samples
    gives no rows. Groups that are compared with each other have one name, which shows both names if sides
    call them differently.

    Raises:
        ValueError: If the runs cannot be compared; see `compare`.
    """
    found = matched_sides(runs, next(iter(runs)))
    frames = [frame for engine in runs for frame in _of_engine(engine, found)]
    schema = {"engine": pl.String, "of": pl.String, "quantity": pl.String, "time_s": pl.Float64}
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.concat(frames) if frames else pl.DataFrame(schema={**schema, **numbers})


def _of_engine(engine: str, found: Matched) -> Iterator[pl.DataFrame]:
    side = found.sides[engine]
    groups = {
        joint(found.labels(key)): flows
        for key, (_, flows) in found.groups[engine].items()
        if key[0] == "flows" and not is_total(key)
    }
    for quantity, (column, together) in _QUANTITIES.items():
        value = pl.col(column)
        lines = [line for run in side.runs for line in _lines(run, groups, column, together)]
        if not lines:
            continue
        over_seeds = pl.concat(lines).group_by("of", "time_s", maintain_order=True)
        numbers = over_seeds.agg(mean=value.mean(), low=value.min(), high=value.max()).sort("time_s")
        of_what = [pl.lit(engine).alias("engine"), pl.col("of"), pl.lit(quantity).alias("quantity")]
        yield numbers.select(*of_what, pl.col("time_s", "mean", "low", "high"))


def _lines(
    run: Run, groups: Mapping[str, frozenset[str]], column: str, together: _Aggregate
) -> Iterator[pl.DataFrame]:
    """A line per group of flows of a run."""
    value = pl.col(column)
    for name, flows in groups.items():
        own = run.series.filter(pl.col("flow").is_in(flows) & value.is_not_null())
        if own.is_empty():
            continue
        at_once = own.group_by("time_s").agg(together(value), of=pl.lit(name)).sort("time_s")
        yield means_over(at_once, "of", column, run.meta.duration_s / STEPS)
