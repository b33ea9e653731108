"""Cost of a store: CPU per run with and without it, to continue a finished sweep, to query many runs, and to
write a report about them.

Runs are short, where the cost of a store is largest: two flows on 10 Mbit/s for five seconds. Everything is
measured in turns in the same invocation, each time in a fresh process with one worker, and the minimum of
several times is taken. Each time has a fresh store: file systems of Linux search long for inodes just after
many files were removed, so nothing is removed before the end. `--many 100000` queries a store of that
number of runs. They are written without simulation, as copies of one run with other numbers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

import polars as pl

import fullpipe
from benches.programs import measured
from fullpipe import Run, Scenario
from fullpipe.runs import PACKED, Store

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
RATE = "topology.bottleneck.rate"
QUESTION = "select cca, avg(goodput_bps), quantile_cont(rtt_mean_s, 0.95) from flows group by cca"
SEEDS = 100

SWEEP = """
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
ASK = """
import sys, time
import duckdb, pyarrow, polars, fullpipe
from fullpipe.analysis import query
begun_s = time.perf_counter()
assert fullpipe.query(sys.argv[2], sys.argv[1]).height == 2
print(time.perf_counter() - begun_s)
"""


def told(program: str, *arguments: str) -> float:
    """Seconds printed by a program in a separate process."""
    command = [sys.executable, "-c", program, *arguments]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def size_mb(root: Path) -> float:
    """Size on disk of the files below a folder."""
    return sum(path.stat().st_blocks * 512 for path in root.rglob("*")) / 1e6


def asked(root: Path, repeats: int) -> None:
    """Print the time of a query: when the folders have just been written, and later."""
    first_s = told(ASK, str(root), QUESTION)
    later_s = min(told(ASK, str(root), QUESTION) for _ in range(repeats))
    print(f"  a question takes {first_s:.2f} s at first, {later_s:.2f} s later")
    print(f"  index     {size_mb(root / '.index'):7.1f} MB")


def reported(root: str | Path, repeats: int) -> None:
    """Print the cost of a report about all runs."""
    command = [sys.executable, "-m", "fullpipe", "report", str(root), "-o", f"{root}.html"]
    print(f"  a report takes {min(measured(command).cpu_s for _ in range(repeats)):.2f} CPU-s")


def swept(scenario: Path, runs: int, root: str) -> float:
    """CPU seconds of a sweep, without the start of the interpreter."""
    return told(SWEEP, str(scenario), str(runs), root)


def commanded(scenario: Path, runs: int, root: str) -> float:
    """CPU seconds of the whole command."""
    where = ["--out", root] if root else ["--no-store"]
    command = ["-m", "fullpipe", "run", str(scenario), "--seeds", str(runs), "--jobs", "1", "--json"]
    return measured([sys.executable, *command, *where]).cpu_s


def keeping(folder: Path, runs: int, repeats: int) -> None:
    """Print the cost of storing runs, finding them again and querying them."""
    scenario = folder / "two.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    for what, cpu in (("in Python", swept), ("by the command", commanded)):
        times: dict[str, list[float]] = {"not kept": [], "kept": [], "found": []}
        for number in range(repeats):
            root = folder / f"{cpu.__name__}-{number}"
            times["not kept"].append(cpu(scenario, runs, ""))
            times["kept"].append(cpu(scenario, runs, str(root)))
            times["found"].append(cpu(scenario, runs, str(root)))
        least = {which: min(found) for which, found in times.items()}
        print(f"{runs:,} runs of 5 s, {what}, least of {repeats}:")
        for which, cpu_s in least.items():
            print(f"  {which:<9} {cpu_s:7.2f} CPU-s, {1e3 * cpu_s / runs:6.3f} ms per run")
        print(f"  keeping costs {100 * (least['kept'] / least['not kept'] - 1):+.0f} %")
    print(f"  on disk   {size_mb(root):7.1f} MB")
    asked(root, repeats)
    reported(root, repeats)


def many(root: Path, runs: int, seeds: int, repeats: int) -> None:
    """Print the size of the index of many runs, and the time of a query."""
    print(f"{runs:,} runs of {runs // seeds:,} points:")
    begun_s, base, chosen = perf_counter(), Scenario.from_toml(SCENARIO), Random(1)
    run = fullpipe.run(base)
    with Store(root).batch() as batch:
        for point in range(runs // seeds):
            scenario = base.with_values({RATE: f"{10_000 + point} kbit/s"})
            for seed in range(1, seeds + 1):
                batch.save(other(run, scenario, seed, chosen))
    print(f"  written in {perf_counter() - begun_s:.0f} s, {size_mb(root):,.0f} MB on disk")
    asked(root, repeats)


def other(run: Run, scenario: Scenario, seed: int, chosen: Random) -> Run:
    """A run with other numbers and without samples."""
    tree = scenario.to_dict()
    point = {RATE: tree["topology"]["bottleneck"]["rate"]}
    new = {"scenario": tree, "digest": scenario.digest, "seed": seed, "point": point}
    tables = {name: table.clear() for name, table in run.tables.items()}
    for name in PACKED:
        noise = pl.Series([chosen.random() for _ in range(run.tables[name].height)])
        tables[name] = run.tables[name].with_columns(
            pl.col(pl.Float64) * noise, (pl.col(pl.Int64) * noise).cast(pl.Int64)
        )
    return Run(run.meta.model_copy(update=new), tables)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="runs that are simulated (2000)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--many", type=int, default=0, help="runs of a store that is only written (none)")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"seeds of each point of those ({SEEDS})")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="fullpipe-bench-") as folder:
        keeping(Path(folder), options.runs, options.repeats)
        if options.many:
            many(Path(folder) / "many", options.many, options.seeds, options.repeats)


if __name__ == "__main__":
    main()
