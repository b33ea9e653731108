"""Looks of labels: colours, dashes and markers, which are told apart in grey."""

from itertools import combinations, pairwise
from typing import Any

import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgb

from fullpipe.palette import _ALGORITHMS as ALGORITHMS
from fullpipe.palette import COLOURS, DASHES, Look, look_of, looks, looks_of_numbers, names_of_algorithms
from fullpipe.plots import charts, engines, new_figure, sorted_bars
from tests.chart_rows import rows_of

APART = 0.1
"""Luma of two greys that are told apart."""


def luma(look: Look) -> float:
    """Luma of ITU-R BT.601, which is what programs make of a colour that is printed in grey."""
    red, green, blue = to_rgb(look.color)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def is_told_in_grey(one: Look, other: Look) -> bool:
    return one.linestyle != other.linestyle or abs(luma(one) - luma(other)) > APART


def test_an_algorithm_has_one_look_whatever_stands_behind_its_name() -> None:
    assert look_of("bbr3", 0) == look_of("bbr3-1", 4) == look_of("bbr3 draft", 7)
    assert look_of("bbr_n_plus", 0) != look_of("bbr1", 0)


def test_an_algorithm_has_one_look_by_its_key_and_by_its_name() -> None:
    names = names_of_algorithms()
    assert all(look_of(names[key], 9) == look_of(key, 9) for key in ALGORITHMS)
    assert look_of("BBRv3, seed 1", 5) == look_of("bbr3", 0)
    assert look_of("Renowned", 5) != look_of("reno", 0)


def test_only_algorithms_have_their_colours() -> None:
    """Links, ports and groups whose algorithm varies have other colours in all figures."""
    own = {look_of(key, 0).color for key in ALGORITHMS}
    others = ["bottleneck", "station 1", "station 2", "new", "uplink", "reverse", "access", "more"]
    for known in ([], ["cubic-1", "bbr3-1"]):
        found = looks([*known, *others])
        assert not own & {found[label].color for label in others}
        assert len({found[label] for label in others}) == len(others)
    assert looks(["new", "incumbent"], {"incumbent": "cubic"})["new"].color not in own


def test_an_algorithm_from_outside_has_one_look_in_every_figure() -> None:
    """Wherever its file is, whatever its parameters are, and whatever is beside it."""
    name = "python:my_module:Patient"
    alone = looks([name])[name]
    beside = looks(["cubic-1", "mine", "bottleneck", "bbr3-1"], {"mine": name})["mine"]
    assert alone == beside == look_of(name, 5) == look_of("python:other.place:Patient beta 0.7", 0)
    assert look_of("library:/here/cc.so:fast", 0) == look_of("library:cc.so:fast", 3)
    assert alone not in [look_of(known, 0) for known in ALGORITHMS]


def test_lines_of_algorithms_are_told_apart_in_grey() -> None:
    """All within two rounds of colours that follow each other."""
    size = len(COLOURS)
    for begin in range(0, len(ALGORITHMS) - size, size):
        near = [look_of(name, 0) for name in ALGORITHMS[begin : begin + 2 * size]]
        assert all(is_told_in_grey(one, other) for one, other in combinations(near, 2))


def test_numbers_are_a_scale_from_dark_to_light_that_is_told_apart_in_grey() -> None:
    for count in range(1, 10):
        scale = list(looks_of_numbers([str(number) for number in range(count)]).values())
        assert all(luma(one) < luma(other) for one, other in pairwise(scale))
        assert luma(scale[-1]) < 0.75, "visible on white paper"
        assert all(is_told_in_grey(one, other) for one, other in combinations(scale, 2))
        assert len({(look.marker, look.fill) for look in scale}) == count


def test_every_algorithm_has_a_marker_of_its_own() -> None:
    marks = {(look_of(name, 0).marker, look_of(name, 0).fill) for name in ALGORITHMS}
    assert len(marks) == len(ALGORITHMS)


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "2", "4", "8", "16", "32", "64"],
        ["cubic-1", "cubic-2", "cubic-3", "bottleneck"],
        ["cubic-1", "bbr3-1", "bbr3-2", "bottleneck", "uplink"],
        ["copa", "vegas", "bbr1", "bbr3", "reno", "prague"],
        ["fq_codel", "cake", "pie", "codel"],
    ],
)
def test_labels_of_one_figure_are_told_apart_in_grey(labels: list[str]) -> None:
    found = looks(labels).values()
    assert all(is_told_in_grey(one, other) for one, other in combinations(found, 2))
    assert len({(look.marker, look.fill) for look in found}) == len(labels)


def test_seven_labels_have_seven_dashes() -> None:
    assert [look.linestyle for look in looks(list("abcdefg")).values()] == list(DASHES)


def test_lines_have_the_dashes_and_markers_of_algorithms() -> None:
    table = rows_of([(name, "x", 1.0) for name in ("copa", "vegas")])
    _, (axes,) = new_figure()
    charts.lines_with_bands(axes, table.with_columns(x=2.0))
    drawn: list[Any] = axes.get_legend_handles_labels()[0]
    assert [line.get_marker() for line in drawn] == [look_of(name, 0).marker for name in ("copa", "vegas")]
    assert {to_hex(line.get_markerfacecolor()) for line in drawn} == {"#ffffff"}
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 2


@pytest.mark.parametrize("groups", [["all flows"], ["mine", "beside"]])
def test_lines_of_engines_have_dashes_of_their_own(groups: list[str]) -> None:
    rows = [
        (engine, group, "goodput", time_s, 1e6, 1e6, 1e6)
        for engine in ("native", "ns3", "linux")
        for group in groups
        for time_s in (0.1, 0.2)
    ]
    columns = ["engine", "of", "quantity", "time_s", "mean", "low", "high"]
    figure, _ = engines(pl.DataFrame(rows, schema=columns, orient="row"))
    drawn: list[Any] = figure.axes[0].lines
    assert len({str(line._unscaled_dash_pattern) for line in drawn}) == 3 * len(groups)


def test_bars_have_hatches_of_their_own() -> None:
    _, (axes,) = new_figure()
    sorted_bars(axes, {"one": [2.0, 1.0], "two": [3.0]}, label="Mbit/s")
    assert [patch.get_hatch() or "" for patch in axes.patches] == ["", "", "////"]
