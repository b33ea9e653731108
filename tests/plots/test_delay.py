"""Throughput over delay: ellipses, their ends, and the axes."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import plots
from fullpipe.cli.plot_drawn import Chart, Kind, Part
from fullpipe.cli.plot_drawn import drawn as drawn_of
from fullpipe.plots import spread
from tests.chart_rows import rows


def test_an_ellipse_is_one_deviation_of_both() -> None:
    table = rows({"cubic": [1.0, 3.0, 2.0]}).with_columns(x=pl.Series([10.0, 30.0, 20.0]))
    _, (axes,) = plots.new_figure()
    row = spread.throughput_and_delay(axes, table).row(0, named=True)
    assert (row["value"], row["x"], row["value_deviation"], row["x_deviation"]) == pytest.approx(
        (2, 20, 1, 10)
    )
    assert row["correlation"] == pytest.approx(1)


def ellipse_of(*places: tuple[float, float], most: float | None = None, **bounds: Any) -> Any:
    """The corners of the ellipse around runs, each a delay and a throughput."""
    table = pl.DataFrame({"x": [x for x, _ in places], "value": [y for _, y in places]})
    table = table.with_columns(colour=pl.lit("cubic"))
    if most is not None:
        table = table.with_columns(most=pl.lit(most))
    _, (axes,) = plots.new_figure()
    spread.throughput_and_delay(axes, table, **bounds)
    (patch,) = axes.patches
    return patch.get_path().vertices


def test_an_ellipse_within_the_bounds_is_whole() -> None:
    corners = ellipse_of((10.0, 2.0), (30.0, 4.0), (20.0, 2.0), most=9.0)
    middle, spread = (corners.max(axis=0) + corners.min(axis=0)) / 2, np.ptp(corners, axis=0) / 2
    assert middle == pytest.approx([20, 8 / 3], rel=1e-3)
    assert spread == pytest.approx([10, math.sqrt(4 / 3)], rel=1e-3)


def test_an_ellipse_is_clipped_at_a_delay_of_nothing_and_at_the_capacity() -> None:
    """The whole ellipse goes from -4.6 to 15.1 ms and up to 10.3 Mbit/s."""
    corners = ellipse_of((1.0, 9.9), (20.0, 8.0), (0.0, 9.9), (0.0, 9.8), most=9.95)
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert low[0] == pytest.approx(0)
    assert high[1] == pytest.approx(9.95)
    assert high[0] == pytest.approx(5.25 + np.std([1, 20, 0, 0], ddof=1), rel=1e-3)


def test_a_clipped_ellipse_keeps_its_inside() -> None:
    """Every corner is on the ellipse or, within it, on a bound."""
    runs = np.array([(1.0, 9.9), (20.0, 8.0), (0.0, 9.9), (0.0, 9.8)])
    corners = ellipse_of(*map(tuple, runs), most=9.95)
    away = corners - runs.mean(axis=0)
    distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(np.cov(runs.T)), away)
    on_a_bound = np.isclose(corners[:, 0], 0) | np.isclose(corners[:, 1], 9.95)
    assert (np.isclose(distance, 1) | on_a_bound).all()
    assert distance.max() <= 1 + 1e-6
    assert on_a_bound.sum() >= 3
    assert not on_a_bound.all()


def test_an_ellipse_ends_at_the_bounds_of_its_metrics() -> None:
    corners = ellipse_of((0.2, 0.99), (0.9, 0.8), (0.99, 1.0), bounds=(0.0, 1.0), x_bounds=(0.0, 1.0))
    assert corners.max(axis=0) == pytest.approx([1, 1])


def test_runs_that_measured_more_than_the_capacity_are_inside() -> None:
    assert ellipse_of((10.0, 9.0), (20.0, 10.1), (12.0, 9.5), most=10.0)[:, 1].max() <= 10.1 + 1e-9


@pytest.mark.parametrize("runs", [1, 2])
def test_runs_that_are_alike_have_no_ellipse(runs: int) -> None:
    table = pl.DataFrame({"x": [10.0] * runs, "value": [2.0] * runs, "colour": ["cubic"] * runs})
    _, (axes,) = plots.new_figure()
    spread.throughput_and_delay(axes, table)
    assert not axes.patches


def test_an_ellipse_is_above_its_marker() -> None:
    table = rows({"cubic": [1.0, 3.0, 2.0]}).with_columns(x=pl.Series([10.0, 30.0, 20.0]))
    _, (axes,) = plots.new_figure()
    spread.throughput_and_delay(axes, table)
    assert axes.patches[0].get_zorder() > axes.lines[0].get_zorder()


def test_panels_with_other_delays_have_axes_of_their_own_from_0() -> None:
    """Without own axes, an ellipse at 50 ms would be a line beside one at 500 ms."""
    places = {"short": (50.0, 4.0), "long": (500.0, 40.0)}
    rows = [
        (place, "cubic", delay * shift, rate * shift)
        for place, (delay, rate) in places.items()
        for shift in (0.98, 1.0, 1.01)
    ]
    table = pl.DataFrame(rows, schema=["panel", "colour", "x", "value"], orient="row").with_columns(
        y=pl.lit("")
    )
    part = Part("goodput (Mbit/s)", "goodput", table, better="higher", x_better="lower")
    figure, _ = drawn_of([part], Chart(Kind.DELAY, "page"))
    for axes in figure.axes:
        delay, rate = places[axes.get_title()]
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert (right, low) == (0, 0)
        assert delay < left < 1.1 * delay
        assert rate < high < 1.2 * rate


def test_given_limits_of_a_delay_axis_keep_its_direction() -> None:
    table = pl.DataFrame({"x": [50.0, 51.0, 52.0], "value": [9.31, 9.34, 9.33], "colour": ["cubic"] * 3})
    table = table.with_columns(panel=pl.lit(""), y=pl.lit(""))
    part = Part("goodput", "goodput", table, x_better="lower")
    figure, _ = drawn_of([part], Chart(Kind.DELAY, "page", x_ends=(40, 60)))
    assert figure.axes[0].get_xlim() == (60, 40)
