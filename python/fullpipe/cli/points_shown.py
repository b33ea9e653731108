"""Many runs as a table: a row per point of a sweep and group of flows."""

from collections.abc import Sequence
from typing import Any

from fullpipe.analysis.outcome import outcome
from fullpipe.analysis.subjects import Subject
from fullpipe.cli import forms, summary
from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.findings import MOST_ROWS, show_conclusion
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import warn_of_short
from fullpipe.cli.output import complain
from fullpipe.scenario.labels import Labels
from fullpipe.sweeps import Outcome


def show_points(
    outcomes: Sequence[Outcome],
    metrics: Sequence[str] | None,
    form: str,
    also: Sequence[str] = (),
    *,
    all_rows: bool = False,
) -> None:
    """Print the conclusion, and the metrics of every point: those named, or the usual and others."""
    form, console, first = Form(form), terminal(), outcomes[0]
    subjects = [Subject.read(text) for text in metrics or ()]
    runs = [(outcome.job.point, outcome.run) for outcome in outcomes]
    found, modes = summary.summary_of(runs, subjects, also)
    metrics = list(dict.fromkeys(each.metric for each in subjects))
    if form == Form.TABLE:
        show_conclusion(outcome(found, metrics))
        seeds = len({outcome.job.seed for outcome in outcomes})
        over = f", means of {seeds} seeds [95 % intervals]" if seeds > 1 else ""
        about = f", {first.run.meta.duration_s:g} s, engine {first.run.meta.engine.name}{over}"
        console.print(led(first.run.name, "bold", about))
    shown, once = summary.shortened(found, also) if form == Form.TABLE and not metrics else (found, [])
    most = None if all_rows or form != Form.TABLE else MOST_ROWS
    labels = Labels(scenarios=_scenarios(outcomes))
    forms.show(summary.grid(shown, metrics, form, also, labels), form, most)
    told = [*once, *summary.jain_is_of(found), *summary.cut(shown, metrics), *modes]
    told += summary.leaves_out([outcome.run for outcome in outcomes], shown, metrics)
    for line in told if form == Form.TABLE else ():
        console.print(styled(line, "dim"), soft_wrap=True)
    notes = summary.without_values(found, metrics or also)
    for note in (*notes, *summary.equal_seeds(runs, first.job.scenario)):
        complain(note)
    warn_of_short([outcome.job.point for outcome in outcomes], [outcome.run for outcome in outcomes])


def _scenarios(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The scenarios of jobs as plain data, each once: seeds share theirs."""
    distinct = {id(outcome.job.scenario): outcome.job.scenario for outcome in outcomes}
    return [scenario.to_dict() for scenario in distinct.values()]
