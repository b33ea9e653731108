"""CUBIC and Reno in one queue: which flow loses packets in overflows, as in the real Linux kernel."""

import csv
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest

import fullpipe

REFERENCE = Path(__file__).with_name("cubic-and-reno-linux-7.2.13.csv")
CASES = list(csv.DictReader(REFERENCE.open(encoding="utf-8")))
WARMUP_S = 5
PHASES_MS = (0, 0.31, 0.62, 0.93)
"""Starts of both flows in a tick of the hosts' clocks, which the reference does not tell. Which flow loses
packets in an overflow depends on it."""


@cache
def goodputs_mbps() -> dict[str, float]:
    """Means over the starts of the reference, at several phases of the clocks."""
    token_bucket = {"kind": "tbf", "rate_bps": 20_000_000, "burst_bytes": 1600, "packets": 66}
    runs = [
        fullpipe.run(
            fullpipe.Scenario(
                name="two flows",
                duration="60 s",
                warmup=f"{WARMUP_S} s",
                topology={
                    "kind": "dumbbell",
                    "bottleneck": {"delay": "20 ms", "queue": token_bucket},
                    "reverse": {"delay": "20 ms"},
                },
                flows=[
                    {"cca": "cubic", "start": f"{phase} ms"},
                    {"cca": "reno", "start": f"{float(case['reno_start_ms']) + phase} ms"},
                ],
                record={"interval": "off"},
            ),
            seed=1,
        ).summary()["flows"]
        for case in CASES
        for phase in PHASES_MS
    ]
    names = ("cubic", "reno")
    return {name: fmean(flows[n]["goodput_bps"] for flows in runs) / 1e6 for n, name in enumerate(names)}


def linux_mbps(name: str) -> float:
    return fmean(float(case[f"{name}_mbps"]) for case in CASES)


@pytest.mark.parametrize("name", ["cubic", "reno"])
def test_each_gets_its_share(name: str) -> None:
    assert goodputs_mbps()[name] == pytest.approx(linux_mbps(name), rel=0.06)


def test_reno_does_not_get_as_much_as_cubic() -> None:
    assert goodputs_mbps()["reno"] < 0.7 * goodputs_mbps()["cubic"]
