"""Figures of studies are quick in these tests, but for `--long`: `tests.quick_figures`."""

from __future__ import annotations

import pytest

from tests.quick_figures import draw_figures_once, make_figures_quick


@pytest.fixture(autouse=True)
def quick_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every test: most of the time of a study on short runs was the drawing of its figures."""
    if not request.config.getoption("--long"):
        make_figures_quick(monkeypatch)
        draw_figures_once(monkeypatch)
