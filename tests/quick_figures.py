"""Whole and quick figures, for tests that read of them only that they are there, and their numbers."""

from __future__ import annotations

from weakref import WeakSet

import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fullpipe.plots import style

COARSE_DPI = 72
"""Also that of an SVG: texts are measured once for both files."""


def make_figures_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw coarse pixels, and leave all axes where they are when they are made.

    The layout is half of the time of a figure. Its code is the same for all, and other tests of `tests/plots`
    read where texts are.
    """
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
    for dpi in ("figure.dpi", "savefig.dpi"):
        monkeypatch.setitem(style._STYLE, dpi, COARSE_DPI)


def draw_figures_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a figure into the first of its files, and its background alone into others.

    Tests of `tests/plots` draw all that figures are made of as PNG and as SVG.
    """
    drawn: WeakSet[Figure] = WeakSet()
    draw = Figure.draw

    def draw_once(figure: Figure, renderer: RendererBase) -> None:
        if figure in drawn:
            figure.patch.draw(renderer)
        else:
            drawn.add(figure)
            draw(figure, renderer)

    monkeypatch.setattr(Figure, "draw", draw_once)
