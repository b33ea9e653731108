"""Reports of what is on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullpipe.cli.ui import watch
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.report.budget import Budget
from fullpipe.report.content import Code, Download, Section
from fullpipe.report.from_file import file_of, page_of_file
from fullpipe.report.html.page import html
from fullpipe.report.runs.page import page_of
from fullpipe.report.runs.repeat import READ
from fullpipe.report.runs.verdicts import VERDICTS
from fullpipe.report.text import counted, listed
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
    verdicts = page_of_file({**file_of([told], ""), **sides}, question=question)
    about = page_of(runs, is_one=True)
    of_runs = [section for section in about.sections if section.heading != VERDICTS]
    page = replace(
        verdicts,
        answer=[*verdicts.answer, _origin(told, runs)],
        sections=[*verdicts.sections, _repetition(told, runs), *of_runs],
        facts=[*dict([*about.facts, *verdicts.facts]).items()],
    )
    return html(page, Budget().samples)


def _origin(told: Mapping[str, Any], runs: Sequence[Run]) -> str:
    engines = list(dict.fromkeys(run.meta.engine.name for run in runs))
    how = "measured" if all(name in READ for name in engines) else f"simulated by {listed(engines)}"
    return f"All runs are {how}; each side has the same {counted(len(told['seeds']), 'seed')}."


def _repetition(told: Mapping[str, Any], runs: Sequence[Run]) -> Section:
    """The command that makes it again, if there is one, and the files that it names."""
    scenarios = {run.meta.digest: run.scenario for run in runs}
    files = [
        Download(name, "application/toml", scenario.to_toml())
        for name, scenario in zip(told["files"], scenarios.values(), strict=False)
    ]
    command = [Code(str(told["command"]), "With both files this makes it again")] if told["command"] else []
    return Section("Repetition", [*command, *files])
