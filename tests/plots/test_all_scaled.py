"""A run as Flent draws it: downloads, uploads, their sums and latency."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullpipe as library
from fullpipe import Run, Scenario
from fullpipe.plots import all_scaled
from fullpipe.plots.style import within_time
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of

Cli = Callable[..., Any]


def made(name: str) -> Run:
    path = path_of(Scenario.named("ethernet-100m").with_values({"topology.bottleneck.rate": "5 Mbit/s"}))
    return library.run(scenario_of(declared(name), path, Choices(length_s=5)))


@pytest.fixture(scope="module")
def rrul() -> Run:
    return made("rrul")


def test_there_are_four_panels_with_a_curve_per_flow(rrul: Run) -> None:
    figure, data = all_scaled(rrul)
    curves = data.group_by("panel", maintain_order=True).agg(pl.col("curve").n_unique())
    assert dict(curves.iter_rows()) == {"downloads": 5, "uploads": 5, "totals": 2, "RTT": 5}
    assert len(figure.axes) == 4
    assert set(data.filter(panel="downloads")["curve"]) >= {"TCP download BE", "TCP download EF", "mean"}


def test_curves_are_samples_of_the_run_while_streams_ran(rrul: Run) -> None:
    with within_time(None, rrul.series["time_s"].unique().sort()[0]):
        _, data = all_scaled(rrul)
    one = data.filter(panel="uploads", curve="TCP upload BK")
    assert one["time_s"].min() > 5
    assert one["time_s"].max() <= 10
    own = rrul.series.filter(flow="TCP upload BK").filter(pl.col("time_s").is_in(one["time_s"].to_list()))
    assert one["value"].to_list() == pytest.approx((own["goodput_bps"] / 1e6).to_list())
    pings = data.filter(panel="RTT", curve="Ping ICMP")
    replies = rrul.probes.filter(flow="Ping ICMP").drop_nulls("rtt_s")
    assert pings["value"].to_list() == pytest.approx((replies["rtt_s"] * 1e3).to_list())


def test_all_goodputs_have_one_window_that_is_named_once() -> None:
    figure, data = all_scaled(made("tcp_bidirectional"))
    for way in ("downloads", "uploads"):
        (curve,) = data.filter(panel=way)["curve"].unique()
        own, together = (
            data.filter(panel=panel, curve=name).select("time_s", "value")
            for panel, name in ((way, curve), ("totals", f"{way}, sum"))
        )
        assert own.equals(together), "the sum of one flow is the flow"
    assert figure.get_supxlabel().splitlines()[0] == "goodput: means over 1 s"


def test_axes_end_near_the_5th_and_the_95th_percentile(rrul: Run) -> None:
    figure, data = all_scaled(rrul)
    values = data.filter(panel="RTT")["value"].to_numpy()
    low, high = np.percentile(values, [5, 95])
    bottom, top = figure.axes[3].get_ylim()
    assert bottom == pytest.approx(max(0, low - 0.1 * (high - low)))
    assert top == pytest.approx(high + 0.1 * (high - low))


def test_what_a_test_has_not_has_no_panel() -> None:
    panels = all_scaled(made("tcp_1up"))[1]["panel"].unique(maintain_order=True).to_list()
    assert panels == ["uploads", "RTT"]
    assert all_scaled(made("ping"))[1]["panel"].unique().to_list() == ["RTT"]


def test_the_command_draws_it(fullpipe: Cli) -> None:
    assert fullpipe("flent", "tcp_bidirectional", "--length", "2 s").exit_code == 0
    (folder,) = Path("runs").glob("*/native-1")
    done = fullpipe("plot", folder, "--kind", "all_scaled", "--json")
    assert done.exit_code == 0, done.output
    assert any(name.endswith("tcp_bidirectional-all_scaled.png") for name in json.loads(done.stdout)["files"])


def test_a_run_without_samples_and_pings_is_refused(fullpipe: Cli) -> None:
    Path("a.toml").write_text(
        Scenario.named("single-cubic").with_values({"duration": "1 s", "record.interval": "off"}).to_toml()
    )
    assert fullpipe("run", "a.toml", "--out", "runs").exit_code == 0
    done = fullpipe("plot", "runs", "--kind", "all_scaled")
    assert done.exit_code == 2
    assert "all_scaled needs samples of goodput" in " ".join(done.output.replace("│", " ").split())
