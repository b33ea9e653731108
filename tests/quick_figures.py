"""Whole and quick figures, for tests that read of them only that they are there, and their numbers."""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet

import pytest
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fullpipe.plots import style

COARSE_DPI = 72
"""Also that of an SVG: texts are measured once for both files."""


def make_figures_quick(monkeypatch: pytest.MonkeyPatch, *, layouts: int = 0) -> None:
    """Draw coarse pixels, and lay each figure out at most `layouts` times: never leaves all axes where they
    are made.

    The layout is half of the time of a figure. Tests of `tests/plots` lay out every kind of figure.
    """
    laid_out: WeakKeyDictionary[Figure, int] = WeakKeyDictionary()
    lay_out = ConstrainedLayoutEngine.execute

    def execute(engine: ConstrainedLayoutEngine, figure: Figure) -> None:
        done = laid_out.setdefault(figure, 0)
        if done < layouts:
            laid_out[figure] = done + 1
            lay_out(engine, figure)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", execute)
    for dpi in ("figure.dpi", "savefig.dpi"):
        monkeypatch.setitem(style._STYLE, dpi, COARSE_DPI)


def draw_figures_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the first figure into all its files, others whole into their first file alone.

    Tests of `tests/plots` draw all that figures are made of as PNG and as SVG.
    """
    drawn: WeakSet[Figure] = WeakSet()
    first: list[Figure] = []
    draw = Figure.draw

    def draw_once(figure: Figure, renderer: RendererBase) -> None:
        if not first:
            first.append(figure)
        if figure in drawn and figure is not first[0]:
            figure.patch.draw(renderer)
        else:
            drawn.add(figure)
            draw(figure, renderer)

    monkeypatch.setattr(Figure, "draw", draw_once)
