"""Notes of many comparisons, merged: a line for each metric, and one for each warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fullpipe.validation.compare.comparison import Comparison
from fullpipe.validation.compare.finding import Finding, Note
from fullpipe.validation.compare.names import Names
from fullpipe.validation.compare.rules import ALIKE, unlike

_MOST_SIDES = 4
"""Sides that a line names."""


def merged(notes: Iterable[str], names: Names, *, whole: bool = False) -> list[str]:
    """Lines on what is left out: one for each metric that some runs lack, and all other notes, each once.

    With `whole` every note is a line.
    """
    lines: dict[str, list[Note]] = {}
    for each in dict.fromkeys(notes):
        note = each if isinstance(each, Note) else Note(each)
        lines.setdefault(note.metric if note.lacking and not whole else f"note {note}", []).append(note)
    return [
        _left_out(metric, of_metric, names) if len(of_metric) > 1 else str(of_metric[0])
        for metric, of_metric in lines.items()
    ]


def _left_out(metric: str, notes: Sequence[Note], names: Names) -> str:
    """The numbers of runs that have a metric, by side, where some lack it."""
    found: dict[str, set[int]] = {}
    for note in notes:
        for side, (having, _) in note.lacking.items():
            found.setdefault(side, set()).add(having)
    runs = max(total for note in notes for _, total in note.lacking.values())
    counts: list[str] = []
    for side, of_side in list(found.items())[:_MOST_SIDES]:
        all_runs = "" if counts else f" of {runs} runs"
        counts.append(f"{_range(of_side)}{all_runs}{f' of {names.side(side)}' if side else ''}")
    left = len(found) - _MOST_SIDES
    more = [f"{left} more side{'s' if left > 1 else ''}"] if left > 0 else []
    *first, last = [*counts, *more]
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{metric} is left out where only {listed} have it"


def _range(counts: Iterable[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def warnings(made: Sequence[Comparison], names: Names) -> Iterator[str]:
    """Reasons to distrust verdicts, or the lack of them: one line of each kind for each metric."""
    findings = [finding for one in made for finding in one.findings]
    if any(finding.reason == ALIKE for finding in findings):
        yield 'note: all seeds gave the same run, which is one; give flows a start_jitter, such as "100 ms"'
    unlikes: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.left_out and finding.left_out.more:
            unlikes.setdefault((finding.metric, finding.of), []).append(finding)
    for (metric, of), found in unlikes.items():
        yield f"note: {metric} of {of}: {_unlike(found, names)}"


def _unlike(found: Sequence[Finding], names: Names) -> str:
    """The unfinished shares of both sides where these differ most."""
    most = max(found, key=lambda each: abs(each.left_out.more) if each.left_out else 0.0)
    assert most.left_out is not None
    reference, other = map(names.side, most.sides)
    open_ = sum(each.reason == unlike(each.left_out) for each in found if each.left_out)
    verdict = "no verdict" if len(found) == 1 else f"no verdict in {open_} of {len(found)} comparisons"
    first = "" if len(found) == 1 else "up to "
    return (
        f"{first}{most.left_out.reference} of {reference}, {most.left_out.other} of {other}; those that"
        f" finish are the faster ones{f': {verdict}; make runs longer' if open_ else ''}"
    )
