"""Figures of a Wi-Fi cell: what they show is what its ports counted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, plots, run
from fullpipe.cli import app
from fullpipe.plots import links
from fullpipe.plots.variables import channel, waits
from tests.quick_figures import make_figures_quick

NOISY = {
    "duration": "1 s",
    "warmup": "0 s",
    "record.variables": True,
    "cells.0.stations.1.snr": {"mean": "20 dB", "spread": "4 dB", "memory": "500 ms"},
    "cells.0.stations.1.rate": "minstrel",
}
PORTS = ["home-laptop-down", "home-laptop-up", "home-phone-down", "home-phone-up"]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = Scenario.named("wifi-home-ax").with_values(NOISY)
    return run(scenario, out=tmp_path_factory.mktemp("runs"))


def test_airtime_is_what_counters_grew_by(noisy: Run) -> None:
    figure, data = links.airtime(plots.presented(noisy))
    assert data["part"].unique(maintain_order=True).to_list() == [*PORTS, *links.OF_THE_CELL.values()]
    seen = noisy.variables.filter(name="airtime", link="home-laptop-down").sort("time_s")
    first, second = seen["value"].to_list()[2:4]
    times = seen["time_s"].to_list()[2:4]
    row = data.filter((pl.col("part") == "home-laptop-down") & (pl.col("time_s") == times[1]))
    assert row["share"].to_list() == [pytest.approx((second - first) / (times[1] - times[0]))]
    used = data.group_by("time_s").agg(pl.col("share").sum())["share"]
    assert 0.5 < float(used.to_numpy().mean()) <= 1.0
    assert len(figure.axes[0].collections) == len(PORTS) + 3


def test_every_ppdu_is_in_one_bar(noisy: Run) -> None:
    figure, data = links.aggregates(plots.presented(noisy))
    for port in PORTS:
        mine = data.filter(pl.col("port") == port)
        (ppdus,) = noisy.variables.filter(name="ppdus", link=port)["value"].tail(1)
        (mean,) = noisy.variables.filter(name="aggregate_mean", link=port)["value"].tail(1)
        assert mine["ppdus"].sum() == ppdus
        assert float(mine["share"].sum()) == pytest.approx(1)
        assert float((mine["at_most"] * mine["share"]).sum()) >= mean
    assert len(figure.axes[0].containers) == len(PORTS)


def test_the_channel_is_of_the_stations_that_have_one(noisy: Run) -> None:
    _, data = channel(plots.presented(noisy))
    assert set(data["actor"]) == {"home-phone-down", "home-phone-up"}
    assert set(data["panel"]) == {"snr", "phy_rate"}


def test_waits_are_those_of_the_ports_beside_what_flows_see(noisy: Run) -> None:
    figure, data = waits(plots.presented(noisy), warmup_s=0.5)
    assert set(data.filter(quantity="sojourn")["actor"]) == set(PORTS)
    assert set(data.filter(quantity="rtt")["actor"]) == {"download", "upload", "probe"}
    assert set(data.filter(quantity="goodput")["actor"]) == {"download", "upload"}
    above = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    beside = figure.axes[2].get_legend()
    assert beside is not None
    assert above == ["download (CUBIC)", "upload (CUBIC)", "probe"]
    assert [text.get_text() for text in beside.get_texts()] == PORTS
    assert "warm-up" in [text.get_text() for text in figure.axes[0].texts]


def test_a_run_without_a_cell_or_without_variables_is_refused() -> None:
    wired = run(Scenario.named("single-reno").with_values({"duration": "1 s", "record.variables": True}))
    for draw in plots.CELL_FIGURES.values():
        with pytest.raises(ValueError, match=r"record\.variables"):
            draw(plots.presented(wired))


def told(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_kinds_of_a_cell_are_drawn_by_the_command(
    noisy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch, layouts=1)
    folder = noisy.folder
    for kind in plots.CELL_FIGURES:
        result = told("plot", str(folder), "--kind", kind, "--out", str(tmp_path / "figures"))
        assert result.exit_code == 0, result.output
        assert (tmp_path / "figures" / f"wifi-home-ax-{kind}.csv").exists()
    other = run(noisy.scenario, seed=2, out=tmp_path).folder
    two = told("plot", str(folder), str(other), "--kind", "airtime")
    assert two.exit_code == 2
    assert "airtime draws one run, not 2" in " ".join(two.stderr.split())
