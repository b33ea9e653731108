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
