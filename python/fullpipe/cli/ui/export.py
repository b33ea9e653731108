"""Reports of what is on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullpipe import api
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.report.budget import Budget
from fullpipe.report.from_file import checked, file_of, page_of_file
from fullpipe.report.html.page import html
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run
from fullpipe.scenario import Scenario


def report_of(scenarios: Sequence[Scenario], seed: int) -> str:
    """The page that `fullpipe report` writes, about each scenario run once, as one HTML file."""
    with only_own_files():
        return html(page_of(_runs(scenarios, seed)), Budget().samples)


def report_of_verdicts(scenarios: Sequence[Scenario], seed: int, told: Mapping[str, Any]) -> str:
    """The same of a comparison: its verdicts, and each scenario run once."""
    with only_own_files():
        return verdicts_page(told, _runs(scenarios, seed))


def verdicts_page(told: Mapping[str, Any], runs: Sequence[Run]) -> str:
    """A page about a comparison, and below it about a run of each side."""
    sides = {name: f"{run.name}, {run.meta.digest}" for name, run in zip("AB", runs, strict=True)}
    verdicts = page_of_file({**file_of([told], str(told.get("command", ""))), **sides})
    of_runs = page_of(runs).sections
    return html(replace(verdicts, sections=[*verdicts.sections, *of_runs]), Budget().samples)


def told_of(sent: object) -> Mapping[str, Any]:
    """Verdicts that the page got and sends again.

    Raises:
        NoRunError: If they are none.
    """
    return checked("result", sent)


def _runs(scenarios: Sequence[Scenario], seed: int) -> list[Run]:
    return [api.run(scenario, seed) for scenario in scenarios]
