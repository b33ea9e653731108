"""Queue disciplines against those of the real Linux kernel, as CUBIC flows see them."""

import csv
from functools import cache
from pathlib import Path

import pytest

import fullpipe

REFERENCE = Path(__file__).with_name("queues-linux-7.2.13.csv")
CASES = list(csv.DictReader(REFERENCE.open(encoding="utf-8")))
NAMES = ["-".join((case["queue"], case["flows"], case["rate_mbps"])) for case in CASES]
RTT_MS = 40.0


@cache
def run(queue: str, flows: int, rate_mbps: int) -> fullpipe.Run:
    assert queue == "cake"  # it shapes; others need a link with a rate
    shaped = {"kind": queue, "bandwidth_bps": rate_mbps * 1_000_000}
    return fullpipe.run(
        fullpipe.Scenario(
            name="queue",
            duration="30 s",
            warmup="10 s",
            topology={"kind": "dumbbell", "bottleneck": {"delay": f"{RTT_MS / 2} ms", "queue": shaped}},
            flows=[{"cca": "cubic", "start": f"{10 * n} ms"} for n in range(flows)],
            record={"interval": "100 ms"},
        ),
        seed=1,
    )


def run_of(case: dict[str, str]) -> fullpipe.Run:
    return run(case["queue"], int(case["flows"]), int(case["rate_mbps"]))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_flows_wait_as_long_as_in_linux(case: dict[str, str]) -> None:
    series = run_of(case).series
    ours = 1e3 * series.filter(series["time_s"] > 10)["srtt_s"].mean() - RTT_MS
    assert ours == pytest.approx(float(case["srtt_mean_ms"]) - RTT_MS, rel=0.15)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_flows_get_as_much_as_in_linux(case: dict[str, str]) -> None:
    ours = sum(flow["goodput_bps"] for flow in run_of(case).summary()["flows"]) / 1e6
    assert ours == pytest.approx(float(case["goodput_mbps"]), rel=0.01)
