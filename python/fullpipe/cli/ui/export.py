"""Runs that the page stores, and files that it exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullpipe.cli.ui import inputs
from fullpipe.cli.ui.guard import Limits
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.report.content import Download
from fullpipe.report.files import file_of
from fullpipe.report.from_file import page_of_file
from fullpipe.report.html import html
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from fullpipe.report.text import counted, listed
from fullpipe.runs import Run
from fullpipe.runs.meta import READERS
from fullpipe.scenario import Scenario

# Stores runs of the page, as `fullpipe run` would.


def kept(scenario: Scenario, seed: int, store: Path, limits: Limits) -> str:
    """Run and store a scenario unless the store has this run. Return the ID of the run on the page.

    Raises:
        ScenarioError: If the run exceeds a limit; the run is then not stored.
        FullpipeError: If the scenario cannot be run, or the run cannot be stored.
    """
    with only_own_files():
        (point,) = scenario.expand()  # as the command line does, so that the stored files are equal
    run = inputs.run(point, seed, limits, store)
    return f"{run.meta.digest}/{run.meta.seed}/{run.meta.engine.name}"


# Reports on runs and comparisons of the page.


_TOML = "application/toml"


def report_of(scenarios: Sequence[Scenario], seed: int, limits: Limits, question: str = "") -> str:
    """Run each scenario once. Return the HTML page that `fullpipe report` writes about these runs.

    Raises:
        ScenarioError: If a run exceeds a limit.
    """
    runs = [inputs.run(scenario, seed, limits) for scenario in scenarios]
    with only_own_files():
        return html(page_of(runs, question=question, is_one=True), Budget().samples)


def verdicts_page(told: Mapping[str, Any], runs: Sequence[Run], question: str = "") -> str:
    """An HTML page about a comparison, with the tables, time series and scenario files of its runs."""
    scenarios = {run.meta.digest: run.scenario for run in runs}
    names = [f"{run.name}, {run.meta.digest}" for run in {run.meta.digest: run for run in runs}.values()]
    sides = {side: f"{told[side]}: {of}" for side, of in zip(("reference", "variant"), names, strict=False)}
    ran = [
        {"side": told[side], "scenario": scenario.to_dict()}
        for side, scenario in zip(("reference", "variant"), scenarios.values(), strict=False)
    ]
    is_measured = any(run.meta.engine.is_of_a_file for run in runs)
    found = {**file_of([told], str(told["command"] or "")), **sides, "scenarios": [] if is_measured else ran}
    page = page_of_file(found, question=question, runs=runs)
    files = [
        Download(name, _TOML, scenario.to_toml())
        for name, scenario in zip(told["files"], scenarios.values(), strict=False)
    ]
    (part,) = page.parts
    others = [file for file in part.data if file.media_type != _TOML]
    scope = f"{part.scope} {_origin(told, runs)}".strip()
    part = replace(part, scope=scope, data=[*others, *files])
    return html(replace(page, parts=[part]), Budget().samples)


def _origin(told: Mapping[str, Any], runs: Sequence[Run]) -> str:
    engines = list(dict.fromkeys(run.meta.engine.name for run in runs))
    how = "measured" if all(name in READERS for name in engines) else f"simulated by {listed(engines)}"
    return f"All runs are {how}; each side has the same {counted(len(told['seeds']), 'seed')}."
