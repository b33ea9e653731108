"""Figures of packets that were captured at the ends of a run, by what `fullpipe plot --kind` calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
from matplotlib.figure import Figure

from fullpipe.plots.clumps import clumps
from fullpipe.plots.handover import handover
from fullpipe.plots.one_way import one_way
from fullpipe.plots.pauses import pauses
from fullpipe.plots.sequence import sequence

PACKET_FIGURES: Mapping[str, Callable[..., tuple[Figure, pl.DataFrame]]] = {
    "one-way": one_way,
    "clumps": clumps,
    "pauses": pauses,
    "handover": handover,
    "sequence": sequence,
}
"""By what `fullpipe plot --kind` calls them: of the captured packets of one run."""
