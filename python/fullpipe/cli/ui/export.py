"""Reports of what is on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullpipe.cli.ui import watch
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.report.budget import Budget
from fullpipe.report.from_file import file_of, page_of_file
from fullpipe.report.html.page import html
from fullpipe.report.runs.page import page_of
from fullpipe.report.runs.verdicts import VERDICTS
from fullpipe.runs import Run
from fullpipe.scenario import Scenario


def report_of(scenarios: Sequence[Scenario], seed: int, limits: Limits, question: str = "") -> str:
    """The page that `fullpipe report` writes, about each scenario run once, as one HTML file.

    Raises:
        ScenarioError: If a run takes more than it may.
    """
    runs = [watch.run(scenario, seed, limits) for scenario in scenarios]
    with only_own_files():
        return html(page_of(runs, question=question, is_one=True), Budget().samples)


def verdicts_page(told: Mapping[str, Any], runs: Sequence[Run], question: str = "") -> str:
    """A page about a comparison, and below it about the runs that it is of."""
    digests = dict.fromkeys(f"{run.name}, {run.meta.digest}" for run in runs)
    sides = {side: f"{told[side]}: {of}" for side, of in zip(("reference", "variant"), digests, strict=False)}
    verdicts = page_of_file({**file_of([told], str(told["command"])), **sides}, question=question)
    of_runs = [section for section in page_of(runs, is_one=True).sections if section.heading != VERDICTS]
    return html(replace(verdicts, sections=[*verdicts.sections, *of_runs]), Budget().samples)
