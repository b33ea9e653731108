"""Figures: what is drawn, what is written beside it, and that both are the same every time."""

from __future__ import annotations

import math
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.collections import LineCollection

from fullpipe import Run, Scenario, plots, run
from fullpipe.analysis.over_time import samples
from fullpipe.errors import ResultError
from fullpipe.plots.style import SMALL, legend_entries, shared_legend, within_time
from fullpipe.plots.variables import state_colour

MBPS = {"100 packets": [30.0, 50.0, 40.0], "500 packets": [10.0, 60.0, 20.0]}


def tables() -> dict[str, pl.DataFrame]:
    series = pl.DataFrame(
        {
            "time_s": [0.1, 0.1, 0.2, 0.2],
            "flow": ["a", "b", "a", "b"],
            "goodput_bps": [1e6, 2e6, 3e6, None],
            "cwnd_bytes": [14480, 14480, 28960, 28960],
            "srtt_s": [0.02, 0.02, 0.03, None],
        }
    )
    links = pl.DataFrame(
        {
            "time_s": [0.1, 0.1, 0.2, 0.2],
            "link": ["bottleneck", "access-1", "bottleneck", "access-1"],
            "backlog_packets": [0, 0, 12, 0],
        }
    )
    return {"series": series, "links": links}


def test_bars_are_sorted_and_returned() -> None:
    figure, (axes,) = plots.new_figure()
    data = plots.sorted_bars(axes, MBPS, label="Mbit/s")
    assert data.columns == ["group", "rank", "value"]
    assert data.filter(pl.col("group") == "100 packets")["value"].to_list() == [50.0, 40.0, 30.0]
    assert [bar.get_height() for bar in axes.patches] == [50, 40, 30, 60, 20, 10]
    assert figure.axes == [axes]


def test_the_legend_of_bars_stays_within_the_axes() -> None:
    figure, (axes, _) = plots.new_figure(1, 2)
    groups = {
        f"{name} of the sockets": [5.0, 4.0] for name in ("large", "1 MiB both", "1 MiB receive", "ns-3 3.40")
    }
    plots.sorted_bars(axes, groups, label="Mbit/s")
    figure.canvas.draw()
    legend = axes.get_legend()
    assert legend is not None
    outside, inside = axes.get_window_extent(), legend.get_window_extent()
    assert outside.x0 <= inside.x0 < inside.x1 <= outside.x1 + 1
    highest = max(bar.get_window_extent().y1 for bar in axes.patches)
    assert inside.y0 > highest


def test_a_flow_that_gets_nothing_is_seen_above_the_axis() -> None:
    _, (axes,) = plots.new_figure()
    plots.time_series(axes, {"one": tables()}, "goodput", only=["a"])
    assert axes.lines[0].get_zorder() > axes.spines["bottom"].get_zorder()


def test_boxes_reach_to_the_extremes_and_cross_the_mean() -> None:
    _, (axes,) = plots.new_figure()
    data = plots.boxes(axes, {"x": [1.0, 2.0, 3.0, 4.0, 15.0]}, label="Mbit/s")
    assert data.row(0) == ("x", 5, 1.0, 2.0, 3.0, 4.0, 15.0, 5.0)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [float(line.get_ydata()[0]) for line in crosses] == [5.0]


def test_whiskers_within_a_reach_end_at_the_last_value_there() -> None:
    def whiskers(reach: float) -> list[float]:
        _, (axes,) = plots.new_figure()
        plots.boxes(axes, {"x": [1.0, 2.0, 3.0, 4.0, 15.0]}, label="Mbit/s", reach=reach)
        ends = [float(y) for line in axes.lines for y in line.get_ydata()]
        return [min(ends), max(y for y in ends)]

    assert whiskers(1.5) == [1.0, 5.0], "the cross at the mean is above the whisker, which ends at 4"
    assert whiskers(6.0) == [1.0, 15.0]


def test_shares_rise_from_value_to_value() -> None:
    _, (axes,) = plots.new_figure()
    data = plots.cumulative(axes, {"x": [3.0, 0.0, 1.0, 30.0]}, label="error (%)")
    assert data.rows() == [("x", 0.0, 0.25), ("x", 1.0, 0.5), ("x", 3.0, 0.75), ("x", 30.0, 1.0)]
    (line,) = axes.lines
    assert list(line.get_ydata()) == [0, 0.25, 0.5, 0.75, 1]


def test_grouped_bars_have_the_interval_of_the_mean() -> None:
    _, (axes,) = plots.new_figure()
    groups = {"a": {"x": [3.0, 4.0, 5.0], "y": [4.0]}, "b": {"x": [5.0, 5.0], "y": [6.0, 6.0]}}
    data = plots.grouped_bars(axes, groups, label="Mbit/s")
    # Mean 4, sd 1, n = 3: half width 4.302653 / sqrt(3) = 2.48414.
    assert data.row(0)[:4] == ("a", "x", 3, 4.0)
    assert data.row(0)[4:] == (pytest.approx(1.51586, abs=1e-5), pytest.approx(6.48414, abs=1e-5))
    assert data.row(1) == ("a", "y", 1, 4.0, 4.0, 4.0)
    assert [bar.get_height() for bar in axes.patches] == [4, 4, 5, 6]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x", "y"]


def test_lines_with_intervals_return_what_they_draw() -> None:
    _, (axes,) = plots.new_figure()
    data = plots.lines_with_intervals(axes, {"a": {1: [2.0, 4.0], 2: [5.0, 5.0]}}, label="ms")
    assert data["at"].to_list() == ["1", "2"]
    assert data["mean"].to_list() == [3.0, 5.0]
    assert axes.get_ylabel() == "ms"


@pytest.mark.parametrize(
    ("values", "bounds", "ends"),
    [([1.0, 30.0], (0.0, math.inf), (0.0, 199.74)), ([0.6, 1.0], (0.0, 1.0), (0.0, 1.0))],
)
def test_error_bars_end_at_the_bounds(
    values: list[float], bounds: tuple[float, float], ends: tuple[float, float]
) -> None:
    """Student's intervals of both reach beyond: 15.5 ± 184.25, and 0.8 ± 2.54."""
    kinds: tuple[Callable[..., pl.DataFrame], ...] = (plots.grouped_bars, plots.lines_with_intervals)
    for drawn in kinds:
        _, (axes,) = plots.new_figure()
        data = drawn(axes, {"a": {1: values}}, label="any", bounds=bounds)
        assert data.select("low", "high").row(0) == pytest.approx(ends, abs=0.01)
        (bar,) = (each for each in axes.collections if isinstance(each, LineCollection))
        assert bar.get_segments()[0][:, 1] == pytest.approx(ends, abs=0.01)


def test_time_series_of_two_runs() -> None:
    _, (axes,) = plots.new_figure()
    data = plots.time_series(axes, {"one": tables(), "two": tables()}, "goodput", only=["a"])
    assert data.columns == ["run", "actor", "time_s", "value"]
    assert data["value"].to_list() == [1.0, 3.0, 1.0, 3.0]
    assert [line.get_label() for line in axes.lines] == ["one: a", "two: a"]
    assert axes.get_ylabel() == "goodput (Mbit/s)"


def test_missing_samples_stay_missing() -> None:
    _, (axes,) = plots.new_figure()
    data = plots.time_series(axes, {"one": tables()}, "rtt", only=["b"])
    assert data["value"].to_list() == [20.0, None]


def test_unknown_quantity_and_no_samples() -> None:
    _, (axes,) = plots.new_figure()
    with pytest.raises(ValueError, match="known are goodput"):
        plots.time_series(axes, {"one": tables()}, "colour")
    with pytest.raises(ValueError, match="no samples"):
        plots.time_series(axes, {"one": {}}, "goodput")


def test_overview_leaves_idle_links_out() -> None:
    _, data = plots.overview({"one": tables()})
    shown = data.filter(pl.col("quantity") == "queue")
    assert shown["actor"].unique().to_list() == ["bottleneck"]


def two_rates() -> Run:
    """One flow over a link that gets slower, after a warm-up."""
    changes = [{"at": "2 s", "rate": "5 Mbit/s"}]
    values = {"duration": "4 s", "warmup": "1 s", "topology.bottleneck.changes": changes}
    return run(Scenario.named("single-reno").with_values(values))


def test_rates_have_the_capacity_of_the_link_beside_them() -> None:
    figure = plots.plot_run(two_rates(), "goodput", "rtt")
    goodput, rtt = (place.lines[-1].get_ydata() for place in figure.axes)
    assert list(goodput) == [20.0, 5.0, 5.0]
    assert len(rtt) > 3


def test_the_warm_up_is_shaded_in_every_panel() -> None:
    figure = plots.plot_run(two_rates(), "goodput", "rtt")
    ends = [place.patches[0].get_x() + place.patches[0].get_width() for place in figure.axes]
    assert ends == pytest.approx([1.0, 1.0])


def test_panels_over_time_have_the_same_ends() -> None:
    first, second = plots.plot_run(two_rates(), "goodput", "queue").axes
    assert first.get_xlim() == second.get_xlim()


def test_saved_together_and_the_same_every_time(tmp_path: Path) -> None:
    written = []
    for attempt in ("first", "second"):
        figure, (axes,) = plots.new_figure(width="column")
        data = plots.sorted_bars(axes, MBPS, label="Mbit/s")
        written.append(plots.save(figure, data, tmp_path / attempt, "figure-2"))
    assert [path.name for path in written[0]] == ["figure-2.png", "figure-2.svg", "figure-2.csv"]
    for first, second in zip(*written, strict=True):
        assert first.read_bytes() == second.read_bytes()
    assert (
        (tmp_path / "first" / "figure-2.csv").read_text().startswith("group,rank,value\n100 packets,1,50.0")
    )


def look_of_line(line: Any) -> tuple[str, str]:
    """The colour and the dashes."""
    return line.get_color(), str(line._unscaled_dash_pattern)


def test_one_legend_for_all_rows_and_the_same_look_in_each() -> None:
    long = {f"seed {seed} of a scenario with a rather long name": tables() for seed in range(1, 3)}
    figure, _ = plots.overview(long)
    assert [place.get_legend() for place in figure.axes] == [None] * 4
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 6
    assert len({look_of_line(line) for line in legend.get_lines()}) == 6
    rows = [{line.get_label(): line.get_color() for line in place.lines} for place in figure.axes]
    assert rows[0] == rows[1] == rows[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert all(place.get_window_extent().y1 <= box.y0 for place in figure.axes)


def test_flows_of_many_runs_look_alike_and_the_legend_names_the_runs() -> None:
    figure, _ = plots.overview({f"seed {seed}": tables() for seed in range(15)})
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"seed {seed}" for seed in range(15)]
    place = figure.axes[0]
    assert len({look_of_line(line) for line in place.lines}) == 15


def test_runs_with_many_lines_have_panels_of_their_own() -> None:
    runs = {f"seed {seed}": tables() for seed in range(3)}
    runs["seed 2"]["series"] = runs["seed 2"]["series"].with_columns(pl.col("goodput_bps") * 5)
    figure, data = plots.overview(runs, ("goodput", "rtt"))
    assert [place.get_title() for place in figure.axes] == [*runs, "", "", ""]
    assert [place.get_ylabel() for place in figure.axes] == [
        "goodput (Mbit/s)",
        *2 * [""],
        "smoothed RTT (ms)",
        *2 * [""],
    ]
    assert [place.get_xlabel() for place in figure.axes] == [*4 * [""], "time (s)", ""]
    assert len({place.get_ylim() for place in figure.axes[:3]}) == 1
    assert figure.axes[0].get_ylim()[1] > 15
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    assert data["run"].unique().sort().to_list() == sorted(runs)


def test_runs_of_different_flows_are_drawn_together_if_there_is_no_room() -> None:
    """Names of flows that are in one run only have no run before them."""
    runs = {f"{count} flows": tables() for count in range(15)}
    for count, each in enumerate(runs.values()):
        each["series"] = each["series"].with_columns(pl.col("flow") + f"-{count}")
    (legend,) = plots.overview(runs)[0].legends
    assert [text.get_text() for text in legend.get_texts()] == [*runs]


def test_a_legend_says_how_many_it_leaves_out() -> None:
    figure, _ = plots.overview({f"seed {seed}": tables() for seed in range(40)}, ("goodput",))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][-1] == "and 12 more"


def test_goodput_is_smoothed_over_three_base_rtts() -> None:
    """A link of 1 Mbit/s that delivers what waited behind a hole at once: 0, 0, 3 in samples of 50 ms."""
    rates = [1e6, 1e6, 0.0, 0.0, 3e6, 1e6]
    series = pl.DataFrame(
        {
            "time_s": [0.05 * n for n in range(1, 7)],
            "flow": ["a"] * 6,
            "goodput_bps": rates,
            "srtt_s": [0.05] * 6,
        }
    )
    _, (axes,) = plots.new_figure()
    data = plots.time_series(axes, {"one": {"series": series}}, "goodput")
    assert data["value"].to_list() == pytest.approx([1, 1, 2 / 3, 1 / 3, 1, 4 / 3])
    assert axes.get_ylabel() == "goodput (Mbit/s)\nmeans over 0.15 s"


def test_an_outage_does_not_hide_in_means() -> None:
    """One round trip as long as an outage of a second, among a hundred of 50 ms."""
    series = pl.DataFrame(
        {
            "time_s": [0.05 * n for n in range(1, 101)],
            "flow": ["a"] * 100,
            "goodput_bps": [1e6] * 50 + [0.0] * 20 + [1e6] * 30,
            "srtt_s": [0.05] * 70 + [1.0] + [0.05] * 29,
        }
    )
    _, (axes,) = plots.new_figure()
    data = plots.time_series(axes, {"one": {"series": series}}, "goodput")
    assert data["value"].min() == pytest.approx(0, abs=1e-9)


def test_states_look_the_same_in_every_figure_and_differ_in_one() -> None:
    first: dict[str, str] = {}
    second: dict[str, str] = {}
    names = ["Startup", "Drain", *(f"State{n}" for n in range(60))]
    assert [state_colour(name, first) for name in ("Drain", "Odd")] == [
        state_colour(name, second) for name in ("Drain", "Odd")
    ]
    taken: dict[str, str] = {}
    assert len({state_colour(name, taken) for name in names}) == len(names)


def test_figures_show_presets_and_windows_in_packets() -> None:
    values = {"duration": "1 s", "warmup": "0 s", "flows.0.cca": {"kind": "bbr3", "preset": "draft"}}
    made = run(Scenario.named("single-bbr1").with_values(values))
    figure, data = plots.overview({"": plots.presented(made)}, ("cwnd",))
    assert data["actor"].unique().to_list() == ["bbr3-1 (draft)"]
    assert figure.axes[0].get_ylabel() == "cwnd (packets)"
    assert data["value"][0] == made.series["cwnd_bytes"][0] / 1448
    assert len(made.plot("cwnd", only=["bbr3-1"]).axes[0].lines) == 1


def test_a_figure_stays_in_its_folder(tmp_path: Path) -> None:
    figure, _ = plots.new_figure()
    for name in ("../evil", "a/b", "a\\b", "", ".."):
        with pytest.raises(ValueError, match="not a valid name of a figure"):
            plots.save(figure, pl.DataFrame(), tmp_path / "in", name)
    (tmp_path / "file").touch()
    with pytest.raises(ResultError, match="not a folder"):
        plots.save(figure, pl.DataFrame(), tmp_path / "file", "x")


@pytest.mark.parametrize("kind", ["eps", "pdf", "png", "ps", "svg"])
def test_a_figure_that_is_saved_has_what_was_drawn(kind: str, tmp_path: Path) -> None:
    sizes = []
    for drawn in (False, True):
        figure, (axes,) = plots.new_figure()
        axes.set_axis_off()
        if drawn:
            axes.plot([0, 1, 2, 3], [3, 1, 2, 0], [0, 1], [1, 1])
        figure.savefig(tmp_path / f"{drawn}.{kind}")
        sizes.append((tmp_path / f"{drawn}.{kind}").stat().st_size)
    assert sizes[1] > sizes[0] + 100


def test_a_pdf_has_truetype_fonts_alone_and_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("one", "other"):
        figure, (axes,) = plots.new_figure()
        axes.set_xlabel(r"delay (ms), $\mu$ and é")
        plots.save_as(figure, None, tmp_path / f"{name}.pdf")
    one, other = ((tmp_path / f"{name}.pdf").read_bytes() for name in ("one", "other"))
    assert one == other
    assert b"/FontFile2" in one
    assert b"/Type3" not in one


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="there is no pdffonts here")
def test_pdffonts_finds_no_type_3(tmp_path: Path) -> None:
    figure, (axes,) = plots.new_figure()
    axes.set_xlabel("delay (ms)")
    plots.save_as(figure, None, tmp_path / "one.pdf")
    listed = subprocess.run(
        ["pdffonts", tmp_path / "one.pdf"], capture_output=True, text=True, check=True
    ).stdout
    assert "TrueType" in listed
    assert "Type 3" not in listed


def test_a_shared_legend_has_the_style_of_the_figure_whoever_draws_it() -> None:
    figure, (axes,) = plots.new_figure()
    for label in ("mine", "other"):
        axes.plot([0, 1], label=label)
    shared_legend(figure, legend_entries(axes))
    (legend,) = figure.legends
    assert not legend.get_frame_on()
    assert {text.get_fontsize() for text in legend.get_texts()} == {SMALL}


def test_a_panel_has_one_window_of_means_which_an_option_sets() -> None:
    """Base RTTs of 50 and 100 ms in samples of 50 ms: the longer one holds for both runs."""

    def tables(rtt_s: float) -> dict[str, pl.DataFrame]:
        times_s = [0.05 * n for n in range(1, 21)]
        columns = {"time_s": times_s, "flow": ["a"] * 20, "goodput_bps": [1e6] * 20, "srtt_s": [rtt_s] * 20}
        return {"series": pl.DataFrame(columns)}

    runs = {"short": tables(0.05), "long": tables(0.1)}
    assert samples(runs, "goodput")[1] == "goodput (Mbit/s)\nmeans over 0.3 s"
    assert samples(runs, "goodput", window_s=0.1)[1] == "goodput (Mbit/s)\nmeans over 0.1 s"
    assert samples(runs, "goodput", window_s=0.01)[1] == "goodput (Mbit/s)"


def test_runs_side_by_side_have_the_window_of_their_label_and_may_lack_a_quantity() -> None:
    """Base RTTs of 50 and 100 ms in samples of 50 ms: the longer one holds for both runs. One run has no
    samples of links."""
    times_s, flows = [0.05 * n for n in range(1, 21)], ["a", "b", "c"]

    def tables(rtt_s: float) -> dict[str, pl.DataFrame]:
        rows = [(time_s, flow, 1e6 * (n % 4), rtt_s) for n, time_s in enumerate(times_s) for flow in flows]
        series = pl.DataFrame(rows, ["time_s", "flow", "goodput_bps", "srtt_s"], orient="row")
        return {"series": series}

    links = pl.DataFrame({"time_s": times_s, "link": ["bottleneck"] * 20, "backlog_packets": [5] * 20})
    runs = {"short": tables(0.05), "long": {**tables(0.1), "links": links}}
    for window_s, label in [(None, "0.3 s"), (0.1, "0.1 s")]:
        with within_time(None, window_s):
            figure, data = plots.overview(runs, ["goodput", "queue"])
        assert [place.get_title() for place in figure.axes] == [*runs, "", ""]
        assert figure.axes[0].get_ylabel().replace("\n", " ") == f"goodput (Mbit/s) means over {label}"
        goodput = data.filter(quantity="goodput").drop("quantity").sort("run", "actor")
        assert goodput.equals(samples(runs, "goodput", window_s=window_s)[0].sort("run", "actor"))
        assert data.filter(quantity="queue")["run"].unique().to_list() == ["long"]
        assert [len(place.lines) for place in figure.axes] == [3, 3, 0, 1]


def test_a_time_range_selects_samples_and_ends_of_the_axis() -> None:
    times_s = [0.05 * n for n in range(1, 21)]
    series = {"time_s": times_s, "flow": ["a"] * 20, "goodput_bps": [1e6] * 20, "srtt_s": [0.001] * 20}
    with within_time((0.2, 0.5)):
        figure, data = plots.overview({"one": {"series": pl.DataFrame(series)}}, ["goodput"])
    assert figure.axes[0].get_xlim() == (0.2, 0.5)
    assert data["time_s"].to_list() == pytest.approx([0.05 * n for n in range(4, 11)])
    with within_time((3, 4)), pytest.raises(ValueError, match="no samples from 3 s to 4 s"):
        plots.overview({"one": {"series": pl.DataFrame(series)}}, ["goodput"])
