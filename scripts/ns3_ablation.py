"""Draw the figure of docs/explanation/why-ns3-versions-differ.md and print its table, in about ten minutes.

python scripts/ns3_ablation.py --out runs --jobs 2
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import plots, sweeps
from fullpipe.analysis.metrics import jain, retransmission_rate
from fullpipe.runs import Run, Store
from fullpipe.scenario import Scenario
from fullpipe.sweeps import Job

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SEEDS = range(1, 6)
SCENARIO = Scenario.named("kato2025-ablation")
LINUX, NS3 = (SCENARIO.points()[i] for i in (0, -1))
LATE_S = 10.0
"""Length of the end of a run in which a flow counts as alive if it delivers anything."""
FROM_S, UNTIL_S, EVERY = 0.9, 3.0, "5 ms"
"""Part of a run in the figure, and its sampling interval."""
SHOWN_MBPS = (1e-3, 1e3)

Row = tuple[str, Mapping[str, Any]]


def named(switches: Sequence[str]) -> str:
    """Name of a set of switches in the table."""
    names = [path.removeprefix("tcp.") for path in switches]
    return {0: "none: as Linux", len(NS3): "all four"}.get(len(names), ", ".join(names))


def rows() -> Iterator[Row]:
    """Every set of switches, the small ones first, and all of them without the one that combines them."""
    for size in range(len(NS3) + 1):
        for switches in combinations(NS3, size):
            yield named(switches), {**LINUX, **{path: NS3[path] for path in switches}}
    yield "all four, send buffer never full", {**NS3, "tcp.send_buffer": "1 GiB"}
    rfc = {"tcp.rescue_retransmit": "rfc6675"}
    yield "all four, rescue_retransmit of RFC 6675", {**NS3, **rfc}


def rates_mbps(run: Run, late: bool) -> list[float]:
    """Goodput of every flow, over the whole run or over its end."""
    if not late:
        return [rate / 1e6 for rate in run.flows["goodput_bps"]]
    samples = run.series.filter(pl.col("time_s") > run.scenario.duration_s - LATE_S)
    means = samples.group_by("flow", maintain_order=True).agg(pl.col("goodput_bps").mean())
    return [rate / 1e6 for rate in means["goodput_bps"]]


def starved(run: Run, late: bool) -> int:
    """Flows below 1 Mbit/s."""
    return sum(rate < 1 for rate in rates_mbps(run, late))


def line(name: str, runs: Sequence[Run]) -> str:
    """A row of the table: counts per seed, the rest as means over the seeds."""

    def counts(late: bool) -> str:
        return " ".join(str(starved(run, late)) for run in runs)

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    total = mean([sum(rates_mbps(run, late=False)) for run in runs])
    fairness = mean([jain(rates_mbps(run, late=False)) or 0 for run in runs])
    again = 100 * mean([retransmission_rate(run.flows) or 0 for run in runs])
    cells = (name, counts(late=False), counts(late=True), f"{total:.0f}", f"{fairness:.3f}", f"{again:.1f}")
    return "| " + " | ".join(cells) + " |"


def table(store: Store, workers: int) -> str:
    """The ablation in Markdown."""
    todo = {name: [Job(SCENARIO.with_values(values), seed) for seed in SEEDS] for name, values in rows()}
    flat = [job for jobs in todo.values() for job in jobs]
    found = iter(sweeps.run(flat, workers=workers, store=store))
    header = ("switches", "starved", f"in the last {LATE_S:g} s", "total (Mbit/s)", "Jain", "re-sent (%)")
    lines = ["| " + " | ".join(header) + " |", "|---|---|---|" + "---:|" * 3]
    lines += [line(name, [next(found) for _ in jobs]) for name, jobs in todo.items()]
    return "\n".join(lines)


def closely(values: Mapping[str, Any], store: Store) -> Run:
    """The beginning of the first run, sampled often."""
    fine = {"duration": f"{UNTIL_S:g} s", "record.interval": EVERY}
    [run] = sweeps.run([Job(SCENARIO.with_values({**values, **fine}), SEEDS[0])], store=store)
    return run


def figure(store: Store) -> None:
    """One flow with all switches and with none: its samples, its pacing rate, and its retransmissions."""
    runs = {"all four": closely(NS3, store), "as Linux": closely(LINUX, store)}
    flow = str(runs["all four"].flows.sort("goodput_bps")["flow"][0])
    picture, places = plots.new_figure(rows=3, row_height=1.5)
    quantities = {
        "delivery": "sample (Mbit/s)",
        "pacing": "pacing (Mbit/s)",
        "retransmissions": "re-sent in 5 ms",
    }
    for place, (quantity, label) in zip(places, quantities.items(), strict=True):
        tables = {name: run.tables for name, run in runs.items()}
        plots.time_series(place, tables, quantity, only=[flow], legend_up_to=0)
        place.set_ylabel(label)
        place.set_xlim(FROM_S, UNTIL_S)
        if quantity != "retransmissions":
            place.set_yscale("log")
            place.set_ylim(*SHOWN_MBPS)
            place.set_yticks((0.01, 1, 100), ("0.01", "1", "100"))
            place.minorticks_off()
        if place is not places[-1]:
            place.set_xlabel("")
    places[0].set_title(f"{flow} of sixteen BBR flows, 1 Gbit/s, 120 ms, 100 packets, send buffers of 1 MiB")
    plots.shared_legend(picture, dict(zip(runs, places[0].lines, strict=True)))
    plots.save_as(picture, None, ASSETS / "ns3-ablation.svg")


@plots.in_house_style
def main() -> None:
    """Draw the figure, run everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of finished runs")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at the same time")
    chosen = parser.parse_args()
    figure(Store(chosen.out))
    print(table(Store(chosen.out), chosen.jobs))


if __name__ == "__main__":
    main()
