"""Counterparts of Figures 6, 7, 12 and 13: every algorithm in every cell of the grids, both buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import polars as pl
from matplotlib.patches import Rectangle

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.studies.adbbr2025 import mobile, wifi
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.quantities import bounds_of

QUANTITIES = {"goodput_mbps": "Mbit/s", "short_share": "share of 10 ms", "jain": "Jain's index"}

SHARES = ("short_share", "jain")
"""Quantities that are at most 1."""


@dataclass(frozen=True)
class Figure:
    """A figure with a row per cell of its experiments, and a column per value of a condition."""

    stem: str
    quantity: str
    experiments: tuple[str, ...]
    across: str
    where: dict[str, str] = field(default_factory=dict)


FILES_5G, PAIRS_5G = (mobile.DOWNLOAD, mobile.LTE_DOWNLOAD), (mobile.FAIRNESS, mobile.LTE_FAIRNESS)
FIGURES = (
    Figure("figure-6", "goodput_mbps", FILES_5G, "rtt"),
    *(
        Figure(f"figure-7-{rtt_ms}ms", "goodput_mbps", (wifi.DOWNLOAD,), "errors", {"rtt": f"{rtt_ms} ms"})
        for rtt_ms in wifi.RTTS_MS
    ),
    Figure("figure-12-share", "short_share", PAIRS_5G, "receivers"),
    Figure("figure-12-index", "jain", PAIRS_5G, "receivers"),
    Figure("figure-13-share", "short_share", (wifi.FAIRNESS,), "errors"),
    Figure("figure-13-index", "jain", (wifi.FAIRNESS,), "errors"),
)


@plots.in_house_style
def draw(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw download rates, shares of the flow of 10 ms, and Jain's index, for all cells with runs."""
    of = [figure for figure in FIGURES if any(found.choices(e, "cell") for e in figure.experiments)]
    return [path for figure in of for path in grid(found, names, figure, folder)]


def grid(found: Measurements, names: Sequence[str], said: Figure, folder: Path) -> list[Path]:
    """Draw bars of both buffers for every algorithm."""
    cells = [(e, cell) for e in said.experiments for cell in found.choices(e, "cell")]
    values, buffers = (found.choices(cells[0][0], key) for key in (said.across, "buffer"))
    label = QUANTITIES[said.quantity]
    figure, axes = plots.new_figure(len(cells), len(values), row_height=1.25, share_y="row")
    frames = []
    for place, ((experiment, cell), value) in zip(axes, product(cells, values), strict=True):
        where = {**said.where, "cell": cell, said.across: value}
        groups = {
            str(buffer).replace("bdp", "BDP"): {
                name: found.at(experiment, said.quantity, name, {**where, "buffer": buffer}) for name in names
            }
            for buffer in buffers
        }
        bounds = bounds_of(said.quantity)
        data = plots.grouped_bars(place, groups, label=label, legend=False, bounds=bounds)
        place.set_title(f"{cell}: {said.across} {value}")
        place.tick_params(axis="x", labelrotation=90, labelbottom=cell == cells[-1][1])
        place.set_ylabel(label if value == values[0] else "")
        frames.append(
            data.select(pl.lit(str(cell)).alias("cell"), pl.lit(value).alias(said.across), pl.all())
        )
    for row in range(0, len(axes), len(values)):
        patches = [patch for place in axes[row : row + len(values)] for patch in place.patches]
        tops = [patch.get_height() for patch in patches if isinstance(patch, Rectangle)]
        axes[row].set_ylim(0, 1.05 * max(1.0 if said.quantity in SHARES else 0.0, *tops))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, said.stem)
