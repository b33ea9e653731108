"""The spread of runs: shares, letters, boxes and violins."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex

from fullpipe import plots
from fullpipe.analysis.over_seeds import FEW
from fullpipe.analysis.statistics import dkw_half_width
from fullpipe.cli.plot_drawn import Chart, Kind, Part, drawn
from fullpipe.palette import look_of
from fullpipe.plots import charts, spread
from tests.chart_rows import rows, rows_of


def test_shares_of_runs_end_at_one() -> None:
    _, (axes,) = plots.new_figure()
    assert spread.cumulative_shares(axes, rows({"cubic": [2.0, 1.0]}))["share"].to_list() == [0.5, 1.0]


def test_a_group_of_equal_runs_has_no_violin_and_no_warning() -> None:
    _, (axes,) = plots.new_figure()
    assert spread.distributions(axes, rows({"cubic": [2.0, 2.0]}), violins=True)["median"].to_list() == [2.0]


def test_violins_and_boxes_end_at_the_extremes_of_runs() -> None:
    table = rows({"cubic": [0.0, 0.1, 0.9, 1.0]})
    for is_violin in (True, False):
        _, (axes,) = plots.new_figure()
        spread.distributions(axes, table, violins=is_violin)
        shapes = [path.vertices for each in axes.collections for path in each.get_paths()]
        shapes += [np.column_stack([line.get_xdata(), line.get_ydata()]) for line in axes.lines]
        ends = np.concatenate([shape[:, 1] for shape in shapes])
        assert (ends.min(), ends.max()) == (0, 1)


def test_means_that_differ_share_no_letter() -> None:
    _, (axes,) = plots.new_figure()
    steps = [0.0, 0.1, 0.2, 0.3]
    values = {"low": 1.0, "high": 9.0, "low too": 1.05}
    table = rows_of([("", name, base + more) for name, base in values.items() for more in steps])
    data = spread.means_with_letters(axes, table)
    assert dict(data.select("x", "letters").iter_rows()) == {"high": "a", "low": "b", "low too": "b"}
    assert {text.get_text() for text in axes.texts} == {"a", "b"}
    alone = spread.means_with_letters(axes, rows_of([("", "a", 1.0), ("", "b", 2.0)]))
    assert alone["letters"].to_list() == ["", ""]


@pytest.mark.parametrize("draw", [spread.means_with_letters, spread.distributions])
def test_names_along_an_axis_have_the_colours_of_algorithms(draw: Any) -> None:
    table = rows_of([("", name, value) for name in ("bbr3", "cubic") for value in (1.0, 2.0)])
    _, (axes,) = plots.new_figure()
    draw(axes, table.with_columns(colour=pl.lit("")))
    drawn_in = {to_hex(line.get_color()) for line in axes.lines} | {
        to_hex(colour) for each in axes.collections for colour in each.get_edgecolor()
    }
    assert {look_of(name, 0).color.lower() for name in ("bbr3", "cubic")} <= drawn_in


def test_a_violin_has_its_median_and_its_runs() -> None:
    _, (axes,) = plots.new_figure()
    spread.distributions(axes, rows({"cubic": [1.0, 2.0, 2.0, 3.0, 4.0, 4.0]}), violins=True)
    (dots,) = (line for line in axes.lines if line.get_marker() == ".")
    assert list(dots.get_ydata()) == [1, 2, 2, 3, 4, 4]
    bars = [
        each.get_segments()[0][:, 1].tolist() for each in axes.collections if hasattr(each, "get_segments")
    ]
    assert bars == [[2.5, 2.5]]  # dots show the extremes


def test_the_dots_and_the_density_of_a_violin_are_side_by_side() -> None:
    _, (axes,) = plots.new_figure()
    values = [float(n % 7) for n in range(20)]
    spread.distributions(axes, rows({"cubic": values, "bbr3": values}), violins=True)
    dots = [line.get_xdata() for line in axes.lines if line.get_marker() == "."]
    bodies = [path.vertices[:, 0] for each in axes.collections for path in each.get_paths() if len(path) > 9]
    for body, each in zip(bodies, dots, strict=True):
        assert body.max() < min(each)
    assert max(dots[0]) < bodies[1].min()


def test_boxes_of_one_group_are_nearer_to_each_other_than_to_other_groups() -> None:
    _, (axes,) = plots.new_figure()
    each = [(cca, x, float(n)) for x in "ab" for cca in ("cubic", "bbr1", "bbr3") for n in range(FEW + 1)]
    spread.distributions(axes, rows_of(each))
    ends = sorted(
        (box.min(), box.max()) for box in (patch.get_path().vertices[:, 0] for patch in axes.patches)
    )
    gaps = [right[0] - left[1] for left, right in pairwise(ends)]
    assert gaps[2] > 5 * max(gaps[0], gaps[1])


def test_bands_have_outlines_with_the_dashes_of_their_line() -> None:
    for draw in (spread.cumulative_bands, charts.lines_with_bands):
        _, (axes,) = plots.new_figure()
        each = [("bbr3", float(x), x + n / 9) for x in range(6) for n in range(10)]
        draw(axes, pl.DataFrame(each, ["colour", "x", "value"], orient="row"))
        (band,) = axes.collections
        assert band.get_linewidth()[0] > 0
        assert to_hex(band.get_edgecolor()[0]) == look_of("bbr3", 0).color.lower()
        assert band.get_linestyle()[0][1] is not None, "dashed, as the line"


def test_a_violin_of_few_runs_is_its_points() -> None:
    _, (axes,) = plots.new_figure()
    spread.distributions(axes, rows({"cubic": [1.0, 2.0, 4.0]}), violins=True)
    assert [list(line.get_ydata()) for line in axes.lines[:2]] == [[2, 2], [1, 2, 4]]
    assert not axes.collections


def test_few_runs_have_no_band_of_shares() -> None:
    _, (axes,) = plots.new_figure()
    data = spread.cumulative_bands(axes, rows({"cubic": [3.0, 5.0]}))
    assert not axes.collections
    assert data["low"].to_list() == [0, 1 - dkw_half_width(2)]


def test_more_than_three_lines_have_no_bands_of_shares() -> None:
    _, axes = plots.new_figure(2)
    many = {name: [float(n) for n in range(12)] for name in ("cubic", "bbr1", "bbr3", "reno")}
    spread.cumulative_bands(axes[0], rows({name: many[name] for name in ("cubic", "bbr1", "bbr3")}))
    data = spread.cumulative_bands(axes[1], rows(many))
    assert [len(place.collections) for place in axes] == [3, 0]
    assert not data["low"].has_nulls()


def test_shares_begin_at_none() -> None:
    _, (axes,) = plots.new_figure()
    spread.cumulative_shares(axes, rows({"cubic": [3.0, 5.0]}))
    assert list(axes.lines[0].get_ydata()) == [0, 0.5, 1]
    assert list(axes.lines[0].get_xdata()) == [3, 3, 5]


def test_bands_go_on_below_the_least_and_above_the_most() -> None:
    _, (axes,) = plots.new_figure()
    spread.cumulative_bands(axes, rows({"cubic": [3.0, *[4.0] * 8, 5.0], "bbr3": [4.0]}))
    assert list(axes.lines[0].get_ydata())[-2:] == [1, 1]
    assert list(axes.lines[0].get_xdata()) == pytest.approx([2.9, 3, *[4] * 8, 5, 5.1])
    assert axes.lines[1].get_xdata()[0] == pytest.approx(2.9)
    band = axes.collections[0].get_paths()[0].vertices
    half = dkw_half_width(10)
    assert band[band[:, 0] < 2.95][:, 1].max() == pytest.approx(half)
    assert band[band[:, 0] > 5.05][:, 1].min() == pytest.approx(1 - half)


def test_boxes_of_names_have_the_colours_of_algorithms() -> None:
    _, (axes,) = plots.new_figure()
    many = [("", name, 1.0 + n) for name in ("bbr1", "cubic") for n in range(FEW + 1)]
    spread.distributions(axes, rows_of(many))
    faces = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    assert faces == [look_of("bbr1", 0).color.lower(), look_of("cubic", 0).color.lower()]


def test_a_box_of_few_runs_is_points_and_a_median() -> None:
    values = [1.0, 2.0, 4.0, 9.0]
    _, (axes,) = plots.new_figure()
    data = spread.distributions(axes, rows_of([("", "bbr1", value) for value in values]))
    assert not axes.patches
    middle, points, *_ = axes.lines
    assert (list(middle.get_ydata()), middle.get_linestyle()) == ([3.0, 3.0], "-")
    assert list(points.get_ydata()) == values
    assert points.get_color() == look_of("bbr1", 0).color
    assert len(set(points.get_xdata())) == len(values)
    assert data["runs"].to_list() == [4]


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((4, 4), "4 runs each; points: runs; line: median"),
        ((6, 6), "6 runs each; boxes of quartiles and median, whiskers to minimum and maximum"),
        (
            (5, 6),
            "5 to 6 runs each; boxes of quartiles and median, whiskers to minimum and maximum; "
            "up to 5 runs are points with their median",
        ),
    ],
)
def test_the_line_below_boxes_says_what_is_drawn(counts: tuple[int, int], told: str) -> None:
    each = [("", name, 1.0 + n) for name, count in zip("ab", counts, strict=True) for n in range(count)]
    table = rows_of(each).with_columns(panel=pl.lit(""), y=pl.lit(""))
    figure, _ = drawn([Part("goodput", "goodput", table)], Chart(Kind.BOX, "page"))
    assert figure.get_supxlabel().replace("\n", " ") == told
