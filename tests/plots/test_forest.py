"""Forests of differences: panels, axes, and the looks of verdicts."""

from __future__ import annotations

import polars as pl
import pytest

from fullpipe import plots
from tests.boxes import cut_off, overlaps

UNITS = {
    "goodput": "goodput (% of the reference)",
    "srtt_p95": "p95 smoothed RTT (% of the reference)",
    "owd_mean": "mean one-way delay (% of the reference)",
    "jain": "Jain's index",
}


def rows(*differences: tuple[str, str, float, str]) -> pl.DataFrame:
    """Metric, label, difference and verdict of every line."""
    columns = ["metric", "label", "difference", "verdict"]
    return pl.DataFrame(differences, schema=columns, orient="row").with_columns(
        low=pl.col("difference") - 1, high=pl.col("difference") + 1, margin=pl.lit(5.0)
    )


def several() -> pl.DataFrame:
    """Two variants in three metrics of two groups, and one of all flows."""
    of_groups = [
        (metric, f"{variant}, {of}", 7.0, "worse")
        for metric in list(UNITS)[:3]
        for variant in ("bbr3", "vegas")
        for of in ("mine", "beside")
    ]
    return rows(*of_groups, ("jain", "bbr3, all flows", -0.2, "undecided"))


@pytest.mark.parametrize(("largest", "scale"), [(3000.0, "symlog"), (12.0, "linear")])
def test_one_huge_difference_does_not_hide_the_others(largest: float, scale: str) -> None:
    differences = [largest, -9.0, 4.0, 2.0]
    rows = pl.DataFrame({"difference": differences}).with_columns(
        metric=pl.lit("retransmitted"),
        label=pl.Series(["a", "b", "c", "d"]),
        low=pl.col("difference") - 1,
        high=pl.col("difference") + 1,
        margin=pl.lit(5.0),
        verdict=pl.lit("worse"),
    )
    figure, _ = plots.forest(rows, {"retransmitted": "retransmitted (% of the reference)"})
    (place,) = figure.axes
    assert place.get_xscale() == scale
    pixels = place.transData.transform([(value, 0) for value in (0.0, 4.0)])[:, 0]
    assert pixels[1] - pixels[0] > 20


@pytest.mark.parametrize("width", ["column", "ieee-column", "springer-column", "lncs", "page"])
@pytest.mark.parametrize(
    "place", ["a", "BBRv1, buffer 1 BDP, all flows", "a group with a very long name, BBR"]
)
def test_a_label_is_as_wide_as_its_panel(width: str, place: str) -> None:
    label = "difference in goodput (% of the reference), better\N{NO-BREAK SPACE}→"
    figure, _ = plots.forest(rows(("goodput", place, 7.0, "better")), {"goodput": label}, width)
    (axes,) = figure.axes
    assert cut_off(figure) == []
    assert axes.xaxis.label.get_window_extent().width <= max(axes.bbox.width, 100)
    assert " ".join(axes.get_xlabel().split("\n")) == label


@pytest.mark.parametrize("width", ["page", "column"])
def test_labels_of_panels_are_apart(width: str) -> None:
    figure, _ = plots.forest(several(), UNITS, width)
    assert overlaps(figure) == []
    assert cut_off(figure) == []


def test_panels_have_lines_of_what_they_are_of() -> None:
    figure, _ = plots.forest(several(), UNITS, "column")
    assert [len(place.get_yticks()) for place in figure.axes] == [4, 4, 4, 1]


def test_verdicts_and_the_margin_are_in_a_legend_and_differ_in_grey() -> None:
    verdicts = ["better", "worse", "undecided", "equivalent"]
    drawn = [("goodput", verdict, 7.0, verdict) for verdict in verdicts]
    figure, _ = plots.forest(rows(*drawn), UNITS)
    (legend,) = figure.legends
    words = ["better", "worse", "equivalent", "undecided", "margin"]
    assert [text.get_text() for text in legend.get_texts()] == words
    assert len({line.get_marker() for line in legend.get_lines()}) == 4
    assert "95 % confidence intervals of single tests" in figure.get_supxlabel()


def test_ticks_of_a_narrow_forest_do_not_touch() -> None:
    each = [("loss_rate", name, 0.003, "worse") for name in ("bbr3", "vegas")]
    table = rows(*each).with_columns(low=pl.lit(-0.0012), high=pl.lit(0.0062), margin=pl.lit(0.001))
    for width in ("column", "page"):
        figure, _ = plots.forest(table, {"loss_rate": "dropped data packet share"}, width)
        assert overlaps(figure) == []
