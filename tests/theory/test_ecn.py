"""DCTCP and Prague through marking queues: what their papers and the Linux kernel say, measured."""

from math import sqrt
from typing import Any

import polars as pl
import pytest

import fullpipe

SEEDS = (1, 2, 3)


def scenario(
    ccas: list[str], queue: dict[str, Any], *, rate_mbps: float, rtt_ms: list[float], **more: Any
) -> fullpipe.Scenario:
    """One flow per algorithm, each with an RTT of its own: the bottleneck has 1 ms, its access the rest."""
    return fullpipe.Scenario(
        name="ecn",
        duration=f"{more.pop('duration_s', 60)} s",
        warmup=f"{more.pop('warmup_s', 20)} s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": f"{rate_mbps} Mbit/s", "delay": "0.5 ms", "queue": queue},
        },
        flows=[
            {
                "cca": cca,
                "name": f"flow-{i}",
                "start_jitter": "2 s",
                "access": {"delay": f"{(rtt - 1) / 4} ms"},
            }
            for i, (cca, rtt) in enumerate(zip(ccas, rtt_ms, strict=True))
        ],
        tcp={"ecn": True, **more.pop("tcp", {})},
        record={"interval": more.pop("interval", "off"), "variables": more.pop("variables", False)},
    )


def goodputs_mbps(described: fullpipe.Scenario, seed: int) -> list[float]:
    return [f["goodput_bps"] / 1e6 for f in fullpipe.run(described, seed=seed).summary()["flows"]]


def bottleneck(run: Any) -> dict[str, Any]:
    row: dict[str, Any] = run.links_summary.filter(pl.col("link") == "bottleneck").to_dicts()[0]
    return row


@pytest.mark.parametrize("ecn", [False, True])
def test_dctcp_on_a_drop_tail_queue_is_reno(ecn: bool) -> None:
    queue = {"kind": "drop_tail", "packets": 66}
    run = [
        fullpipe.run(
            scenario([cca], queue, rate_mbps=20, rtt_ms=[40], duration_s=20, warmup_s=5, tcp={"ecn": ecn})
        )
        for cca in ("dctcp", "reno")
    ]
    dctcp, reno = (r.flows.drop("cca").to_dicts()[0] for r in run)
    assert dctcp == reno


def test_prague_without_ecn_is_reno() -> None:
    queue = {"kind": "drop_tail", "packets": 66}
    described = (
        scenario([c], queue, rate_mbps=20, rtt_ms=[40], duration_s=20, warmup_s=5, tcp={"ecn": False})
        for c in ("prague", "reno")
    )
    prague, reno = (fullpipe.run(s).flows.drop("cca").to_dicts()[0] for s in described)
    assert prague == reno


@pytest.mark.parametrize(("rtt_ms", "threshold"), [(10, 15), (20, 40)])
def test_dctcp_fills_the_link_from_a_threshold_of_a_sixth_of_the_bdp_on(rtt_ms: int, threshold: int) -> None:
    """K > BDP / 7 suffices (Alizadeh et al., 2010, equation 13)."""
    queue = {"kind": "step", "mark_packets": threshold}
    run = fullpipe.run(
        scenario(["dctcp"], queue, rate_mbps=100, rtt_ms=[rtt_ms], duration_s=20, warmup_s=5), seed=1
    )
    assert threshold >= 0.17 * 100e6 * rtt_ms / 1e3 / 8 / 1514
    assert bottleneck(run)["utilisation"] > 0.995


@pytest.mark.parametrize(("rtt_ms", "threshold"), [(10, 15), (20, 40), (40, 60)])
def test_the_share_of_marks_and_the_longest_queue_are_those_of_the_fluid_model(
    rtt_ms: int, threshold: int
) -> None:
    """alpha = sqrt(2 / (BDP + K)), queue up to K + 1, for smooth sending (Alizadeh et al., section 3.3)."""
    queue = {"kind": "step", "mark_packets": threshold}
    run = fullpipe.run(
        scenario(
            ["dctcp"],
            queue,
            rate_mbps=100,
            rtt_ms=[rtt_ms],
            duration_s=20,
            warmup_s=5,
            tcp={"max_burst": "off", "ack_every": 1, "pacing": "always"},
            interval="1 ms",
            variables=True,
        )
    )
    late = pl.col("time_s") > 10
    alpha = run.variables.filter(late & (pl.col("name") == "alpha"))["value"].mean()
    longest: Any = run.links.filter(late & (pl.col("link") == "bottleneck"))["backlog_packets"].max()
    bdp = 100e6 * rtt_ms / 1e3 / 8 / 1514
    assert alpha == pytest.approx(sqrt(2 / (bdp + threshold)), rel=0.2)
    assert threshold + 1 <= longest <= threshold + 3


# Linux 7.2.13 in virtual time: 20 Mbit/s, 40 ms, CoDel with ECN and ce_threshold in a token bucket, which
# takes the head packet before it may leave: its last wait, 0.606 ms for 1514 bytes, does not count.
@pytest.mark.parametrize(
    ("threshold_ms", "goodput_mbps", "rtt_ms"), [(1, 18.7573, 41.031), (5, 19.128, 44.43)]
)
def test_dctcp_through_codel_agrees_with_linux(
    threshold_ms: float, goodput_mbps: float, rtt_ms: float
) -> None:
    queue = {
        "kind": "codel",
        "target_ms": 1000.0,
        "interval_ms": 1000.0,
        "ecn": True,
        "ce_threshold_ms": threshold_ms + 1514 * 8 / 20e3,
    }
    described = scenario(["dctcp"], queue, rate_mbps=20, rtt_ms=[40], duration_s=30, warmup_s=10)
    flow = fullpipe.run(described, seed=1).summary()["flows"][0]
    assert flow["goodput_bps"] / 1e6 == pytest.approx(goodput_mbps, rel=0.01)
    assert flow["rtt_mean_s"] * 1e3 == pytest.approx(rtt_ms, rel=0.04)
    assert flow["retransmitted_packets"] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_dctcp_and_prague_share_through_a_marking_queue(seed: int) -> None:
    """At 40 ms Prague does not slow down for its RTT, and both follow the same law."""
    queue = {"kind": "step", "mark_packets": 25}
    dctcp, prague = goodputs_mbps(scenario(["dctcp", "prague"], queue, rate_mbps=40, rtt_ms=[40, 40]), seed)
    assert dctcp + prague > 38
    assert 1 / 1.5 < prague / dctcp < 1.5


@pytest.mark.parametrize("rtt_ms", [10, 20, 40])
def test_prague_through_dualpi2_fills_the_link_with_a_millisecond_of_queue(rtt_ms: int) -> None:
    run = fullpipe.run(
        scenario(["prague"], {"kind": "dualpi2"}, rate_mbps=40, rtt_ms=[rtt_ms], duration_s=30, warmup_s=10)
    )
    link = bottleneck(run)
    assert link["utilisation"] > 0.95
    assert link["sojourn_mean_s"] < 1e-3
    assert link["dropped_packets"] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_old_prague_flows_of_5_and_25_ms_get_about_the_same(seed: int) -> None:
    short, long = goodputs_mbps(
        scenario(
            ["prague", "prague"],
            {"kind": "dualpi2"},
            rate_mbps=40,
            rtt_ms=[5, 25],
            duration_s=90,
            warmup_s=50,
        ),
        seed,
    )
    assert 1 / 1.5 < short / long < 1.5


@pytest.mark.parametrize("seed", SEEDS)
def test_neither_prague_nor_cubic_starves_through_dualpi2(seed: int) -> None:
    """Prague gets about twice as much: CUBIC's packets wait 15 ms longer, and cuts come with a pause."""
    prague, cubic = goodputs_mbps(
        scenario(["prague", "cubic"], {"kind": "dualpi2"}, rate_mbps=40, rtt_ms=[40, 40]), seed
    )
    assert prague * 1448 / 1436 + cubic > 38  # the AccECN option takes 12 bytes of Prague's packets
    assert min(prague, cubic) > 0.25 * (prague + cubic)
