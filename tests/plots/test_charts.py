"""Figures over many runs: what they show, and what they refuse."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, plots, sweeps
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.points import path_called, points_of
from fullpipe.analysis.values import values_of
from fullpipe.cli import app
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.palette import look_of
from fullpipe.plots import charts, delay, spread
from fullpipe.scenario.quantities import as_numbers
from fullpipe.statistics import dkw_half_width, t_interval
from tests.quick_figures import draw_figures_once, make_figures_quick

BASE: dict[str, Any] = {
    "name": "charts",
    "duration": "3 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": {"size": "1 bdp"}},
    },
    "flows": [{"cca": "cubic", "name": "mine", "start_jitter": "1 s"}, {"cca": "cubic", "name": "other"}],
    "record": {"interval": "off"},
    "sweep": {"topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"], "flows.0.cca": ["cubic", "bbr3"]},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    file = folder / "charts.toml"
    file.write_text(Scenario(**BASE).to_toml(), encoding="utf-8")
    result = CliRunner().invoke(
        app, ["run", str(file), "--seeds", "2", "--out", str(folder / "runs"), "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    return folder / "runs"


def plot(store: Path, out: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["plot", str(store), "--out", str(out), "--json", *words])


def drawn(store: Path, out: Path, *words: str) -> pl.DataFrame:
    result = plot(store, out, *words)
    assert result.exit_code == 0, result.output
    (numbers,) = [path for path in json.loads(result.stdout)["files"] if path.endswith(".csv")]
    return pl.read_csv(numbers)


def numbers_of(store: Path, out: Path, *words: str) -> pl.DataFrame:
    """The numbers of a figure of which nothing else is read."""
    with pytest.MonkeyPatch.context() as patch:
        make_figures_quick(patch)
        draw_figures_once(patch)
        return drawn(store, out, *words)


def test_lines_are_means_over_seeds_per_algorithm(store: Path, tmp_path: Path) -> None:
    data = numbers_of(store, tmp_path, "--metric", "goodput", "--x", "rate")
    assert data.select("colour", "x", "runs").rows() == [
        ("cubic", 5.0, 2), ("cubic", 20.0, 2), ("bbr3", 5.0, 2), ("bbr3", 20.0, 2),
    ]  # fmt: skip


def test_a_heat_map_has_a_cell_per_pair(store: Path, tmp_path: Path) -> None:
    words = ("--kind", "heatmap", "--x", "rate", "--y", "cca", "--metric", "share", "--of", "mine")
    assert numbers_of(store, tmp_path, *words).height == 4


@pytest.mark.parametrize("kind", ["delay", "cdf", "ecdf", "box", "violin", "means"])
def test_every_other_kind_is_drawn(store: Path, tmp_path: Path, kind: str) -> None:
    along = () if kind in ("delay", "cdf", "ecdf") else ("--x", "cca")
    assert drawn(store, tmp_path, "--kind", kind, "--panel", "rate", *along)["panel"].n_unique() == 2


def test_a_share_is_of_every_group_of_flows(store: Path, tmp_path: Path) -> None:
    data = numbers_of(store, tmp_path, "--metric", "share", "--x", "rate", "--where", "cca=bbr3")
    assert data["colour"].unique(maintain_order=True).to_list() == ["mine", "other"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--metric", "goodput", "--x", "cca", "--colour", "cca"), "runs differ in topology.bottleneck.rate"),
        (("--metric", "goodputt"), "goodput"),
        (("--metric", "goodput", "--x", "rat"), "rate"),
        (("--metric", "goodput", "--where", "cca=reno"), "no run has this value; there is bbr3, cubic"),
        (("--metric", "goodput", "--where", "cca=cubik"), 'no run has this value; did you mean "cubic"?'),
        (("--metric", "goodput of stranger", "--x", "rate"), "stranger"),
        (("--metric", "goodput", "--of", "unknown"), "unknown"),
        (("--metric", "call_score",), "no run has a value of call_score"),
        (("--metric", "goodput", "--width", "wall"), "must be one of page, column, ieee-column"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(
    store: Path, tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    result = plot(store, tmp_path, *words)
    assert result.exit_code == 2
    assert line in " ".join(result.output.replace("│", " ").split())


def test_several_metrics_have_a_panel_each_and_groups_of_their_own(store: Path, tmp_path: Path) -> None:
    words = ("--metric", "goodput of mine", "--metric", "jain", "--x", "rate")
    data = numbers_of(store, tmp_path, *words)
    assert data["metric"].unique(maintain_order=True).to_list() == ["goodput of mine", "jain"]
    assert data.height == 2 * 2 * 2
    alone = numbers_of(store, tmp_path, "--metric", "goodput", "--of", "mine", "--x", "rate")
    assert data.filter(metric="goodput of mine")["mean"].to_list() == alone["mean"].to_list()


def test_several_metrics_and_values_are_a_grid(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    figure, _ = figure_of(runs, Chosen(Kind.LINES, ["goodput", "jain", "rtt_mean"], "rate", panel="cca"))
    places = [place.get_subplotspec() for place in figure.axes]
    assert (places[0].get_gridspec().nrows, places[0].get_gridspec().ncols) == (3, 2)
    assert [place.get_ylabel() for place in figure.axes[:4]] == ["goodput (Mbit/s)", "", "Jain's index", ""]


def test_the_delay_may_be_of_another_group(store: Path, tmp_path: Path) -> None:
    words = ("--kind", "delay", "--of", "mine", "--panel", "rate")
    apart = numbers_of(store, tmp_path, *words, "--x-of", "other")
    own = numbers_of(store, tmp_path, *words)
    other = numbers_of(store, tmp_path, "--metric", "rtt_mean of other", "--x", "rate", "--colour", "cca")
    assert apart["value"].to_list() == own["value"].to_list()
    assert sorted(apart["x"].to_list()) == pytest.approx(sorted(other["mean"].to_list()))


def test_a_figure_says_how_many_runs_it_is_of_and_takes_labels(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    chosen = Chosen(Kind.LINES, ["goodput"], "rate", x_label="rate of the line", y_label="what one gets")
    figure, _ = figure_of(runs, chosen)
    assert figure.get_supxlabel() == "means of 2 runs, 95 % intervals"
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rate of the line", "what one gets")


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    assert plot(tmp_path, tmp_path, "--metric", "goodput").exit_code == 2


def rows(values: dict[str, list[float]]) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"value": numbers}).with_columns(colour=pl.lit(name)) for name, numbers in values.items()
    ]
    return pl.concat(parts).with_columns(x=pl.lit(1.0))


def test_a_band_is_students_interval() -> None:
    draws = [3.0, 5.0, 4.5]
    _, (axes,) = plots.new_figure()
    row = charts.lines_with_bands(axes, rows({"cubic": draws})).row(0, named=True)
    interval = t_interval(draws)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_an_ellipse_is_one_deviation_of_both() -> None:
    table = rows({"cubic": [1.0, 3.0, 2.0]}).with_columns(x=pl.Series([10.0, 30.0, 20.0]))
    _, (axes,) = plots.new_figure()
    row = delay.throughput_and_delay(axes, table).row(0, named=True)
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
    delay.throughput_and_delay(axes, table, **bounds)
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
    delay.throughput_and_delay(axes, table)
    assert not axes.patches


def test_ellipses_of_runs_end_at_the_rate_of_the_link(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    _, data = figure_of(runs, Chosen(Kind.DELAY, ["goodput"], panel="rate"))
    figure, _ = figure_of(runs, Chosen(Kind.DELAY, ["goodput"], panel="rate"))
    assert data["panel"].unique(maintain_order=True).to_list() == ["5 Mbit/s", "20 Mbit/s"]
    for place, rate in zip(figure.axes, (5.0, 20.0), strict=True):
        tops = [patch.get_path().vertices[:, 1].max() for patch in place.patches]
        assert tops
        assert max(tops) <= rate


@pytest.mark.parametrize("kind", [Kind.BOX, Kind.DELAY, Kind.MEANS])
def test_a_panel_may_be_of_runs_without_the_path(kind: Kind) -> None:
    link = {"rate": "5 Mbit/s", "delay": "5 ms"}
    trees = [
        {
            "name": "uneven",
            "duration": "1 s",
            "topology": {"kind": "dumbbell", "bottleneck": {**link, **more}},
            "flows": [{"cca": "cubic"}],
        }
        for more in ({}, {"jitter": {"spread": "1 ms"}})
    ]
    runs = [run for tree in trees for run in sweeps.run(sweeps.jobs(Scenario(**tree), [1, 2]))]
    _, data = figure_of(runs, Chosen(kind, ["goodput"], panel="jitter"))
    assert data["panel"].n_unique() == 2


def test_the_table_of_a_heat_map_ends_at_the_bounds_of_its_metric(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    _, data = figure_of(runs, Chosen(Kind.HEATMAP, ["jain"], x="rate", y="cca"))
    assert data["high"].max() == 1
    assert data["low"].min() >= 0


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


def test_an_algorithm_has_one_look_whatever_stands_behind_its_name() -> None:
    assert look_of("bbr3", 0) == look_of("bbr3-1", 4) == look_of("bbr3 draft", 7)
    assert look_of("bbr_n_plus", 0) != look_of("bbr1", 0)


def test_points_are_the_paths_that_differ() -> None:
    scenario = Scenario(**{**BASE, "sweep": {"topology.bottleneck.queue": ["codel", {"packets": 9}]}})
    runs = sweeps.run(sweeps.jobs(scenario))
    assert points_of(runs) == [
        {"topology.bottleneck.queue": {"kind": "codel"}}, {"topology.bottleneck.queue": {"packets": 9}},
    ]  # fmt: skip


def test_of_linked_paths_the_first_is_there() -> None:
    sweep = {"flows.*.cca": ["cubic", "bbr3"], "topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]}
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": sweep})))
    assert list(points_of(runs)[0]) == ["topology.bottleneck.rate", "flows.0.cca"]


def test_times_and_rates_of_points_are_in_units_that_people_use() -> None:
    sweep = {"topology.bottleneck.delay": ["2.5 ms", "10 ms"], "topology.bottleneck.rate": ["1.5 Mbit/s"]}
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": sweep})))
    assert [point["topology.bottleneck.delay"] for point in points_of(runs)] == ["2.5 ms", "10 ms"]


def test_named_variants_are_points_by_their_names() -> None:
    variants = {
        "slow": {"topology.bottleneck.rate": "5 Mbit/s"},
        "fast": {"topology.bottleneck.rate": "9 Mbit/s"},
    }
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": {"line": variants}})))
    assert points_of(runs) == [{"line": "slow"}, {"line": "fast"}]


def test_names_along_an_axis_are_in_one_order_and_not_joined() -> None:
    table = rows_of([("x", "cubic", 2.0), ("x", "bbr1", 1.0), ("y", "bbr1", 3.0), ("y", "cubic", 4.0)])
    _, (axes,) = plots.new_figure()
    charts.lines_with_bands(axes, table)
    assert {line.get_linestyle() for line in axes.lines} == {"None"}


def test_points_of_several_colours_at_one_name_are_side_by_side() -> None:
    table = rows_of([("cubic", "x", 2.0), ("bbr1", "x", 2.0), ("bbr3", "x", 2.0)])
    _, (axes,) = plots.new_figure()
    charts.lines_with_bands(axes, table)
    places = sorted(float(line.get_xdata()[0]) for line in axes.lines)
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


def test_figure_and_table_have_the_same_intervals(store: Path, tmp_path: Path) -> None:
    """The table of a figure has six digits behind the point."""
    data = numbers_of(store, tmp_path, "--metric", "jain", "--x", "rate", "--where", "cca=cubic")
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    of_cubic = [run for run in runs if run.flows["cca"][0] == "cubic"]
    table = over_seeds(values_of(zip(points_of(of_cubic), of_cubic, strict=True), ["jain"]))
    ends = table.filter(pl.col("of") == ALL).select("low", "high").sort("low").to_numpy()
    assert data.select("low", "high").sort("low").to_numpy() == pytest.approx(ends, rel=0, abs=5.1e-7)


def test_the_band_of_shares_is_that_of_dvoretzky_kiefer_and_wolfowitz(store: Path, tmp_path: Path) -> None:
    data = numbers_of(store, tmp_path, "--kind", "ecdf", "--panel", "rate", "--metric", "goodput")
    assert (data["high"] - data["low"]).max() <= 1
    half = dkw_half_width(2)
    assert data["low"].to_list() == pytest.approx((data["share"] - half).clip(0).to_list(), abs=1e-6)
    assert data["high"].to_list() == pytest.approx(
        (data["share"] + half).clip(upper_bound=1).to_list(), abs=1e-6
    )


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
    assert {look_of(name, 0)["color"].lower() for name in ("bbr3", "cubic")} <= drawn_in


def test_a_violin_has_its_median_and_its_runs() -> None:
    _, (axes,) = plots.new_figure()
    spread.distributions(axes, rows({"cubic": [1.0, 2.0, 4.0]}), violins=True)
    (dots,) = (line for line in axes.lines if line.get_marker() == ".")
    assert list(dots.get_ydata()) == [1, 2, 4]
    bars = [
        each.get_segments()[0][:, 1].tolist() for each in axes.collections if hasattr(each, "get_segments")
    ]
    assert [2, 2] in bars


def test_shares_begin_at_none() -> None:
    for draw in (spread.cumulative_shares, spread.cumulative_bands):
        _, (axes,) = plots.new_figure()
        draw(axes, rows({"cubic": [3.0, 5.0]}))
        assert list(axes.lines[0].get_ydata()) == [0, 0.5, 1]
        assert list(axes.lines[0].get_xdata()) == [3, 3, 5]


def test_intervals_on_a_log_axis_are_bars_which_do_not_fill_it(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    bands, bars = (
        figure_of(runs, Chosen(Kind.LINES, ["goodput"], x="rate", log=log))[0].axes[0].collections
        for log in ([], ["y"])
    )
    assert {type(each).__name__ for each in bands} == {"FillBetweenPolyCollection"}
    assert {type(each).__name__ for each in bars} == {"LineCollection"}


def test_delays_have_a_capacity_and_say_which_way_is_better(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    figure, _ = figure_of(runs, Chosen(Kind.DELAY, ["goodput"], panel="rate"))
    for place, rate in zip(figure.axes, (5, 20), strict=True):
        assert rate in [line.get_ydata()[0] for line in place.lines]
        assert "capacity" in [text.get_text() for text in place.texts]
        assert place.get_xlabel() == "mean RTT (ms), better →"
        assert place.get_ylim()[0] == 0
    assert figure.axes[0].get_ylabel() == "goodput (Mbit/s), better →"


def test_an_ellipse_is_above_its_marker() -> None:
    table = rows({"cubic": [1.0, 3.0, 2.0]}).with_columns(x=pl.Series([10.0, 30.0, 20.0]))
    _, (axes,) = plots.new_figure()
    delay.throughput_and_delay(axes, table)
    assert axes.patches[0].get_zorder() > axes.lines[0].get_zorder()


def test_runs_of_one_group_each_are_drawn_whatever_it_is_called() -> None:
    flows = [{"cca": "cubic", "start_jitter": "1 s"}]
    base = {**BASE, "flows": flows, "sweep": {"flows.0.cca": ["cubic", "reno"]}}
    jobs = sweeps.jobs(Scenario(**base), [1, 2])
    runs = sweeps.run(jobs)
    _, data = figure_of(runs, Chosen(Kind.MEANS, ["goodput"]))
    assert data["x"].to_list() == ["cubic", "reno"]


def rows_of(values: list[tuple[str, str, float]]) -> pl.DataFrame:
    """Rows of colour, x and value."""
    return pl.DataFrame(values, schema=["colour", "x", "value"], orient="row")


def test_boxes_of_names_have_the_colours_of_algorithms() -> None:
    _, (axes,) = plots.new_figure()
    spread.distributions(axes, rows_of([("", "bbr1", 1.0), ("", "bbr1", 2.0), ("", "cubic", 1.0)]))
    faces = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    assert faces == [look_of("bbr1", 0)["color"].lower(), look_of("cubic", 0)["color"].lower()]


def test_every_panel_shows_all_that_it_draws(store: Path, tmp_path: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    chosen = Chosen(Kind.BOX, ["goodput"], "cca", panel="rate")
    figure, data = figure_of(runs, chosen)
    tops = [place.get_ylim()[1] for place in figure.axes]
    assert min(tops) >= data["maximum"].max()


def test_a_box_plot_has_the_same_bytes_every_time(store: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        plot(store, tmp_path / folder, "--kind", "box", "--x", "cca", "--panel", "rate")
    first, second = (next((tmp_path / folder).glob("*.svg")).read_bytes() for folder in ("one", "two"))
    assert first == second


def test_the_share_of_all_flows_is_refused(store: Path, tmp_path: Path) -> None:
    result = plot(store, tmp_path, "--kind", "heatmap", "--metric", "share", "--x", "rate", "--y", "cca")
    assert result.exit_code == 2
    assert "give --of one of mine, other" in result.stderr


def test_runs_that_are_alike_have_no_point() -> None:
    runs = sweeps.run(sweeps.jobs(Scenario(**BASE).expand()[0], [1, 2]))
    assert points_of(runs) == [{}, {}]


@pytest.mark.parametrize(
    ("word", "path"), [("cca", None), ("rate", "a.rate"), ("flows.0.cca", "flows.0.cca"), ("nothing", None)]
)
def test_a_path_is_called_by_its_end_if_no_other_is(word: str, path: str | None) -> None:
    assert path_called(word, ["flows.0.cca", "flows.1.cca", "a.rate"]) == path


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["10 ms", "1 s"], ([10.0, 1000.0], "ms")),
        (["0.5 bdp", "4 bdp"], ([0.5, 4.0], "bdp")),
        ([1, 2.5], ([1.0, 2.5], "")),
        (["1 bdp", "10 ms"], None),
        (["cubic", "bbr1"], None),
        ([True, False], None),
        ([], None),
    ],
)
def test_quantities_of_one_dimension_are_numbers(values: list[Any], numbers: Any) -> None:
    assert (
        as_numbers(values) == (pytest.approx(numbers[0]), numbers[1])
        if numbers
        else as_numbers(values) is None
    )


def test_a_heat_map_shows_the_mean_of_a_cell() -> None:
    table = pl.DataFrame({"x": ["a", "a", "b"], "y": ["c", "c", "c"], "value": [1.0, 3.0, 5.0]})
    _, (axes,) = plots.new_figure()
    data, image = charts.heat_map(axes, table)
    assert data["mean"].to_list() == [2.0, 5.0]
    assert np.asarray(image.get_array()).tolist() == [[2.0, 5.0]]


def test_names_stand_in_the_order_of_the_file(store: Path, tmp_path: Path) -> None:
    for kind in ("lines", "box"):
        words = ("--kind", kind, "--metric", "goodput", "--x", "cca", "--panel", "rate")
        assert numbers_of(store, tmp_path / kind, *words)["x"].unique(maintain_order=True).to_list() == [
            "cubic",
            "bbr3",
        ]
    panels = numbers_of(store, tmp_path, "--metric", "goodput", "--x", "rate", "--panel", "cca")["panel"]
    assert panels.unique(maintain_order=True).to_list() == ["cubic", "bbr3"]
