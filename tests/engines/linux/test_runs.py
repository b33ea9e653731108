"""Runs in a real kernel. Without one they are skipped, which says how to get it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import CancelledError, EngineError
from fullpipe.runs import TABLES, Run
from tests.children import started
from tests.engines.linux.conftest import SMALL


def share(run: Run) -> float:
    """The goodput of the first flow over 10 Mbit/s of payload with headers."""
    return float(run.flows["goodput_bps"][0]) / (10e6 * 1448 / 1514)


@pytest.fixture(scope="module")
def plain(linux: LinuxEngine) -> Run:
    """One flow for four seconds, for all tests that read it."""
    return linux.run(Scenario.from_toml(SMALL), seed=1)


def test_the_same_seed_gives_the_same_tables(linux: LinuxEngine, small: Scenario) -> None:
    scenario = small.with_values({"flows.0.count": 2, "flows.0.start_jitter": "10 ms"})
    one, other = (linux.run(scenario, seed=1) for _ in range(2))
    assert all(one.tables[name].equals(other.tables[name]) for name in TABLES)


def test_a_flow_fills_the_bottleneck(plain: Run) -> None:
    assert share(plain) == pytest.approx(0.98, abs=0.02)


def test_the_smallest_rtt_is_that_of_the_path(plain: Run) -> None:
    """20 ms and the serialisation of a handshake, 74 B each way."""
    assert plain.flows["rtt_min_s"][0] == pytest.approx(0.0201, abs=1e-4)


def test_what_is_not_measured_is_null(plain: Run) -> None:
    columns = [name.split(".") for name in plain.meta.not_measured if "." in name]
    assert all(
        plain.tables[table][column].null_count() == plain.tables[table].height for table, column in columns
    )


def test_a_run_says_what_its_rtts_are(plain: Run) -> None:
    assert plain.meta.otherwise["flows.rtt_mean_s"] == "its RTT samples are smoothed"


def test_a_sized_flow_ends_with_its_last_acknowledgement(linux: LinuxEngine, small: Scenario) -> None:
    scenario = small.with_values({"flows.0.size": "1 MB"})
    times = [engine.run(scenario, seed=1).flows["fct_s"][0] for engine in (linux, NativeEngine())]
    assert times[0] == pytest.approx(times[1], rel=0.05)


def test_only_datagrams_are_enough(linux: LinuxEngine, small: Scenario) -> None:
    run = linux.run(
        small.with_values({"flows": [{"workload": {"kind": "ping", "interval": "500 ms"}}]}), seed=1
    )
    assert run.flows["rtt_min_s"][0] == pytest.approx(0.0202, abs=1e-4)


@pytest.mark.parametrize("kind", ["ping", "probe", "voip", "udp"])
def test_datagrams_arrive_as_in_the_simulator(linux: LinuxEngine, small: Scenario, kind: str) -> None:
    workload = {"kind": kind, **({"rate": "2 Mbit/s", "spacing": "poisson"} if kind == "udp" else {})}
    scenario = small.with_values({"flows": [{"workload": workload}]})
    ours, theirs = (engine.run(scenario, seed=1).flows for engine in (linux, NativeEngine()))
    for column in ("sent_packets", "delivered_bytes", "lost_packets"):
        assert ours[column][0] == theirs[column][0]
    assert ours["owd_mean_s"][0] == pytest.approx(theirs["owd_mean_s"][0], rel=0.01)


def test_many_hosts_are_ready_when_the_run_begins(linux: LinuxEngine, small: Scenario) -> None:
    """A device that is not ready drops what it is to send."""
    flows = [{"workload": {"kind": "ping", "interval": "500 ms"}, "count": 150}]
    run = linux.run(small.with_values({"flows": flows, "topology.bottleneck.queue.packets": 1000}), seed=1)
    assert set(run.flows["lost_packets"]) == {0}
    assert run.probes["rtt_s"].null_count() <= 150, "the last ones are on their way"


def test_datagrams_wait_behind_a_flow(linux: LinuxEngine, small: Scenario) -> None:
    flows = [{"cca": "cubic"}, {"workload": {"kind": "probe", "interval": "20 ms"}}]
    run = linux.run(small.with_values({"flows": flows}), seed=1)
    assert run.flows["rtt_mean_s"][1] > run.flows["rtt_min_s"][1] + 0.005
    assert run.probes.height == run.flows["sent_packets"][1]


def test_flows_of_one_host_share_its_interface_and_wait_for_it_before_they_fill_it(
    linux: LinuxEngine, small: Scenario
) -> None:
    """A sender holds back what it may not have in the queues of its host, so nothing is dropped there."""
    interface = {"rate": "5 Mbit/s", "queue": {"kind": "fq"}}
    flows = [{"cca": cca, "hosts": ["laptop", f"peer-{cca}"]} for cca in ("cubic", "reno")]
    values = {"duration": "10 s", "hosts": [{"name": "laptop", "nic": interface}], "flows": flows}
    run = linux.run(small.with_values({**values, "warmup": "2 s"}), seed=1)
    goodputs = run.flows["goodput_bps"].to_list()
    assert goodputs == pytest.approx([2.5e6 * 1448 / 1514] * 2, rel=0.02)
    assert run.links_summary.filter(link="laptop-nic")["dropped_packets"].to_list() == [0]


def test_flows_of_one_host_share_its_interface_as_in_the_simulator(
    linux: LinuxEngine, small: Scenario
) -> None:
    """Two uploads leave room for one another, for a ping and for the ACKs of a download."""
    hosts = [{"name": "laptop", "nic": {"rate": "4 Mbit/s", "queue": {"kind": "fq"}}}]
    uploads = [{"cca": cca, "hosts": ["laptop", f"peer-{cca}"]} for cca in ("cubic", "reno")]
    download = {"cca": "cubic", "hosts": ["server", "laptop"], "direction": "reverse"}
    ping = {"workload": {"kind": "probe", "interval": "20 ms"}, "hosts": ["laptop", "server"]}
    values = {"duration": "10 s", "warmup": "2 s", "hosts": hosts, "flows": [*uploads, download, ping]}
    runs = [engine.run(small.with_values(values), seed=1) for engine in (linux, NativeEngine())]
    there, here = ([float(bps) for bps in run.flows["goodput_bps"]] for run in runs)
    assert here == pytest.approx(there, rel=0.02)
    assert runs[1].links_summary.filter(link="laptop-nic")["dropped_packets"].to_list() == [0]


def test_drops_are_those_that_are_sent_again(plain: Run) -> None:
    assert plain.links_summary["dropped_packets"][0] > 0
    assert plain.flows["retransmitted_packets"][0] >= plain.links_summary["dropped_packets"][0] - 20


@pytest.mark.parametrize("kind", ["codel", "fq_codel", "pie", "fq_pie", "dualpi2", "cake"])
def test_a_queue_discipline_carries_a_flow(linux: LinuxEngine, small: Scenario, kind: str) -> None:
    if kind not in linux.capabilities().queues:
        pytest.skip(f"this kernel has no {kind}; fullpipe engines install linux --version 7.2 has")
    scenario = small.with_values({"topology.bottleneck.queue": {"kind": kind}})
    assert share(linux.run(scenario, seed=1)) > 0.8


def test_marks_arrive_at_the_receiver(linux: LinuxEngine, small: Scenario) -> None:
    queue = {"kind": "codel", "ecn": True, "target_ms": 1.0, "interval_ms": 20.0}
    run = linux.run(small.with_values({"tcp.ecn": True, "topology.bottleneck.queue": queue}), seed=1)
    assert run.flows["marked_packets"][0] == run.links_summary["marked_packets"][0] > 0


def test_random_loss_is_near_its_probability(linux: LinuxEngine, small: Scenario) -> None:
    loss = {"kind": "bernoulli", "probability": 0.05}
    values = {"topology.bottleneck.loss": loss, "topology.bottleneck.queue.packets": 1000}
    run = linux.run(small.with_values({**values, "flows.0.cca": "bbr1"}), seed=1)
    [link] = run.links_summary.filter(link="bottleneck").iter_rows(named=True)
    assert link["dropped_packets"] / link["forwarded_packets"] == pytest.approx(0.05, abs=0.015)


def test_a_lower_rate_holds_from_its_time_on(linux: LinuxEngine, small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "rate": "2 Mbit/s"}]})
    series = linux.run(scenario, seed=1).series
    late = series.filter(series["time_s"] > 3)["goodput_bps"].mean()
    assert late == pytest.approx(2e6 * 1448 / 1514, rel=0.03)


def test_a_longer_delay_holds_from_its_time_on(linux: LinuxEngine, small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "delay": "60 ms"}]})
    series = linux.run(scenario, seed=1).series
    assert series.filter(series["time_s"] > 3)["srtt_s"].min() >= 0.07


def test_progress_is_virtual_time(linux: LinuxEngine, small: Scenario) -> None:
    told: list[float] = []
    linux.run(small.with_values({"duration": "12 s"}), seed=1, progress=told.append)
    assert told == sorted(told)
    assert 0 <= told[-1] <= 12


def test_an_interrupted_run_leaves_nothing(
    linux: LinuxEngine, small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: float) -> None:
        if guests(tmp_path):
            raise CancelledError("stop")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(CancelledError):
        linux.run(small.with_values({"duration": "3000 s"}), seed=1, progress=stop)
    wait_until(lambda: not guests(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_killed_fullpipe_leaves_nothing(
    linux: LinuxEngine, small: Scenario, tmp_path: Path, sign: signal.Signals
) -> None:
    work, file = tmp_path / "work", tmp_path / "long.toml"
    work.mkdir()
    file.write_text(small.with_values({"duration": "3000 s"}).to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "fullpipe", "run", str(file), "--engine", "linux", "--out", "runs"]
    with started(command, env={**os.environ, "TMPDIR": str(work)}, cwd=tmp_path) as process:
        wait_until(lambda: bool(guests(work)))
        process.send_signal(sign)
        process.communicate(timeout=60)
    wait_until(lambda: not guests(work) and not list(work.iterdir()))
    assert not list(tmp_path.glob("runs/*/linux-*"))


def test_a_guest_that_dies_ends_with_what_it_said(
    linux: LinuxEngine, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.engines.linux.engine.needed_mb", lambda *_: 16)
    fast = {"rate": "1 Gbit/s", "delay": "100 ms", "queue": {"kind": "drop_tail", "packets": 20_000}}
    with pytest.raises(EngineError, match="did not finish"):
        linux.run(small.with_values({"topology.bottleneck": fast}), seed=1)


def test_too_little_memory_is_a_reason(
    linux: LinuxEngine, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.engines.linux.engine.available_mb", lambda: 10)
    assert any("memory" in str(problem) for problem in linux.check(small))


def guests(work: Path) -> set[int]:
    """Processes that work below a folder: guests, and what they have started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(path.readlink()).startswith(f"{work}/"):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
