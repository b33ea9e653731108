"""Packets that hosts of the guest capture: what the kernel itself counts is found in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import Run, Scenario
from fullpipe.analysis.export import pcapng
from fullpipe.engines.linux import script
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.install.installed import compile_program, program
from fullpipe.engines.native import NativeEngine
from fullpipe.engines.pcap import read
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.run import held
from fullpipe.errors import EngineError

BOTH = ["sender", "receiver"]
LOSS = {"kind": "bernoulli", "probability": 0.004}


def line(cca: str, **values: Any) -> Scenario:
    """One flow over 20 Mbit/s and 30 ms, as in tests/pcap, captured at both ends."""
    bottleneck = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    return Scenario(
        name="captured",
        duration="4 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck | values.pop("bottleneck", {})},
        flows=[{"cca": cca}],
        record={"interval": "10 ms", "packets": BOTH},
        **values,
    )


def read_back(made: Run, folder: Path) -> tuple[Flow, float]:
    """The flow of a run as a capture at its sender has it, and when the capture begins."""
    path = folder / "line.pcapng"
    path.write_bytes(pcapng(made, ["sender"]))
    capture = read(path)
    (flow,), _ = flows_of(capture.connections)
    return flow, capture.began_ns * 1e-9


CASES = [("cubic", False), ("cubic", True), ("reno", True), ("bbr1", True), ("vegas", True)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}{'-loss' * case[1]}")
def captured(
    request: pytest.FixtureRequest, linux: LinuxEngine, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Flow, float]:
    cca, has_loss = request.param
    made = linux.run(line(cca, bottleneck={"loss": LOSS} if has_loss else {}), seed=1)
    return made, *read_back(made, tmp_path_factory.mktemp("captured"))


def test_bytes_in_flight_are_those_of_the_kernel(captured: tuple[Run, Flow, float]) -> None:
    made, flow, began_s = captured
    assert flow.window is not None
    series = made.series.drop_nulls("in_flight_bytes")
    times_s = series["time_s"].to_numpy() - began_s
    before, behind = (held(flow.window.time_s, flow.window.in_flight, times_s + by) for by in (-2e-7, 2e-7))
    steady = before == behind  # samples of the very moment in which something happens may be before it
    assert steady.sum() > 0.99 * series.height
    assert np.array_equal(behind[steady], series["in_flight_bytes"].to_numpy()[steady])


def test_the_window_is_within_a_packet_where_it_holds_the_sender_back(
    captured: tuple[Run, Flow, float],
) -> None:
    made, flow, began_s = captured
    assert flow.window is not None
    series = made.series.drop_nulls("cwnd_bytes")
    limited = series.filter(pl.col("in_flight_bytes") >= pl.col("cwnd_bytes") - flow.mss)
    found = held(*flow.window.estimate, limited["time_s"].to_numpy() - began_s)
    assert limited.height > (0.1 if made.flows["cca"][0] == "bbr1" else 0.95) * series.height  # BBR paces
    assert np.abs(found - limited["cwnd_bytes"].to_numpy()).max() <= flow.mss


def test_every_retransmission_is_found(captured: tuple[Run, Flow, float]) -> None:
    made, flow, _ = captured
    assert flow.retransmissions is not None
    assert flow.retransmissions.packets.sum() == made.flows["retransmitted_packets"][0] > 0
    assert int(flow.packets.sum()) == made.flows["sent_packets"][0]


def test_no_packet_takes_less_than_the_path(captured: tuple[Run, Flow, float]) -> None:
    """15 ms and a packet's time at 20 Mbit/s; lost ones never arrive, and what was sent again comes later."""
    made, _, _ = captured
    data = made.packets.filter(pl.col("kind") == "data")
    sent, arrived = (data.filter(pl.col("point") == point) for point in BOTH)
    both = arrived.join(sent.unique("seq", keep="none"), on="seq", suffix="_sent")
    took_ns = both["time_ns"] - both["time_ns_sent"]
    assert both.height > 0.9 * arrived.height
    assert took_ns.min() == pytest.approx(15e6 + 1514 * 8 / 20e6 * 1e9, abs=1000)


def brief(cca: str = "cubic", duration: str = "1 s", **values: Any) -> Scenario:
    """A second of it, or as much as is said."""
    return line(cca, **values).with_values({"duration": duration})


def test_a_capture_hardly_changes_the_run(linux: LinuxEngine) -> None:
    """Only reading the clock takes time: a nanosecond."""
    scenario = brief()
    plain = linux.run(scenario.with_values({"record.packets": None}), seed=1)
    assert plain.packets.is_empty()
    assert plain.flows["goodput_bps"][0] == pytest.approx(
        linux.run(scenario, seed=1).flows["goodput_bps"][0], rel=0.01
    )


def test_the_same_seed_captures_the_same(linux: LinuxEngine) -> None:
    scenario = brief(bottleneck={"loss": LOSS}).with_values({"flows.0.count": 2})
    one, other = (linux.run(scenario, seed=1).packets for _ in range(2))
    assert one.equals(other)
    assert set(one["flow"]) == {"cubic-1", "cubic-2"}
    assert one["time_ns"].is_sorted()


def test_headers_of_the_opening_are_those_of_the_simulator(linux: LinuxEngine) -> None:
    scenario = brief(duration="100 ms")
    columns = ("point", "flow", "connection", "source", "kind", "seq", "len", "ack", "sacks", "ecn", "size")
    ours, theirs = (engine.run(scenario, seed=1).packets for engine in (linux, NativeEngine()))
    opening = (pl.col("kind").is_in(["syn", "syn_ack", "handshake_ack"])) | (
        pl.col("seq") + pl.col("ack") < 15_000
    )
    found, known = (
        packets.filter(opening, pl.col("time_ns") < 50_000_000).select(columns).sort(columns)
        for packets in (ours, theirs)
    )
    assert found.equals(known)


def test_marks_are_counted_as_the_kernel_does(linux: LinuxEngine) -> None:
    bottleneck = {"queue": {"kind": "step", "mark_ms": 2.0}}
    made = linux.run(brief("dctcp", "2 s", bottleneck=bottleneck, tcp={"ecn": "accecn"}), seed=1)
    marked = made.packets.filter(pl.col("point") == "receiver", pl.col("ecn") == "ce").height
    counted = made.packets.filter(pl.col("source") == "receiver", pl.col("point") == "receiver")["ce_count"]
    assert counted[-1] == marked == made.flows["marked_packets"][0] > 100
    assert counted.is_sorted()


def test_echoes_of_marks_and_answers_to_them(linux: LinuxEngine) -> None:
    bottleneck = {"queue": {"kind": "step", "mark_ms": 2.0}}
    made = linux.run(brief(bottleneck=bottleneck, tcp={"ecn": True}), seed=1)
    told = {
        source: set(" ".join(part["flags"]).split()) for (source,), part in made.packets.group_by("source")
    }
    assert "ece" in told["receiver"]
    assert "cwr" in told["sender"]
    assert made.packets["ce_count"].null_count() == made.packets.height


def test_copies_arrive_twice(linux: LinuxEngine) -> None:
    made = linux.run(brief("reno", "2 s", bottleneck={"duplicate": 0.02}), seed=1)
    data = made.packets.filter(pl.col("kind") == "data", pl.col("point") == "receiver")
    assert data.height > 1.01 * data["seq"].n_unique()
    assert "dsack" in " ".join(made.packets["flags"])


def test_datagrams_have_the_times_of_their_applications(linux: LinuxEngine) -> None:
    made = linux.run(
        brief().with_values({"flows": [{"workload": {"kind": "ping", "interval": "100 ms"}}]}), seed=1
    )
    at = {
        (kind, point): part["time_ns"]
        for (kind, point), part in made.packets.group_by("kind", "point", maintain_order=True)
    }
    assert set(at) == {
        ("datagram", "sender"),
        ("datagram", "receiver"),
        ("reply", "receiver"),
        ("reply", "sender"),
    }
    rtts_s = (at["reply", "sender"] - at["datagram", "sender"][: len(at["reply", "sender"])]) / 1e9
    assert rtts_s.to_list() == pytest.approx(made.probes["rtt_s"].drop_nulls().to_list(), abs=1e-12)


def test_too_many_packets_end_a_run(linux: LinuxEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MOST_CAPTURED", 1000)
    with pytest.raises(EngineError, match="more than 1000 packets were captured by 0"):
        linux.run(brief(), seed=1)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="nothing may be mounted here")
def test_a_capture_that_finds_no_room_ends_the_run(linux: LinuxEngine, tmp_path: Path) -> None:
    compile_program()
    room, file = tmp_path / "room", tmp_path / "line.toml"
    room.mkdir()
    file.write_text(line("cubic").to_toml(), encoding="utf-8")
    size = program().stat().st_size + 400_000
    in_little = f'mount -t tmpfs -o size={size} tmpfs "$TMPDIR" || exit 77; exec "$@"'
    command = [
        sys.executable,
        "-m",
        "fullpipe",
        "run",
        str(file),
        "--engine",
        "linux",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", in_little, "sh", *command],
        env={**os.environ, "TMPDIR": str(room)},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("nothing may be mounted here")
    assert done.returncode == 1
    assert f"{room} has " in done.stderr
    assert " B of free space; free some" in done.stderr
    assert not list(tmp_path.glob("*/linux-*"))
