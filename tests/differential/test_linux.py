"""The native engine against the real Linux kernel, case by case."""

import csv
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import fullpipe

REFERENCE = Path(__file__).with_name("linux-7.2.13.csv")
CASES = list(csv.DictReader(REFERENCE.open(encoding="utf-8")))
CLEAN = [case for case in CASES if case["loss"] == "0"]
LOSSY = [case for case in CASES if case["loss"] != "0"]
SEEDS = range(1, 6)
THROWS_DICE = {"cdg", "nv"}
"""Algorithms whose runs differ by seed even without random loss; cdg's reference is a mean of eight runs."""


def name(case: dict[str, str]) -> str:
    return "-".join(case[key] for key in ("cca", "rate_mbps", "rtt_ms", "queue_packets", "loss"))


def run(case: dict[str, str], *, warmup: bool, seed: int = 1) -> dict[str, Any]:
    """The flow of a case, over the last three quarters of the run or over all of it."""
    return run_once(tuple(case.items()), warmup, seed)


@cache
def run_once(items: tuple[tuple[str, str], ...], warmup: bool, seed: int) -> dict[str, Any]:
    case = dict(items)
    duration = int(case["duration_s"])
    bottleneck: dict[str, Any] = {
        "rate": f"{case['rate_mbps']} Mbit/s",
        "delay": f"{int(case['rtt_ms']) / 2} ms",
        "queue": {"kind": "drop_tail", "packets": int(case["queue_packets"])},
    }
    if case["loss"] != "0":
        bottleneck["loss"] = {"kind": "bernoulli", "probability": float(case["loss"])}
    scenario = fullpipe.Scenario(
        name=name(case),
        duration=f"{duration} s",
        warmup=f"{duration / 4 if warmup else 0} s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"cca": case["cca"]}],
        record={"interval": "off"},
    )
    flow: dict[str, Any] = fullpipe.run(scenario, seed=seed).summary()["flows"][0]
    return flow


def mean_of(case: dict[str, str], quantity: str, *, warmup: bool) -> float:
    """A quantity of a case without random loss; the mean of several runs if the algorithm throws dice."""
    seeds = SEEDS if case["cca"] in THROWS_DICE else [1]
    return mean(run(case, warmup=warmup, seed=seed)[quantity] for seed in seeds)


def relative(ours: float, theirs: str) -> float:
    return ours / float(theirs) - 1


@pytest.mark.parametrize("case", CLEAN, ids=name)
def test_goodput_agrees_within_1_percent(case: dict[str, str]) -> None:
    ours = mean_of(case, "goodput_bps", warmup=True) / 1e6
    assert abs(relative(ours, case["goodput_mbps"])) <= 0.01


@pytest.mark.parametrize("case", CLEAN, ids=name)
def test_mean_rtt_agrees_within_4_percent(case: dict[str, str]) -> None:
    ours = mean_of(case, "rtt_mean_s", warmup=True) * 1e3
    assert abs(relative(ours, case["srtt_mean_ms"])) <= 0.04


@pytest.mark.parametrize("case", CLEAN, ids=name)
def test_retransmissions_agree_within_a_quarter_or_20_packets(case: dict[str, str]) -> None:
    ours = mean_of(case, "retransmitted_packets", warmup=False)
    theirs = int(case["retransmitted_packets"])
    assert abs(ours - theirs) <= max(20, 0.25 * theirs)


@pytest.mark.parametrize("case", LOSSY, ids=name)
def test_goodput_under_random_loss_agrees_within_8_percent(case: dict[str, str]) -> None:
    """Other dice: the kernel's one or six runs have a standard error of a few percent of their own."""
    ours = mean(run(case, warmup=True, seed=seed)["goodput_bps"] / 1e6 for seed in SEEDS)
    assert abs(relative(ours, case["goodput_mbps"])) <= 0.08
