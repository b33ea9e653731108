"""Whole and quick figures, for tests that read of them only that they are there, and their numbers."""

from __future__ import annotations

from weakref import WeakSet

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fullpipe.plots import style

COARSE_DPI = 72
"""Also that of an SVG: texts are measured once for both files."""


def make_figures_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw coarse pixels, and lay a figure out once instead of for each of its files.

    The layout is half of the time of a figure. Its code is the same for all, and other tests of `tests/plots`
    read where texts are.
    """
    laid_out: WeakSet[Figure] = WeakSet()
    lay_out = ConstrainedLayoutEngine.execute

    def execute(engine: ConstrainedLayoutEngine, figure: Figure) -> None:
        if figure not in laid_out:
            laid_out.add(figure)
            lay_out(engine, figure)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", execute)
    for dpi in ("figure.dpi", "savefig.dpi"):
        monkeypatch.setitem(style._STYLE, dpi, COARSE_DPI)
