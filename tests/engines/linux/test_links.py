"""Queues and impairments of links in a real kernel, against the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.install.installed import INSTALL
from fullpipe.engines.native import NativeEngine
from fullpipe.runs import Run

QUEUE, LOSS = "topology.bottleneck.queue", "topology.bottleneck.loss"
PROBE = [{"workload": {"kind": "probe", "interval": "3 ms"}}]
RED = {"kind": "red", "limit": 120_000, "min": 15_000, "max": 60_000, "burst": 20}
BRIEF = {"duration": "2 s", "warmup": "500 ms"}
"""Long enough where hundreds of packets are compared one by one."""
POLICER = {"kind": "police", "rate_bps": 5_000_000, "burst_bytes": 30_000}


def both(linux: LinuxEngine, small: Scenario, values: dict[str, Any], seed: int = 1) -> tuple[Run, Run]:
    """The run of a kernel, and that of the simulator."""
    scenario = small.with_values({"duration": "8 s", "warmup": "2 s", **values})
    lacking = [str(problem) for problem in linux.check(scenario) if INSTALL in problem.message]
    if lacking:
        pytest.skip(lacking[0])
    return linux.run(scenario, seed=seed), NativeEngine().run(scenario, seed=seed)


def of_link(run: Run, column: str) -> Any:
    return run.links_summary.filter(link="bottleneck")[column][0]


def goodput(run: Run) -> float:
    return float(run.flows["goodput_bps"].sum())


@pytest.mark.parametrize(
    "values",
    [
        {QUEUE: {"kind": "fq"}},
        {QUEUE: RED, "flows.0.count": 3},
        {QUEUE: {**RED, "ecn": True}, "flows.0.count": 3, "tcp.ecn": True},
        {QUEUE: {**RED, "ecn": True, "adaptive": True}, "flows.0.count": 4, "tcp.ecn": True},
        {QUEUE: {"kind": "step", "mark_ms": 5.0}, "flows.0.cca": "dctcp", "tcp.ecn": True},
        {QUEUE: POLICER},
        {"topology.bottleneck": {"delay": "10 ms", "queue": POLICER}},
        {"topology.bottleneck.duplicate": 0.02},
    ],
)
def test_a_queue_does_what_it_does_in_the_simulator(
    linux: LinuxEngine, small: Scenario, values: dict[str, Any]
) -> None:
    ours, theirs = both(linux, small, values)
    assert goodput(ours) == pytest.approx(goodput(theirs), rel=0.03)
    assert ours.flows["rtt_mean_s"].mean() == pytest.approx(theirs.flows["rtt_mean_s"].mean(), rel=0.05)
    for column in ("dropped_packets", "marked_packets"):
        assert of_link(ours, column) == pytest.approx(of_link(theirs, column), rel=0.15, abs=2)


def test_bbr_behind_a_policer_loses_what_it_loses_in_the_simulator(
    linux: LinuxEngine, small: Scenario
) -> None:
    # BBR draws where its cycle begins: a start earlier or later loses 440 to 790 packets in either engine.
    policed = {QUEUE: {**POLICER, "burst_bytes": 100_000}, "flows.0.cca": "bbr1"}
    runs = [both(linux, small, {**policed, "flows.0.start": f"{37 * n} ms"}, seed=n + 1) for n in range(5)]
    for ours, theirs in runs:
        assert goodput(ours) == pytest.approx(goodput(theirs), rel=0.03)
    lost = [sum(of_link(run, "dropped_packets") for run in side) for side in zip(*runs, strict=True)]
    assert lost[0] == pytest.approx(lost[1], rel=0.15)


def test_fq_shares_as_in_the_simulator(linux: LinuxEngine, small: Scenario) -> None:
    values = {QUEUE: {"kind": "fq"}, "flows": [{"cca": "cubic"}, {"cca": "bbr1"}]}
    ours, theirs = (run.flows["goodput_bps"].to_list() for run in both(linux, small, values))
    assert ours == pytest.approx(theirs, rel=0.01)


def test_fq_spaces_as_in_the_simulator(linux: LinuxEngine, small: Scenario) -> None:
    flows = [{"workload": {"kind": "udp", "rate": "4 Mbit/s"}}]
    values = {QUEUE: {"kind": "fq", "maxrate_bps": 3_000_000}, "flows": flows}
    ours, theirs = both(linux, small, values)
    assert ours.flows["owd_mean_s"][0] == pytest.approx(theirs.flows["owd_mean_s"][0], rel=1e-4)
    assert of_link(ours, "dropped_packets") == of_link(theirs, "dropped_packets") > 0


@pytest.mark.parametrize(
    "values",
    [{LOSS: {"kind": "periodic", "every": 7}, **BRIEF}, {QUEUE: {**POLICER, "rate_bps": 150_000}}],
)
def test_the_same_packets_are_lost(linux: LinuxEngine, small: Scenario, values: dict[str, Any]) -> None:
    ours, theirs = both(linux, small, {**values, "flows": PROBE})
    lost = [run.probes.filter(run.probes["owd_s"].is_null())["time_s"].to_list() for run in (ours, theirs)]
    assert lost[0] == lost[1] != []
    assert of_link(ours, "dropped_packets") == of_link(theirs, "dropped_packets")


def test_a_connection_loses_the_same_packets(linux: LinuxEngine, small: Scenario) -> None:
    values = {LOSS: {"kind": "periodic", "every": 500}, f"{QUEUE}.packets": 1000, "flows.0.cca": "reno"}
    ours, theirs = both(linux, small, values)
    assert of_link(ours, "dropped_packets") == of_link(theirs, "dropped_packets")
    assert goodput(ours) == pytest.approx(goodput(theirs), rel=0.005)


def test_a_copy_arrives_with_what_it_is_of(linux: LinuxEngine, small: Scenario) -> None:
    plain, copied = (
        both(linux, small, {"topology.bottleneck.duplicate": share, "flows": PROBE, **BRIEF})[0].probes
        for share in (0.0, 1.0)
    )
    assert copied["owd_s"].to_list() == pytest.approx(plain["owd_s"].to_list(), abs=1e-6)


def test_wifi_jitter_has_the_quantiles_of_the_simulator(linux: LinuxEngine, small: Scenario) -> None:
    pings = [{"workload": {"kind": "probe", "interval": "5 ms"}}]
    values = {"flows": pings, "topology.bottleneck.wifi_jitter": "40 ms", "duration": "20 s"}
    ours, theirs = (run.probes["rtt_s"].drop_nulls() for run in both(linux, small, values))
    for share in (0.1, 0.25, 0.75, 0.9):
        assert ours.quantile(share) == pytest.approx(theirs.quantile(share), abs=0.004)
    assert ours.mean() == pytest.approx(theirs.mean(), rel=0.03)


SHAPER = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 15_140, "packets": 60}


@pytest.mark.parametrize(
    ("link", "rate", "error"),
    [
        ({"rate": "10 Mbit/s", "queue": {"packets": 60}}, "0 bit/s", 1e-4),
        ({"rate": "10 Mbit/s", "queue": {"packets": 60}}, "1 kbit/s", 1e-4),
        ({"rate": "10 Mbit/s", "queue": {"kind": "fq_codel"}}, "0 bit/s", 1e-3),
        ({"rate": "10 Mbit/s", "queue": {"kind": "cake"}}, "0 bit/s", 1e-3),
        # A change fills the kernel's bucket, so that one burst leaves 12 ms earlier.
        ({"queue": SHAPER}, "0 bit/s", 0.01),
        ({"queue": SHAPER}, "1 kbit/s", 0.01),
    ],
)
@pytest.mark.parametrize("end_s", [2.5, 4.5])
def test_an_outage_takes_as_long_as_in_the_simulator(
    linux: LinuxEngine, small: Scenario, link: dict[str, Any], rate: str, error: float, end_s: float
) -> None:
    changes = [{"at": "1500 ms", "rate": rate}, {"at": f"{end_s} s", "rate": "10 Mbit/s"}]
    bottleneck = {"delay": "10 ms", "changes": changes, **link}
    values = {"topology.bottleneck": bottleneck, "flows.0.size": "4 MB", "warmup": "0 s"}
    ours, theirs = both(linux, small, values)
    completion_s = [run.flows["fct_s"][0] for run in (ours, theirs)]
    assert completion_s[0] == pytest.approx(completion_s[1], rel=error)
    assert of_link(ours, "dropped_packets") == pytest.approx(of_link(theirs, "dropped_packets"), abs=4)


def test_no_packet_leaves_in_an_outage_of_two_minutes(linux: LinuxEngine, small: Scenario) -> None:
    changes = [{"at": "1 s", "rate": "0 bit/s"}, {"at": "121 s", "rate": "10 Mbit/s"}]
    values = {"topology.bottleneck.changes": changes, "duration": "122 s", "flows": PROBE, "warmup": "0 s"}
    for run in both(linux, small, values):
        arrived = run.probes.filter(run.probes["owd_s"].is_not_null())
        times_s = (arrived["time_s"] + arrived["owd_s"]).to_list()
        assert not [at_s for at_s in times_s if 1.02 < at_s < 121]
        assert max(times_s) > 121.5
        assert of_link(run, "utilisation") > 0.98
