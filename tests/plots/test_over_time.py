"""Figures over time: what tells runs apart, how flows look, events, states and reference lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from typer.testing import CliRunner

from fullpipe import Run, Scenario, plots, sweep, sweeps
from fullpipe.analysis.over_time import MOST, events_of, goodput_window_s
from fullpipe.cli import app, plot_time
from fullpipe.cli.plot_time import in_order, over_time, run_labels
from fullpipe.palette import look_of
from fullpipe.plots.style import as_wide_as
from fullpipe.plots.variables import state_patch, variables
from fullpipe.runs import Store
from tests.boxes import overlaps
from tests.quick_figures import make_figures_quick

RATE, CCA = "topology.bottleneck.rate", "flows.0.cca"
FLOWS = [{"cca": "cubic", "name": "mine"}, {"cca": "cubic", "name": "other"}]


def runs_of(seeds: Sequence[int] = (1,), **values: Any) -> list[Run]:
    base: dict[str, Any] = {
        "name": "time",
        "duration": "2 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        "flows": FLOWS,
    }
    return sweeps.run(sweeps.jobs(Scenario(**(base | values)), seeds))


@pytest.fixture(scope="module")
def algorithms() -> list[Run]:
    return runs_of(sweep={CCA: ["cubic", "vegas", "bbr3"]})


def legend_of(figure: Any) -> dict[str, Any]:
    (legend,) = figure.legends
    return dict(zip((text.get_text() for text in legend.get_texts()), legend.legend_handles, strict=True))


def test_runs_are_called_by_what_differs(algorithms: list[Run]) -> None:
    assert run_labels(algorithms, {}) == ["cubic", "vegas", "bbr3"]
    assert run_labels(algorithms, {"cca.bbr3": "BBRv3"})[-1] == "BBRv3"
    assert run_labels(runs_of((1, 2)), {}) == ["seed 1", "seed 2"]
    queues = runs_of(sweep={"topology.bottleneck.queue": ["codel", {"kind": "drop_tail", "packets": 9}]})
    assert run_labels(queues, {}) == ["codel", "drop_tail 9 packets"]
    both = runs_of(sweep={RATE: ["5 Mbit/s", "8 Mbit/s"], CCA: ["cubic", "reno"]})
    assert run_labels(both, {})[:2] == ["rate 5 Mbit/s, cubic", "rate 5 Mbit/s, reno"]


def test_runs_of_unlike_scenarios_have_their_names() -> None:
    unlike = [*runs_of(), *runs_of(name="alone", flows=FLOWS[:1])]
    assert run_labels(unlike, {}) == ["time", "alone"]
    assert run_labels([*unlike[:1], *runs_of(flows=FLOWS[:1])], {}) == ["(run 1)", "(run 2)"]


def test_no_label_is_a_digest(algorithms: list[Run]) -> None:
    figure, data = over_time(algorithms, ["goodput"], None, ["mine"], {})
    assert list(legend_of(figure)) == ["CUBIC: mine", "Vegas: mine", "BBRv3: mine", "capacity"]
    assert data["run"].unique(maintain_order=True).to_list() == ["cubic", "vegas", "bbr3"]
    digests = [run.meta.digest[:6] for run in algorithms]
    assert not [digest for digest in digests if digest in str(list(legend_of(figure)))]


def test_a_flow_that_one_run_has_needs_no_run(algorithms: list[Run]) -> None:
    unnamed = runs_of(flows=[{"cca": "cubic"}], sweep={CCA: ["cubic", "vegas"]})
    figure, _ = over_time(unnamed, ["goodput"], None, [], {})
    assert list(legend_of(figure)) == ["CUBIC-1", "Vegas-1", "capacity"]


def test_flows_have_the_colours_of_their_algorithms_in_every_figure(algorithms: list[Run]) -> None:
    figure, _ = over_time(algorithms, ["goodput"], None, ["mine"], {})
    found = {label.partition(":")[0]: line.get_color() for label, line in legend_of(figure).items()}
    assert found.items() >= {name: look_of(name, 0).color for name in ("CUBIC", "Vegas", "BBRv3")}.items()
    phase, _ = plots.SAMPLE_FIGURES["phase"](plots.presented(algorithms[2]), only=["mine"])
    assert phase.axes[0].lines[0].get_color() == found["BBRv3"]


def test_legends_have_names_of_algorithms_and_csv_has_their_keys() -> None:
    made = Scenario(
        name="two",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        flows=[{"cca": "bbr3"}, {"cca": "htcp", "name": "old"}],
        record={"interval": "100 ms"},
    )
    figure, data = over_time(sweeps.run(sweeps.jobs(made)), ["rtt"], None, (), {})
    assert list(legend_of(figure)) == ["BBRv3-1", "old (H-TCP)"]
    assert set(data["actor"]) == {"bbr3-1", "old"}


def test_runs_are_in_the_order_of_their_sweep(tmp_path: Path) -> None:
    names = ["vegas", "cubic", "reno", "bbr3"]
    base = runs_of()[0].scenario.with_values({"duration": "500 ms"})
    sweep(base.model_copy(update={"sweep": {CCA: tuple(names)}}), (1,), out=tmp_path / "runs")
    found = sorted(Store(tmp_path / "runs"), key=lambda run: run.meta.digest)
    assert run_labels(in_order(found), {}) == names


def test_a_folder_of_runs_is_drawn_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_figures_quick(monkeypatch)
    sweep(runs_of()[0].scenario, (1, 2), out=tmp_path / "runs")
    words = ["plot", str(tmp_path / "runs"), "--quantity", "cwnd", "--out", str(tmp_path / "it.svg")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert pl.read_csv(tmp_path / "it.csv")["run"].unique().sort().to_list() == ["seed 1", "seed 2"]
    monkeypatch.setattr(plot_time, "MOST_RUNS", 1)
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert "2 runs are too many for a figure over time; name fewer, such as" in " ".join(
        refused.output.replace("│", " ").split()
    )


def test_links_have_no_colour_of_an_algorithm_whatever_runs_are_called(algorithms: list[Run]) -> None:
    names = ["mine", "other"]
    figure, _ = over_time(algorithms[:2], ["goodput", "queue"], None, names, {"cca.vegas": "Vegas"})
    lines = legend_of(figure)
    colours = {label: lines[label].get_color() for label in lines}
    used = {look_of(name, 0).color for name in ("cubic", "vegas")}
    assert used <= {colours[label] for label in lines if "mine" in label}
    links = [colours[label] for label in lines if label.endswith("bottleneck")]
    assert len(set(links)) == len(links) == 2
    assert not used & set(links)


def test_the_queue_of_a_run_with_one_flow_has_the_look_of_the_flow(algorithms: list[Run]) -> None:
    figure, _ = over_time(algorithms, ["goodput", "queue"], None, ["mine"], {})
    assert list(legend_of(figure)) == ["CUBIC: mine", "Vegas: mine", "BBRv3: mine", "capacity"]
    goodputs, queues = ([line.get_color() for line in place.lines[:3]] for place in figure.axes)
    assert goodputs == queues == [look_of(name, 0).color for name in ("cubic", "vegas", "bbr3")]


def test_capacities_of_several_runs_say_whose_they_are() -> None:
    queues = runs_of(sweep={"topology.bottleneck.queue": ["codel", {"kind": "drop_tail", "packets": 9}]})
    assert run_labels(queues, {}) == ["codel", "drop_tail 9 packets"]
    both = runs_of(sweep={RATE: ["5 Mbit/s", "8 Mbit/s"]})
    figure, _ = over_time(both, ["goodput"], None, [], {})
    assert list(legend_of(figure))[-2:] == ["capacity of rate 5 Mbit/s", "capacity of rate 8 Mbit/s"]


def changing() -> Run:
    changes = [{"at": "0.5 s", "rate": "3 Mbit/s"}, {"at": "1 s", "delay": "30 ms"}]
    bottleneck = {"rate": "5 Mbit/s", "delay": "5 ms", "changes": changes}
    (run,) = runs_of(topology={"kind": "dumbbell", "bottleneck": bottleneck})
    return run


def test_changes_of_a_link_are_marked_in_every_panel() -> None:
    figure, _ = over_time([changing()], ["goodput", "rtt"], None, [], {})
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["3 Mbit/s", "30 ms"]
    for place in (first, second):
        times = [line.get_segments()[0][0][0] for line in place.collections]
        assert times == [0.5, 1.0]


def test_internal_variables_have_the_same_marks() -> None:
    bottleneck = {"rate": "5 Mbit/s", "delay": "5 ms", "changes": [{"at": "1 s", "rate": "3 Mbit/s"}]}
    (run,) = runs_of(topology={"kind": "dumbbell", "bottleneck": bottleneck}, record={"variables": True})
    figure, _ = variables({"": plots.presented(run)}, ["cwnd"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["3 Mbit/s"]


def test_reroutes_are_events_beside_a_recorded_course() -> None:
    link = {"from": "a", "to": "b", "rate": "5 Mbit/s", "delay": "5 ms", "duplex": True}
    changes = [{"at": f"{n * 0.1:.1f} s", "rate": f"{n} Mbit/s"} for n in range(1, MOST + 2)]
    links = [{"name": "fast", **link, "changes": changes}, {"name": "slow", **link}]
    reroutes = [{"at": "1 s", "via": ["slow"]}]
    flow = {"cca": "cubic", "from": "a", "to": "b", "via": ["fast"], "reroutes": reroutes}
    (run,) = runs_of(topology={"kind": "graph", "nodes": ["a", "b"], "links": links}, flows=[flow])
    assert events_of(run).rows() == [(1.0, "reroute of cubic-1", None)]


def test_hand_overs_of_phones_are_events() -> None:
    handovers = [{"at": "300 ms", "gap": "20 ms", "every": "400 ms"}]
    values = {"duration": "1 s", "warmup": "0 s", "cells.0.users.0.handovers": handovers}
    (run,) = sweeps.run(sweeps.jobs(Scenario.named("nr-100mhz").with_values(values)))
    node = run.meta.scenario["cells"][0]["users"][0]["node"]
    assert [(round(at_s, 6), event, round(end_s, 6)) for at_s, event, end_s in events_of(run).rows()] == [
        (0.3, f"hand-over of {node}", 0.32), (0.7, f"hand-over of {node}", 0.72),
    ]  # fmt: skip
    figure, _ = over_time([run], ["rtt"], None, [], {})
    assert f"hand-over of {node}" in [text.get_text() for text in figure.axes[0].texts]


def test_changes_of_several_links_have_their_names() -> None:
    def link(at: str) -> dict[str, Any]:
        return {"rate": "5 Mbit/s", "delay": "5 ms", "changes": [{"at": at, "rate": "3 Mbit/s"}]}

    (run,) = runs_of(topology={"kind": "dumbbell", "bottleneck": link("1 s"), "reverse": link("1 s")})
    assert events_of(run).rows() == [(1.0, "bottleneck 3 Mbit/s, bottleneck-reverse 3 Mbit/s", None)]


def test_the_course_of_a_recorded_link_is_no_event() -> None:
    changes = [{"at": f"{n * 0.1:.1f} s", "rate": f"{n} Mbit/s"} for n in range(1, MOST + 2)]
    (run,) = runs_of(
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "changes": changes}}
    )
    assert events_of(run).is_empty()


def test_words_of_events_that_are_close_are_left_out() -> None:
    events = pl.DataFrame({"time_s": [1.0, 1.001, 1.9], "event": ["first", "second", "third"]})
    (run,) = runs_of()
    tables = {name: plots.presented(run)[name] for name in ("flows", "series", "links")}
    figure, _ = plots.overview({"": {**tables, "events": events}}, ("goodput",))
    (place,) = figure.axes
    assert [text.get_text() for text in place.texts] == ["first", "third"]
    assert len(place.collections) == 3


def test_an_event_near_the_label_of_the_warm_up_has_its_label_beside_it() -> None:
    events = pl.DataFrame({"time_s": [0.45], "event": ["hand-over of phone"]})
    (run,) = runs_of()
    tables = {name: plots.presented(run)[name] for name in ("flows", "series", "links")}
    with as_wide_as("column"):
        figure, _ = plots.overview({"": {**tables, "events": events}}, ("goodput",), warmup_s=1.0)
    assert [text.get_text() for text in figure.axes[0].texts] == ["warm-up", "hand-over of phone"]
    assert overlaps(figure) == []


def test_the_warm_up_is_shaded_with_its_name() -> None:
    (run,) = runs_of()
    figure, _ = plots.overview({"": plots.presented(run)}, ("goodput", "rtt"), warmup_s=0.5)
    assert "warm-up" in [text.get_text() for text in figure.axes[0].texts]
    assert [place.patches[0].get_extents().width > 0 for place in figure.axes] == [True, True]


def test_a_sample_between_missing_ones_is_a_dot() -> None:
    known = [0.1, 0.2, 0.2, 0.3, None, None, 0.4, None, None, 0.5]
    table = pl.DataFrame({"time_s": np.arange(10.0), "flow": ["a"] * 10, "srtt_s": known})
    _, (axes,) = plots.new_figure()
    plots.time_series(axes, {"": {"series": table}}, "rtt")
    (line,) = axes.lines
    heights, places = list(line.get_ydata()), cast("list[int]", line.get_markevery())
    marked = [float(heights[place]) for place in places]
    assert line.get_marker() == "."
    assert marked == pytest.approx([400, 500])


def test_a_ping_that_is_measured_at_every_second_sample_is_a_line_with_gaps_where_one_is_lost() -> None:
    known = [0.1, None, 0.2, None, 0.3, None, None, None, 0.4, None, 0.5]
    table = pl.DataFrame({"time_s": np.arange(11) / 10, "flow": ["ping"] * 11, "srtt_s": known})
    _, (axes,) = plots.new_figure()
    plots.time_series(axes, {"": {"series": table}}, "rtt")
    (line,) = axes.lines
    assert line.get_ydata() == pytest.approx([100, 200, 300, np.nan, 400, 500], nan_ok=True)


def test_states_differ_without_colours() -> None:
    taken: dict[str, str] = {}
    names = [
        "Startup",
        "Drain",
        "ProbeBW:Down",
        "ProbeBW:Cruise",
        "ProbeBW:Refill",
        "ProbeBW:Up",
        "ProbeRTT",
        "Recovery",
    ]
    found = [state_patch(name, taken) for name in [*names, "Mine", "Yours"]]
    assert len({patch["hatch"] for patch in found}) == len(found)
    assert len({to_hex(patch["facecolor"]) for patch in found}) == len(found)
    assert state_patch("Avoidance", taken)["hatch"] not in {patch["hatch"] for patch in found}
    assert state_patch("ProbeRTT", {})["hatch"] == found[6]["hatch"], "the same in every figure"


def test_reference_lines_and_ends_of_rates_are_in_a_legend(algorithms: list[Run]) -> None:
    figure, _ = plots.SAMPLE_FIGURES["rates"](plots.presented(algorithms[0]))
    start, end, equal, together = legend_of(figure)
    assert (start, end, equal) == ("first sample", "last sample", "equal goodput")
    assert re.fullmatch(r"mean sum, [\d.]+ Mbit/s", together)
    below = figure.get_supxlabel()
    assert "dotted: sum of both goodputs, mean from" in below
    assert "goodputs are means over" in below


def test_the_ring_of_a_phase_is_in_a_legend(algorithms: list[Run]) -> None:
    figure, _ = plots.SAMPLE_FIGURES["phase"](plots.presented(algorithms[0]))
    names = ["mine (CUBIC)", "other (CUBIC)", "first sample", "last sample", "BDP", "capacity", "base RTT"]
    assert list(legend_of(figure)) == names


def test_retransmissions_are_marks_above_all_else() -> None:
    (run,) = runs_of(
        flows=[{"cca": "cubic"}],
        record={"packets": ["sender"]},
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": {"packets": 8}},
        },
    )
    figure, data = plots.PACKET_FIGURES["sequence"](plots.presented(run))
    (again,) = (line for line in figure.axes[0].lines if line.get_marker() == "^")
    assert len(again.get_xdata()) == data.filter(what="sent again").height > 0
    others = [*figure.axes[0].collections, *(line for line in figure.axes[0].lines if line is not again)]
    assert again.get_zorder() > max(artist.get_zorder() for artist in others)


def test_a_flow_has_the_look_that_it_has_beside_the_other_flows(algorithms: list[Run]) -> None:
    tables = plots.presented(algorithms[0])
    both, _ = plots.SAMPLE_FIGURES["phase"](tables)
    alone, _ = plots.SAMPLE_FIGURES["phase"](tables, only=["other"])
    assert legend_of(alone)["other (CUBIC)"].get_color() == legend_of(both)["other (CUBIC)"].get_color()


def test_rates_have_the_colour_of_their_only_algorithm_and_name_algorithms(algorithms: list[Run]) -> None:
    alike, _ = plots.SAMPLE_FIGURES["rates"](plots.presented(algorithms[0]))
    mixed, _ = plots.SAMPLE_FIGURES["rates"](plots.presented(algorithms[2]))
    assert alike.axes[0].lines[0].get_color() == look_of("cubic", 0).color
    assert mixed.axes[0].lines[0].get_color() not in {look_of(name, 0).color for name in ("cubic", "bbr3")}
    assert mixed.axes[0].get_xlabel() == "goodput of mine (BBRv3)\n(Mbit/s)"
    equal, together = mixed.axes[0].lines[-2:]
    assert equal.get_linestyle() != together.get_linestyle()


def test_several_runs_have_only_the_flows_in_which_they_differ(capsys: pytest.CaptureFixture[str]) -> None:
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "100 ms"}}
    swept = runs_of(flows=[*FLOWS, ping], sweep={CCA: ["cubic", "bbr3"]})
    figure, _ = over_time(swept, ["goodput"], None, [], {})
    assert list(legend_of(figure)) == ["CUBIC: mine", "BBRv3: mine", "capacity"]
    assert (
        "draws mine: the flows that the runs differ in; --flow draws other flows" in capsys.readouterr().err
    )
    linked = [swept[0], *runs_of(flows=[{**FLOWS[0], "cca": "bbr3"}, FLOWS[1], ping], duration="1 s")]
    assert set(over_time(linked, ["goodput"], None, [], {})[1]["actor"]) == {"mine"}
    _, named = over_time(swept, ["goodput"], None, ["ping"], {})
    assert set(named["actor"]) == {"ping"}
    _, seeds = over_time(runs_of((1, 2), flows=[*FLOWS, ping]), ["goodput"], None, [], {})
    assert set(seeds["actor"]) == {"mine", "other"}
    _, alone = over_time(swept[:1], ["goodput"], None, [], {})
    assert set(alone["actor"]) == {"mine", "other"}, "pings have no goodput to draw"


def test_recurring_losses_are_marked_for_as_long_as_they_last() -> None:
    to = {"loss": {"kind": "bernoulli", "probability": 1.0}}
    shape = {"at": "0.4 s", "kind": "spike", "lasts": "200 ms", "every": "0.8 s", "to": to}
    bottleneck = {"rate": "5 Mbit/s", "delay": "5 ms", "shapes": [shape]}
    (run,) = runs_of(topology={"kind": "dumbbell", "bottleneck": bottleneck})
    events = events_of(run)
    assert events["event"].to_list() == ["loss 100 %", "loss 100 %"]
    assert events["time_s"].to_list() == pytest.approx([0.4, 1.2])
    assert events["until_s"].to_list() == pytest.approx([0.6, 1.4])
    figure, _ = over_time([run], ["rtt"], None, [], {})
    (place,) = figure.axes
    spans = [
        patch.get_path().transformed(patch.get_patch_transform()).get_extents() for patch in place.patches
    ]
    assert [(box.x0, box.x1) for box in spans] == [pytest.approx((0.4, 0.6)), pytest.approx((1.2, 1.4))]


def test_pings_have_their_own_rtts_and_no_goodput() -> None:
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}}
    (run,) = runs_of(flows=[*FLOWS, ping])
    figure, data = over_time([run], ["goodput", "rtt"], None, [], {})
    assert set(data.filter(quantity="goodput")["actor"]) == {"mine", "other"}
    own = data.filter(quantity="rtt", actor="ping")
    assert own["time_s"].to_list() == run.probes["time_s"].to_list()
    assert own["value"].to_list() == (1e3 * run.probes["rtt_s"]).to_list()
    assert [place.get_ylabel() for place in figure.axes] == [
        "goodput (Mbit/s)", "smoothed RTT (ms)\npings: RTT of each",
    ]  # fmt: skip
    alone, _ = over_time([run], ["rtt"], None, ["ping"], {})
    assert alone.axes[0].get_ylabel() == "RTT of pings (ms)"


def test_means_over_seeds_have_a_window_of_at_least_a_part_of_the_run() -> None:
    flows = [{"cca": "cubic", "name": "mine", "start_jitter": "500 ms"}]
    runs = runs_of((1, 2), flows=flows)
    tables = {str(number): plots.presented(run) for number, run in enumerate(runs)}
    last_s = max(float(each["series"]["time_s"].max()) for each in tables.values())
    spacing_s = float(tables["0"]["series"]["time_s"].unique().sort()[:2].diff()[1])
    window_s = goodput_window_s(tables, over_runs=True)
    assert window_s == pytest.approx(max(last_s / 40, goodput_window_s(tables)), abs=spacing_s)
    assert goodput_window_s(tables, 4 * spacing_s, over_runs=True) == pytest.approx(4 * spacing_s)
    figure, _ = over_time(runs, ["goodput"], None, [], {}, mean=True)
    assert f"means over {window_s:.2g} s" in figure.axes[0].get_ylabel()


def test_means_over_seeds_have_students_interval_at_every_instant() -> None:
    flows = [{"cca": "cubic", "name": "mine", "start_jitter": "500 ms"}]
    runs = runs_of((1, 2, 3), flows=flows, sweep={CCA: ["cubic", "bbr3"]})
    figure, data = over_time(runs, ["cwnd"], None, [], {}, mean=True)
    assert list(legend_of(figure)) == ["CUBIC: mine", "BBRv3: mine"]
    found = data.filter(run="bbr3", time_s=1.5).row(0, named=True)
    _, single = over_time(runs, ["cwnd"], None, [], {})
    values = single.filter(pl.col("run").str.starts_with("bbr3"), pl.col("time_s").round(6) == 1.5)["value"]
    assert len(values) == found["runs"] == 3
    half = T_OF_3 * float(np.std(values.to_numpy(), ddof=1)) / np.sqrt(3)
    assert found["value"] == pytest.approx(np.mean(values.to_numpy()))
    assert found["high"] - found["value"] == pytest.approx(half, rel=1e-3)
    assert found["low"] == pytest.approx(max(0, found["value"] - half))
    colours = [to_hex(band.get_facecolor()[0]) for band in figure.axes[0].collections]
    assert colours == [look_of(name, 0).color.lower() for name in ("cubic", "bbr3")]
    told = " ".join(figure.get_supxlabel().split())
    assert told == "lines: means over 3 runs; bands: 95 % confidence intervals of the means"


T_OF_3 = 4.30265
"""The 97.5 % quantile of Student's t with two degrees of freedom."""


def test_a_mean_needs_several_seeds(tmp_path: Path) -> None:
    sweep(runs_of()[0].scenario, (1,), out=tmp_path / "runs")
    for words, told in (
        (["--mean"], "a mean needs several seeds of a scenario"),
        (["--mean", "--var", "cwnd"], "--mean excludes --var"),
        (["--mean", "--kind", "waits"], "--mean goes with runs over time"),
    ):
        done = CliRunner().invoke(app, ["plot", str(tmp_path / "runs"), *words])
        assert done.exit_code == 2
        assert told in " ".join(done.output.replace("│", " ").split())


def test_figures_of_single_runs_say_so_with_their_seed(algorithms: list[Run]) -> None:
    def told(runs: list[Run]) -> str:
        return " ".join(over_time(runs, ["rtt"], None, [], {})[0].get_supxlabel().split())

    assert told(algorithms[:1]) == "one run, seed 1"
    assert told(algorithms) == "one run per line, seed 1"
    assert told(runs_of((1, 2))) == "one run per line"


def test_queues_that_stay_short_are_left_out_and_named() -> None:
    (run,) = runs_of()
    of_run = plots.presented(run)
    longest = pl.col("link").replace_strict({"bottleneck": 100, "bottleneck-reverse": 9})
    tables = {name: of_run[name] for name in ("flows", "series")}
    tables["links"] = of_run["links"].with_columns(backlog_packets=longest)
    figure, data = plots.overview({"": tables})
    assert set(data.filter(quantity="queue")["actor"]) == {"bottleneck"}
    assert figure.get_supxlabel() == "not drawn: queue of bottleneck-reverse, at most 9 packets"
    tables["links"] = tables["links"].with_columns(backlog_packets=longest + 2)
    figure, data = plots.overview({"": tables})
    assert set(data.filter(quantity="queue")["actor"]) == {"bottleneck", "bottleneck-reverse"}
    assert figure.get_supxlabel() == ""


def test_three_runs_of_many_flows_are_below_each_other_in_a_column() -> None:
    flows = [{"cca": "cubic", "name": "mine"}, {"cca": "cubic", "count": 4}]
    runs = runs_of(flows=flows, sweep={CCA: ["cubic", "vegas", "bbr3"]})
    with as_wide_as("column"):
        figure, data = over_time(runs, [], None, runs[0].flows["flow"].to_list(), {})
    assert data["quantity"].unique(maintain_order=True).to_list() == ["goodput", "rtt"]
    assert len(figure.axes) == 6
    figure.draw_without_rendering()
    assert len({round(place.get_position().x0, 6) for place in figure.axes}) == 1
    assert "not drawn for lack of room: cwnd, queue" in " ".join(figure.get_supxlabel().split())
