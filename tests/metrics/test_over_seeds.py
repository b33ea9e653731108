"""Means over seeds with their intervals."""

import numpy as np
import polars as pl
import pytest

from fullpipe.analysis.over_seeds import bounded, over_seeds, paths_of
from fullpipe.analysis.statistics.intervals import t_half_width
from fullpipe.scenario.checks import COLUMNS
from fullpipe.statistics import t_interval


def values(rows: list[tuple[str, int, float | None]]) -> pl.DataFrame:
    table = pl.DataFrame(rows, schema=["flows.0.cca", "seed", "value"], orient="row")
    said = {"engine": "native", "kind": "flows", "entry": 0, "of": "x", "metric": "goodput", "unit": "bit/s"}
    table = table.with_columns(**{name: pl.lit(value) for name, value in said.items()})
    return table.select("flows.0.cca", "seed", "engine", "kind", "entry", "of", "metric", "value", "unit")


def test_a_row_is_the_mean_over_seeds_with_students_interval() -> None:
    draws = [3.0, 5.0, 4.5, 7.25]
    row = over_seeds(values([("cubic", seed, value) for seed, value in enumerate(draws)])).row(0, named=True)
    interval = t_interval(draws)
    assert (row["n"], row["mean"]) == (4, np.mean(draws))
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_half_widths_of_many_means_are_those_of_each_mean() -> None:
    deviations, sizes = np.array([2.0, 0.1, 0.0, 1.0]), np.array([2, 40, 5, 1])
    found = t_half_width(deviations, sizes)
    assert found[:3].tolist() == [t_half_width(*each) for each in zip(deviations[:3], sizes[:3], strict=True)]
    assert np.isnan(found[3])


def test_intervals_end_where_a_metric_does() -> None:
    draws = [0.1, 0.2, 3.0]
    found = over_seeds(values([("cubic", seed, value) for seed, value in enumerate(draws)]))
    assert t_interval(draws).low < 0
    assert (found["low"][0], found["high"][0]) == (0, pytest.approx(t_interval(draws).high))
    shares = values([("cubic", seed, value) for seed, value in enumerate([0.5, 0.99, 1.0])])
    one = over_seeds(shares.with_columns(metric=pl.lit("jain")))
    assert one["high"][0] == 1
    assert bounded(pl.concat([found, one])) == ["goodput", "jain"]
    assert bounded(over_seeds(values([("cubic", 1, 0.0), ("cubic", 2, 0.0)]))) == []


def test_no_key_of_variants_is_a_column() -> None:
    table = values([("cubic", 1, 1.0)])
    known = [*table.columns[1:], *over_seeds(table).columns[1:]]
    assert set(known) | {"modes"} == set(COLUMNS)


def test_points_stay_apart_and_in_their_order() -> None:
    found = over_seeds(values([("cubic", 1, 1.0), ("bbr1", 1, 3.0), ("cubic", 2, 2.0), ("bbr1", 2, 3.0)]))
    assert found["flows.0.cca"].to_list() == ["cubic", "bbr1"]
    assert found["alike"].to_list() == [False, True]


def test_one_seed_has_no_interval() -> None:
    row = over_seeds(values([("cubic", 1, 1.0)])).row(0, named=True)
    assert (row["n"], row["mean"], row["low"], row["high"]) == (1, 1.0, None, None)


def test_seeds_without_a_value_do_not_count() -> None:
    row = over_seeds(values([("cubic", 1, 1.0), ("cubic", 2, None), ("cubic", 3, 2.0)])).row(0, named=True)
    assert (row["n"], row["mean"]) == (2, 1.5)


def test_the_engine_tells_points_apart() -> None:
    assert paths_of(values([("cubic", 1, 1.0)])) == ["flows.0.cca", "engine"]
