"""Real runs on ns-3. Skipped, with the reason, where it is not installed: fullpipe engines install ns3."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import _native, engines
from fullpipe.engines import ns3
from fullpipe.engines.ns3 import Ns3Engine, build
from fullpipe.errors import CancelledError, EngineError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from tests.children import started
from tests.once import once

ROOT = Path(__file__).resolve().parents[2]
Cli = Callable[..., Any]
NATIVE = engines.engine("native")
NS3 = engines.engine("ns3")
LACKS = "; ".join(map(str, engines.missing(NS3)))
needs_ns3 = pytest.mark.skipif(bool(LACKS), reason=LACKS)


def scenario(cca: object = "cubic", **values: Any) -> Scenario:
    """One flow over 20 Mbit/s and 40 ms with a bottleneck queue of one bandwidth-delay product."""
    bottleneck = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"packets": 66}}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    base = Scenario(name="test", duration="5 s", topology=topology, flows=[{"cca": cca}])
    return base.with_values({"record.interval": "off", **values})


def ours(cca: object, **values: Any) -> Scenario:
    return scenario(cca, **{"ns3.algorithms": "fullpipe", **values})


def goodput(run: Run) -> float:
    return float(run.flows["goodput_bps"][0])


def test_the_extension_exports_the_algorithms() -> None:
    assert ctypes.CDLL(_native.__file__).fullpipe_congestion


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without ns-3: nothing in the cache, and no wheel in this environment."""
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "find", lambda version: None)


@pytest.mark.usefixtures("bare")
def test_a_missing_wheel_is_one_message_that_says_what_to_run() -> None:
    [problem] = [p for p in Ns3Engine().check(scenario()) if "ns-3" in p.message]
    assert problem.message == "ns-3 3.44: not installed; run: fullpipe engines install ns3"


def test_a_missing_compiler_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    [requirement] = [f for f in Ns3Engine().doctor() if f.what == "C++ compiler"]
    assert not requirement.present
    assert "install g++" in requirement.remedy


def test_a_version_without_a_wheel_is_refused_with_those_that_there_are(fullpipe: Cli) -> None:
    told = fullpipe("engines", "install", "ns3", "--version", "3.40")
    assert told.exit_code == 2
    assert "give 3.44, 3.43, 3.42, 3.39" in told.stderr


def test_a_network_that_is_down_is_one_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fullpipe: Cli
) -> None:
    monkeypatch.setenv("FULLPIPE_CACHE", str(tmp_path / "cache"))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    told = fullpipe("engines", "install", "ns3")
    assert told.exit_code == 1
    assert told.stderr.splitlines()[-1].startswith("fullpipe: ns-3 cannot be downloaded")


@needs_ns3
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jitter_delays_packets_as_natively(seed: int, tmp_path: Path) -> None:
    """Datagrams that arrive before the end: a packet that is late by 0.2 ms changes their number."""
    file = tmp_path / "delays.txt"
    file.write_text("0\n10\n40\n5\n", encoding="utf-8")
    links: list[dict[str, Any]] = [
        {"wifi_jitter": "20 ms"},
        {"recorded_jitter": str(file)},
        {"recorded_jitter": {"file": str(file), "draw": "interpolated", "reorder": True}},
    ]
    flows = [{"workload": {"kind": "udp", "rate": "10 Mbit/s", "size": "250 B"}}]
    for link in links:
        made = scenario(**{f"topology.bottleneck.{key}": value for key, value in link.items()})
        made = made.with_values({"flows": flows, "duration": "1 s", "warmup": "0 s"})
        delivered = [int(engine.run(made, seed=seed).flows["delivered_bytes"][0]) for engine in (NATIVE, NS3)]
        assert delivered[0] == delivered[1] > 0


@needs_ns3
@pytest.mark.parametrize("kind", ["cubic", "bbr3", "ad_bbr"])
def test_an_algorithm_of_ours_has_the_goodput_inside_ns3_that_it_has_natively(kind: str) -> None:
    wanted = goodput(NATIVE.run(ours(kind), seed=1))
    assert goodput(NS3.run(ours(kind), seed=1)) == pytest.approx(wanted, rel=0.05)


@needs_ns3
def test_the_same_seed_gives_the_same_tables() -> None:
    made = scenario("bbr1", **{"record.interval": "100 ms", "flows.0.start_jitter": "50 ms"})
    first, second = (NS3.run(made, seed=3) for _ in range(2))
    assert all(first.tables[name].equals(second.tables[name]) for name in first.tables)


@needs_ns3
def test_flows_start_when_they_do_natively() -> None:
    made = scenario(**{"duration": "1 s", "flows.0.start_jitter": "500 ms"})
    assert NS3.run(made, seed=5).flows["start_s"].equals(NATIVE.run(made, seed=5).flows["start_s"])


@needs_ns3
def test_a_packet_takes_as_long_as_natively() -> None:
    """The handshake apart, the smallest RTT is that of a full segment and a bare ACK."""
    made = scenario("reno", **{"duration": "1 s", "tcp.ack_every": 1, "tcp.max_burst": "off"})
    [smallest] = NS3.run(made, seed=1).flows["rtt_min_s"]
    assert smallest == pytest.approx(0.040 + (1514 + 66) * 8 / 20e6, abs=1e-7)


@needs_ns3
def test_what_is_measured_is_what_the_engine_says_and_nothing_else() -> None:
    run = NS3.run(ours("bbr3", **{"record.interval": "100 ms", "record.variables": True}), seed=1)
    empty = NS3.capabilities().not_measured
    for name in ("flows", "series", "links", "links_summary", "variables"):
        table = run.tables[name]
        nulls = {f"{name}.{c}" for c in table.columns if table[c].null_count() == len(table)}
        assert nulls - {"flows.fct_s", "links.sojourn_s"} <= empty
        assert {f"{name}.{column}" for column in table.columns} & empty <= nulls


@needs_ns3
def test_samples_are_as_many_and_at_the_same_times_as_natively() -> None:
    made = scenario(**{"duration": "2 s", "record.interval": "100 ms"})
    there, here = NS3.run(made, seed=1), NATIVE.run(made, seed=1)
    for name in ("series", "links"):
        key = ["time_s", {"series": "flow", "links": "link"}[name]]
        assert there.tables[name].select(key).equals(here.tables[name].select(key))


@needs_ns3
def test_packets_that_leave_are_delivered_dropped_or_under_way() -> None:
    run = NS3.run(scenario("reno"), seed=1)
    [sent], [retransmitted] = run.flows["sent_packets"], run.flows["retransmitted_packets"]
    link = run.links_summary.row(0, named=True)
    on_the_way = sent + 2 - link["forwarded_packets"] - link["dropped_packets"]  # the handshake sends 2
    assert 0 <= on_the_way <= 66 + 1 + 34 + 1  # the queue, the wire and what is being sent
    assert retransmitted <= link["dropped_packets"] + 3


@needs_ns3
def test_a_flow_of_a_given_size_ends_when_all_is_acknowledged() -> None:
    made = ours("reno", **{"flows.0.size": "100 kB", "tcp.ack_every": 1, "tcp.max_burst": "off"})
    there, here = (float(e.run(made, seed=1).flows["fct_s"][0]) for e in (NS3, NATIVE))
    assert there == pytest.approx(here, rel=0.05)


@needs_ns3
def test_a_flow_that_stops_is_measured_up_to_then() -> None:
    flow = NS3.run(scenario(**{"flows.0.stop": "2 s"}), seed=1).flows.row(0, named=True)
    assert flow["end_s"] == 2.0


@needs_ns3
def test_a_rate_that_falls_to_a_quarter_takes_the_goodput_with_it() -> None:
    changes = [{"at": "5 s", "rate": "5 Mbit/s"}]
    made = scenario(duration="10 s", **{"topology.bottleneck.changes": changes, "record.interval": "1 s"})
    series = NS3.run(made, seed=1).series.sort("time_s")["goodput_bps"]
    assert series[-2:].mean() == pytest.approx(series[3:5].mean() / 4, rel=0.05)


@needs_ns3
def test_a_longer_delay_is_seen_in_the_rtt() -> None:
    changes = [{"at": "2 s", "delay": "60 ms"}]
    run = NS3.run(ours("bbr1", **{"topology.bottleneck.changes": changes, "record.interval": "1 s"}), seed=1)
    srtt = run.series.sort("time_s")["srtt_s"]
    assert srtt[-1] - srtt[1] > 0.03


@needs_ns3
def test_exactly_every_hundredth_packet_is_lost() -> None:
    loss = {"kind": "periodic", "every": 100}
    link = NS3.run(scenario(**{"topology.bottleneck.loss": loss, "duration": "5 s"}), seed=1).links_summary
    first = link.row(0, named=True)
    assert first["dropped_packets"] == (first["forwarded_packets"] + first["dropped_packets"]) // 100


@needs_ns3
@pytest.mark.parametrize("kind", ["red", "codel", "fq_codel", "pie", "fq_pie"])
def test_queues_of_ns3_carry_traffic_and_keep_it_short(kind: str) -> None:
    run = NS3.run(scenario("reno", **{"topology.bottleneck.queue": {"kind": kind}}), seed=1)
    link = run.links_summary.row(0, named=True)
    assert link["dropped_packets"] > 0
    assert goodput(run) > 12e6


@needs_ns3
def test_a_token_bucket_shapes_to_its_rate() -> None:
    queue = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 15_140, "packets": 60}
    bottleneck = {"delay": "20 ms", "queue": queue}
    made = ours("reno", **{"topology.bottleneck": bottleneck})
    assert goodput(NS3.run(made, seed=1)) == pytest.approx(10e6 * 1448 / 1514, rel=0.05)


SHAPED = {
    "rate": "20 Mbit/s",
    "delay": "20 ms",
    "queue": {"kind": "tbf", "rate_bps": 40_000_000, "burst_bytes": 125_000, "packets": 20},
    "device_queue": {"packets": 50},
}
"""A shaper that is no limit at first, above a device that is."""


@needs_ns3
def test_what_a_device_holds_and_what_waits_above_it_are_the_backlog_as_natively() -> None:
    made = ours("reno", **{"topology.bottleneck": SHAPED})
    most = [engine.run(made, seed=1).links_summary["backlog_max_packets"][0] for engine in (NS3, NATIVE)]
    assert most == [70, 70]


@needs_ns3
def test_above_a_device_the_rate_of_the_shaper_changes() -> None:
    slower = {**SHAPED, "changes": [{"at": "1 s", "rate": "10 Mbit/s"}]}
    run = NS3.run(ours("reno", **{"topology.bottleneck": slower, "warmup": "2 s"}), seed=1)
    assert goodput(run) == pytest.approx(10e6 * 1448 / 1514, rel=0.05)


@needs_ns3
@pytest.mark.parametrize(("when_full", "refuses"), [("drop", True), ("block", False)])
def test_an_application_loses_what_the_socket_refuses_or_waits(when_full: str, refuses: bool) -> None:
    cbr = {"kind": "cbr", "rate": "30 Mbit/s", "write": "1024 B", "when_full": when_full}
    run = NS3.run(ours("reno", **{"flows.0.workload": cbr, "tcp.send_buffer": "100 kB"}), seed=1)
    assert goodput(run) > 17e6
    assert (run.flows["refused_bytes"][0] > 0) == refuses


@needs_ns3
def test_an_application_writes_at_its_rate() -> None:
    cbr = {"kind": "cbr", "rate": "8 Mbit/s", "write": "1024 B"}
    assert goodput(NS3.run(ours("reno", **{"flows.0.workload": cbr}), seed=1)) == pytest.approx(8e6, rel=0.01)


@needs_ns3
def test_what_a_flow_loses_is_what_the_network_drops_of_its_data() -> None:
    run = NS3.run(ours("cubic"), seed=1)
    assert run.flows["lost_packets"][0] == run.links_summary["dropped_packets"][0] > 0


@needs_ns3
def test_marks_reach_a_sender_that_negotiated_them() -> None:
    queue = {"kind": "fq_codel", "ecn": True}
    run = NS3.run(scenario("reno", **{"topology.bottleneck.queue": queue, "tcp.ecn": True}), seed=1)
    [marked], [retransmitted] = run.flows["marked_packets"], run.flows["retransmitted_packets"]
    assert marked > 0
    assert retransmitted < marked


@needs_ns3
@pytest.mark.parametrize("kind", ["dctcp", "reno"])
def test_our_algorithms_hear_of_marks(kind: str) -> None:
    queue = {"kind": "fq_codel", "ecn": True}
    run = NS3.run(ours(kind, **{"topology.bottleneck.queue": queue, "tcp.ecn": True}), seed=1)
    assert run.flows["marked_packets"][0] > 0
    assert goodput(run) > 15e6


@needs_ns3
def test_a_finite_receive_buffer_limits_the_rate() -> None:
    run = NS3.run(scenario(**{"tcp.receive_buffer": "32 KiB"}), seed=1)
    assert goodput(run) == pytest.approx(2**15 * 8 / 0.0413, rel=0.1)


RECOVERING = {
    "topology.bottleneck.queue": {"packets": 8},
    "topology.bottleneck.delay": "60 ms",
    "flows.0.count": 2,
    "duration": "5 s",
}
"""Two flows that lose retransmissions again and wait for timeouts."""
PARTIAL = {
    "tcp.mss": "536 B",
    "tcp.send_buffer": "300 kB",
    "flows.0.workload": {"kind": "cbr", "rate": "22 Mbit/s", "write": "1024 B", "when_full": "drop"},
}
"""Writes that are no multiple of a segment, so that segments have other bounds when they are sent again."""


@needs_ns3
def test_sockets_that_never_limit_are_as_those_with_buffers_that_never_fill() -> None:
    """No cumulative ACK comes for seconds: what the sockets hold must last."""
    large = {f"tcp.{side}_buffer": "4 MiB" for side in ("send", "receive")}
    never, ample = (NS3.run(scenario("bbr1", **RECOVERING, **more), seed=1).flows for more in ({}, large))
    assert never["sent_packets"].to_list() == ample["sent_packets"].to_list()


@needs_ns3
@pytest.mark.slow
@pytest.mark.parametrize("more", [{"ns3.sack": True}, {"ns3.sack": False}, PARTIAL])
def test_our_searches_of_ns3_s_buffers_find_what_ns3_s_find(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    more: dict[str, Any],
) -> None:
    """The program without our searches is in target/, compiled when sources have changed."""
    made = scenario("bbr1", **RECOVERING, **more, **{"record.interval": "100 ms"})
    ours = NS3.run(made, seed=1)
    found = build.find("3.44")
    (tmp_path / "cpp").mkdir()
    for file in build._SOURCES.iterdir():
        if file.is_file() and file.name not in ("buffers.cc", "sent.cc"):
            shutil.copy(file, tmp_path / "cpp")
    monkeypatch.setattr(build, "_SOURCES", tmp_path / "cpp")
    monkeypatch.setattr(build, "find", lambda version: found)
    monkeypatch.setenv("FULLPIPE_CACHE", str(ROOT / "target" / "ns3-searches"))
    build.fingerprint.cache_clear()
    try:
        once(tmp_path_factory, "ns3-searches", lambda _: build.program(found))
        theirs = NS3.run(made, seed=1)
    finally:
        build.fingerprint.cache_clear()
    assert all(ours.tables[name].equals(theirs.tables[name]) for name in ours.tables)


SLOW = {
    "topology.bottleneck.rate": "5 Mbit/s",
    "topology.bottleneck.queue.packets": 17,
    "duration": "1500 ms",
}


@needs_ns3
def test_every_algorithm_of_ns3_by_our_names_carries_data() -> None:
    from fullpipe.engines.ns3.supported import COUNTERPARTS

    for kind in COUNTERPARTS:
        made = scenario(kind, **SLOW, **{"tcp.ecn": kind == "dctcp"})
        assert goodput(NS3.run(made, seed=1)) > 5e5, kind


@needs_ns3
def test_every_algorithm_of_ours_runs_on_ns3_s_stack() -> None:
    for kind in sorted(NS3.capabilities().ccas):
        made = ours(kind, **SLOW, **{"tcp.ecn": kind == "dctcp"})
        assert goodput(NS3.run(made, seed=1)) > 1e6, kind


@needs_ns3
def test_variables_of_our_algorithms_are_recorded() -> None:
    run = NS3.run(ours("bbr3", **{"record.variables": True, "record.interval": "1 s"}), seed=1)
    states = run.variables.filter(pl.col("name") == "state")["state"].unique()
    assert {"Startup", "Drain"} <= set(states)


@needs_ns3
def test_a_route_that_changes_changes_the_rtt() -> None:
    links = [
        {"name": "fast", "from": "a", "to": "b", "rate": "20 Mbit/s", "delay": "5 ms", "duplex": True},
        {"name": "slow", "from": "a", "to": "b", "rate": "20 Mbit/s", "delay": "50 ms", "duplex": True},
    ]
    flow = {"cca": "vegas", "from": "a", "to": "b", "reroutes": [{"at": "5 s", "via": ["slow"]}]}
    graph = {"kind": "graph", "nodes": ["a", "b"], "links": links}
    made = Scenario(name="test", duration="10 s", topology=graph, flows=[flow], record={"interval": "1 s"})
    srtt = NS3.run(made, seed=1).series.sort("time_s")["srtt_s"]
    assert srtt[3] < 0.05 < 0.09 < srtt[-1]


def _processes_of(folder: str) -> list[str]:
    """Command lines that mention a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        found += [entry.parent.name] if any(folder in word for word in words) else []
    return found


@needs_ns3
def test_a_cancelled_run_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # other tests run ns-3, too
    seen: list[str] = []

    def stop(reached_s: float) -> None:
        if reached_s > 0.1:
            seen.extend(_processes_of(str(tmp_path)))
            raise CancelledError("enough")

    with pytest.raises(CancelledError):
        NS3.run(scenario(duration="600 s"), seed=1, progress=stop)
    assert seen
    assert _processes_of(str(tmp_path)) == []


@needs_ns3
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killing_fullpipe_leaves_no_process_and_no_half_result(how: signal.Signals, tmp_path: Path) -> None:
    command = ["-m", "fullpipe", "run", "single-cubic", "--engine", "ns3", "--set", "duration=600 s"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with started([sys.executable, *command], cwd=tmp_path, env=environment) as running:
        deadline = time.monotonic() + 60
        while not _processes_of(str(tmp_path)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert _processes_of(str(tmp_path))
        running.send_signal(how)
        running.communicate(timeout=60)
    deadline = time.monotonic() + 10
    while _processes_of(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert _processes_of(str(tmp_path)) == []
    assert list(tmp_path.glob("runs/*/*/meta.json")) == []
    left = list(tmp_path.glob("fullpipe-ns3-*"))
    assert how == signal.SIGKILL or left == []  # the next run removes what a kill leaves


@needs_ns3
def test_ns3_s_last_words_are_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from fullpipe.engines import ns3

    written = ns3.program_input

    def broken(*arguments: Any) -> str:
        return str(written(*arguments)).replace("ns3::FifoQueueDisc", "ns3::NoQueueDisc")

    monkeypatch.setattr(ns3, "program_input", broken)
    with pytest.raises(EngineError, match="NoQueueDisc"):
        NS3.run(scenario(), seed=1)


@needs_ns3
def test_nothing_is_sent_during_an_outage() -> None:
    changes = [{"at": "2 s", "rate": "0 bit/s"}, {"at": "3 s", "rate": "20 Mbit/s"}]
    made = scenario("bbr1", **{"topology.bottleneck.changes": changes, "record.interval": "1 s"})
    run = NS3.run(made, seed=1)
    links = run.links.filter(pl.col("link") == "bottleneck").sort("time_s")
    assert links["backlog_packets"][2] > 0
    assert run.series.sort("time_s")["goodput_bps"][2] < 0.1 * 20e6


@needs_ns3
def test_installing_again_changes_nothing_and_says_what_is_ready(fullpipe: Cli) -> None:
    told = fullpipe("engines", "install", "ns3")
    assert (told.exit_code, told.stdout) == (0, f"ns3 is ready: {NS3.version()}\n")


@pytest.mark.parametrize(("name", "starved"), [("ns3-3.39", True), ("ns3", False)])
def test_flows_starve_in_3_39_and_not_in_3_44(name: str, starved: bool) -> None:
    """Kato et al. at a tenth of the rate; with socket buffers of so many bytes as their numbers imply."""
    engine = engines.engine(name)
    if lacks := engines.missing(engine):
        pytest.skip("; ".join(map(str, lacks)))
    study = Scenario.named("kato2025").with_values(
        {
            "topology.bottleneck.rate": "100 Mbit/s",
            "topology.bottleneck.queue.packets": 10,
            "flows.0.count": 4,
            **{f"tcp.{side}_buffer": "400 KiB" for side in ("send", "receive")},
            "duration": "8 s",
            "warmup": "4 s",
        }
    )
    slowest = min(engine.run(study, seed=1).flows["goodput_bps"])
    assert (slowest < 1e6) == starved


def test_what_killed_processes_left_behind_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, used = tmp_path / "fullpipe-ns3-99999999-abc", tmp_path / f"fullpipe-ns3-{os.getpid()}-abc"
    left.mkdir()
    used.mkdir()
    with ns3.workplace() as folder:
        assert [left.exists(), used.exists(), folder.exists()] == [False, True, True]
    assert not folder.exists()
