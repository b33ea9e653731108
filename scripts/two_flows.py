"""Draw the figures of docs/explanation/two-flows.md and print their numbers, in one or two minutes.

python scripts/two_flows.py --out runs --jobs 2
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots, sweeps
from fullpipe.analysis.expected import bbr_share
from fullpipe.runs import Store
from fullpipe.scenario import Scenario

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SIZE = "topology.bottleneck.queue.size"
SEEDS = range(1, 6)
LINUX_SHARE = {1: 0.888, 4: 0.487}
"""Share against CUBIC in Linux 7.2 in virtual time, by buffer: one run of 120 s, without its first third."""
LINUX_DCTCP = {5: 0.869, 25: 0.505, 50: 0.097}
"""Share of a second DCTCP flow there, by its RTT in ms, through CoDel with a ce_threshold of 2.4 ms: 60 s."""

Rates = dict[float, list[list[float]]]
"""Goodput in Mbit/s of every flow, one row per seed, by the swept number."""


def measure(scenario: Scenario, path: str, store: Store, workers: int) -> Rates:
    """Run a sweep of one path whose values begin with a number."""
    todo = sweeps.jobs(scenario.with_values({"record.interval": "off"}), SEEDS)
    found: Rates = {}
    for job, run in zip(todo, sweeps.run(todo, workers=workers, store=store), strict=True):
        at = float(str(job.point[path]).split()[0])
        found.setdefault(at, []).append((run.flows["goodput_bps"] / 1e6).to_list())
    return found


def lines(rates: Rates, names: Sequence[str]) -> dict[str, dict[float, list[float]]]:
    """Input of `plots.lines_with_intervals`: a line per flow."""
    return {name: {x: [row[i] for row in rows] for x, rows in rates.items()} for i, name in enumerate(names)}


def rtt(store: Store, workers: int) -> pl.DataFrame:
    """BBRv1 with 10 ms against 50 ms."""
    rates = measure(Scenario.named("bbr1-rtt-fairness"), SIZE, store, workers)

    def draw(place: Axes) -> pl.DataFrame:
        data = plots.lines_with_intervals(place, lines(rates, ("10 ms", "50 ms")), label="goodput (Mbit/s)")
        for value in (6.3, 87.3):
            place.axhline(value, color="#777777", linewidth=0.7, linestyle=":")
        place.set_title("two BBRv1 flows on 100 Mbit/s; dotted: Ma et al., 2017")
        return data

    return figure("two-flows-rtt", draw, "buffer (bandwidth-delay products)", tuple(rates))


def cubic(store: Store, workers: int) -> pl.DataFrame:
    """BBRv1 against CUBIC, and the model."""
    scenario = Scenario.named("cubic-vs-bbr1").with_values({"duration": "300 s", "warmup": "60 s"})
    sizes = [f"{x:g} bdp" for x in (0.5, 1, 2, 3, 4, 6, 8, 16)]
    rates = measure(Scenario(**{**scenario.to_dict(), "sweep": {SIZE: sizes}}), SIZE, store, workers)
    share = {x: [row[1] / sum(row) for row in rows] for x, rows in rates.items()}

    def draw(place: Axes) -> pl.DataFrame:
        data = plots.lines_with_intervals(place, {"measured": share}, label="share of BBRv1", legend=False)
        model = [bbr_share(x, 50e6, 0.04) for x in share]
        place.plot(list(share), model, color="#777777", linestyle="--", label="model of Ware et al., 2019")
        linux = (list(LINUX_SHARE), list(LINUX_SHARE.values()))
        place.plot(*linux, color="#D55E00", linestyle="none", marker="x", label="Linux 7.2")
        place.legend()
        place.set_title("one BBRv1 and one CUBIC flow, 50 Mbit/s, 40 ms")
        return data.with_columns(model=pl.Series(model))

    return figure("two-flows-bbr-cubic", draw, "buffer (bandwidth-delay products)", tuple(share))


def marks(store: Store, workers: int) -> pl.DataFrame:
    """DCTCP and Prague through a queue that marks from a threshold on."""
    base, path = Scenario.named("dctcp-prague"), "flows.1.access.delay"
    pairs = {"two DCTCP": ("dctcp", "dctcp"), "two Prague": ("prague", "prague")}
    pairs["DCTCP, and Prague as the second"] = ("dctcp", "prague")
    shares: dict[str, dict[float, list[float]]] = {}
    for name, ccas in pairs.items():
        scenario = base.with_values({f"flows.{i}.cca": cca for i, cca in enumerate(ccas)})
        rates = measure(scenario, path, store, workers)
        shares[name] = {4 * d + 1: [row[1] / sum(row) for row in rows] for d, rows in rates.items()}

    def draw(place: Axes) -> pl.DataFrame:
        data = plots.lines_with_intervals(place, shares, label="share of the second flow", legend=False)
        rtts = sorted(next(iter(shares.values())))
        place.plot(
            rtts, [25 / (25 + rtt) for rtt in rtts], color="#777777", linestyle="--", label="equal windows"
        )
        linux = (list(LINUX_DCTCP), list(LINUX_DCTCP.values()))
        place.plot(*linux, color="black", linestyle="none", marker="x", label="two DCTCP, Linux 7.2")
        place.axhline(0.5, color="#777777", linewidth=0.7, linestyle=":")
        place.legend()
        place.set_title("a flow of 25 ms and a second one, 100 Mbit/s, marks after a wait of 2.4 ms")
        return data

    return figure("two-flows-marks", draw, "RTT of the second flow (ms)", (5, 10, 25, 50, 100))


def figure(
    name: str, draw: Callable[[Axes], pl.DataFrame], label: str, ticks: Sequence[float]
) -> pl.DataFrame:
    """One picture for the documentation, from a function that draws into its axes."""
    picture, (place,) = plots.new_figure(row_height=2.6)
    data = draw(place)
    place.set_xscale("log")
    place.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    place.minorticks_off()
    place.set_xlabel(label)
    place.set_ylim(bottom=0)
    plots.save_as(picture, None, ASSETS / f"{name}.svg")
    return data


FIGURES: Mapping[str, Callable[[Store, int], pl.DataFrame]] = {"rtt": rtt, "cubic": cubic, "marks": marks}


@plots.in_house_style
def main() -> None:
    """Draw the figures named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*FIGURES, []], help="names of figures (default: all)")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of finished runs")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at the same time")
    chosen = parser.parse_args()
    pl.Config.set_tbl_rows(-1)
    for name in chosen.names or FIGURES:
        print(name, FIGURES[name](Store(chosen.out), chosen.jobs))


if __name__ == "__main__":
    main()
