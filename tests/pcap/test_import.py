"""`fullpipe import` of captures that were exported from simulated runs: what comes out is what went in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.engines.pcap import read, read_run
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.run import held
from fullpipe.errors import UnknownNameError

Cli = Callable[..., Any]
SEED_LOSS = {"kind": "bernoulli", "probability": 0.004}
POINTS = ["sender", "receiver"]
NAME = "10.0.0.1.49152 - 10.128.0.1.5201"


def simulated(cca: str, loss: bool, **tcp: Any) -> Run:
    bottleneck = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    return run(
        Scenario(
            name="captured",
            duration="8 s",
            warmup="0 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck | ({"loss": SEED_LOSS} if loss else {})},
            flows=[{"cca": cca}],
            tcp=tcp,
            record={"interval": "10 ms", "packets": POINTS},
        )
    )


def captured(made: Run, folder: Path, point: str = "sender") -> tuple[Flow, float]:
    """The flow of a run as captured at a point, and the time at which the capture begins."""
    path = folder / f"{point}.pcapng"
    path.write_bytes(pcapng(made, [point]))
    capture = read(path)
    (flow,), _ = flows_of(capture.connections)
    return flow, capture.began_ns * 1e-9


def check_in_flight(made: Run, flow: Flow, began_s: float) -> None:
    """To the byte; but for samples of the very moment in which something happens, which may be before it."""
    assert flow.window is not None
    series = made.series.drop_nulls("in_flight_bytes")
    times_s = series["time_s"].to_numpy() - began_s
    before, behind = (held(flow.window.time_s, flow.window.in_flight, times_s + by) for by in (-2e-9, 2e-9))
    steady = before == behind
    assert steady.sum() > 0.95 * series.height
    assert np.array_equal(behind[steady], series["in_flight_bytes"].to_numpy()[steady])


@pytest.fixture(scope="module", params=[("cubic", True), ("reno", False), ("bbr3", True), ("vegas", True)])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Flow, float]:
    made = simulated(*request.param)
    return made, *captured(made, tmp_path_factory.mktemp("pair"))


def test_bytes_in_flight_are_those_of_the_sender(pair: tuple[Run, Flow, float]) -> None:
    made, flow, began_s = pair
    assert flow.side.name == "sender"
    check_in_flight(made, flow, began_s)


def test_the_window_is_within_a_packet_where_it_holds_the_sender_back(pair: tuple[Run, Flow, float]) -> None:
    made, flow, began_s = pair
    assert flow.window is not None
    series = made.series.drop_nulls("cwnd_bytes")
    limited = series.filter(pl.col("in_flight_bytes") >= pl.col("cwnd_bytes") - flow.mss)
    if made.flows["cca"][0] == "bbr3":  # it paces, and its window is two or more of what is in flight
        limited = limited.filter(pl.col("in_flight_bytes") == pl.col("cwnd_bytes"))
        found = held(flow.window.time_s, flow.window.in_flight, limited["time_s"].to_numpy() - began_s)
    else:
        assert limited.height > 0.9 * series.height
        found = held(*flow.window.estimate, limited["time_s"].to_numpy() - began_s)
    assert np.abs(found - limited["cwnd_bytes"].to_numpy()).max() <= flow.mss


def test_every_retransmission_is_found(pair: tuple[Run, Flow, float]) -> None:
    made, flow, began_s = pair
    data = made.packets.filter((pl.col("point") == "sender") & (pl.col("kind") == "data"))
    again = data.filter(pl.col("seq").is_first_distinct().not_())
    assert flow.retransmissions is not None
    found = flow.sent_s[flow.retransmissions.packets > 0] + began_s
    assert found == pytest.approx((again["time_ns"] * 1e-9).to_numpy(), abs=1e-9)
    assert flow.retransmissions.packets.sum() == made.flows["retransmitted_packets"][0] > 0
    assert not flow.retransmissions.is_late.any()
    assert flow.window is not None
    assert flow.window.timeouts.size == made.flows["timeouts"][0]


def test_rtts_are_those_that_the_sender_measured(pair: tuple[Run, Flow, float]) -> None:
    made, flow, _ = pair
    row = made.flows.row(0, named=True)
    tick_s = 0.001
    assert flow.rtts_s[1].mean() == pytest.approx(row["rtt_mean_s"], abs=tick_s / 10)
    assert flow.least_rtt_s == pytest.approx(row["rtt_min_s"], abs=tick_s)
    assert np.percentile(flow.rtts_s[1], 95) == pytest.approx(row["rtt_p95_s"], abs=tick_s)


def test_timestamps_give_the_same_rtt_to_a_tick(pair: tuple[Run, Flow, float]) -> None:
    _, flow, _ = pair
    seen_s, oldest_s, _ = flow.answers_s
    echoed_s, took_s = flow.echoed_s
    _, one, other = np.intersect1d(seen_s, echoed_s, return_indices=True)
    assert one.size > 1_000
    assert np.abs(oldest_s[one] - took_s[other]).max() <= 0.001 + 1e-9


def test_a_capture_at_the_receiver_says_the_same(pair: tuple[Run, Flow, float], tmp_path: Path) -> None:
    made, near, _ = pair
    flow, _ = captured(made, tmp_path, "receiver")
    assert flow.side.name == "receiver"
    assert near.retransmissions is not None
    assert flow.retransmissions is not None
    arrived = made.packets.filter((pl.col("point") == "receiver") & (pl.col("kind") == "data"))
    first = arrived.filter(pl.col("seq").is_first_distinct())
    late = first.filter(pl.col("seq") < pl.col("seq").cum_max()).height  # nothing is overtaken on this path
    doubled = arrived.height - first.height
    assert flow.retransmissions.packets.sum() == late + doubled
    assert flow.rtts_s[1].mean() == pytest.approx(near.rtts_s[1].mean(), rel=0.02)
    assert near.window is not None
    assert flow.window is not None
    assert flow.window.in_flight.mean() == pytest.approx(near.window.in_flight.mean(), rel=0.1)


def test_without_timestamps(tmp_path: Path) -> None:
    made = simulated("cubic", True, timestamps=False)
    flow, began_s = captured(made, tmp_path)
    assert (flow.side.name, flow.mss) == ("sender", made.packets["len"].max())
    assert flow.retransmissions is not None
    assert flow.retransmissions.packets.sum() == made.flows["retransmitted_packets"][0]
    check_in_flight(made, flow, began_s)


def test_a_run_has_what_was_captured(fullpipe: Cli, tmp_path: Path) -> None:
    made = simulated("cubic", True)
    path = tmp_path / "line.pcapng"
    path.write_bytes(pcapng(made, ["sender"]))
    told = json.loads(
        fullpipe("import", path, "--out", tmp_path / "runs", "--cca", "all=cubic", "--json").output
    )
    kept = Run.load(told["folder"])
    row, truth = kept.flows.row(0, named=True), made.flows.row(0, named=True)
    assert (row["flow"], row["cca"], kept.meta.engine.name, kept.name) == (NAME, "cubic", "pcap", "line")
    assert kept.meta.engine.is_of_a_file
    for column in ("goodput_bps", "sent_packets"):
        assert row[column] == pytest.approx(truth[column], rel=0.01), column
    assert row["retransmitted_packets"] == truth["retransmitted_packets"]
    assert kept.series["goodput_bps"].sum() * 0.01 / 8 == pytest.approx(row["delivered_bytes"], rel=1e-9)
    assert {"links", "packets"} <= set(kept.meta.not_measured)
    assert any("captured at the sender" in remark for remark in kept.meta.remarks)
    again = json.loads(
        fullpipe("import", path, "--out", tmp_path / "runs", "--cca", "all=cubic", "--json").output
    )
    assert again["folder"] == told["folder"]


def test_an_algorithm_of_a_flow_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "line.pcapng"
    path.write_bytes(pcapng(simulated("reno", False), ["sender"]))
    assert read_run(path, {NAME: "reno"}).flows["cca"].to_list() == ["reno"]
    with pytest.raises(UnknownNameError, match='unknown flow "bbr"'):
        read_run(path, {"bbr": "bbr1"})
