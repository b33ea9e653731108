"""What load does to the latency of others: the scenario rrul."""

from functools import cache

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, metrics

PROBES = ["ping", "udp-be", "udp-bk", "udp-ef"]


@cache
def run(queue: str) -> Run:
    [scenario] = [point for point in Scenario.named("rrul").expand() if queue in point.to_toml()]
    return fullpipe.run(scenario, seed=1)


def rtt_s(queue: str, flow: str) -> float:
    flows = run(queue).flows
    return float(flows.filter(pl.col("flow") == flow)["rtt_p50_s"].item())


@pytest.mark.parametrize("probe", PROBES)
def test_a_deep_queue_adds_its_delay_in_both_directions(probe: str) -> None:
    # 500 packets of 1514 bytes at 20 Mbit/s are 303 ms per direction.
    assert rtt_s("drop_tail", probe) > 0.02 + 0.15


@pytest.mark.parametrize("probe", PROBES)
def test_fair_queueing_with_codel_adds_little(probe: str) -> None:
    assert rtt_s("fq_codel", probe) < 0.02 + 0.005


@pytest.mark.parametrize("queue", ["drop_tail", "fq_codel"])
def test_probes_see_the_empty_path_before_the_load(queue: str) -> None:
    probes = run(queue).probes.filter((pl.col("flow") == "ping") & (pl.col("time_s") < 4.9))
    # 84 bytes of IP and 14 of Ethernet, twice.
    assert probes["rtt_s"].to_list() == pytest.approx([0.02 + 2 * 98 * 8 / 20e6] * probes.height)


def test_both_directions_are_used() -> None:
    assert run("fq_codel").links_summary["utilisation"].min() > 0.97  # type: ignore[operator]


def test_a_call_sounds_better_without_bufferbloat() -> None:
    scores = {queue: metrics.call_scores(run(queue))["call"] for queue in ("drop_tail", "fq_codel")}
    assert (scores["fq_codel"] or 0) > (scores["drop_tail"] or 5) + 0.05
