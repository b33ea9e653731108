"""Queue disciplines against those of the real Linux kernel, as CUBIC flows see them.

Medians over runs on both sides: with one flow, whether one random drop follows another decides a whole run.
Where runs hardly differ from seed to seed, fewer of them do: see `seeds_of`.
"""

import csv
import json
from pathlib import Path
from statistics import median

import pytest

import fullpipe
from tests.once import once

REFERENCE = Path(__file__).with_name("queues-linux-7.2.13.csv")
CASES = list(csv.DictReader(REFERENCE.open(encoding="utf-8")))
NAMES = ["-".join(case[key] for key in ("queue", "flows", "rate_mbps", "rtt_ms")) for case in CASES]
WARMUP_S = 10
PACKET_BITS = 8 * 1514


def seeds_of(queue: str, flows: int, rate_mbps: int) -> range:
    """Seeds of a case: 3 if the median scatters by under a tenth of the tolerance, 7 if by under a seventh.

    fq_codel and cake scatter by 60 % of a tolerance at most at higher rates, with 7. One flow behind a queue
    that draws nothing at random depends on its start alone.
    """
    is_codel = queue in ("codel", "fq_codel", "cake")
    if flows == 1 and is_codel:
        return range(1, 4)
    if flows > 2:
        return range(1, 8 if rate_mbps <= 10 or queue in ("fq_codel", "cake") else 4)
    return range(1, 16)


def measure(queue: str, flows: int, rate_mbps: int, rtt_ms: int) -> tuple[float, float]:
    """Medians of the queueing delay in ms and of the goodput of all flows in Mbit/s."""
    if queue == "cake":
        bottleneck = {
            "delay": f"{rtt_ms / 2} ms",
            "queue": {"kind": queue, "bandwidth_bps": rate_mbps * 1_000_000},
        }
    else:
        # The kernel's shaper hands packets over in no time; our wire takes some, as part of the RTT.
        propagation_ms = rtt_ms / 2 - PACKET_BITS / rate_mbps / 1e3
        bottleneck = {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": f"{propagation_ms} ms",
            "queue": {"kind": queue},
        }
    scenario = fullpipe.Scenario(
        name="queue",
        duration="30 s",
        warmup=f"{WARMUP_S} s",
        topology={
            "kind": "dumbbell",
            "bottleneck": bottleneck,
            "reverse": {"delay": f"{rtt_ms / 2} ms"},
        },
        flows=[{"cca": "cubic", "start": f"{10 * n} ms", "start_jitter": "10 ms"} for n in range(flows)],
        record={"interval": "100 ms"},
    )
    delays, goodputs = [], []
    for seed in seeds_of(queue, flows, rate_mbps):
        run = fullpipe.run(scenario, seed=seed)
        srtt_s = run.series.filter(run.series["time_s"] > WARMUP_S)["srtt_s"].mean()
        delays.append(1e3 * srtt_s - rtt_ms)
        goodputs.append(sum(run.flows["goodput_bps"].to_list()) / 1e6)
    return median(delays), median(goodputs)


@pytest.fixture(params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> dict[str, str]:
    """A queue, flows, a rate and an RTT, with the delay and the goodput of Linux."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def measured(case: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[float, float]:
    """The delay and the goodput of a case, run once for both tests, whichever workers have them."""

    def make(folder: Path) -> None:
        found = measure(case["queue"], *(int(case[key]) for key in ("flows", "rate_mbps", "rtt_ms")))
        (folder / "measured.json").write_text(json.dumps(found), encoding="utf-8")

    folder = once(tmp_path_factory, f"queue-{NAMES[CASES.index(case)]}", make)
    delay_ms, goodput_mbps = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
    return delay_ms, goodput_mbps


def test_flows_wait_as_long_as_in_linux(case: dict[str, str], measured: tuple[float, float]) -> None:
    assert measured[0] == pytest.approx(float(case["delay_ms"]), rel=0.15)


def test_flows_get_as_much_as_in_linux(case: dict[str, str], measured: tuple[float, float]) -> None:
    assert measured[1] == pytest.approx(float(case["goodput_mbps"]), rel=0.01)
