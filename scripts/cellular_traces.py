"""Make the packet-delivery traces of the scenario `cellular`: a varying rate, as on the move.

They are random, not recorded: the logarithm of the rate is a random walk between two bounds, and a handover
interrupts it once. Mahimahi has recordings of real networks, which can replace them.
"""

from __future__ import annotations

import random
from pathlib import Path

from fullpipe.scenario.traces import Mahimahi, from_rates, write_mahimahi

FOLDER = Path(__file__).resolve().parent.parent / "python" / "fullpipe" / "data" / "traces"
STEP_S = 0.1
SECONDS = 20
OUTAGE_S = (12.0, 12.4)


def made(seed: int, least_bps: float, most_bps: float) -> Mahimahi:
    """A trace with a step every 100 ms, between two rates."""
    dice = random.Random(seed)
    rate_bps = (least_bps * most_bps) ** 0.5
    rates = []
    for n in range(round(SECONDS / STEP_S)):
        rate_bps = min(max(rate_bps * 2 ** dice.gauss(0, 0.35), least_bps), most_bps)
        rates.append(0.0 if OUTAGE_S[0] <= n * STEP_S < OUTAGE_S[1] else rate_bps)
    return from_rates([n * STEP_S for n in range(len(rates))], rates, SECONDS)


TRACES = {
    "cellular-down.trace": made(1, 1e6, 16e6),
    "cellular-up.trace": made(2, 0.5e6, 6e6),
}

if __name__ == "__main__":
    for name, trace in TRACES.items():
        write_mahimahi(FOLDER / name, trace)
