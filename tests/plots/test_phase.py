"""Rates over what is in flight, and over each other: the laws of a path hold in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Run, Scenario, plots, run
from fullpipe.cli import app
from fullpipe.plots.style import within_time

RATE_MBPS, RTT_MS, MSS = 20.0, 40.0, 1448
FLOWS = [{"name": name, "cca": "reno"} for name in ("first", "second")]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Run:
    values = {"duration": "20 s", "warmup": "0 s", "record.interval": "50 ms", "flows": FLOWS}
    return run(Scenario.named("single-cubic").with_values(values), out=tmp_path_factory.mktemp("runs"))


def test_one_flow_gets_what_is_in_flight_over_the_rtt(tmp_path: Path) -> None:
    """Little's law, where what is in flight hardly changes from a sample to the next."""
    values = {"duration": "20 s", "warmup": "0 s", "record.interval": "50 ms", "flows.0.cca": "reno"}
    alone = run(Scenario.named("single-cubic").with_values(values), out=tmp_path)
    figure, data = plots.SAMPLE_FIGURES["phase"](plots.presented(alone))
    assert [place.get_xlabel() for place in figure.axes] == ["in flight (packets)"] * 2
    wide = data.filter(pl.col("time_s") > 10).pivot("quantity", index=["time_s", "in_flight"], values="value")
    rtt_s = wide["rtt"].to_numpy() / 1e3
    assert float(rtt_s.min()) >= RTT_MS / 1e3
    assert float(wide["delivery"].to_numpy().max()) <= RATE_MBPS
    expected = wide["in_flight"].to_numpy() * MSS * 8 / rtt_s / 1e6
    assert np.median(np.abs(expected / wide["delivery"].to_numpy() - 1)) < 0.03


def test_two_flows_have_together_what_the_link_carries(two: Run) -> None:
    figure, data = plots.SAMPLE_FIGURES["rates"](plots.presented(two))
    assert data.columns == ["time_s", "first", "second"]
    late = data.filter(pl.col("time_s") > 10)
    together = (late["first"] + late["second"]).to_numpy()
    assert np.mean(together) == pytest.approx(RATE_MBPS * MSS / 1500, rel=0.02)
    (place,) = figure.axes
    dashed = place.lines[-1].get_xdata()
    assert float(np.asarray(dashed).max()) == pytest.approx(np.mean(together), rel=0.01)
    assert [text.arrow_patch for text in place.texts], "arrows show the direction of time"


def test_rates_leave_out_the_warm_up(two: Run) -> None:
    figure, data = plots.SAMPLE_FIGURES["rates"](plots.presented(two), warmup_s=5.0)
    assert data["time_s"].to_numpy().min() >= 5.0
    assert "without the warm-up of 5 s" in figure.get_supxlabel()


def test_a_phase_has_the_path_arrows_and_no_warm_up(two: Run) -> None:
    figure, data = plots.SAMPLE_FIGURES["phase"](plots.presented(two), warmup_s=5.0)
    assert float(data["time_s"].to_numpy().min()) >= 5
    assert figure.get_supxlabel() == "without the warm-up of 5 s"
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    handles = dict(zip(names, legend.legend_handles, strict=True))
    assert names[-5:] == ["first sample", "last sample", "BDP", "capacity", "base RTT"]
    assert len({str(handles[name].get_linestyle()) for name in names[-3:]}) == 1
    rate, rtt = figure.axes
    across = {float(line.get_ydata()[0]) for line in rate.lines if len(set(line.get_ydata())) == 1}
    assert RATE_MBPS in across
    upright = {float(line.get_xdata()[0]) for line in rtt.lines if len(set(line.get_xdata())) == 1}
    assert any(value == pytest.approx(RATE_MBPS * RTT_MS * 1e3 / 8 / 1514) for value in upright)
    assert RTT_MS in {float(line.get_ydata()[0]) for line in rtt.lines}
    arrows = [text.arrow_patch for place in figure.axes for text in place.texts]
    assert 2 <= len(arrows) <= 2 * 2 * 6
    with within_time((1.0, 3.0)):
        _, part = plots.SAMPLE_FIGURES["phase"](plots.presented(two), warmup_s=5.0)
    assert float(part["time_s"].to_numpy().min()) < 5, "a range that is asked for is drawn"


def test_flows_can_be_chosen(two: Run) -> None:
    _, data = plots.SAMPLE_FIGURES["phase"](plots.presented(two), only=["second"])
    assert data["flow"].unique().to_list() == ["second"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--kind", "rates", "--flow", "first"), "rates needs two flows"),
        (("--kind", "rates", "--flow", "third"), 'unknown flow "third"'),
        (("--kind", "phase", "--at", "2 s"), "goes with --kind handover or sequence"),
        (("--kind", "all_scaled", "--flow", "first"), "goes with --kind pauses, sequence, phase or rates"),
    ],
)
def test_what_does_not_fit_is_refused(words: tuple[str, ...], told: str, two: Run) -> None:
    found = CliRunner().invoke(app, ["plot", str(two.folder), *words])
    assert found.exit_code == 2
    assert told in " ".join(found.output.split())


@pytest.mark.parametrize("kind", plots.SAMPLE_FIGURES)
def test_the_command_draws_them(kind: str, two: Run, tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["plot", str(two.folder), "--kind", kind, "--out", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".svg", ".pdf", ".csv"}


@pytest.mark.parametrize("kind", plots.SAMPLE_FIGURES)
def test_a_run_without_samples_is_refused(kind: str, tmp_path: Path) -> None:
    values = {"duration": "1 s", "warmup": "0 s", "record.interval": "off"}
    bare = run(Scenario.named("single-cubic").with_values(values), out=tmp_path)
    told = CliRunner().invoke(app, ["plot", str(bare.folder), "--kind", kind])
    assert told.exit_code == 2
    assert "there are no samples to draw" in " ".join(told.output.split())
