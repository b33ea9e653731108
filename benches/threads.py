"""CPU of each of two threads of a run, as a share of the CPU of a single thread.

Ten thousand flows at 100 Gbit/s over six links of 120 ms, from the fifth second on, when all have started.
Threads wait for each other after every window, and the first thread does the work that is not divided. So
on idle cores a run takes as long as the first thread. One thread and two take turns; the minimum of each
counts.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import NamedTuple

from benches.scaling import ALGORITHMS, WARMUP_S, Point, scenario_at
from fullpipe._native import Simulation
from fullpipe.engines.native.plan import plan


class Shares(NamedTuple):
    """CPU seconds of the first thread and of all."""

    first: float
    all: float


def shares(text: str, threads: int) -> Shares:
    """Run a plan on this number of threads, the calling one included, and measure from WARMUP_S on."""
    simulation = Simulation(text, 1, {}, threads)
    end = simulation.duration_ns
    advance(simulation, WARMUP_S * 10**9)
    first, whole = time.thread_time(), time.process_time()
    advance(simulation, end)
    return Shares(time.thread_time() - first, time.process_time() - whole)


def advance(simulation: Simulation, until_ns: int) -> None:
    """Run everything up to a time."""
    while simulation.advance(until_ns) < until_ns:
        pass


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flows", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=100, help="Gbit/s (100)")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    for cca in ALGORITHMS:
        text = json.dumps(plan(scenario_at(Point(cca, options.flows, options.rate))))
        turns = [(shares(text, 1), shares(text, 2)) for _ in range(options.turns)]
        one, two = (min(found, key=lambda each: each.all) for found in zip(*turns, strict=True))
        print(
            f"{cca:6s} one thread {one.all:.2f} CPU-s; of that the first of two {two.first / one.all:.2f},"
            f" the second {(two.all - two.first) / one.all:.2f}"
        )


if __name__ == "__main__":
    main()
