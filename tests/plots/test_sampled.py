"""Tests of cumulative shares of samples within runs: transfers, smoothed RTTs."""

import polars as pl
import pytest
import typer

from fullpipe import Run, Scenario, sweeps
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.errors import UnknownNameError


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    scenario = Scenario(
        name="sampled",
        duration="4 s",
        warmup="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
        flows=[
            {"cca": "cubic", "name": "bulk"},
            {
                "cca": "cubic",
                "name": "web",
                "workload": {"kind": "web", "objects": [2, 5], "think": "100 ms"},
            },
        ],
        record={"interval": "100 ms"},
    )
    return sweeps.run(sweeps.jobs(scenario, [1, 2]))


def drawn(runs: list[Run], *metrics: str) -> tuple[str, pl.DataFrame]:
    figure, data = figure_of(runs, Chosen(Kind.CDF, metrics))
    return figure.axes[0].get_xlabel(), data


def test_completion_times_of_all_runs_are_pooled(runs: list[Run]) -> None:
    label, data = drawn(runs, "fct of web")
    expected = pl.concat(run.transfers.filter(pl.col("start_s") >= 1)["fct_s"].drop_nulls() for run in runs)
    assert label == "completion time of web (ms)"
    assert data["value"].to_list() == pytest.approx((expected.sort() * 1e3).to_list())
    assert (data["share"][0], data["share"][-1]) == (1 / data.height, 1)
    assert data["metric"].unique().to_list() == ["fct of web"]


def test_samples_of_the_smoothed_rtt_begin_after_the_warmup(runs: list[Run]) -> None:
    label, data = drawn(runs, "srtt of bulk")
    after = [run.series.filter(pl.col("flow") == "bulk", pl.col("time_s") >= 1)["srtt_s"] for run in runs]
    assert label == "smoothed RTT of bulk (ms)"
    assert data.height == sum(len(each.drop_nulls()) for each in after)


def test_a_figure_says_how_many_samples_a_line_has(runs: list[Run]) -> None:
    figure, data = figure_of(runs, Chosen(Kind.CDF, ["fct of web"]))
    assert figure.axes[0].get_ylabel() == "share of transfers"
    assert f"{data.height:,} transfers per line, all runs together" in figure.get_supxlabel()


def test_other_figures_take_metrics_only(runs: list[Run]) -> None:
    with pytest.raises(UnknownNameError):
        figure_of(runs, Chosen(Kind.BOX, ["fct"]))
    with pytest.raises(typer.BadParameter, match="fct_p50"):
        drawn(runs, "fct", "fct_p50")
