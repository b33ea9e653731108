"""Figures that are drawn without scripts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from fullpipe.report.content import (
    Box,
    Boxes,
    Chart,
    Difference,
    Figure,
    Forest,
    Heat,
    Line,
    Lines,
    Look,
    Path,
    PathHop,
    PathNode,
    PathRoute,
    Series,
    Trace,
)
from fullpipe.report.html_tables import lines_of
from fullpipe.report.svg.charts import svg_of
from fullpipe.report.svg.marks import WIDTH, ticks

LOOK = Look(2)


def drawn(chart: Chart) -> ET.Element:
    """The picture, which is XML."""
    return ET.fromstring(svg_of(Figure("caption", chart, "what it shows"), 100))


def texts(found: ET.Element) -> list[str]:
    """Every text in it."""
    return [str(element.text) for element in found.iter("text")]


def classes(found: ET.Element) -> list[str]:
    """The classes of its elements."""
    return [element.get("class", "") for element in found.iter()]


def shades(found: ET.Element) -> list[str]:
    """The shades of its cells, then of its colour bar from the top."""
    return [name for name in classes(found) if name[:1] in "hou" and name[1:].isdigit()]


def boxes(*labels: str) -> Boxes:
    """A box per label."""
    return Boxes("goodput", [Box(label, LOOK, (1, 2, 3, 4, 5), 7) for label in labels])


def test_a_picture_says_what_it_shows() -> None:
    found = drawn(boxes("a"))
    assert (found.get("role"), found.get("aria-label")) == ("img", "what it shows")


def test_short_names_stand_below_boxes_and_long_ones_beside_them() -> None:
    upright, lying = drawn(boxes("a", "b")), drawn(boxes("a" * 60, "b" * 60))
    assert {text.get("y") for text in upright.iter("text") if text.text in ("a", "b")} == {"252"}
    assert "a" * 48 + "…" in texts(lying)
    first, second = lying.iter("rect")
    assert float(first.get("y", "0")) < float(second.get("y", "0"))
    assert first.get("x") == second.get("x")


def test_a_box_of_few_runs_is_points_and_a_median() -> None:
    found = drawn(Boxes("goodput", [Box("a", LOOK, (1, 1.5, 2, 3, 4), 3, [1.0, 2.0, 4.0])]))
    assert not list(found.iter("rect"))
    assert classes(found).count("c2 dot") == 3
    assert "median" in classes(found)


def test_a_heat_map_has_a_cell_per_number_and_none_where_there_is_none() -> None:
    found = drawn(Heat("x", "y", ["1", "2"], ["a", "b"], [[1.0, None], [3.0, 5.0]], digits=0))
    cells = [rect for rect in found.iter("rect") if rect.get("width") != "14"]
    assert len(cells) == 3
    assert {"1", "3", "5"} <= set(texts(found))
    assert {"h0", "h7"} <= set(classes(found))


def test_cells_that_read_the_same_have_one_shade() -> None:
    alike = drawn(Heat("x", "y", ["1", "2"], ["a"], [[4.3911, 4.3912]]))
    assert set(shades(alike)) == {"h0"}


def test_a_heat_map_has_a_colour_bar_with_its_unit_and_ends() -> None:
    found = drawn(Heat("x", "y", ["1", "2"], ["a"], [[1.5, 7.25]], label="goodput, Mbit/s"))
    assert {"goodput, Mbit/s", "1.50", "7.25"} <= set(texts(found))
    assert shades(found)[2:] == [f"h{n}" for n in range(7, -1, -1)]


def test_values_that_span_much_are_shaded_by_their_logarithms() -> None:
    found = drawn(Heat("x", "y", ["1", "2", "3"], ["a"], [[1.0, 32.0, 1000.0]]))
    assert shades(found)[:3] == ["h0", "h4", "h7"]


def test_less_than_what_is_neutral_has_the_other_colour() -> None:
    found = drawn(Heat("x", "y", ["1", "2", "3"], ["a"], [[0.477, 0.53, 0.9]], neutral=0.5))
    assert shades(found)[:3] == ["u0", "o0", "o6"]


def test_verdicts_have_their_colours_in_a_forest() -> None:
    rows = [
        Difference("a", 1.0, 0.5, 1.5, "better"),
        Difference("b", -1.0, None, None, "not reproduced (x 2)"),
    ]
    found = drawn(Forest("difference", rows))
    assert {"v-better dot", "v-not-reproduced dot"} <= set(classes(found))
    assert len([element for element in found.iter("line") if "v-" in element.get("class", "")]) == 1


def test_a_line_has_its_band_and_a_tip_per_point() -> None:
    points = [(1.0, 2.0, 1.0, 3.0), (2.0, 4.0, 3.0, 5.0)]
    found = drawn(Lines("rate", "goodput", [Line("cubic", LOOK, points)]))
    assert [title.text for title in found.iter("title")] == [
        "cubic: 2 [1, 3] at 1; goodput",
        "cubic: 4 [3, 5] at 2; goodput",
    ]
    assert "c2 d0 band" not in classes(found), "between two places it would look like a curve"
    assert found.findall("path")[0].get("d", "").count("V") == 2
    many = [(float(place), 2.0, 1.0, 3.0) for place in range(5)]
    assert "c2 d0 band" in classes(drawn(Lines("rate", "goodput", [Line("cubic", LOOK, many)])))


@pytest.mark.parametrize(
    ("count", "has_bars", "has_ticks"),
    [(4, True, True), (5, False, True), (9, False, True), (10, False, False)],
)
def test_the_script_has_the_bars_and_ticks_of_the_picture(
    count: int, has_bars: bool, has_ticks: bool
) -> None:
    places = [1.5 * place for place in range(count)]
    chart = Lines("rate", "goodput", [Line("cubic", LOOK, [(at, 2.0, 1.0, 3.0) for at in places])])
    told = lines_of(chart, "goodput")
    assert (told["bars"], told["ticks"]) == (has_bars, has_ticks)
    found = drawn(chart)
    assert ("c2 d0 band" in classes(found)) != has_bars
    ticks = [text.text for text in found.iter("text") if text.get("class") == "tick middle"]
    assert ("1.5" in ticks) == has_ticks


def test_the_last_place_has_a_tick_however_close_others_are() -> None:
    places = [1.0, 10.0, 95.0, 100.0]
    found = drawn(Lines("rate", "goodput", [Line("cubic", LOOK, [(at, 2.0, 1.0, 3.0) for at in places])]))
    ticks = [text.text for text in found.iter("text") if text.get("class") == "tick middle"]
    assert ticks == ["1", "10", "100"]


def test_a_flow_that_is_measured_less_often_has_no_gaps() -> None:
    values = np.array([1.0, np.nan, 2.0, np.nan, 3.0, np.nan, np.nan, np.nan, 4.0])
    (path,) = drawn(Series("x", 0.0, 1.0, [Trace("a", LOOK, values)])).iter("path")
    assert path.get("d", "").count("M") == 2, "one before the lost one, and one after it"


def test_missing_samples_leave_a_gap() -> None:
    values = np.array([1.0, 2.0, np.nan, 3.0, 4.0])
    (path,) = drawn(Series("x", 0.0, 1.0, [Trace("a", LOOK, values)])).iter("path")
    assert path.get("d", "").count("M") == 2


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [np.nan], [-1e-9, 1e-9], [1e15, 2e15]])
def test_any_numbers_are_drawn_within_the_picture(values: list[float]) -> None:
    found = drawn(Series("x", 0.0, 1.0, [Trace("a", LOOK, np.array(values))]))
    places = [float(element.get("x", "0")) for element in found.iter("text")]
    assert all(0 <= place <= WIDTH for place in places)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.0, 1e-7), (-5, 5), (3, 3), (99.9, 100.1), (0, 123456)])
def test_ticks_are_round_few_and_within(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 1 <= len(found) <= 11
    assert all(low - 1e-9 * abs(high) <= tick <= high * (1 + 1e-9) + 1e-12 for tick in found)


def x_of(found: ET.Element) -> list[float]:
    """Where its dots are."""
    return [float(dot.get("cx", "0")) for dot in found.iter("circle")]


def test_a_large_difference_leaves_small_ones_apart_and_keeps_the_order() -> None:
    values = [-3.0, -0.5, 0.5, 3.0, 216.0]
    rows = [Difference(str(value), value, None, None, "worse") for value in values]
    places = x_of(drawn(Forest("difference / margin", rows, has_margin=True)))
    assert places == sorted(places)
    assert min(b - a for a, b in pairwise(places)) > 10


def test_a_margin_is_a_band_around_zero() -> None:
    rows = [Difference("a", 1.0, 0.5, 3.0, "worse", "+8 % [+4, +24]")]
    found = drawn(Forest("difference / margin", rows, has_margin=True))
    (band,) = (rect for rect in found.iter("rect") if rect.get("class") == "margin")
    (dot,) = x_of(found)
    assert float(band.get("x", "0")) + float(band.get("width", "0")) == pytest.approx(dot, abs=0.2)
    assert "+8 % [+4, +24]" in texts(found)


def test_geometric_places_are_at_equal_distances_with_ticks_at_all() -> None:
    points = [(x, 1.0, 1.0, 1.0) for x in (0.5, 1.0, 2.0, 4.0, 8.0)]
    found = drawn(Lines("buffer, BDP", "goodput", [Line("cubic", LOOK, points)], is_log=True))
    places = x_of(found)
    steps = [b - a for a, b in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 4, abs=0.3)
    assert {"0.5", "1", "2", "4", "8"} <= set(texts(found))


def test_links_that_share_an_edge_share_their_tag() -> None:
    nodes = [PathNode("a", True, 0, 0.0), PathNode("b", True, 1, 0.0)]
    chart = Path(
        nodes, [PathHop((0, 1)), PathHop((1, 0))], [PathRoute("x", LOOK, [0, 1])], ["1 up", "2 down"]
    )
    assert {"a", "b", "1, 2", "1 up", "2 down"} <= set(texts(drawn(chart)))
