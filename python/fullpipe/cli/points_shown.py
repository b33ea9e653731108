"""Many runs as a table: a row per point of a sweep and group of flows."""

from collections.abc import Mapping, Sequence
from typing import Any

from fullpipe.analysis.outcome import outcome
from fullpipe.analysis.subjects import Subject
from fullpipe.cli import forms, summary
from fullpipe.cli.answer import Answer
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import warnings_of_short
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
    labels: Mapping[str, str] | None = None,
) -> None:
    """Print the conclusion, and the metrics of every point: those named, or the usual and others."""
    form, first = Form(form), outcomes[0]
    subjects = [Subject.read(text) for text in metrics or ()]
    runs = [(outcome.job.point, outcome.run) for outcome in outcomes]
    found, modes = summary.summary_of(runs, subjects, also)
    metrics = list(dict.fromkeys(each.metric for each in subjects))
    words = Labels(labels, _scenarios(outcomes))
    short = warnings_of_short(
        [outcome.job.point for outcome in outcomes], [outcome.run for outcome in outcomes]
    )
    warnings = [
        *summary.without_values(found, metrics or also),
        *summary.equal_seeds(runs, first.job.scenario),
    ]
    if form != Form.TABLE:
        forms.show(summary.grid(found, metrics, form, also, words), form)
        for line in [*warnings, *short]:
            complain(line)
        return
    answer = Answer(all_rows=all_rows)
    answer.conclude(outcome(found, metrics, words))
    seeds = len({outcome.job.seed for outcome in outcomes})
    over = f", means of {seeds} seeds [95 % intervals]" if seeds > 1 else ""
    answer.title(
        first.run.name, f", {first.run.meta.duration_s:g} s, engine {first.run.meta.engine.name}{over}"
    )
    shown, once = (found, list[str]()) if metrics else summary.shortened(found, also)
    answer.grid(summary.grid(shown, metrics, form, also, words))
    told = [*once, *summary.jain_is_of(found), *summary.cut(shown, metrics), *modes]
    told += summary.leaves_out([outcome.run for outcome in outcomes], shown, metrics)
    answer.notes(told, [*warnings, *short])


def _scenarios(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The scenarios of jobs as plain data, each once: seeds share theirs."""
    distinct = {id(outcome.job.scenario): outcome.job.scenario for outcome in outcomes}
    return [scenario.to_dict() for scenario in distinct.values()]
