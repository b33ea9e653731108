"""The first study as a whole process: CUBIC and BBRv1, a bare packet mover on the same six links, and ns-3.

All run in turns in the same invocation on the same machine, because only ratios are comparable between
machines. The minimum CPU time of several turns is taken. CPU seconds are user plus system time.
"simulation" is the time that the run itself reports; "process" includes the interpreter and reading input.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from benches.peer import ns3
from benches.programs import Cost, example, measured

QUEUE_PACKETS = 5000
SOCKET_BYTES = 1 << 20
BUFFER = "topology.bottleneck.queue.packets"
# Smallest allowed speed, as a share of that of the packet mover.
GOALS = {"cubic": 0.6, "bbr1": 0.5}


@dataclass(frozen=True)
class Moved:
    """Packets that one process moved, and the CPU for it."""

    data_packets: int
    cpu_s: float
    peak_mb: float
    goodput_bps: float = 0.0

    @property
    def packets_per_cpu_s(self) -> float:
        return self.data_packets / self.cpu_s

    def __str__(self) -> str:
        return (
            f"{self.data_packets / 1e3:8.1f} k data packets, {self.cpu_s:8.3f} CPU-s, {self.peak_mb:4.0f} MB:"
            f" {self.packets_per_cpu_s / 1e6:.3g} M data packets per CPU-s"
        )


def first_study(duration_s: float, cca: str, more: Mapping[str, str] | None = None) -> list[str]:
    """The command that runs the first study's dumbbell once, without samples and without the store."""
    values = {BUFFER: str(QUEUE_PACKETS), "duration": f"{duration_s:g} s", "flows.0.cca": cca, **(more or {})}
    command = [sys.executable, "-c", "from fullpipe.cli import main; main()", "run", "kato2025"]
    for path, value in values.items():
        command += ["--set", f"{path}={value}"]
    return [*command, "--interval", "off", "--seed", "1", "--no-store", "--json"]


def simulated(cost: Cost) -> Moved:
    """Packets of a run of fullpipe, and the CPU time of the simulation alone."""
    run = json.loads(cost.output)
    goodput_bps = sum(flow["goodput_bps"] for flow in run["flows"])
    return Moved(run["data_packets"], run["cpu_s"], cost.peak_mb, goodput_bps)


def bare(cost: Cost) -> Moved:
    """Packets of the mover; its process does nothing else."""
    return Moved(json.loads(cost.output)["data_packets"], cost.cpu_s, cost.peak_mb)


def beside_the_mover(turns: int) -> None:
    """Print 50 s of the study with two algorithms, beside the mover of packets."""
    mover = [example("mover"), "16", "50", str(QUEUE_PACKETS)]
    found: dict[str, list[Moved]] = {"mover": [], **{cca: [] for cca in GOALS}}
    for _ in range(turns):
        found["mover"].append(bare(measured(mover)))
        for cca in GOALS:
            found[cca].append(simulated(measured(first_study(50, cca))))
    best = {name: min(moved, key=lambda one: one.cpu_s) for name, moved in found.items()}
    print(f"first study, 16 flows on 1 Gbit/s, {QUEUE_PACKETS} packets, 50 s, no samples (least of {turns}):")
    for name, moved in best.items():
        print(f"  {name:8s} {moved}")
    for cca, goal in GOALS.items():
        part = best[cca].packets_per_cpu_s / best["mover"].packets_per_cpu_s
        print(f"  {cca} moves {part:.2f} of what the bare mover moves per CPU-second (goal: {goal})")


def beside_ns3(duration_s: float, turns: int) -> None:
    """Print ns-3 and fullpipe on the same scenario."""
    print(f"{duration_s:g} s of the same with socket buffers of 1 MiB, beside ns-3 {ns3.RELEASE}:")
    sockets = dict.fromkeys(("tcp.send_buffer", "tcp.receive_buffer"), f"{SOCKET_BYTES} B")
    ours: list[Moved] = []
    theirs: list[Moved] = []
    try:
        for _ in range(turns):
            peer = ns3.measure(duration_s=duration_s, queue_packets=QUEUE_PACKETS, socket_bytes=SOCKET_BYTES)
            theirs.append(Moved(peer.data_packets, peer.cpu_s, peer.peak_mb, peer.goodput_bps))
            ours.append(simulated(measured(first_study(duration_s, "bbr1", sockets))))
    except ns3.UnavailableError as reason:
        print(f"  ns-3 was not measured: {reason}")
        return
    least, run = (min(moved, key=lambda one: one.cpu_s) for moved in (theirs, ours))
    for name, moved in ((f"ns-3 {ns3.RELEASE}", least), ("fullpipe", run)):
        print(f"  {name:9s} {moved}, {moved.goodput_bps / 1e6:.0f} Mbit/s")
    ratio = run.packets_per_cpu_s / least.packets_per_cpu_s
    print(f"  per data packet fullpipe takes {ratio:.0f} times less CPU")
    print(f"  for the whole scenario, {least.cpu_s / run.cpu_s:.0f} times less")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--duration", type=float, default=5.0, help="simulated seconds beside ns-3 (5)")
    parser.add_argument("--turns", type=int, default=5, help="how often each process runs (5; beside ns-3 2)")
    parser.add_argument("--no-peer", action="store_true", help="leave ns-3 out")
    options = parser.parse_args()
    beside_the_mover(options.turns)
    if not options.no_peer:
        beside_ns3(options.duration, min(options.turns, 2))


if __name__ == "__main__":
    main()
