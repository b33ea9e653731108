"""Internal variables: what is drawn, what is written beside it, and how mistakes are refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, plots, run
from fullpipe.analysis.metrics import numbers, states
from fullpipe.cli import app
from fullpipe.plots.style import within_time
from fullpipe.runs import Run


def recorded(**changes: Any) -> Scenario:
    return Scenario(
        name="traced",
        duration="3 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {
                "rate": "10 Mbit/s",
                "delay": "20 ms",
                "queue": {"kind": "drop_tail", "packets": 60},
            },
        },
        **{
            "flows": [{"cca": "bbr1"}],
            "record": {"interval": "50 ms", "variables": True, "packets": ["sender"]},
            **changes,
        },
    )


@pytest.fixture(scope="module")
def traced() -> Run:
    return run(recorded())


def test_states_follow_each_other_without_a_gap(traced: Run) -> None:
    spans = states(traced.variables, "bbr1-1")
    assert spans["state"].to_list()[:3] == ["Startup", "Drain", "ProbeBW:Up"]
    assert spans["start_s"].to_list()[1:] == spans["end_s"].to_list()[:-1]
    assert (spans["state"] != spans["state"].shift(1)).drop_nulls().all()


def test_the_numbers_of_a_change_are_at_its_time(traced: Run) -> None:
    drain = states(traced.variables, "bbr1-1").row(1, named=True)
    gains = dict(numbers(traced.variables, "bbr1-1", "pacing_gain").iter_rows())
    assert gains[drain["start_s"]] == pytest.approx(0.3438, abs=1e-3)


def test_a_panel_per_variable_with_its_unit(traced: Run) -> None:
    figure, data = plots.variables({"": traced.tables}, ["state", "cwnd", "min_rtt", "goodput"])
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "state",
        "cwnd\n(packets)",
        "minimum RTT\n(ms)",
        "goodput (Mbit/s)\nmeans over 0.15 s",
    ]
    assert data["panel"].unique(maintain_order=True).to_list() == ["state", "cwnd", "min_rtt", "goodput"]
    assert data.filter(data["panel"] == "min_rtt")["value"].min() == pytest.approx(40.1, abs=0.1)


def test_flows_without_a_variable_are_left_out_of_its_panel() -> None:
    mixed = run(recorded(flows=[{"cca": "bbr1"}, {"cca": "cubic"}]))
    _, data = plots.variables({"": mixed.tables}, ["cwnd", "w_max", "state"])
    assert set(data.filter(data["panel"] == "cwnd")["actor"]) == {"bbr1-1", "cubic-1"}
    assert set(data.filter(data["panel"] == "w_max")["actor"]) == {"cubic-1"}
    assert set(data.filter(data["panel"] == "state")["state"]) >= {"STARTUP", "SlowStart"}


@pytest.mark.parametrize("ending", plots.FORMATS)
def test_the_ending_names_the_format(traced: Run, tmp_path: Path, ending: str) -> None:
    stored = run(recorded(), out=tmp_path / "runs")
    file = tmp_path / f"trace.{ending}"
    done = CliRunner().invoke(app, ["plot", str(stored.folder), "--var", "cwnd,state", "--out", str(file)])
    assert done.exit_code == 0, done.output
    assert file.stat().st_size > 1_000
    assert file.with_suffix(".csv").exists()


def test_an_unknown_variable_is_refused_with_those_that_there_are(traced: Run) -> None:
    with pytest.raises(ValueError, match=r"unknown variable 'w_max'; recorded are bw, cwnd"):
        plots.variables({"": traced.tables}, ["w_max"])


def test_a_figure_without_variables_has_the_time_of_the_whole_run(traced: Run) -> None:
    two = {name: run(recorded(flows=[{"cca": name, "name": "new"}], record={})) for name in ("cubic", "reno")}
    figure, data = plots.variables(
        {name: plots.presented(each) for name, each in two.items()}, ["cwnd", "goodput"]
    )
    assert [place.get_xlim() for place in figure.axes] == [(0, pytest.approx(3.0))] * 2
    assert dict(data.select("panel", "unit").unique().iter_rows()) == {"cwnd": "packets", "goodput": "Mbit/s"}
    assert data.select("run", "actor").unique(maintain_order=True).rows() == [
        ("cubic", "cubic: new"), ("reno", "reno: new"),
    ]  # fmt: skip
    assert set(data["panel"]) == {"cwnd", "goodput"}


def test_no_run_without_variables_is_dropped_from_a_figure_of_variables(traced: Run) -> None:
    runs = {"with": plots.presented(traced), "without": plots.presented(run(recorded(record={})))}
    _, data = plots.variables(runs, ["cwnd"])
    assert set(data["run"]) == {"with", "without"}
    with pytest.raises(ValueError, match=r"without: no variables were recorded"):
        plots.variables(runs, ["state"])


def test_a_run_that_is_not_in_a_panel_is_named(tmp_path: Path) -> None:
    scenarios = [recorded(flows=[{"cca": name, "name": "new"}]) for name in ("cubic", "bbr1")]
    folders = [str(run(each, out=tmp_path / "runs").folder) for each in scenarios]
    words = ["plot", *folders, "--var", "w_max,cwnd", "--out", str(tmp_path / "it.svg")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "note: w_max was not recorded in bbr1; left out of this panel" in done.output


def test_bandwidths_are_in_the_unit_of_other_rates(traced: Run) -> None:
    figure, data = plots.variables({"": plots.presented(traced)}, ["bw", "pacing_rate"])
    assert [place.get_ylabel() for place in figure.axes] == [
        "bandwidth estimate\n(Mbit/s)", "pacing rate\n(Mbit/s)",
    ]  # fmt: skip
    assert data.filter(panel="bw")["value"].max() == pytest.approx(10 * 1448 / 1500, rel=0.05)
    assert [place.get_ylim()[0] for place in figure.axes] == [0, 0]


def test_states_of_bbr1_have_bbr1s_names_and_probe_bw_is_one(traced: Run) -> None:
    _, data = plots.variables({"": plots.presented(traced)}, ["state"])
    spans = data["state"].to_list()
    assert spans[:3] == ["STARTUP", "DRAIN", "PROBE_BW"]
    assert all(one != other for one, other in pairwise(spans))
    assert set(spans) <= {"STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"}


def test_states_below_a_point_are_merged_and_a_note_says_so() -> None:
    made = run(recorded(flows=[{"cca": "bbr3"}]).with_values({"duration": "20 s"}))
    tables = plots.presented(made)
    figure, data = plots.variables({"": tables}, ["cwnd", "state"])
    bands = [patch for place in figure.axes[1:] for patch in place.collections]
    width = 72 * 0.8 * figure.get_figwidth() / 20
    lengths = [patch.get_paths()[0].get_extents().width * width for patch in bands]
    assert len(bands) < data.filter(panel="state").height
    assert min(lengths[1:-1]) >= 0.99
    assert [
        patch.get_hatch()
        for patch, length in zip(bands, lengths, strict=True)
        if length < 5.9 and patch.get_hatch()
    ] == []
    assert "states shorter than" in figure.get_supxlabel()
    with within_time((4.0, 5.0)):
        near, _ = plots.variables({"": tables}, ["state"])
    assert "states shorter than" not in near.get_supxlabel()
