"""Axes of figures over many runs: their labels, their scales, and the colours."""

from typing import Any

import polars as pl
import pytest
import typer
from matplotlib.colors import LogNorm

from fullpipe import Run, Scenario, plots, sweeps
from fullpipe.analysis.metrics import LINK_MEASURES, MEASURES
from fullpipe.analysis.shown import axis_shown
from fullpipe.cli.plot_axes import Factor, Factors, read_ends
from fullpipe.cli.plot_drawn import OF_SHARES, Chart, Kind, Part, drawn
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.palette import looks_of_numbers
from fullpipe.plots.charts import spans_much
from fullpipe.plots.style import REFERENCE
from fullpipe.report.content import Document, Figure, Heat
from fullpipe.report.runs.page import page_of
from fullpipe.report.svg.boxes import heat
from fullpipe.scenario.labels import title_of
from tests.boxes import cut_off, overlaps

SIZE, DELAY = "topology.bottleneck.queue.size", "topology.bottleneck.delay"


def runs(**values: Any) -> list[Run]:
    """Two flows over queues of two sizes and two delays."""
    base: dict[str, Any] = {
        "name": "axes",
        "duration": "3 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": {"size": "1 bdp"}},
        },
        "flows": [{"cca": "bbr3", "name": "mine"}, {"cca": "cubic", "name": "other"}],
        "record": {"interval": "off"},
        "sweep": {SIZE: ["1 bdp", "4 bdp"], DELAY: ["5 ms", "20 ms"]},
    }
    return sweeps.run(sweeps.jobs(Scenario(**(base | values))), workers=2)


@pytest.fixture(scope="module")
def two() -> list[Run]:
    return runs()


def heat_map(found: list[Run], metric: str, of: str | None = None) -> tuple[Any, Any]:
    figure, _ = figure_of(found, Chosen(Kind.HEATMAP, [metric], x="size", y="delay", of=of))
    place, bar = figure.axes
    return place.images[0], bar


def table(values: list[float], x: list[float] | None = None) -> pl.DataFrame:
    along = x or list(range(1, len(values) + 1))
    rows = pl.DataFrame({"x": along, "value": values}, schema={"x": pl.Float64, "value": pl.Float64})
    return rows.with_columns(y=pl.lit(""), colour=pl.lit("cubic"), panel=pl.lit(""))


def draw(kind: Kind, rows: pl.DataFrame, log: list[str] | None = None) -> Any:
    figure, _ = drawn(
        [Part("RTT (ms)", "rtt_mean", rows)], Chart(kind, "page", Factors(Factor("size")), log=log)
    )
    return figure.axes[0]


def test_axes_have_words_units_and_whose_it_is(two: list[Run]) -> None:
    figure, data = figure_of(two, Chosen(Kind.LINES, ["rtt_mean of mine"], x="delay", colour="size"))
    assert figure.axes[0].get_ylabel() == "mean RTT of mine (ms)"
    assert figure.axes[0].get_xlabel() == "one-way delay (ms)"
    assert data["metric"].unique().to_list() == ["rtt_mean of mine"]
    (image, bar) = heat_map(two, "share", "mine")
    assert (image.axes.get_xlabel(), image.axes.get_ylabel()) == ("buffer (BDP)", "one-way delay (ms)")
    assert bar.get_ylabel().replace("\n", " ") == "goodput share of mine (centred at 0.5)"


def test_every_metric_is_called_something_without_underscores() -> None:
    labels = [axis_shown(measure.name)[1] for measure in (*MEASURES, *LINK_MEASURES)]
    assert not [label for label in labels if "_" in label]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        (DELAY, "one-way delay"),
        ("topology.access.delay", "one-way access delay"),
        ("topology.links.0.delay", "one-way delay"),
        (SIZE, "buffer"),
        ("flows.*.cca", "algorithm"),
        ("queue", "queue"),
        ("no.such.path", "path"),
    ],
)
def test_paths_have_titles(path: str, title: str) -> None:
    assert title_of(path) == title


def test_shares_have_colours_about_the_equal_one(two: list[Run]) -> None:
    image, _ = heat_map(two, "share", "mine")
    assert image.norm.vmin + image.norm.vmax == pytest.approx(1.0)
    assert image.norm.vmin <= image.get_array().min()
    assert image.get_array().max() <= image.norm.vmax
    assert image.cmap.name == "RdBu"
    three = [{"cca": "bbr3", "name": "mine"}, {"cca": "cubic", "name": "other", "count": 2}]
    image, bar = heat_map(runs(flows=three), "share", "mine")
    assert image.norm.vmin + image.norm.vmax == pytest.approx(2 / 3)
    assert "0.333" in bar.get_ylabel()
    image, _ = heat_map(runs(flows=three), "share", "other")
    assert image.norm.vmin + image.norm.vmax == pytest.approx(4 / 3)


def test_numbers_go_up_and_names_down_from_the_first() -> None:
    chart = Chart(Kind.HEATMAP, "page", Factors(Factor("size"), Factor("cca")))
    for y, is_down in ((["reno", "cubic"], True), ([1.0, 2.0], False)):
        rows = table([5, 6]).with_columns(y=pl.Series(y))
        figure, _ = drawn([Part("RTT (ms)", "rtt_mean", rows)], chart)
        assert figure.axes[0].yaxis_inverted() == is_down


def test_panels_of_one_metric_have_one_colour_bar(two: list[Run]) -> None:
    figure, _ = figure_of(two, Chosen(Kind.HEATMAP, ["share"], x="size", y="delay", panel="flows"))
    *panels, bar = figure.axes
    assert [len(place.images) for place in panels] == [1] * (len(figure.axes) - 1)
    assert bar.get_ylabel().startswith("goodput share")


def test_ratios_have_colours_about_one_and_others_from_least_to_most(two: list[Run]) -> None:
    image, _ = heat_map(two, "rtt_inflation", "mine")
    assert image.norm.vmin + image.norm.vmax == pytest.approx(2.0)
    image, _ = heat_map(two, "rtt_mean", "mine")
    assert image.norm.vmin == image.get_array().min()
    assert image.cmap.name == "viridis"


def test_a_heat_map_takes_all_flows_unless_a_group_is_named(two: list[Run]) -> None:
    for metric in ("goodput", "jain", "rtt_inflation"):
        image, _ = heat_map(two, metric)
        assert image.get_array().shape == (2, 2)


def figures_in(page: Document) -> list[Figure]:
    """The first figure, and those over points in the details."""
    (part,) = page.parts
    more = [block for one in part.details if one.heading == "Figures" for block in one.blocks]
    return [each for each in [part.figure, *more] if isinstance(each, Figure)]


def test_axes_of_one_title_are_told_apart() -> None:
    paths = ["flows.0.cca", "flows.1.cca"]
    found = runs(sweep={paths[0]: ["bbr3", "reno"], paths[1]: ["cubic", "bbr1"]})
    figure, _ = figure_of(found, Chosen(Kind.HEATMAP, ["goodput"], x=paths[0], y=paths[1]))
    names = ["algorithm of mine", "algorithm of other"]
    assert [figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()] == names
    drawn_of = [block.chart for block in figures_in(page_of(found)) if isinstance(block.chart, Heat)]
    assert drawn_of
    assert {(chart.y_label, chart.x_label) for chart in drawn_of} == {tuple(names)}


def test_captions_of_a_report_have_the_words_of_axes(two: list[Run]) -> None:
    captions = [figure.caption for figure in figures_in(page_of(two))]
    assert any(each.startswith("mean RTT of all flows over one-way delay: means") for each in captions)
    assert not [each for each in captions if "_" in each]


def test_a_share_beside_flows_that_want_little_has_no_middle() -> None:
    flows = [{"cca": "bbr3", "name": "mine"}, {"workload": "ping", "name": "ping"}]
    image, bar = heat_map(runs(flows=flows), "share", "mine")
    assert image.cmap.name == "viridis"
    assert "centred" not in bar.get_ylabel()


def test_a_report_has_the_same_middle(two: list[Run]) -> None:
    page = page_of(runs(sweep={"flows.0.cca": ["bbr3", "reno"], "flows.1.cca": ["cubic", "bbr1"]}))
    heats = [figure for figure in figures_in(page) if isinstance(figure.chart, Heat)]
    middles = {block.chart.neutral for block in heats if block.caption.startswith("goodput share")}
    assert middles == {50.0}  # per cent
    assert {block.chart.neutral for block in heats if block.caption.startswith("goodput of")} <= {None}
    drawing = heat(Heat("x", "y", ["1", "2", "3"], ["a"], [[0.1, 0.5, 0.75]], 0.5), "")
    assert all(f'class="{shade}"' in drawing for shade in ("u6", "o0", "o4"))


@pytest.mark.parametrize(
    ("values", "much"),
    [([1, 100], False), ([1, 101], True), ([0, 1000], False), ([-1, 1000], False), ([], False)],
)
def test_more_than_a_factor_of_a_hundred_is_much(values: list[float], much: bool) -> None:
    assert spans_much(pl.Series(values, dtype=pl.Float64)) == much


@pytest.mark.parametrize("kind", [Kind.LINES, Kind.BOX, Kind.VIOLIN])
def test_wide_spans_are_drawn_on_log_axes_that_say_so(kind: Kind) -> None:
    wide = draw(kind, table([5, 600]))
    assert (wide.get_yscale(), wide.get_ylabel()) == ("log", "RTT (ms), log scale")
    narrow = draw(kind, table([5, 400]))
    assert (narrow.get_yscale(), narrow.get_ylabel()) == ("linear", "RTT (ms)")
    assert draw(kind, table([5, 600]), []).get_yscale() == "linear"
    assert draw(kind, table([5, 400]), ["y"]).get_yscale() == "log"


@pytest.mark.parametrize("kind", [Kind.LINES, Kind.BOX, Kind.VIOLIN, Kind.CDF])
@pytest.mark.parametrize("values", [[0.29, 0.91], [4.36, 4.39], [1.0, 4.39], [5, 600]])
def test_a_log_axis_shows_all_values_between_ticks_of_their_own(kind: Kind, values: list[float]) -> None:
    place = draw(kind, table(values), ["x", "y"] if kind == Kind.CDF else ["y"])
    limits = place.get_xlim() if kind == Kind.CDF else place.get_ylim()
    ticks = place.get_xticks() if kind == Kind.CDF else place.get_yticks()
    assert limits[0] <= min(values) < max(values) <= limits[1]
    assert len([tick for tick in ticks if limits[0] <= tick <= limits[1]]) >= 2


def test_a_log_axis_leaves_the_scale_of_the_other_axis_to_its_values() -> None:
    place = draw(Kind.LINES, table([5, 6, 7, 8], [1, 2, 4, 8]), ["y"])
    assert (place.get_xscale(), place.get_yscale()) == ("log", "log")
    place = draw(Kind.LINES, table([5, 6, 7, 8], [1, 2, 4, 8]), ["none", "y"])
    assert (place.get_xscale(), place.get_yscale()) == ("linear", "log")


@pytest.mark.parametrize(
    ("text", "told"), [("1", "two different"), ("3,3", "two different"), ("a,b", "two different")]
)
def test_limits_are_two_numbers(text: str, told: str) -> None:
    with pytest.raises(typer.BadParameter, match=told):
        read_ends(text, "--xlim")


@pytest.mark.filterwarnings("error")
def test_a_wide_span_of_delays_grows_to_the_left_to_both_ends() -> None:
    rows = table([5, 6, 7, 8], [0.5, 0.6, 300, 310])
    rows = rows.with_columns(colour=pl.Series(["cubic", "cubic", "bbr3", "bbr3"]))
    place = draw(Kind.DELAY, rows)
    left, right = place.get_xlim()
    assert place.get_xscale() == "log"
    assert left > 305 > 0.55 > right > 0


def test_quantities_along_x_and_values_of_a_cdf_too() -> None:
    along = draw(Kind.LINES, table([5, 6], [1, 1000]))
    assert (along.get_xscale(), along.get_xlabel()) == ("log", "size, log scale")
    assert draw(Kind.CDF, table([5, 600])).get_xscale() == "log"
    assert draw(Kind.CDF, table([5, 600])).get_yscale() == "linear"


def test_a_heat_map_of_a_wide_span_has_logarithmic_colours() -> None:
    figure, _ = drawn(
        [Part("RTT (ms)", "rtt_mean", table([5, 600]))], Chart(Kind.HEATMAP, "page", Factors(Factor("size")))
    )
    assert isinstance(figure.axes[0].images[0].norm, LogNorm)
    assert figure.axes[1].get_ylabel() == "RTT (ms), log scale"


def test_what_is_not_positive_has_no_logarithm() -> None:
    with pytest.raises(typer.BadParameter, match="--log y: some values are 0 or below"):
        draw(Kind.LINES, table([0, 5]), ["y"])


def test_both_directions_have_a_capacity_by_name() -> None:
    both = Scenario(
        name="both",
        duration="3 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "8 Mbit/s", "delay": "5 ms"},
            "reverse": {"rate": "4 Mbit/s", "delay": "5 ms"},
        },
        flows=[{"cca": "cubic", "name": "down"}, {"cca": "cubic", "name": "up", "direction": "reverse"}],
    )
    (run,) = sweeps.run(sweeps.jobs(both))
    figure = plots.plot_run(run, "goodput")
    (legend,) = figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told[-2:] == ["capacity of bottleneck", "capacity of bottleneck-reverse"]
    assert len({line.get_linestyle() for line in figure.axes[0].lines[-2:]}) == 1
    assert len({str(handle._dash_pattern) for handle in figure.axes[0].lines[-2:]}) == 2
    (alone,) = sweeps.run(sweeps.jobs(both.with_values({"flows": [{"cca": "cubic"}]})))
    (legend,) = plots.plot_run(alone, "goodput").legends
    assert [text.get_text() for text in legend.get_texts()] == ["CUBIC-1", "capacity"]


def test_swept_numbers_as_colours_are_a_scale_in_their_order() -> None:
    counts = {"flows.1.count": [4, 16, 1], SIZE: ["1 bdp", "4 bdp"]}
    figure, _ = figure_of(runs(sweep=counts), Chosen(Kind.LINES, ["goodput"], x="size", colour="count"))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["1", "4", "16"]
    scale = [look.color for look in looks_of_numbers(["1", "4", "16"]).values()]
    assert [line.get_color() for line in legend.get_lines()] == scale


@pytest.mark.parametrize(("width", "rows", "columns"), [("page", 2, 2), ("column", 4, 1)])
def test_a_grid_has_every_label_once(width: str, rows: int, columns: int) -> None:
    values = [(f"panel {n}", name, "", x, x) for n in range(4) for name in "ab" for x in (1.0, 2.0, 4.0)]
    table = pl.DataFrame(values, schema=["panel", "colour", "y", "x", "value"], orient="row")
    factors = Factors(Factor("flows"))
    figure, _ = drawn([Part("goodput (Mbit/s)", "goodput", table)], Chart(Kind.LINES, width, factors))
    grid = figure.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == (rows, columns)
    assert sorted(place.get_xlabel() for place in figure.axes) == ["", "", "", "flows, log scale"]
    assert sorted(place.get_ylabel() for place in figure.axes) == ["", "", "", "goodput (Mbit/s)"]
    with_numbers = [place for place in figure.axes if place.xaxis.get_tick_params()["labelbottom"]]
    assert with_numbers == figure.axes[-columns:]


def test_a_metric_of_one_group_names_the_group_instead_of_all_flows() -> None:
    flows = [{"cca": "bbr3", "name": "mine"}, {"name": "talk", "workload": "voip"}]
    found = runs(flows=flows)
    for metric, of in (("call_score", "talk"), ("owd_mean", "all flows")):
        figure, _ = figure_of(found, Chosen(Kind.LINES, [metric], x="size", colour="delay"))
        assert f"of {of}" in " ".join(figure.axes[0].get_ylabel().split())


def test_a_figure_says_in_how_many_runs_a_metric_has_no_value() -> None:
    """Jain's index is of two flows or more."""
    counts = {"flows.1.count": [1, 4, 16], SIZE: ["1 bdp", "4 bdp"]}
    figure, _ = figure_of(runs(sweep=counts), Chosen(Kind.LINES, ["jain"], x="size", colour="count"))
    assert "Jain's index has no value in 2 of 6 runs" in figure.get_supxlabel()


def test_groups_along_an_axis_say_that_they_are_sums_and_have_their_own_looks() -> None:
    found = runs(
        sweep={"flows.0.cca": ["bbr3", "cubic"]},
        flows=[{"cca": "bbr3", "name": "mine"}, {"cca": "reno", "name": "old", "count": 2}],
    )
    figure, _ = figure_of(found, Chosen(Kind.BOX, ["goodput"], x="flows", panel="cca"))
    for place in figure.axes:
        assert [text.get_text() for text in place.get_xticklabels()] == ["mine", "old (2 flows, sum)"]
        dots = [line for line in place.lines if line.get_marker() != "None" and len(line.get_xdata())]
        mine, old = (line.get_color() for line in dots)
        assert mine != old


def lines_at(place: Any) -> list[tuple[list[float], list[float]]]:
    """The ends of the reference lines of axes."""
    drawn = [line for line in place.lines if line.get_color() == REFERENCE["color"]]
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in drawn]


@pytest.mark.parametrize("kind", [Kind.LINES, Kind.BOX, Kind.VIOLIN, Kind.MEANS])
def test_a_share_has_a_labelled_line_at_the_fair_share(two: list[Run], kind: Kind) -> None:
    figure, _ = figure_of(two, Chosen(kind, ["share of mine"], x="size", colour="delay", width="column"))
    assert [y for _, y in lines_at(figure.axes[0])] == [[0.5, 0.5]]
    assert "fair\nshare" in [text.get_text() for text in figure.axes[0].texts]
    assert overlaps(figure) == []
    assert cut_off(figure) == []


def test_the_fair_share_of_cumulative_shares_is_upright(two: list[Run]) -> None:
    figure, _ = figure_of(two, Chosen(Kind.CDF, ["share of mine"], colour="delay", panel="size"))
    assert [x for place in figure.axes for x, _ in lines_at(place)] == [[0.5, 0.5]] * 2
    assert not [text for place in figure.axes for text in place.texts]
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "fair share"


def test_the_fair_share_follows_the_number_of_flows() -> None:
    flows = [{"cca": "bbr3", "name": "mine"}, {"cca": "cubic", "name": "other"}]
    found = runs(flows=flows, sweep={"flows.1.count": [1, 2, 4]})
    figure, _ = figure_of(found, Chosen(Kind.LINES, ["share of mine"], x="count"))
    assert lines_at(figure.axes[0]) == [([1, 2, 4], pytest.approx([1 / 2, 1 / 3, 1 / 5]))]
    ratio, _ = figure_of(found, Chosen(Kind.LINES, ["share_ratio of mine"], x="count"))
    assert [y for _, y in lines_at(ratio.axes[0])] == [[1, 1]]
    other, _ = figure_of(found, Chosen(Kind.LINES, ["goodput of mine"], x="count"))
    assert lines_at(other.axes[0]) == []


def test_a_label_of_the_user_keeps_the_direction_of_better(two: list[Run]) -> None:
    labels = {"x_label": "RTT", "y_label": "rate"}
    chosen = Chosen(Kind.DELAY, ["goodput of mine"], panel="size", colour="delay", **labels)
    figure, _ = figure_of(two, chosen)
    assert figure.axes[0].get_xlabel() == "RTT, better →"
    assert figure.axes[0].get_ylabel() == "rate, better →"


@pytest.mark.parametrize("metrics", [["goodput of mine"], ["goodput of mine", "rtt_mean of mine"]])
def test_a_label_of_a_log_axis_is_not_longer_than_its_axis(two: list[Run], metrics: list[str]) -> None:
    chosen = Chosen(Kind.LINES, metrics, x="size", colour="delay", width="column", log=["y"])
    figure, _ = figure_of(two, chosen)
    figure.canvas.draw()
    for place in figure.axes:
        assert place.get_ylabel().replace("\n", " ").endswith(", log scale")
        assert place.yaxis.label.get_window_extent().height <= place.get_window_extent().height


@pytest.mark.parametrize("width", ["column", "page"])
def test_many_panels_leave_room_for_text_on_the_page(width: str) -> None:
    found = [table([1.0, 2.0, 9.0]).with_columns(panel=pl.lit(f"{n} BDP")) for n in range(5)]
    part = Part("mean RTT (ms)", "rtt_mean", pl.concat(found))
    figure, _ = drawn([part], Chart(Kind.LINES, width, Factors(Factor("size"), panel=Factor("buffer"))))
    assert figure.get_figheight() < 7.5
    assert overlaps(figure) == []


def test_an_axis_of_positive_means_begins_at_0() -> None:
    low = [table([5.0, 5.2], [1.0, 1.0]).with_columns(panel=pl.lit("a"))]
    high = [table([80.0, 110.0], [1.0, 1.0]).with_columns(panel=pl.lit("b"))]
    part = Part("goodput (Mbit/s)", "goodput", pl.concat([*low, *high]))
    figure, _ = drawn([part], Chart(Kind.BOX, "page", Factors(Factor("size"), panel=Factor("rate"))))
    assert {place.get_ylim()[0] for place in figure.axes} == {0.0}


@pytest.mark.parametrize("kind", [*Kind][:8])
def test_an_axis_of_values_that_are_all_0_begins_at_0(kind: Kind) -> None:
    if kind in (Kind.HEATMAP, Kind.DELAY):
        return
    rows = table([0.0] * 24, [1.0] * 12 + [2.0] * 12)
    figure, _ = drawn([Part("stalls", "stalls", rows)], Chart(kind, "column"))
    (place,) = figure.axes
    assert (place.get_xlim() if kind in OF_SHARES else place.get_ylim()) == (0, 1)
    assert not any(mark.get_clip_on() for mark in place.lines)


@pytest.mark.parametrize("kind", [Kind.LINES, Kind.BOX, Kind.VIOLIN, Kind.MEANS])
def test_an_axis_of_a_metric_with_a_least_value_begins_there(kind: Kind) -> None:
    part = Part("opinion score", "call_score", table([3.0, 3.2] * 6, [1.0, 2.0] * 6), bounds=(1.0, 4.5))
    figure, _ = drawn([part], Chart(kind, "column"))
    assert figure.axes[0].get_ylim()[0] == 1.0


def in_panels(**values: list[float]) -> pl.DataFrame:
    """Rows with a panel for each list of values."""
    rows = [table(each).with_columns(panel=pl.lit(panel)) for panel, each in values.items()]
    return pl.concat(rows)


@pytest.mark.parametrize("kind", [Kind.CDF, Kind.ECDF])
def test_panels_of_cumulative_shares_have_one_axis_if_all_are_readable(kind: Kind) -> None:
    near = in_panels(
        a=[float(n) for n in range(250, 2000, 50)], b=[float(n) for n in range(1, 800, 50)], c=[9.0]
    )
    figure, _ = drawn([Part("delay (ms)", "delay", near)], Chart(kind, "column"))
    assert len({place.get_xlim() for place in figure.axes}) == 1
    assert "scales of panels differ" not in figure.get_supxlabel()
    far = in_panels(a=[60.0, 60.5], b=[350.0, 358.0])
    figure, _ = drawn([Part("delay (ms)", "delay", far)], Chart(kind, "column"))
    assert len({place.get_xlim() for place in figure.axes}) == 2
    assert "scales of panels differ" in figure.get_supxlabel()


def test_metrics_beside_each_other_keep_their_own_axes() -> None:
    parts = [
        Part(name, name, in_panels(a=[low, low + 9], b=[low + 1, low + 8]))
        for name, low in (("x", 1), ("y", 50))
    ]
    figure, _ = drawn(parts, Chart(Kind.ECDF, "page"))
    assert len({place.get_xlim() for place in figure.axes}) == 2
    assert "scales of panels differ" not in figure.get_supxlabel()


@pytest.mark.parametrize(("values", "is_told"), [([60.03, 60.55], True), ([60.0, 120.0], False)])
def test_an_axis_as_short_as_the_steps_of_percentiles_says_so(values: list[float], is_told: bool) -> None:
    for resolution, told in ((0.008, is_told), (0.0, False)):
        part = Part("p95 RTT (ms)", "rtt_p95", table(values), resolution=resolution)
        figure, _ = drawn([part], Chart(Kind.ECDF, "column"))
        assert ("percentiles have a resolution of 0.8 %" in figure.get_supxlabel()) == told
