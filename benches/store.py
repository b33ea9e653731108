"""What a store costs: CPU per run kept and not kept, and to continue a sweep that is finished.

Short runs, where a store shows most: two flows on 10 Mbit/s for five seconds. Everything is measured in turns
in the same invocation, each time in a fresh process with one worker, and the least of several times is taken.
A fresh store each time: file systems of Linux search long for inodes just after many files were removed, so
nothing is removed before the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SCENARIO = """
name = "two"
duration = "5 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 50 }

[[flows]]
cca = "cubic"
start_jitter = "100 ms"
[[flows]]
cca = "reno"
start_jitter = "100 ms"
"""

CHILD = """
import sys, time
from pathlib import Path
from fullpipe import Scenario, sweeps
from fullpipe.runs import Store

scenario, runs, out = Scenario.from_file(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
todo = sweeps.jobs(scenario, range(1, runs + 1))
sweeps.run(sweeps.jobs(scenario, [0]))  # what is only done once
begun_s = time.process_time()
for outcome in sweeps.stream(todo, store=Store(Path(out)) if out else None):
    outcome.run
print(time.process_time() - begun_s)
"""


def swept(scenario: Path, runs: int, out: str) -> float:
    """CPU seconds of a sweep, without the start of the interpreter."""
    command = [sys.executable, "-c", CHILD, str(scenario), str(runs), out]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def size_mb(root: Path) -> float:
    """What the files of a store take on disk."""
    return sum(path.stat().st_blocks * 512 for path in root.rglob("*")) / 1e6


def keeping(folder: Path, runs: int, repeats: int) -> None:
    """Print what it costs to keep runs, and to find them again."""
    scenario = folder / "two.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    times: dict[str, list[float]] = {"not kept": [], "kept": [], "found": []}
    for number in range(repeats):
        root = str(folder / f"runs-{number}")
        times["not kept"].append(swept(scenario, runs, ""))
        times["kept"].append(swept(scenario, runs, root))
        times["found"].append(swept(scenario, runs, root))
    least = {what: min(found) for what, found in times.items()}
    print(f"{runs} runs of 5 s, least of {repeats}:")
    for what, cpu_s in least.items():
        print(f"  {what:<9} {cpu_s:7.2f} CPU-s, {1e3 * cpu_s / runs:6.3f} ms per run")
    print(f"  keeping costs {100 * (least['kept'] / least['not kept'] - 1):+.0f} %")
    print(f"  on disk   {size_mb(Path(root)):7.1f} MB")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder:
        keeping(Path(folder), options.runs, options.repeats)


if __name__ == "__main__":
    main()
