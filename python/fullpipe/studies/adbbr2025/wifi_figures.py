"""Counterparts of Figures 7 and 13: every algorithm in every cell of the grid, behind both buffers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import polars as pl

from fullpipe import plots
from fullpipe.studies.adbbr2025 import wifi
from fullpipe.studies.experiments import Measurements


@plots.in_house_style
def draw(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Download rates; the shares of the flow of 10 ms, and Jain's index."""
    written = []
    for experiment, quantity, label, stem in (
        (wifi.DOWNLOAD, "goodput_mbps", "Mbit/s", "figure-7"),
        (wifi.FAIRNESS, "short_share", "share of 10 ms", "figure-13-share"),
        (wifi.FAIRNESS, "jain", "Jain's index", "figure-13-index"),
    ):
        written += grid(found, names, experiment, quantity, label, folder, stem)
    return written


def grid(
    found: Measurements,
    names: Sequence[str],
    experiment: str,
    quantity: str,
    label: str,
    folder: Path,
    stem: str,
) -> list[Path]:
    """A row per cell, a column per share of errors: bars of both buffers for every algorithm."""
    cells, errors, buffers = (found.choices(experiment, key) for key in ("cell", "errors", "buffer"))
    figure, axes = plots.new_figure(len(cells), len(errors), row_height=1.25, share_y="row")
    frames = []
    for place, (cell, share) in zip(axes, product(cells, errors), strict=True):
        groups = {
            str(buffer).replace("bdp", "BDP"): {
                name: found.at(experiment, quantity, name, {"cell": cell, "errors": share, "buffer": buffer})
                for name in names
            }
            for buffer in buffers
        }
        data = plots.grouped_bars(place, groups, label=label, legend=False)
        place.set_title(f"{cell}, {float(share):.0%} errors")
        place.tick_params(axis="x", labelrotation=90, labelbottom=cell == cells[-1])
        place.set_ylabel(label if share == errors[0] else "")
        frames.append(data.select(pl.lit(str(cell)).alias("cell"), pl.lit(share).alias("errors"), pl.all()))
    handles, labels = axes[0].get_legend_handles_labels()
    plots.shared_legend(figure, dict(zip(labels, handles, strict=True)))
    return plots.save(figure, pl.concat(frames), folder, stem)
