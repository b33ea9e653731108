"""Run sixteen BBR flows on every engine and print the table of docs/explanation/why-ns3-versions-differ.md.

python scripts/p1_engines.py --out runs --jobs 2

Finished runs are stored: the same command continues. Engines that are not installed are left out and named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullpipe import sweeps
from fullpipe.analysis.metrics import jain, retransmission_rate
from fullpipe.engines import engine
from fullpipe.runs import Run, Store
from fullpipe.scenario import Scenario
from fullpipe.sweeps import Job, Update

PAPER, ABLATION = Scenario.named("kato2025"), Scenario.named("kato2025-ablation")
SWITCHES = ABLATION.points()[-1]
"""Settings that make the native transport that of ns-3 3.40, as far as it matters here."""
STARVED_MBPS = 1
WARMUP_S = 3
"""Time at which slow start and its losses are over: a rate that is low after it stays low."""
LARGE: Mapping[str, Any] = {}
RECEIVE = {"tcp.receive_buffer": "1 MiB"}
BOTH = {**RECEIVE, "tcp.send_buffer": "1 MiB"}
CLASSIC = {"ns3.recovery": "classic"}
"""Recovery of the paper's script; since 3.43, ns-3's default is proportional rate reduction."""
HEADER = ("engine", "socket buffers", "queue", "starved", "total", "lowest", "highest", "Jain", "re-sent (%)")


@dataclass(frozen=True)
class Row:
    """One scenario on one engine."""

    name: str
    sockets: str
    packets: int
    engine: str
    scenario: Scenario


def rows(packets: int, seconds: float) -> Iterator[Row]:
    """One queue on every engine: first with sockets that never limit, last with those of the paper."""
    common = {
        "duration": f"{seconds:g} s",
        "warmup": f"{WARMUP_S} s",
        "topology.bottleneck.queue.packets": packets,
    }

    def row(name: str, sockets: str, kind: str, values: Mapping[str, Any], base: Scenario = PAPER) -> Row:
        return Row(name, sockets, packets, kind, base.with_values({**values, **common}))

    yield row("Linux 7.2", "never limit", "linux", LARGE)
    yield row("native", "never limit", "native", LARGE)
    yield row("ns-3 3.44", "never limit", "ns3", CLASSIC)
    yield row("ns-3 3.39", "never limit", "ns3-3.39", CLASSIC)
    yield row("Linux 7.2", "1 MiB to receive", "linux", RECEIVE)
    yield row("native", "1 MiB to receive", "native", RECEIVE)
    yield row("native", "1 MiB both", "native", BOTH)
    yield row("ns-3 3.44", "1 MiB both", "ns3", {**BOTH, **CLASSIC})
    yield row("ns-3 3.39", "1 MiB both", "ns3-3.39", {**BOTH, **CLASSIC})
    yield row("native, the four switches", "1 MiB both", "native", SWITCHES, ABLATION)


def line(row: Row, runs: Sequence[Run]) -> str:
    """A row of the table: starved flows seed by seed, the rest as means over the seeds."""
    rates = [[rate / 1e6 for rate in run.flows["goodput_bps"]] for run in runs]

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    cells = (
        row.name,
        row.sockets,
        str(row.packets),
        " ".join(str(sum(rate < STARVED_MBPS for rate in flows)) for flows in rates),
        f"{mean([sum(flows) for flows in rates]):.0f}",
        f"{mean([min(flows) for flows in rates]):.1f}",
        f"{mean([max(flows) for flows in rates]):.1f}",
        f"{mean([jain(flows) or 0 for flows in rates]):.3f}",
        f"{100 * mean([retransmission_rate(run.flows) or 0 for run in runs]):.1f}",
    )
    return "| " + " | ".join(cells) + " |"


def can_run(row: Row) -> bool:
    """Whether the engine is installed; if not, print what it lacks."""
    reasons = engine(row.engine).check(row.scenario)
    if reasons:
        print(f"left out: {row.name}: {'; '.join(map(str, reasons))}", file=sys.stderr)
    return not reasons


def tell(update: Update) -> None:
    """Print the finished runs as progress."""
    if update.state in ("finished", "failed"):
        print(f"{update.state}: {update.job.engine} {update.job.scenario.digest}", file=sys.stderr)


def main() -> None:
    """Run everything that is not in the store, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of finished runs")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at the same time")
    parser.add_argument("--seconds", type=float, default=10, help="simulated; the paper has 50")
    parser.add_argument("--seeds", type=int, default=1, help="how many; chaotic cases differ by seed")
    parser.add_argument("--packets", type=int, nargs="+", default=[100, 1000, 5000], help="queues")
    parser.add_argument("--engines", nargs="+", help="only these")
    chosen = parser.parse_args()
    wanted = [row for packets in chosen.packets for row in rows(packets, chosen.seconds)]
    wanted = [row for row in wanted if not chosen.engines or row.engine in chosen.engines]
    wanted = [row for row in wanted if can_run(row)]
    seeds = range(1, chosen.seeds + 1)
    todo = [Job(row.scenario, seed, row.engine) for row in wanted for seed in seeds]
    found = iter(sweeps.run(todo, workers=chosen.jobs, store=Store(chosen.out), progress=tell))
    print("| " + " | ".join(HEADER) + " |\n|---|---|---:|---|" + "---:|" * 5)
    for row in wanted:
        print(line(row, [next(found) for _ in seeds]))


if __name__ == "__main__":
    main()
