"""Figures of flows of one run by their samples over time, by what `fullpipe plot --kind` calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
from matplotlib.figure import Figure

from fullpipe.plots.phase import phase
from fullpipe.plots.rates import rates

SAMPLE_FIGURES: Mapping[str, Callable[..., tuple[Figure, pl.DataFrame]]] = {"phase": phase, "rates": rates}
"""By what `fullpipe plot --kind` calls them: of the samples of one run, and `only` chooses flows."""
