"""Comparisons on a terminal and as JSON: the conclusion, one table of findings, and notes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from fullpipe.analysis.unanswered import unanswered
from fullpipe.cli.compare_variants import write
from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.findings import show_conclusion, show_findings
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shown import point_shown
from fullpipe.report.text import counted, listed
from fullpipe.runs import Run
from fullpipe.validation.compare import Comparison, EngineComparison, VariantComparison
from fullpipe.validation.compare.conclusion import conclusion, weight
from fullpipe.validation.compare.rules import ALIKE, unlike


def tell_variants(
    made: Sequence[VariantComparison],
    *,
    as_json: bool,
    all_rows: bool = False,
    file: Path | None = None,
    command: str = "",
    runs: Sequence[Run] = (),
    asked: Sequence[str] = (),
) -> None:
    """Print comparisons of variants, keep them in a file for reports, and exit with 1 if anything is worse.

    Each metric that was asked for and that no comparison has gets a line on standard error.
    """
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked), allow_nan=False))
    else:
        show_conclusion(conclusion(made, asked))
        terminal().print(led(_title(made), "bold", ""), soft_wrap=True)
        findings = [finding for one in made for finding in one.findings]
        show_findings(findings, all_rows=all_rows, first=weight)
        _show_lines([note for one in made for note in one.notes])
        for line in dict.fromkeys(line for one in made for line in _warnings(one)):
            complain(line)
    if file is not None and made:
        write(file, made, command, runs, asked)
    for line in unanswered(asked, {metric for one in made for metric in one.measured}):
        complain(f"note: {line}")
    if any(one.is_worse for one in made):
        raise typer.Exit(1)


def tell_engines(
    made: Sequence[EngineComparison],
    metrics: Sequence[str],
    *,
    asked: Sequence[str],
    as_json: bool,
    all_rows: bool = False,
) -> None:
    """Print comparisons of engines, one per point.

    Args:
        made: The comparisons.
        metrics: Names of the metrics that are shown.
        asked: Names of those that were asked for.
        as_json: Print every metric as JSON.
        all_rows: Print all rows of the table.
    """
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked) | {"point": dict(one.point)}, allow_nan=False))
    else:
        shown = [one.only([each for each in one.findings if each.metric in metrics]) for one in made]
        show_conclusion(conclusion(shown, asked))
        first, console = made[0], terminal()
        where = ", ".join([*_points(made), counted(len(first.seeds[first.reference]), "seed")])
        console.print(led(first.scenario, "bold", f", {where}; reference {first.reference}"))
        findings = [finding for one in shown for finding in one.findings]
        show_findings(findings, all_rows=all_rows, first=weight, level="90 %")
        notes = [note for one in made for note in one.notes if note.metric in metrics]
        _show_lines([*(line for one in made for line in (*one.remarks, *one.undecided)), *notes])
    for line in unanswered(asked, {finding.metric for one in made for finding in one.findings}):
        complain(f"note: {line}")


def _json(made: VariantComparison | EngineComparison, asked: Sequence[str]) -> dict[str, object]:
    """The comparison as JSON has it, with its conclusion and its findings."""
    findings = [finding.to_dict() for finding in made.findings]
    return {**made.to_dict(), "conclusion": conclusion([made], asked), "findings": findings}


def _title(made: Sequence[VariantComparison]) -> str:
    """Variants, scenario, point or number of points, and seeds."""
    first, others = made[0], dict.fromkeys(one.other for one in made)
    words = [first.scenario, *_points(made), counted(len(first.seeds), "seed")]
    return f"{listed(others)} against {first.reference}: {', '.join(words)}"


def _points(made: Sequence[Comparison]) -> list[str]:
    """The point in words, or the number of points."""
    points = {repr(one.point) for one in made}
    return point_shown(made[0].point) if len(points) == 1 else [counted(len(points), "point")]


def _show_lines(lines: Sequence[str]) -> None:
    for line in dict.fromkeys(lines):
        terminal().print(styled(line, "dim"), soft_wrap=True)


def _warnings(made: VariantComparison) -> Iterator[str]:
    """Reasons to distrust verdicts, or the lack of them."""
    if any(finding.reason == ALIKE for finding in made.findings):
        yield 'note: all seeds gave the same run, which is one; give flows a start_jitter, such as "100 ms"'
    for finding in made.findings:
        if finding.left_out and finding.left_out.more:
            is_open = finding.reason == unlike(finding.left_out)
            why = ": no verdict; make runs longer" if is_open else ""
            yield (
                f"note: {finding.metric} of {finding.of}: {finding.left_out.reference} of {made.reference},"
                f" {finding.left_out.other} of {made.other}; those that finish are the faster ones{why}"
            )
