"""What the second thread of a run takes from the first: CPU of each, as a share of what one alone takes.

Ten thousand flows at 100 Gbit/s over six links of 120 ms, in their first second. Threads wait for each other
after every window, and the first has its share of the flows and what is not shared out: on idle cores a run
takes as long as it does, if it is the busier one. One thread and two take turns; of each the least counts.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import NamedTuple

from benches.scaling import ALGORITHMS, Point, scenario_at
from fullpipe._native import Simulation
from fullpipe.engines.native.plan import plan


class Shares(NamedTuple):
    """CPU seconds of the first thread and of all."""

    first: float
    all: float


def shares(text: str, threads: int) -> Shares:
    """Run a plan on so many threads, of which this one is the first."""
    simulation = Simulation(text, 1, {}, threads)
    end = simulation.duration_ns
    first, whole = time.thread_time(), time.process_time()
    while simulation.advance(end) < end:
        pass
    return Shares(time.thread_time() - first, time.process_time() - whole)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flows", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=100, help="Gbit/s (100)")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    for cca in ALGORITHMS:
        scenario = scenario_at(Point(cca, options.flows, options.rate))
        short = scenario.with_values({"flows.0.start_jitter": "400 ms", "duration": "1 s"})
        text = json.dumps(plan(short))
        turns = [(shares(text, 1), shares(text, 2)) for _ in range(options.turns)]
        one, two = (min(found, key=lambda each: each.all) for found in zip(*turns, strict=True))
        print(
            f"{cca:6s} one thread {one.all:.2f} CPU-s; of that the first of two {two.first / one.all:.2f},"
            f" the second {(two.all - two.first) / one.all:.2f}"
        )


if __name__ == "__main__":
    main()
