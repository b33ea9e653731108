"""Capacities: of the path of flows, above which no ellipse is drawn, and of links in figures over time."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import Run, Scenario, plots, run, traces
from fullpipe.analysis.metrics.paths import capacity_bps
from fullpipe.analysis.over_time import capacities_of
from fullpipe.plots.links import Capacity, capacities
from fullpipe.scenario import resolve
from fullpipe.scenario.model.content import Content
from fullpipe.scenario.model.link import trace as trace_files
from fullpipe.scenario.traces import parse_mahimahi

BASE: dict[str, Any] = {
    "name": "capacity",
    "duration": "1 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "50 Mbit/s", "delay": "5 ms"},
        "reverse": {"rate": "10 Mbit/s", "delay": "5 ms"},
    },
    "flows": [
        {"cca": "cubic", "name": "one"},
        {"cca": "cubic", "name": "two"},
        {"cca": "cubic", "name": "up", "upload": True},
    ],
}


@pytest.mark.parametrize(
    ("flows", "mbps"), [(["one"], 50), (["one", "two"], 50), (["up"], 10), (["one", "two", "up"], 60)]
)
def test_every_narrowest_link_counts_once(flows: list[str], mbps: float) -> None:
    assert capacity_bps(resolve(Scenario(**BASE)), flows) == mbps * 1e6


def test_a_link_whose_rate_changes_has_no_capacity() -> None:
    changes = [{"at": "500 ms", "rate": "80 Mbit/s"}]
    scenario = Scenario(**BASE).with_values({"topology.bottleneck.changes": changes})
    assert capacity_bps(resolve(scenario), ["one"]) is None
    assert capacity_bps(resolve(scenario), ["up"]) == 10e6


def test_no_flow_has_no_capacity() -> None:
    assert capacity_bps(resolve(Scenario(**BASE)), []) is None


def recorded(trace: Path, **values: Any) -> Run:
    """A flow over a recorded link of 5 s, of which 2 s are an outage, and which is repeated after 5 s."""
    times = np.concatenate([np.arange(2, 2000, 2), np.arange(4000, 5001)])
    traces.write_mahimahi(trace, times)
    bottleneck = {"delay": "5 ms", "trace": str(trace), "queue": {"packets": 50}}
    base = {
        "name": "recorded",
        "duration": "8 s",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "tcp": {"link_overhead": "4 B"},
        "flows": [{"cca": "cubic"}],
    }
    return run(Scenario(**(base | values)))


def test_a_packet_delivery_trace_has_its_opportunities_as_capacity(tmp_path: Path) -> None:
    made = recorded(tmp_path / "cell.down")
    found = capacities_of(made).filter(link="bottleneck")
    assert found["is_mean"].all()
    rates = dict(found.select(pl.col("time_s").round(3), pl.col("rate_bps") / 1e6).iter_rows())
    assert rates[1.0] == pytest.approx(500 * 1504 * 8 / 1e6)
    assert rates[3.0] == 0
    assert rates[4.5] == pytest.approx(1000 * 1504 * 8 / 1e6)
    assert rates[6.0] == pytest.approx(rates[1.0]), "the trace repeats"
    figure = plots.plot_run(made, "goodput")
    (area,) = [each for each in figure.axes[0].collections if each.get_zorder() < 1]
    assert area.get_paths()[0].get_extents().y1 == pytest.approx(1000 * 1504 * 8 / 1e6, rel=0.01)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["CUBIC-1", "capacity"]


def test_a_recording_that_has_changed_has_no_capacity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recorded(tmp_path / "cell.down")
    monkeypatch.setattr(trace_files, "_MAHIMAHI", Content(parse_mahimahi))  # without those read before
    assert "bottleneck" in set(capacities_of(made)["link"])
    monkeypatch.setattr(trace_files, "_MAHIMAHI", Content(parse_mahimahi))
    traces.write_mahimahi(tmp_path / "cell.down", [1, 2, 3])
    assert "bottleneck" not in set(capacities_of(made)["link"])


def test_the_rows_of_a_csv_are_steps(tmp_path: Path) -> None:
    (tmp_path / "course.csv").write_text("time_s,rate_bps\n0,5e6\n1,9e6\n2,5e6\n")
    bottleneck = {"delay": "5 ms", "trace": str(tmp_path / "course.csv")}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    made = recorded(tmp_path / "cell.down", topology=topology, duration="2 s")
    found = capacities(plots.presented(made))["capacity", "bottleneck"]
    assert not found.is_mean
    assert list(zip(found.times_s, found.rates, strict=True))[:2] == [(0.0, 5.0), (1.0, 9.0)]
    assert (found.most(0.5, 0.9), found.most(0.5, 1.0), found.most(1.2, 1.5)) == (5.0, 9.0, 9.0)


def test_means_count_for_the_time_before_them() -> None:
    found = Capacity((1.0, 2.0, 3.0), (5.0, 7.0, 1.0), is_mean=True)
    assert (found.most(2.1, 2.5), found.most(1.0, 1.5), found.most(9.0, 9.5)) == (1.0, 7.0, 0.0)


def test_a_cell_has_the_rate_of_all_resource_blocks_but_none_during_a_hand_over() -> None:
    values = {
        "duration": "1 s",
        "warmup": "0 s",
        "record": {"interval": "20 ms", "variables": True},
        "cells.0.users.0.handovers": [{"at": "500 ms", "gap": "60 ms"}],
        "cells.0.users.0.snr": "20 dB",
    }
    made = run(Scenario.named("nr-100mhz").with_values(values))
    (port,) = [link for link in capacities_of(made)["link"].unique() if link.endswith("-down")]
    found = capacities_of(made).filter(link=port)
    assert set(found["what"]) == {"capacity without other users"}
    inside = found.filter(pl.col("time_s").is_between(0.51, 0.561))["rate_bps"].to_numpy()
    assert inside == pytest.approx([0, 0, 0], abs=1)
    (cell,) = made.scenario.cells or ()
    rates = {rate for name, _, every in cell.modes() if name == port for rate in every}
    outside = found.filter(pl.col("time_s") < 0.5)["rate_bps"]
    assert set(outside) <= rates


def test_goodput_above_the_capacity_is_explained_where_it_happens(tmp_path: Path) -> None:
    told = plots.plot_run(recorded(tmp_path / "cell.down"), "goodput").get_supxlabel()
    assert "goodput exceeds the capacity when a retransmission fills a hole" in " ".join(told.split())
    flat = run(Scenario(**{**BASE, "flows": [{"cca": "vegas"}], "duration": "2 s"}))
    assert plots.plot_run(flat, "goodput").get_supxlabel() == "one run, seed 1"
