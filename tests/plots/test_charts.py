"""Figures over many runs: what they show, and what they refuse."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, sweeps
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.points import points_of
from fullpipe.analysis.values import values_of
from fullpipe.cli import app, plot_points
from fullpipe.cli.plot_drawn import Chart, Kind, Part
from fullpipe.cli.plot_drawn import drawn as drawn_of
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.palette import look_of
from fullpipe.statistics import dkw_half_width
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
        (("--metric", "goodput", "--x", "cca", "--colour", "cca"), "also differ in topology.bottleneck.rate"),
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
    assert [place.get_ylabel() for place in figure.axes[:4]] == [
        *("goodput of mine (Mbit/s)", ""),
        *("Jain's index of all flows", ""),
    ]


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
    assert figure.get_supxlabel() == "means of 2 runs, 95 % confidence intervals"
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rate of the line", "what one gets")


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    assert plot(tmp_path, tmp_path, "--metric", "goodput").exit_code == 2


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


def test_intervals_on_a_log_axis_are_bars_which_do_not_fill_it() -> None:
    rates = [f"{rate} Mbit/s" for rate in (5, 10, 15, 20, 25)]
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": {"topology.bottleneck.rate": rates}}), [1, 2]))
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
        assert place.get_ylim()[0] == 0
    assert [place.get_xlabel() for place in figure.axes] == ["mean RTT (ms), better →", ""]
    assert figure.axes[0].get_ylabel() == "goodput of mine (Mbit/s),\nbetter →"


def test_delays_are_of_the_changed_flow_unless_another_group_is_named(store: Path, tmp_path: Path) -> None:
    """Goodputs of all flows together are the capacity, whatever the algorithm."""
    words = ("--kind", "delay", "--where", "rate=5 Mbit/s")
    mine, named, everything, each = (
        drawn(store, tmp_path / f"{n}", *words, *more)
        for n, more in enumerate(
            [(), ("--of", "mine"), ("--of", ALL), ("--colour", "flows", "--panel", "cca")]
        )
    )
    assert mine["metric"].unique().to_list() == ["goodput of mine"]
    assert mine.drop("metric").equals(named.drop("metric"))
    assert everything["value"].min() > 1.2 * mine["value"].max()
    assert set(each["colour"]) == {"mine", "other"}


@pytest.mark.parametrize("cca", ["cubic", "bbr3"])
def test_flow_groups_have_the_colours_of_the_algorithms_that_are_drawn(store: Path, cca: str) -> None:
    """Runs that `--where` leaves out, with other algorithms, have no influence."""
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    chosen = Chosen(Kind.LINES, ["goodput"], x="rate", colour="flows", where=[f"cca={cca}"])
    figure, _ = figure_of(runs, chosen)
    lines = dict(zip(*reversed(figure.axes[0].get_legend_handles_labels()), strict=True))
    assert lines["mine"].get_color() == look_of(cca, 0).color


@pytest.mark.parametrize("kind", ["lines", "ecdf", "cdf"])
def test_a_figure_of_one_algorithm_has_its_look_and_its_name(store: Path, kind: str) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    where = ["cca=bbr3", *([] if kind == "lines" else ["rate=5 Mbit/s"])]
    figure, _ = figure_of(runs, Chosen(Kind(kind), ["goodput"], where=where))
    assert figure.axes[0].lines[0].get_color() == look_of("bbr3", 0).color
    assert "algorithm of mine BBRv3" in figure.get_supxlabel()


def test_panels_and_names_of_algorithms_have_their_looks(store: Path) -> None:
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    wanted = [look_of(name, 0).color for name in ("bbr3", "cubic")]
    panels, _ = figure_of(runs, Chosen(Kind.LINES, ["goodput"], x="rate", panel="cca"))
    assert sorted(place.lines[0].get_color() for place in panels.axes) == sorted(wanted)
    names, _ = figure_of(runs, Chosen(Kind.LINES, ["goodput"], x="cca", where=["rate=5 Mbit/s"]))
    assert sorted({line.get_color() for line in names.axes[0].lines if line.get_marker() in "o^"}) == sorted(
        wanted
    )


def test_delays_are_of_the_only_bulk_group_if_no_flow_changes() -> None:
    ping = {"kind": "ping", "interval": "100 ms"}
    flows = [{"name": "ping", "workload": ping}, {"name": "bulk", "cca": "cubic", "start_jitter": "1 s"}]
    base = {**BASE, "flows": flows, "sweep": {"topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]}}
    runs = sweeps.run(sweeps.jobs(Scenario(**base), [1, 2]))
    figure, _ = figure_of(runs, Chosen(Kind.DELAY, ["goodput"]))
    assert figure.axes[0].get_ylabel() == "goodput of bulk (Mbit/s),\nbetter →"


@pytest.mark.parametrize("kind", [Kind.DELAY, Kind.MEANS, Kind.LINES, Kind.BOX])
def test_an_axis_of_throughputs_begins_at_0_unless_limits_are_given(kind: Kind) -> None:
    table = pl.DataFrame({"x": [50.0, 51.0, 52.0], "value": [9.31, 9.34, 9.33], "colour": ["cubic"] * 3})
    table = table.with_columns(panel=pl.lit(""), y=pl.lit(""), most=pl.lit(10.0))
    part = Part("goodput", "goodput", table)
    figure, _ = drawn_of([part], Chart(kind, "page"))
    assert figure.axes[0].get_ylim()[0] == 0
    figure, _ = drawn_of([part], Chart(kind, "page", y_ends=(9.2, 9.5)))
    assert figure.axes[0].get_ylim() == (9.2, 9.5)


def test_runs_of_one_group_each_are_drawn_whatever_it_is_called() -> None:
    flows = [{"cca": "cubic", "start_jitter": "1 s"}]
    base = {**BASE, "flows": flows, "sweep": {"flows.0.cca": ["cubic", "reno"]}}
    jobs = sweeps.jobs(Scenario(**base), [1, 2])
    runs = sweeps.run(jobs)
    _, data = figure_of(runs, Chosen(Kind.MEANS, ["goodput"]))
    assert data["x"].to_list() == ["cubic", "reno"]


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


@pytest.mark.parametrize("kind", ["lines", "box", "violin", "heatmap", "ecdf", "cdf", "means"])
def test_figures_are_of_the_changed_flow_unless_another_group_is_named(store: Path, kind: str) -> None:
    """The goodput of all flows is the capacity, whatever the algorithm."""
    runs = [Run.load(folder.parent) for folder in sorted(store.glob("*/*/meta.json"))]
    paths = (
        {"panel": "rate"}
        if kind in ("ecdf", "cdf")
        else {"x": "rate", "y": "cca"}
        if kind == "heatmap"
        else {}
    )
    mine, total, named = (
        figure_of(runs, Chosen(Kind(kind), [metric], of=of, **paths))[1]
        for metric, of in [("goodput", None), ("goodput", ALL), (f"goodput of {ALL}", None)]
    )
    assert mine["metric"].unique().to_list() == ["goodput of mine"]
    assert total["metric"].unique().to_list() == named["metric"].unique().to_list() == [f"goodput of {ALL}"]
    assert not mine.drop("metric").equals(total.drop("metric"))
    assert total.equals(named)


def test_the_share_of_all_flows_is_refused() -> None:
    link = "topology.bottleneck"
    sweep = {f"{link}.rate": ["5 Mbit/s", "20 Mbit/s"], f"{link}.delay": ["5 ms", "9 ms"]}
    runs = sweeps.run(sweeps.jobs(Scenario(**{**BASE, "sweep": sweep}), [1]))
    with pytest.raises(typer.BadParameter, match="choose a group with --of, one of mine, other"):
        figure_of(runs, Chosen(Kind.HEATMAP, ["share"]))


def test_names_stand_in_the_order_of_the_file(store: Path, tmp_path: Path) -> None:
    for kind in ("lines", "box"):
        words = ("--kind", kind, "--metric", "goodput", "--x", "cca", "--panel", "rate")
        assert numbers_of(store, tmp_path / kind, *words)["x"].unique(maintain_order=True).to_list() == [
            "cubic",
            "bbr3",
        ]
    panels = numbers_of(store, tmp_path, "--metric", "goodput", "--x", "rate", "--panel", "cca")["panel"]
    assert panels.unique(maintain_order=True).to_list() == ["cubic", "bbr3"]


def panels_of(count: int, kind: Kind, width: str) -> Any:
    rows = [(f"panel {n}", name, x, x) for n in range(count) for name in ("a", "b") for x in (1.0, 2.0, 4.0)]
    table = pl.DataFrame(rows, schema=["panel", "colour", "x", "value"], orient="row")
    return drawn_of(
        [Part("goodput (Mbit/s)", "goodput", table.with_columns(y=pl.lit("")))], Chart(kind, width)
    )[0]


@pytest.mark.parametrize("width", ["column", "page"])
def test_panels_fit_a_page_and_have_their_labels_once(width: str) -> None:
    figure = panels_of(6, Kind.LINES, width)
    assert 72 * figure.get_figheight() <= 660
    if width == "column":
        assert [place.get_ylabel() for place in figure.axes].count("goodput (Mbit/s)") == 1
    with pytest.raises(typer.BadParameter, match="do not fit a page at this width; use --width page"):
        panels_of(9, Kind.LINES, "column")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Kind.BOX, "3 runs each; points: runs; line: median"),
        (
            Kind.VIOLIN,
            "dots: runs; black bars: medians; violins need more runs",
        ),
        (Kind.CDF, "3 runs each; share of runs with at most the value"),
        (Kind.MEANS, "95 % confidence intervals"),
    ],
)
def test_the_line_below_a_figure_says_what_marks_are(kind: Kind, told: str) -> None:
    rows = [(name, value) for name in ("a", "b") for value in (1.0, 2.0, 4.0)]
    table = pl.DataFrame(rows, schema=["colour", "value"], orient="row")
    table = table.with_columns(x=pl.lit("one"), y=pl.lit(""), panel=pl.lit(""))
    figure, _ = drawn_of([Part("goodput", "goodput", table)], Chart(kind, "page"))
    assert told in figure.get_supxlabel().replace("\n", " ")


def test_an_axis_is_linear_if_an_interval_reaches_0() -> None:
    table = pl.DataFrame({"x": [1.0, 1.0, 2.0, 2.0], "value": [1.0, 900.0, 2.0, 3.0]})
    table = table.with_columns(y=pl.lit(""), panel=pl.lit(""), colour=pl.lit(""))
    figure, _ = drawn_of([Part("time", "time", table)], Chart(Kind.LINES, "page"))
    assert figure.axes[0].get_yscale() == "linear"


def test_what_an_option_says_is_never_ignored(store: Path, tmp_path: Path) -> None:
    image = CliRunner().invoke(
        app, ["plot", str(store), "--metric", "jain", "--out", str(tmp_path / "a.jpg")]
    )
    assert image.exit_code == 2
    assert "a figure ends in .png, .svg, .pdf" in image.stderr
    assert not (tmp_path / "a.jpg").exists()
    both = plot(store, tmp_path, "--metric", "rtt_mean of mine", "--of", "other")
    assert both.exit_code == 2
    assert "every --metric has a group of its own; leave out --of other" in " ".join(both.stderr.split())


def test_an_unknown_kind_is_an_error_in_plain_words(store: Path) -> None:
    result = CliRunner().invoke(app, ["plot", str(store), "--kind", "foo"])
    assert result.exit_code == 2
    assert "'foo' is not one of 'lines'" in " ".join(result.stderr.split())
    assert "Value error" not in result.stderr


def test_figures_of_several_metrics_have_files_of_their_own(store: Path, tmp_path: Path) -> None:
    for metric in ("jain", "goodput of mine"):
        numbers_of(store, tmp_path, "--metric", metric, "--where", "rate=5 mbit/s")
    names = sorted(file.stem for file in tmp_path.glob("*.csv"))
    assert names == ["charts-lines-goodput-of-mine", "charts-lines-jain"]


def test_the_folder_of_one_scenario_of_a_store_has_runs(store: Path, tmp_path: Path) -> None:
    point = next(store.glob("*/*/meta.json")).parent.parent
    assert numbers_of(point, tmp_path, "--kind", "box", "--metric", "goodput")["runs"].to_list() == [2]


def test_the_line_below_a_figure_names_the_owner_of_a_fixed_algorithm(store: Path, tmp_path: Path) -> None:
    """The sweep varies the algorithm of mine; the metric is of other, whose algorithm is fixed."""
    notes: list[str] = []

    def noted(*given: Any) -> list[str]:
        notes.extend(choices(*given))
        return notes

    choices = plot_points._choices
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot_points, "_choices", noted)
        numbers_of(store, tmp_path, "--metric", "goodput", "--of", "other", "--x", "rate", "--colour", "cca")
    assert notes == ["algorithm of other CUBIC"]
