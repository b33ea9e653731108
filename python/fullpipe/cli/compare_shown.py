"""Comparisons on a terminal and as JSON: the conclusion, one table of findings, and notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from fullpipe.analysis.length import doubts_of
from fullpipe.analysis.limits import unanswered
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.outcome import labelled
from fullpipe.analysis.shown import LARGER_PART
from fullpipe.analysis.values import values_of
from fullpipe.cli.answer import (
    Answer,
    Row,
    fits,
    margin_shown,
    number_shown,
    point_shown,
    unit_shown,
)
from fullpipe.cli.compare_variants import write
from fullpipe.cli.output import complain, echo
from fullpipe.report.text import counted, listed
from fullpipe.runs import Run
from fullpipe.validation.compare import Comparison, EngineComparison, Finding, VariantComparison
from fullpipe.validation.compare.comparison import C, doubted
from fullpipe.validation.compare.conclusion import conclusion, quoted, ranked
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE
from fullpipe.validation.compare.fair_share import share_at_points
from fullpipe.validation.compare.finding import Note, family_size, is_open_by_correction, known, leads, weight
from fullpipe.validation.compare.rules import ALIKE, unlike
from fullpipe.validation.compare.sentence import (
    TRUNCATED,
    Names,
    difference_of,
    doubts_in_words,
    is_truncated,
    merged,
    names_of,
    verdict_of,
)

# The findings of comparisons on a terminal: one table.


_LONGEST_HEADING = 10
"""Maximum length of a heading, in characters; "reference" or "other" replaces a longer name."""
_COLOURS = {
    "better": "green",
    "worse": "red",
    "equivalent": "",
    "undecided": "dim",
    "regressed": "red",
    "not worse": "",
}
_OF_SHARES = frozenset({SHARE, "goodput", "jain"})
"""Metrics with which the fair share is tested, if metrics are requested."""
_MARGIN = 4
"""Index of the column of margins."""


def show_findings(
    answer: Answer,
    findings: Sequence[Finding],
    names: Names,
    *,
    first: Callable[[Finding], Any] | None = None,
    level: str = "95 %",
) -> Sequence[Finding]:
    """Print a table of findings, and return the findings of its rows; with many findings, only the first
    rows.

    Margins are in a line below the table if the terminal is too narrow for their column.

    Args:
        answer: Answer to which the table is added.
        findings: Findings in the order of the table.
        names: Names of sides and points.
        first: Sort key. If not all rows fit, the findings with the lowest keys are shown. Without a key, the
            first findings are shown.
        level: Confidence level of the intervals, for the heading.
    """
    several = len({each.sides for each in findings}) > 1

    def row(found: Finding) -> Row:
        return _row(found, names.place(found, with_side=several))

    top = answer.first_of(sorted(findings, key=first) if first else findings)
    margin = "margin (larger)" if any(each.margin.has_two_parts for each in top) else "margin"
    headings = ["", *_headings(findings, names), f"difference [{level}]", margin, "verdict"]
    if fits(headings, [row(each) for each in top], answer.width):
        return answer.table(headings, findings, row, first)
    del headings[_MARGIN]
    shown = answer.table(headings, findings, lambda found: _without_margin(row(found)), first)
    margins = {
        each.metric: margin_shown(each.margin, each.unit, each.metric, has_unit=True) for each in shown
    }
    larger = f" ({LARGER_PART})" if any(each.margin.has_two_parts for each in shown) else ""
    answer.say(f"margins{larger}: {'; '.join(f'{metric} {margin}' for metric, margin in margins.items())}")
    return shown


def _in_order(findings: Sequence[Finding], asked: Sequence[str]) -> list[Finding]:
    """The findings, sorted within each pair of sides and point. Groups are sorted by the earliest requested
    metric that they have. A total comes last, unless it has an earlier metric than every group."""
    if not asked:
        return [*findings]
    order = {metric: place for place, metric in enumerate(asked)}
    blocks = {block: n for n, block in enumerate(dict.fromkeys(map(_block, findings)))}
    firsts: dict[tuple[int, str], int] = {}
    best: dict[int, int] = {}
    for each in findings:
        block, place = blocks[_block(each)], order.get(each.metric, len(order))
        firsts[block, each.of] = min(place, firsts.get((block, each.of), place))
        if each.of not in TOTALS:
            best[block] = min(place, best.get(block, place))

    def key(each: Finding) -> tuple[int, ...]:
        block = blocks[_block(each)]
        first = firsts[block, each.of]
        is_last = each.of in TOTALS and first >= best.get(block, len(order))
        return block, is_last, first, seen[each.of], order.get(each.metric, len(order))

    seen = {of: n for n, of in enumerate(dict.fromkeys(each.of for each in findings))}
    return sorted(findings, key=key)


def _block(found: Finding) -> tuple[object, ...]:
    return found.sides, found.case, repr(found.point)


def _headings(findings: Sequence[Finding], names: Names) -> list[str]:
    """The names of the two sides if they are short and equal in all rows; else "reference" and "other"."""
    reference, other = ({names.value(each.sides[n]) for each in findings} for n in (0, 1))
    single = [name for of_side in (reference, other) if len(of_side) == 1 for name in of_side]
    if max(map(len, single), default=0) > _LONGEST_HEADING:
        return ["reference", "other"]
    return [
        next(iter(of_side)) if len(of_side) == 1 else word
        for of_side, word in ((reference, "reference"), (other, "other"))
    ]


def _row(found: Finding, place: str) -> Row:
    of, unit = (found.unit, found.metric), unit_shown(found.unit, found.metric)
    unfinished: Sequence[str] = ()
    if found.left_out and (found.left_out.reference.unfinished or found.left_out.other.unfinished):
        sides = (found.left_out.reference, found.left_out.other)
        unfinished = ["  unfinished", *(f"{side.unfinished:,} of {side.began:,}" for side in sides)]
    cells = [
        f" {found.metric} {unit if unit != found.unit or unit == 's' else ''}".rstrip(),
        number_shown(found.reference, *of),
        number_shown(known(found.other), *of),
        difference_of(found),
        margin_shown(found.margin, *of, has_unit=True),
        verdict_of(found),
    ]
    return Row(place, cells, _COLOURS.get(found.outcome, "yellow"), unfinished)


def _without_margin(row: Row) -> Row:
    cells = [cell for n, cell in enumerate(row.cells) if n != _MARGIN]
    return Row(row.place, cells, row.style, row.below)


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
) -> None:
    """Print comparisons of variants, write them to a file for reports, and exit with 1 if a metric is worse.

    Args:
        made: The comparisons, one per variant and point.
        as_json: Print one JSON object per comparison.
        all_rows: Print all rows and notes.
        file: File to write for `fullpipe report`; None to write none.
        command: Command line to store in the file.
        runs: Runs that were compared, which the file lists.
        asked: Metrics that the user names. A metric without a comparison gets a line on standard error.
        labels: Labels of paths and values. These labels replace labels in the scenarios.
    """
    made, doubts = _with_doubts(made, runs, labels)
    findings = [finding for one in made for finding in one.findings]
    names = names_of(made, labels)
    made = _with_fair_shares(made, runs, names, asked)
    missing = [f"note: {line}" for line in unanswered(asked, {m for one in made for m in one.measured})]
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked, names, doubts, findings), allow_nan=False))
        for line in missing:
            complain(line)
    else:
        answer = Answer(all_rows=all_rows)
        answer.conclude(conclusion(made, asked, names=names))
        _title(answer, made, names)
        shown = names.shown(made)
        rows = _in_order([finding for one in shown for finding in one.findings], asked)
        first = {id(each) for each in leads(ranked(shown, asked), quoted(shown, asked))}
        in_table = show_findings(
            answer, rows, names, first=lambda each: (id(each) not in first, weight(each))
        )
        left_out = merged((note for one in made for note in one.notes), names, whole=all_rows)
        answer.notes(
            [*_corrected(findings), *doubts_in_words(in_table), *left_out],
            [*map(as_line, doubts), *missing, *warnings(made, names)],
        )
    if file is not None and made:
        write(file, made, command, runs, asked, labels, doubts)
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
    runs: Sequence[Run] = (),
) -> None:
    """Print comparisons of engines, one per point.

    Args:
        made: The comparisons.
        metrics: Metrics to show.
        asked: Metrics that the user names.
        as_json: Print every metric as JSON.
        all_rows: Print all rows and notes.
        labels: Labels of paths and values. These labels replace labels in the scenarios.
        runs: Runs that were compared.
    """
    made, doubts = _with_doubts(made, runs, labels)
    names = names_of(made, labels)
    known = {finding.metric for one in made for finding in one.findings}
    missing = [f"note: {line}" for line in unanswered(asked, known)]
    if as_json:
        for one in made:
            echo(json.dumps(_json(one, asked, names, doubts) | {"point": dict(one.point)}, allow_nan=False))
        for line in missing:
            complain(line)
        return
    answer = Answer(all_rows=all_rows)
    shown = [one.only([each for each in one.findings if each.metric in metrics]) for one in made]
    answer.conclude(conclusion(shown, asked, names=names))
    first = made[0]
    where = ", ".join([*_points(made, names), counted(len(first.seeds[first.reference]), "seed")])
    answer.title(first.scenario, f", {where}; reference {first.reference}")
    findings = _in_order([finding for one in names.shown(shown) for finding in one.findings], asked)
    in_table = show_findings(answer, findings, names, first=weight, level="90 %")
    shown_notes = (note for one in made for note in one.notes if note.metric in metrics)
    remarks = (note for one in made for note in (*one.remarks, *one.undecided))
    notes = merged([*map(names.note, remarks), *shown_notes], names, whole=all_rows)
    answer.notes([*doubts_in_words(in_table), *notes], [*map(as_line, doubts), *missing])


def _with_doubts(
    made: Sequence[C], runs: Sequence[Run], labels: Mapping[str, str] | None
) -> tuple[list[C], list[str]]:
    """Return the comparisons with marked findings, and the warnings about the means of their runs."""
    doubts = doubts_of([run.with_labels(labels or {}) for run in runs])
    return doubted(made, doubts), doubts.warnings


def _with_fair_shares(
    made: Sequence[VariantComparison], runs: Sequence[Run], names: Names, asked: Sequence[str]
) -> list[VariantComparison]:
    """Return the comparisons with a note on the goodput share of the first changed bulk flow on all sides,
    which is tested against its fair share."""
    entries = sorted(entry for one in made for entry in one.changed & one.bulk)
    if not entries or (asked and _OF_SHARES.isdisjoint(asked)):
        return [*made]
    settings = {side: values for one in made for side, values in one.settings.items()}
    points = {
        each.digest: {**settings.get(each.side, {"variant": each.side}), **each.point}
        for one in made
        for each in one.ran
    }
    known = [(points[run.meta.digest], run) for run in runs if run.meta.digest in points]
    values = labelled(values_of(known, (SHARE, EQUAL_SHARE, "goodput")), names.labels)
    told = share_at_points(values, entries[0], names.labels) if known else ""
    if not told:
        return [*made]
    note = Note(f"{told[0].lower()}{told[1:]}".removesuffix("."))
    return [made[0].noted([note, *made[0].notes]), *made[1:]]


def _json(
    made: VariantComparison | EngineComparison,
    asked: Sequence[str],
    names: Names,
    doubts: Sequence[str],
    family: Sequence[Finding] | None = None,
) -> dict[str, object]:
    """The JSON object of a comparison, with its conclusion, its findings and warnings about its means."""
    findings = [finding.to_dict() for finding in made.findings]
    told = conclusion([made], asked, names=names, family=family)
    notes = [names.note(note) for note in made.notes]
    told_of = {"conclusion": told, "findings": findings, "warnings": list(doubts), "notes": notes}
    return {**made.to_dict(), **told_of}


def as_line(warning: str) -> str:
    """A warning of `Doubts` as a line on a terminal."""
    return f"w{warning[1:].removesuffix('.')}"


def _corrected(findings: Sequence[Finding]) -> list[str]:
    """A line on Holm's correction. It names a metric, if any, that would be decided if only this metric were
    tested."""
    tests = family_size(findings)
    if tests < 2:
        return []
    cut = f", {TRUNCATED}" if any(map(is_truncated, findings)) else ""
    told = f"intervals are of single tests{cut}; verdicts are after Holm's correction for {tests:,} tests"
    left = [each for each in findings if is_open_by_correction(each)]
    if left:
        metric = min(left, key=weight).metric
        own = family_size(findings, metric)
        told += f"; `--metric {metric}` tests {own:,}" if own < tests else ""
    return [told]


def warnings(made: Sequence[Comparison], names: Names) -> Iterator[str]:
    """Reasons to distrust verdicts, and reasons for missing verdicts: at most one line of each kind per
    metric and group."""
    findings = [finding for one in names.shown(made) for finding in one.findings]
    if any(finding.reason == ALIKE for finding in findings):
        yield 'note: all seeds gave the same run; give flows a start_jitter, such as "100 ms"'
    unlikes: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.left_out and finding.left_out.more:
            unlikes.setdefault((finding.metric, finding.of), []).append(finding)
    for (metric, of), found in unlikes.items():
        yield f"note: {metric} of {of}: {_unlike(found, names)}"


def _unlike(found: Sequence[Finding], names: Names) -> str:
    """The unfinished shares of both sides, from the finding where they differ most."""
    most = max(found, key=lambda each: abs(each.left_out.more) if each.left_out else 0.0)
    assert most.left_out is not None
    reference, other = map(names.side, most.sides)
    open_ = sum(each.reason == unlike(each.left_out) for each in found if each.left_out)
    verdict = "no verdict" if len(found) == 1 else f"no verdict in {open_} of {len(found)} comparisons"
    first = "" if len(found) == 1 else "up to "
    return (
        f"{first}{most.left_out.reference} of {reference}, {most.left_out.other} of {other}; those that"
        f" finished are the faster ones{f': {verdict}; make runs longer' if open_ else ''}"
    )


def _title(answer: Answer, made: Sequence[VariantComparison], names: Names) -> None:
    """Print the title: the variants, the scenario, the point or number of points, and the number of seeds."""
    first, others = made[0], dict.fromkeys(one.other for one in made)
    told = (
        names.against(first.other, first.reference)
        if len(others) == 1
        else f"{listed(map(names.side, others))} against {names.side(first.reference)}"
    )
    words = ", ".join([first.scenario, *_points(made, names), counted(len(first.seeds), "seed")])
    answer.title(f"{told}: {words}", "")


def _points(made: Sequence[Comparison], names: Names) -> list[str]:
    """The sweep point in words if there is one point, else the number of points."""
    points = {repr(one.point) for one in made}
    if len(points) > 1:
        return [counted(len(points), "point")]
    return point_shown(made[0].point, names.labels)
