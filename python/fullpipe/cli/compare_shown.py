"""Comparisons on a terminal and as JSON: the conclusion, one table of findings, and notes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from fullpipe.analysis.unanswered import unanswered
from fullpipe.cli.answer import Answer
from fullpipe.cli.compare_variants import write
from fullpipe.cli.findings import show_findings
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shown import point_shown
from fullpipe.report.text import counted, listed
from fullpipe.runs import Run
from fullpipe.validation.compare import Comparison, EngineComparison, Finding, VariantComparison
from fullpipe.validation.compare.conclusion import conclusion, weight
from fullpipe.validation.compare.names import Names, names_of
from fullpipe.validation.compare.notes import merged, warnings
from fullpipe.validation.compare.sentence import family_size, is_open_by_correction


def tell_variants(
    made: Sequence[VariantComparison],
    *,
    as_json: bool,
    all_rows: bool = False,
    file: Path | None = None,
    command: str = "",
    runs: Sequence[Run] = (),
    asked: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    short: Sequence[str] = (),
) -> None:
    """Print comparisons of variants, write them to a file for reports, and exit with 1 if anything is worse.

    Args:
        made: The comparisons, one per variant and point.
        as_json: Print one JSON object per comparison.
        all_rows: Print all rows and notes.
        file: File to write.
        command: Command that the file names.
        runs: Runs that the file names.
        asked: Metrics that were asked for. Each that no comparison has gets a line on standard error.
        labels: Words for paths and values, before those of the scenarios.
        short: Warnings about runs that are too short.
    """
    findings = [finding for one in made for finding in one.findings]
    names = names_of(made, labels)
    missing = [f"note: {line}" for line in unanswered(asked, {m for one in made for m in one.measured})]
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked, names, findings), allow_nan=False))
        for line in missing:
            complain(line)
    else:
        answer = Answer(all_rows=all_rows)
        answer.conclude(conclusion(made, asked, names=names))
        _title(answer, made, names)
        show_findings(answer, findings, names, first=weight)
        left_out = merged((note for one in made for note in one.notes), names, whole=all_rows)
        answer.notes([*_corrected(findings), *left_out], [*short, *missing, *warnings(made, names)])
    if file is not None and made:
        write(file, made, command, runs, asked, labels)
    if any(one.is_worse for one in made):
        raise typer.Exit(1)


def tell_engines(
    made: Sequence[EngineComparison],
    metrics: Sequence[str],
    *,
    asked: Sequence[str],
    as_json: bool,
    all_rows: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Print comparisons of engines, one per point.

    Args:
        made: The comparisons.
        metrics: Names of the metrics that are shown.
        asked: Names of those that were asked for.
        as_json: Print every metric as JSON.
        all_rows: Print all rows and notes.
        labels: Words for paths and values, before those of the scenarios.
    """
    names = names_of(made, labels)
    known = {finding.metric for one in made for finding in one.findings}
    missing = [f"note: {line}" for line in unanswered(asked, known)]
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked, names) | {"point": dict(one.point)}, allow_nan=False))
        for line in missing:
            complain(line)
        return
    answer = Answer(all_rows=all_rows)
    shown = [one.only([each for each in one.findings if each.metric in metrics]) for one in made]
    answer.conclude(conclusion(shown, asked, names=names))
    first = made[0]
    where = ", ".join([*_points(made, names), counted(len(first.seeds[first.reference]), "seed")])
    answer.title(first.scenario, f", {where}; reference {first.reference}")
    findings = [finding for one in shown for finding in one.findings]
    show_findings(answer, findings, names, first=weight, level="90 %")
    shown_notes = (note for one in made for note in one.notes if note.metric in metrics)
    notes = merged(shown_notes, names, whole=all_rows)
    remarks = [line for one in made for line in (*one.remarks, *one.undecided)]
    answer.notes([*remarks, *notes], missing)


def _json(
    made: VariantComparison | EngineComparison,
    asked: Sequence[str],
    names: Names,
    family: Sequence[Finding] | None = None,
) -> dict[str, object]:
    """The comparison as JSON has it, with its conclusion and its findings."""
    findings = [finding.to_dict() for finding in made.findings]
    told = conclusion([made], asked, names=names, family=family)
    return {**made.to_dict(), "conclusion": told, "findings": findings}


def _corrected(findings: Sequence[Finding]) -> list[str]:
    """A line on the correction of several tests, and on the first metric that it leaves undecided."""
    tests = family_size(findings)
    if tests < 2:
        return []
    told = f"intervals are of single tests; verdicts are after Holm's correction for {tests:,} tests"
    left = [each for each in findings if is_open_by_correction(each)]
    if left:
        metric = min(left, key=weight).metric
        own = family_size(findings, metric)
        told += f"; `--metric {metric}` tests {own:,}" if own < tests else ""
    return [told]


def _title(answer: Answer, made: Sequence[VariantComparison], names: Names) -> None:
    """Print variants, scenario, point or number of points, and seeds."""
    first, others = made[0], dict.fromkeys(one.other for one in made)
    told = (
        names.against(first.other, first.reference)
        if len(others) == 1
        else f"{listed(map(names.side, others))} against {names.side(first.reference)}"
    )
    words = ", ".join([first.scenario, *_points(made, names), counted(len(first.seeds), "seed")])
    answer.title(f"{told}: {words}", "")


def _points(made: Sequence[Comparison], names: Names) -> list[str]:
    """The point in words, or the number of points."""
    points = {repr(one.point) for one in made}
    if len(points) > 1:
        return [counted(len(points), "point")]
    return point_shown(made[0].point, names.labels)
