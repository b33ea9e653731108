"""Short runs per CPU second: the cost of a sweep besides the simulation.

One CUBIC flow on 10 Mbit/s for ten seconds, 8,200 data packets, runs many times in one process with one
worker: without the store, with a new one, and again with that one, which re-uses all runs. `--against DIR`
measures another source tree, such as an older one, in the same turns. The store is in the folder for
temporary files (TMPDIR): on ext4 a new file costs more CPU for a minute after many others were deleted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.programs import one_flow

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


WAYS = {"not kept": "without the store", "kept": "with a new store", "again": "the same again"}


def swept(tree: Path, runs: int, out: str) -> tuple[float, float]:
    """CPU seconds of a sweep, and those of the simulations in it, by the package in a source tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    command = [sys.executable, "-c", SWEEP, one_flow("10 s"), str(runs), out]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    cpu_s, simulated_s = map(float, made.stdout.split())
    return cpu_s, simulated_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--against", type=Path, help="another source tree")
    options = parser.parse_args()
    trees = {"here": Path(__file__).resolve().parent.parent}
    if options.against:
        trees[str(options.against)] = options.against.resolve()
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder:
        for number in range(options.repeats):
            for place, (name, tree) in enumerate(trees.items()):
                for way in WAYS:
                    out = "" if way == "not kept" else f"{folder}/{number}-{place}"
                    found.setdefault((name, way), []).append(swept(tree, options.runs, out))
    print(f"{options.runs:,} runs of one CUBIC flow, 10 Mbit/s, 10 s, least of {options.repeats}:")
    for name in trees:
        costs = {way: min(found[name, way]) for way in WAYS}
        for way, (cpu_s, simulated_s) in costs.items():
            of_kept = cpu_s / costs["kept"][0]
            told = (
                f"{of_kept:.3f} of the first time"
                if way == "again"
                else f"{cpu_s / simulated_s:.2f} of the engine's own CPU"
            )
            print(f"  {name}, {WAYS[way]:<17} {1e3 * cpu_s / options.runs:6.3f} CPU-ms each, {told}")


if __name__ == "__main__":
    main()
