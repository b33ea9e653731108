"""Means over runs with their intervals, as bands and as bars."""

import math

import numpy as np
import polars as pl
import pytest

from fullpipe import plots
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.plots import charts, spread
from fullpipe.statistics import t_interval
from tests.chart_rows import rows, rows_of


def test_a_band_is_students_interval() -> None:
    draws = [3.0, 5.0, 4.5]
    _, (axes,) = plots.new_figure()
    row = charts.lines_with_bands(axes, rows({"cubic": draws})).row(0, named=True)
    interval = t_interval(draws)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_names_along_an_axis_are_in_one_order_and_not_joined() -> None:
    table = rows_of([("x", "cubic", 2.0), ("x", "bbr1", 1.0), ("y", "bbr1", 3.0), ("y", "cubic", 4.0)])
    _, (axes,) = plots.new_figure()
    charts.lines_with_bands(axes, table)
    assert {line.get_linestyle() for line in axes.lines} == {"None"}


def test_points_of_several_colours_at_one_name_are_side_by_side() -> None:
    table = rows_of([("cubic", "x", 2.0), ("bbr1", "x", 2.0), ("bbr3", "x", 2.0)])
    _, (axes,) = plots.new_figure()
    charts.lines_with_bands(axes, table)
    lines = [line for line in axes.lines if line.get_marker() != "_"]
    places = sorted(float(line.get_xdata()[0]) for line in lines)
    assert np.diff(places).min() > 0.1
    assert abs(places[1]) < 1e-9


def test_intervals_end_at_the_bounds_of_what_is_measured() -> None:
    _, (axes,) = plots.new_figure()
    few = charts.lines_with_bands(axes, rows({"cubic": [1.0, 30.0]})).row(0, named=True)
    assert few["low"] == 0
    assert few["high"] == pytest.approx(t_interval([1.0, 30.0]).high)
    signed = charts.lines_with_bands(axes, rows({"cubic": [-1.0, 30.0]}), (-math.inf, math.inf))
    assert signed["low"][0] == pytest.approx(t_interval([-1.0, 30.0]).low)
    opinion = rows({"cubic": [1.1, 4.4]})
    least, most = BY_NAME["call_score"].bounds
    for draw in (charts.lines_with_bands, spread.means_with_letters):
        assert draw(axes, opinion, (least, most)).select("low", "high").row(0) == (1.0, 4.5)


def interval_kinds(places: int, lines: int, *, bars: bool = False) -> set[str]:
    """The kinds of marks that show the intervals of lines along numbers."""
    table = pl.DataFrame(
        [
            (str(line), float(place), line + step)
            for line in range(lines)
            for place in range(1, places + 1)
            for step in (0.0, 0.5)
        ],
        schema=["colour", "x", "value"],
        orient="row",
    )
    _, (axes,) = plots.new_figure(width="column")
    charts.lines_with_bands(axes, table, bars=bars)
    return {type(each).__name__ for each in axes.collections}


@pytest.mark.parametrize(
    ("places", "lines", "bars", "expected"),
    [
        (2, 1, False, "LineCollection"),
        (4, 3, False, "LineCollection"),
        (5, 3, False, "FillBetweenPolyCollection"),
        (5, 3, True, "LineCollection"),
        (6, 5, False, "LineCollection"),
        (40, 5, False, "FillBetweenPolyCollection"),
    ],
)
def test_few_places_and_many_lines_have_bars_instead_of_bands(
    places: int, lines: int, bars: bool, expected: str
) -> None:
    assert interval_kinds(places, lines, bars=bars) == {expected}


def test_bars_of_several_colours_at_one_number_are_side_by_side() -> None:
    """They are moved on paper: their numbers are those of the sweep."""
    table = rows_of([(name, "x", value) for name in ("cubic", "bbr1", "bbr3") for value in (1.0, 2.0)])
    figure, (axes,) = plots.new_figure()
    charts.lines_with_bands(axes, table.with_columns(x=3.0))
    figure.canvas.draw()
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    assert {float(line.get_xdata()[0]) for line in lines} == {3.0}
    pixels = [line.get_transform().transform((3.0, 1.5))[0] for line in lines]
    assert np.diff(pixels) * 72 / figure.dpi == pytest.approx([2.5, 2.5])


def test_bars_have_caps_at_the_ends_of_intervals() -> None:
    _, (axes,) = plots.new_figure()
    data = charts.lines_with_bands(axes, rows({"cubic": [3.0, 5.0, 4.5]}))
    caps = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "_"]
    assert sorted(caps) == pytest.approx([data["low"][0], data["high"][0]])
