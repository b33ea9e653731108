"""Heat maps: the means of cells and their decimals."""

from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from fullpipe import plots
from fullpipe.analysis.shown import decimals_between
from fullpipe.plots import charts


def test_a_heat_map_shows_the_mean_of_a_cell() -> None:
    table = pl.DataFrame({"x": ["a", "a", "b"], "y": ["c", "c", "c"], "value": [1.0, 3.0, 5.0]})
    _, (axes,) = plots.new_figure()
    data, image = charts.heat_map(axes, table)
    assert data["mean"].to_list() == [2.0, 5.0]
    assert np.asarray(image.get_array()).tolist() == [[2.0, 5.0]]


@pytest.mark.parametrize(
    ("means", "words", "width"),
    [
        ([0.8, 12.35, 5.0], ["0.80", "12.35", "5.00"], "page"),
        ([0.8, 1234.5, 5.0], ["0.8", "1234.5", "5.0"], "page"),
        ([0.8, 12.35, 5.0] * 4, ["0.8", "12.3", "5.0"] * 4, "column"),
    ],
    ids=["decimals of the metric", "five digits", "narrow cells"],
)
def test_all_numbers_of_a_heat_map_have_the_same_decimals(
    means: list[float], words: list[str], width: str
) -> None:
    names = [f"{n:02}" for n in range(len(means))]
    table = pl.DataFrame({"x": names, "y": ["c"] * len(means), "value": means})
    figure, (axes,) = plots.new_figure(width=width)
    charts.heat_map(axes, table, decimals=partial(decimals_between, unit="bit/s"))
    assert [text.get_text() for text in axes.texts] == words
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"a": [109.0, 177.0], "b": [20.01, 20.03]}, ["143", "20"]),
        ({"a": [20.012, 20.014], "b": [30.1, 30.3]}, ["20.0", "30.2"]),
        ({"a": [143.452], "b": [20.0]}, ["143.45", "20.00"]),
        ({"a": [100.0, 200.0], "b": [0.04, 0.05]}, ["150.00", "0.04"]),
    ],
    ids=["wide interval", "narrow interval", "one run", "small mean"],
)
def test_cells_have_no_more_decimals_than_their_intervals_allow(
    cells: dict[str, list[float]], words: list[str]
) -> None:
    each = [(name, "c", value) for name, values in cells.items() for value in values]
    _, (axes,) = plots.new_figure()
    charts.heat_map(axes, pl.DataFrame(each, ["x", "y", "value"], orient="row"), decimals=lambda *_: 2)
    assert [text.get_text() for text in axes.texts] == words
