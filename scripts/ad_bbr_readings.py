"""Draw the figure of docs/explanation/ad-bbr-readings.md and print its tables, in a few minutes.

python scripts/ad_bbr_readings.py --out runs --jobs 2
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import plots, sweeps
from fullpipe.analysis.metrics import jain, utilisation
from fullpipe.analysis.statistics import t_interval
from fullpipe.runs import Run, Store
from fullpipe.scenario import Scenario

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SEEDS = range(1, 6)
PRESETS = ("literal", "faithful", "sane", "dynamic", "si", "reduce", "reduce_dynamic")
ALGORITHMS: dict[str, Any] = {
    "bbr1": "bbr1",
    "bbq": "bbq",
    "da_bbr": "da_bbr",
    **{preset: {"kind": "ad_bbr", "preset": preset} for preset in PRESETS},
    "counters": {"kind": "ad_bbr", "trigger": "counters"},
    "sane counters": {"kind": "ad_bbr", "preset": "sane", "trigger": "counters"},
}
STEP_S = 20

Measure = Callable[[Run], float]
Runs = dict[str, list[Run]]


def pair(cca: Any, buffer: str) -> Scenario:
    """Two flows with 10 and 50 ms on 100 Mbit/s."""
    given = Scenario.named("bbr1-rtt-fairness").to_dict()
    del given["sweep"]
    given["flows"] = [{**flow, "cca": cca} for flow in given["flows"]]
    given["topology"]["bottleneck"]["queue"]["size"] = buffer
    return Scenario(**{**given, "record": {"interval": "1 s", "variables": True}})


def alone(cca: Any) -> Scenario:
    """One flow with 40 ms on 100 Mbit/s, for two minutes."""
    bottleneck = {"rate": "100 Mbit/s", "delay": "20 ms", "queue": {"kind": "drop_tail", "size": "5 bdp"}}
    return Scenario(
        name="ad-bbr-alone",
        duration="120 s",
        warmup="20 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"cca": cca, "start_jitter": "1 s"}],
        record={"interval": "1 s", "variables": True},
    )


def longer(cca: Any) -> Scenario:
    """One flow on 20 Mbit/s whose path grows from 20 to 60 ms after 20 s."""
    bottleneck = {
        "rate": "20 Mbit/s",
        "delay": "10 ms",
        "queue": {"kind": "drop_tail", "packets": 500},
        "changes": [{"at": f"{STEP_S} s", "delay": "50 ms"}],
    }
    return Scenario(
        name="ad-bbr-longer",
        duration="60 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck, "reverse": {"delay": "10 ms"}},
        flows=[{"cca": cca, "start_jitter": "1 s"}],
        record={"interval": "100 ms", "variables": True},
    )


def run_all(scenario: Callable[[Any], Scenario], store: Store, workers: int) -> Runs:
    """All algorithms with all seeds."""
    todo = {name: sweeps.jobs(scenario(cca), SEEDS) for name, cca in ALGORITHMS.items()}
    flat = [job for jobs in todo.values() for job in jobs]
    found = iter(sweeps.run(flat, workers=workers, store=store))
    return {name: [next(found) for _ in jobs] for name, jobs in todo.items()}


def short_share(run: Run) -> float:
    """Share of the first flow in the goodput of both, in percent."""
    rates = run.flows["goodput_bps"]
    return 100 * float(rates[0]) / float(rates.sum())


def queue_ms(run: Run) -> float:
    """Mean sojourn time at the bottleneck."""
    links = run.links_summary.filter(pl.col("link") == "bottleneck")
    return 1e3 * float(links["sojourn_mean_s"][0])


def probe_rtts(run: Run) -> float:
    """Entries into PROBE_RTT per minute, on average."""
    states = run.variables.filter(pl.col("name") == "state").sort("flow", "time_s")
    entered = (states["state"] == "ProbeRTT") & (states["state"] != states["state"].shift(1))
    return float(entered.sum()) / run.flows.height / run.scenario.duration_s * 60


def goodput_between(start_s: float, end_s: float) -> Measure:
    """Mean goodput between two times, Mbit/s."""

    def measure(run: Run) -> float:
        rows = run.series.filter((pl.col("time_s") > start_s) & (pl.col("time_s") <= end_s))
        return float(rows["goodput_bps"].mean() or 0) / 1e6  # type: ignore[arg-type]

    return measure


def recovery_s(run: Run) -> float:
    """Seconds until the end of the first second at nine tenths of the rate; otherwise until the end."""
    rates = run.series.filter(pl.col("time_s") > STEP_S + 0.3)
    back = rates.filter(pl.col("goodput_bps").rolling_mean(10) > 0.9 * 20e6 * 1448 / 1514)
    return float(back["time_s"][0]) - STEP_S if back.height else run.scenario.duration_s - STEP_S


def shown(values: Iterable[float], digits: int) -> str:
    """A mean and its 95 % interval."""
    values = list(values)
    mean, interval = sum(values) / len(values), t_interval(values)
    return f"{mean:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def table(runs: Runs, measures: Mapping[str, tuple[Measure, int]]) -> str:
    """A table in Markdown: a row per algorithm."""
    lines = ["| | " + " | ".join(measures) + " |", "|---" * (len(measures) + 1) + "|"]
    for name, found in runs.items():
        cells = [shown(map(measure, found), digits) for measure, digits in measures.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def figure(pairs: Mapping[str, Runs]) -> None:
    """Share of the short flow, and the queue, of every algorithm."""
    picture, (above, below) = plots.new_figure(rows=2, row_height=2.0)
    for axes, label, measure in (
        (above, "share of the 10 ms flow (%)", short_share),
        (below, "mean queue (ms)", queue_ms),
    ):
        groups = {
            f"buffer of {buffer}".replace("bdp", "BDP"): {
                name: [measure(run) for run in found] for name, found in runs.items()
            }
            for buffer, runs in pairs.items()
        }
        plots.grouped_bars(axes, groups, label=label, legend=axes is above)
    above.axhline(50, color="#777777", linewidth=0.7, linestyle=":")
    above.set_title("10 ms against 50 ms on 100 Mbit/s; from literal on: readings of ad_bbr")
    plots.save_as(picture, None, ASSETS / "ad-bbr-readings.svg")


@plots.in_house_style
def main() -> None:
    """Run everything, draw the figure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of finished runs")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at the same time")
    chosen = parser.parse_args()
    store, workers = Store(chosen.out), chosen.jobs
    fill: tuple[Measure, int] = (lambda run: utilisation(run.links_summary) or 0, 3)
    common = {"queue (ms)": (queue_ms, 1), "utilisation": fill, "PROBE_RTT per minute": (probe_rtts, 1)}
    fairness: tuple[Measure, int] = (lambda run: jain(run.flows["goodput_bps"]) or 0.0, 3)
    pairs = {}
    for buffer in ("0.5 bdp", "5 bdp"):
        pairs[buffer] = run_all(partial(pair, buffer=buffer), store, workers)
        measures = {"share of the 10 ms flow (%)": (short_share, 1), "Jain": fairness, **common}
        print(f"\n10 and 50 ms, {buffer}\n\n{table(pairs[buffer], measures)}")
    figure(pairs)
    print(f"\nalone\n\n{table(run_all(alone, store, workers), common)}")
    steps: dict[str, tuple[Measure, int]] = {
        "first 10 s (Mbit/s)": (goodput_between(STEP_S, STEP_S + 10), 1),
        "last 20 s (Mbit/s)": (goodput_between(40, 60), 1),
        "back after (s; 40: not at all)": (recovery_s, 1),
    }
    print(f"\n20 to 60 ms\n\n{table(run_all(longer, store, workers), steps)}")


if __name__ == "__main__":
    main()
