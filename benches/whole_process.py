"""The first study as a whole process: what a run costs, against a bare packet shuffle and against ns-3.

Everything is measured in the same invocation on the same machine, because only ratios travel. CPU seconds
are user plus system time; "simulation" is what the run itself reports, "process" includes the interpreter
and reading input.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benches.peer import ns3

ROOT = Path(__file__).resolve().parent.parent
QUEUE_PACKETS = 5000
SOCKET_BYTES = 1 << 20
BUFFER = "topology.bottleneck.queue.packets"
REPEATS = 3


@dataclass(frozen=True)
class Cost:
    """What a process used, and what it printed."""

    cpu_s: float
    peak_mb: float
    output: str


def measured(command: list[str]) -> Cost:
    """Run a process to its end and ask the system what it used."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, output)


def first_study(duration_s: float, *, capped: bool) -> list[str]:
    """The command that runs the first study's dumbbell once, without samples and without the store."""
    values = {BUFFER: str(QUEUE_PACKETS), "duration": f"{duration_s:g} s"}
    if capped:
        values |= {"tcp.send_buffer": f"{SOCKET_BYTES} B", "tcp.receive_buffer": f"{SOCKET_BYTES} B"}
    command = [sys.executable, "-c", "from fullpipe.cli import main; main()", "run", "kato2025"]
    for path, value in values.items():
        command += ["--set", f"{path}={value}"]
    return [*command, "--interval", "off", "--seed", "1", "--no-store", "--json"]


def middle_run(command: list[str]) -> tuple[Cost, dict[str, float]]:
    """The run of median CPU time among a few."""
    costs = [measured(command) for _ in range(REPEATS)]
    runs = [(cost, json.loads(cost.output)) for cost in costs]
    middle = median(run["cpu_s"] for _, run in runs)
    return next((cost, run) for cost, run in runs if run["cpu_s"] == middle)


def per_second(packets: float, cpu_s: float) -> str:
    """A rate in millions of packets per CPU second."""
    return f"{packets / cpu_s / 1e6:.3g} M data packets per CPU-s"


def whole_study() -> float:
    """Print what 50 s of the study cost; returns CPU seconds of the simulation per data packet."""
    cost, run = middle_run(first_study(50, capped=False))
    print(
        f"first study, 16 BBRv1 on 1 Gbit/s, {QUEUE_PACKETS} packets, 50 s, no samples (median of {REPEATS}):"
    )
    print(f"  simulation  {run['cpu_s']:.2f} CPU-s, {run['wall_s']:.2f} s wall")
    print(f"  process     {cost.cpu_s:.2f} CPU-s, {cost.peak_mb:.0f} MB at the peak")
    print(f"  {per_second(run['data_packets'], run['cpu_s'])}")
    return run["cpu_s"] / run["data_packets"]


def shuffle(study_cpu_s: float) -> None:
    """Print what it costs to push as many packets through as many links without any TCP."""
    build = ["cargo", "build", "--release", "--quiet", "-p", "fullpipe-simulation", "--example", "shuffle"]
    subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    costs = [measured([str(target / "release" / "examples" / "shuffle")]) for _ in range(REPEATS)]
    cpu_s = median(cost.cpu_s for cost in costs)
    packets = int(costs[0].output.split()[0])
    print(f"bare packet shuffle through the same links (median of {REPEATS}):")
    print(f"  process     {cpu_s:.2f} CPU-s")
    print(f"  {per_second(packets, cpu_s)}")
    print(f"  per data packet the first study takes {study_cpu_s / (cpu_s / packets):.1f} times as much")


def beside_ns3(duration_s: float) -> None:
    """Print ns-3 and fullpipe on the same scenario."""
    print(f"{duration_s:g} s of the same with socket buffers of 1 MiB, beside ns-3 {ns3.RELEASE}:")
    try:
        peer = ns3.measure(duration_s=duration_s, queue_packets=QUEUE_PACKETS, socket_bytes=SOCKET_BYTES)
    except ns3.UnavailableError as reason:
        print(f"  ns-3 was not measured: {reason}")
        return
    cost, run = middle_run(first_study(duration_s, capped=True))
    goodput = sum(flow["goodput_bps"] for flow in run["flows"])  # type: ignore[attr-defined]
    rows = [
        (f"ns-3 {ns3.RELEASE}", peer.data_packets, peer.cpu_s, peer.peak_mb, peer.goodput_bps),
        ("fullpipe", run["data_packets"], run["cpu_s"], cost.peak_mb, goodput),
    ]
    for name, packets, cpu_s, peak_mb, bps in rows:
        print(
            f"  {name:10s}  {packets / 1e3:7.1f} k data packets, {cpu_s:8.3f} CPU-s, {peak_mb:4.0f} MB,"
            f" {bps / 1e6:5.0f} Mbit/s: {per_second(packets, cpu_s)}"
        )
    ratio = (run["data_packets"] / run["cpu_s"]) / (peer.data_packets / peer.cpu_s)
    print(f"  per data packet fullpipe takes {ratio:.0f} times less CPU")
    print(f"  for the whole scenario, {peer.cpu_s / run['cpu_s']:.0f} times less")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=5.0, help="simulated seconds beside ns-3 (5)")
    parser.add_argument("--no-peer", action="store_true", help="leave ns-3 out")
    options = parser.parse_args()
    shuffle(whole_study())
    if not options.no_peer:
        beside_ns3(options.duration)


if __name__ == "__main__":
    main()
