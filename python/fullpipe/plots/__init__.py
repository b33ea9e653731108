"""Figures of tables. The functions neither run experiments nor read files.

A drawing function takes axes and data, draws, and returns the table of the drawn values. `save` writes the
figure and its table together."""

from fullpipe.analysis.over_time import QUANTITIES, Quantity, flow_labels, presented
from fullpipe.palette import COLOURS
from fullpipe.plots.comparisons import engines, forest, grouped_bars, lines_with_intervals
from fullpipe.plots.links import aggregates, airtime
from fullpipe.plots.packets import PACKET_FIGURES, handover
from fullpipe.plots.samples import SAMPLE_FIGURES, all_scaled, boxes, cumulative, sorted_bars
from fullpipe.plots.series import overview, plot_run, time_series
from fullpipe.plots.style import (
    FORMATS,
    check_format,
    in_house_style,
    is_file,
    new_figure,
    note_below,
    save,
    save_as,
    shared_legend,
    write,
)
from fullpipe.plots.variables import channel, variables, waits

CELL_FIGURES = {"airtime": airtime, "aggregates": aggregates, "channel": channel, "waits": waits}
"""Figures of one run with a cell by the names of `fullpipe plot --kind`; see `PACKET_FIGURES`."""

__all__ = [
    "CELL_FIGURES",
    "COLOURS",
    "FORMATS",
    "PACKET_FIGURES",
    "QUANTITIES",
    "SAMPLE_FIGURES",
    "Quantity",
    "all_scaled",
    "boxes",
    "check_format",
    "cumulative",
    "engines",
    "flow_labels",
    "forest",
    "grouped_bars",
    "handover",
    "in_house_style",
    "is_file",
    "lines_with_intervals",
    "new_figure",
    "note_below",
    "overview",
    "plot_run",
    "presented",
    "save",
    "save_as",
    "shared_legend",
    "sorted_bars",
    "time_series",
    "variables",
    "write",
]
