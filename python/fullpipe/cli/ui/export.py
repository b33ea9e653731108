"""A report of what is on the page."""

from __future__ import annotations

from collections.abc import Sequence

from fullpipe import api
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.report.budget import Budget
from fullpipe.report.html.page import html
from fullpipe.report.runs.page import page_of
from fullpipe.scenario import Scenario


def report_of(scenarios: Sequence[Scenario], seed: int) -> str:
    """The page that `fullpipe report` writes, about each scenario run once, as one HTML file."""
    with only_own_files():
        runs = [api.run(scenario, seed) for scenario in scenarios]
        return html(page_of(runs), Budget().samples)
