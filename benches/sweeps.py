"""Short runs per CPU second: what a sweep costs beside the simulation.

One CUBIC flow on 10 Mbit/s for ten seconds, 8,200 data packets, many times in one process with one worker;
without the store and with a new one, in turns. `--against DIR` measures another source tree in the same
turns, such as one of before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SCENARIO = """
name = "short"
duration = "10 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop_tail", packets = 50 }

[[flows]]
cca = "cubic"
start_jitter = "100 ms"
"""
SWEEP = """
import sys, time
from pathlib import Path
from fullpipe import Scenario, sweeps
from fullpipe.runs import Store

scenario, runs, out = Scenario.from_toml(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
todo = sweeps.jobs(scenario, range(1, runs + 1))
sweeps.run(sweeps.jobs(scenario, [0]))  # what is only done once
begun_s, simulated_s = time.process_time(), 0.0
for outcome in sweeps.stream(todo, store=Store(Path(out)) if out else None):
    simulated_s += outcome.run.meta.cpu_s
print(time.process_time() - begun_s, simulated_s)
"""


def swept(tree: Path, runs: int, out: str) -> tuple[float, float]:
    """CPU seconds of a sweep, and those of the simulations in it, by the package in a source tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    command = [sys.executable, "-c", SWEEP, SCENARIO, str(runs), out]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    cpu_s, simulated_s = map(float, made.stdout.split())
    return cpu_s, simulated_s


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--against", type=Path, help="another source tree")
    options = parser.parse_args()
    trees = {"here": Path(__file__).resolve().parent.parent}
    if options.against:
        trees[str(options.against)] = options.against.resolve()
    ways = [(name, way) for name in trees for way in ("not kept", "kept")]
    found: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in ways}
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder:
        for number in range(options.repeats):
            for place, (name, way) in enumerate(ways):
                out = f"{folder}/{number}-{place}" if way == "kept" else ""
                found[name, way].append(swept(trees[name], options.runs, out))
    print(f"{options.runs} runs of one CUBIC flow, 10 Mbit/s, 10 s, least of {options.repeats}:")
    for (name, way), times in found.items():
        cpu_s, simulated_s = min(times)
        each = (
            f"{1e3 * cpu_s / options.runs:.2f} ms each, of which the simulation is {simulated_s / cpu_s:.0%}"
        )
        print(f"  {name}, {way:<9} {options.runs / cpu_s:5.0f} runs per CPU-s, {each}")


if __name__ == "__main__":
    main()
