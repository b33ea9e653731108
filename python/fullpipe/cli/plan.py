"""`fullpipe plan`: computes the number of seeds that a difference needs."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.analysis.metrics import busy_links
from fullpipe.analysis.points import Subject, of_subjects
from fullpipe.analysis.values import values_of
from fullpipe.cli.answer import Answer, Row, number_shown, point_shown, unit_shown
from fullpipe.cli.asked import processors, read_scenario
from fullpipe.cli.asked import values_of as values_set
from fullpipe.cli.compare_variants import axes_of
from fullpipe.cli.forms import NOTHING
from fullpipe.cli.jobs import bring_all, check_all, finished_runs
from fullpipe.cli.output import command_line, echo
from fullpipe.cli.shared import AllowPython, Assignments, Jobs, Out, ScenarioName
from fullpipe.cluster import Threads
from fullpipe.errors import ScenarioError, brief
from fullpipe.runs import Run, Store
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels
from fullpipe.sweeps import Job, jobs
from fullpipe.validation.compare.sentence import Names, merged
from fullpipe.validation.over import sides_of
from fullpipe.validation.test.plan import VARIANT, Planned, conclusion_of, planned

_PILOT = 20
_MOST_PILOT = 1_000


def plan(
    context: typer.Context,
    scenario: ScenarioName,
    detect: Annotated[
        str,
        typer.Option(metavar="PERCENT", help='Difference to detect, in per cent of the mean, as in "5%".'),
    ],
    power: Annotated[
        float, typer.Option(min=0.5, max=0.999, metavar="P", help="Probability of detecting this difference.")
    ] = 0.9,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Metric to plan for, or "METRIC of GROUP" (default: goodput). May be repeated.',
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUES", help="Variants to compare, as in flows.0.cca=cubic,bbr3."),
    ] = None,
    pilot: Annotated[
        int,
        typer.Option(
            min=5,
            max=_MOST_PILOT,
            metavar="N",
            help="Number of seeds of the pilot, the runs that measure the variance.",
        ),
    ] = _PILOT,
    assignments: Assignments = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    allow_python: AllowPython = False,
    all_rows: Annotated[bool, typer.Option("--all", help="Print every row of the table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Pilot runs measure the variance between seeds. With `--over`, the pilot runs all variants with the same
    seeds and measures paired differences. Without `--over`, the number of seeds is for a comparison of two
    independent samples. If the values have two modes, the number of seeds is found by resampling the pilot
    instead of by a formula. The pilot's runs are stored.
    """
    share = _share(detect)
    subjects = [Subject.read(text) for text in metric or ["goodput"]]
    metrics = list(dict.fromkeys(each.metric for each in subjects))
    chosen = read_scenario(scenario).with_values(values_set(assignments or [], None))
    todo = _todo(chosen, over or [], pilot)
    if allow_python:
        bring_all([job for _, job in todo], scenario)
    check_all([job for _, job in todo])
    outcomes = finished_runs([job for _, job in todo], Threads(workers or processors()), Store(out))
    runs: list[tuple[Mapping[str, Any], Run]] = [
        ({**outcome.job.point, VARIANT: variant}, outcome.run)
        for (variant, _), outcome in zip(todo, outcomes, strict=True)
    ]
    links = dict.fromkeys(link for _, run in runs for link in busy_links(run))
    labels = Labels(scenarios=[run.scenario.to_dict() for _, run in runs])
    values = of_subjects(values_of(runs, metrics, links), subjects, labels, by_entry=True)
    rows, notes = planned(values, share, power)
    seeds = [row.seeds for row in rows]
    most = None if None in seeds else max(each for each in seeds if each)
    said = conclusion_of(rows, share, power)
    if as_json:
        made = {
            "conclusion": said,
            "detect": share,
            "power": power,
            "seeds": most,
            "rows": [row.to_dict() for row in rows],
        }
        echo(json.dumps(made | {"notes": notes, "command": command_line(context)}, allow_nan=False))
        return
    answer = Answer(all_rows=all_rows)
    answer.conclude(said)
    _show(answer, chosen, rows, share, power)
    told = merged(notes, Names(), whole=all_rows)
    answer.notes(_remarks(rows), [f"note: {note}" for note in told])


def _share(text: str) -> float:
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)\s*", text)
    if not found or not 0 < float(found[1]) <= 1000 or not found[2]:
        part = float(found[1]) if found else 0.0
        meant = f" ({100 * part:g}% is {part:g} times the mean)" if 0 < part < 1 else ""
        told = f"write the difference in per cent of the mean, as in 5%{meant}"
        raise ScenarioError([f'--detect "{brief(text)}": {told}'])
    return float(found[1]) / 100


def _todo(scenario: Scenario, over: list[str], pilot: int) -> list[tuple[str, Job]]:
    """The jobs of all variants, each with the name of its variant."""
    seeds = range(1, pilot + 1)
    if not over:
        return [("", job) for job in jobs(scenario, seeds)]
    return [(name, job) for name, jobs in sides_of(scenario, axes_of(over), seeds).items() for job in jobs]


def _show(answer: Answer, of: Scenario, rows: list[Planned], share: float, power: float) -> None:
    pilot = f"a pilot of {rows[0].pilot if rows else 0} seeds"
    wanted = f"a difference of {100 * share:g} % of the mean in {100 * power:g} of 100 comparisons"
    about = f": to find {wanted}, from {pilot}"
    answer.title(of.name, about)
    labels = Labels(scenarios=[of.to_dict()])
    headings = ["", "mean", "spread of\ndifferences", "seeds", "range"]
    by_place: dict[str, list[Planned]] = {}
    for row in rows:
        by_place.setdefault(_place(row, labels), []).append(row)
    together = [row for of_place in by_place.values() for row in of_place]
    answer.table(headings, together, lambda row: _row(row, labels), lambda row: -row.rank)


def _row(planned: Planned, labels: Labels) -> Row:
    """A row for one metric and group, below a line with its variant and sweep point."""
    place = _place(planned, labels)
    name = f"{' ' if place else ''}{planned.subject.metric} of {planned.name}"
    return Row(place, [name, *_numbers(planned)])


def _place(planned: Planned, labels: Labels) -> str:
    """Variant and sweep point, in words."""
    return ", ".join(filter(None, [planned.other, *point_shown(planned.subject.point, labels)]))


def _remarks(rows: list[Planned]) -> Iterator[str]:
    """Assumptions behind the numbers of seeds."""
    if any(row.is_simulated for row in rows):
        yield "runs have two modes, so the numbers of seeds come from resampling the pilot"
    if not any(row.other for row in rows):
        yield "seeds are for two independent samples; with --over PATH=VALUES, variants are paired by seed"


def _numbers(row: Planned) -> Iterator[str]:
    subject = row.subject
    unit = unit_shown(subject.unit, subject.metric)
    yield f"{number_shown(row.mean, subject.unit, subject.metric)} {unit}".rstrip()
    yield f"{100 * row.deviation / abs(row.mean):.1f} %"
    yield _count(row.seeds)
    is_known = not row.is_simulated
    yield f"{_count(row.least)} to {_count(row.most)}" if is_known else NOTHING


def _count(seeds: int | None) -> str:
    return "too many" if seeds is None else f"{seeds:,}"
