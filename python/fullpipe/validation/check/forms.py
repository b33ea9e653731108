"""Checks in machine-readable formats: JUnit XML, Markdown and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from fullpipe.analysis.shown import number_shown, unit_shown
from fullpipe.markdown import escaped, table
from fullpipe.validation.check import DECISIONS, Checked
from fullpipe.validation.compare.conclusion import MOST
from fullpipe.validation.compare.finding import Finding, known, weight
from fullpipe.validation.compare.sentence import Names, merged, names_of, placed, seeds_in_words

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are not allowed in XML 1.0 (section 2.2)."""
_COLUMNS = ("verdict", "case", "of", "metric", "base", "change", "margin")
_KEYS = (
    *("verdict", "case", "point", "kind", "of", "metric", "unit", "base", "change", "difference", "interval"),
    *("p", "margin", "seeds", "seeds_that_would_decide", "reason"),
)
"""Keys of a row in the JSON of a check."""


def junit(checked: Checked) -> bytes:
    """JUnit XML with a test case per row: regressed rows are failures, undecided rows are skipped."""
    failed, skipped = checked.count("regressed"), checked.count("undecided")
    suites, suite = _suites(checked.scenario, len(checked.findings), failed, skipped, 0)
    for row in checked.findings:
        name = _xml(row.subject.name)
        case = Xml.SubElement(suite, "testcase", {"classname": _xml(_place(row)), "name": name})
        tag = {"regressed": "failure", "undecided": "skipped"}.get(row.decision)
        if tag:
            Xml.SubElement(case, tag, {"message": _xml(sentence(row))})
    return _written(suites)


def junit_error(name: str, message: str) -> bytes:
    """JUnit XML for a suite that could not be run."""
    suites, suite = _suites(name, 1, 0, 0, 1)
    case = Xml.SubElement(suite, "testcase", {"classname": _xml(name), "name": "run"})
    Xml.SubElement(case, "error", {"message": _xml(message)})
    return _written(suites)


def _suites(name: str, *counts: int) -> tuple[Xml.Element, Xml.Element]:
    """The root of the document, and its suite with the numbers of tests by outcome."""
    outcomes = ("tests", "failures", "skipped", "errors")
    numbers = {outcome: str(count) for outcome, count in zip(outcomes, counts, strict=True)}
    suites = Xml.Element("testsuites", numbers)
    return suites, Xml.SubElement(suites, "testsuite", {"name": _xml(name), **numbers})


def _written(suites: Xml.Element) -> bytes:
    Xml.indent(suites)
    return bytes(Xml.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def markdown(checked: Checked, names: Names | None = None) -> str:
    """Markdown for the summary of a CI run: the conclusion, the counts, and all rows except those that are
    "not worse".
    """
    told = dict.fromkeys([" ".join(conclusion(checked, names)), summary(checked)])
    lines = [f"## {escaped(checked.scenario)}: {checked.decision}", ""]
    lines += [line for sentence in told for line in (escaped(sentence), "")]
    names = names or names_of([checked])
    checked = names.shown([checked])[0]
    left = [row for row in checked.findings if row.decision != "not worse"]
    if left:
        lines += [*table(_COLUMNS, ["---"] * len(_COLUMNS), map(_cells, left)), ""]
    lines += [
        f"- {escaped(note)}" for note in (*how(checked), *merged(checked.notes, names or names_of([checked])))
    ]
    return "\n".join(lines).rstrip() + "\n"


def as_json(checked: Checked, command: str, labels: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """The check as one JSON object, for `fullpipe report`: see `fullpipe.validation.compare.stored`.

    Args:
        checked: The check.
        command: Command that made the check.
        labels: Words for paths and values, which take precedence over those of the scenarios.
    """
    from fullpipe.validation.compare.stored import told  # imported here, as a terminal and JUnit need no file

    names = names_of([checked], labels)
    return {
        **told([checked], labels),
        "kind": "check",
        "title": checked.scenario,
        "question": f"Is the change worse than its base, {checked.versions.get('base', checked.reference)}?",
        "verdict": checked.decision,
        "conclusion": conclusion(checked, names),
        "identical": checked.is_identical,
        "looks": list(checked.looks),
        "level": checked.level,
        "runs": checked.runs,
        "counts": {decision: checked.count(decision) for decision in DECISIONS},
        "rows": [_row(row) for row in checked.findings],
        "notes": [names.note(note) for note in checked.notes],
        "command": command,
        "versions": dict(checked.versions),
    }


def _row(row: Finding) -> dict[str, Any]:
    told = row.to_dict() | {
        "verdict": row.decision,
        "base": row.reference,
        "change": known(row.other),
        "p": row.p_corrected,
        "margin": row.allowed,
        "seeds": row.runs,
    }
    return {key: told[key] for key in _KEYS}


def conclusion(checked: Checked, names: Names | None = None) -> list[str]:
    """Say whether any value is worse by more than its margin, and by how much; the largest differences
    first."""
    names = names or names_of([checked])
    checked = names.shown([checked])[0]
    if checked.is_identical and checked.decision != "regressed":
        return [summary(checked)]
    worse = sorted((each for each in checked.findings if each.decision == "regressed"), key=weight)
    total, open_ = len(checked.findings), checked.count("undecided")
    left = f"; {open_:,} {'is' if open_ == 1 else 'are'} undecided" if open_ else ""
    if not worse:
        values = "the only value is" if total == 1 else f"none of {total:,} values is"
        first = "Not worse" if not open_ else "Undecided"
        return [f"{first}: {values} shown to be worse than the base{left}."]
    if checked.left:
        seeds = f"{checked.seeds:,} of at most {checked.looks[-1]:,} seeds"
        left += f": the check stopped at the regression, after {seeds}"
    told = [f"Regressed: {len(worse):,} of {total:,} values {_why_regressed(worse)}{left}."]
    return [*told, *(placed(each, names) for each in worse[: MOST - 1])]


def how(checked: Checked) -> list[str]:
    """Say at which error rate values are tested; empty if there is nothing to test."""
    return [] if checked.is_identical else level_in_words(checked.level, checked.looks)


def level_in_words(level: float, looks: Sequence[object]) -> list[str]:
    """Say at which error rate each look tests; empty without looks.

    >>> level_in_words(0.025, [5, 10])
    ['each test is at 2.5 %: 5 % shared by 2 looks (5 and 10 seeds); regressed needs p (corrected) < 0.025']
    >>> level_in_words(0.05, [4])
    ['each test is at 5 %; regressed needs p (corrected) < 0.05']
    """
    if not looks:
        return []
    shared = f": 5 % shared by {len(looks)} looks ({_listed(looks)} seeds)" if len(looks) > 1 else ""
    return [f"each test is at {100 * level:.3g} %{shared}; regressed needs p (corrected) < {level:.3g}"]


def _listed(looks: Sequence[object]) -> str:
    *first, last = map(str, looks)
    return f"{', '.join(first)} and {last}"


def _why_regressed(worse: Sequence[Finding]) -> str:
    """Whether values are worse than the base, beyond the demands of the suite, or both."""
    demanded = [each.rule == "demanded" for each in worse]
    is_, breaks = ("is", "breaks") if len(worse) == 1 else ("are", "break")
    parts = [
        *([f"{is_} worse than the base beyond the margin"] if not all(demanded) else []),
        *([f"{breaks} a demand of the suite"] if any(demanded) else []),
    ]
    return " or ".join(parts)


def summary(checked: Checked) -> str:
    """The result in one or two sentences."""
    if checked.is_identical:
        return f"Bit-identical: all numbers of {checked.runs:,} runs are the same. There is nothing to test."
    counts = [f"{count} {decision}" for decision in DECISIONS if (count := checked.count(decision))]
    return f"{len(checked.findings):,} values over {checked.runs:,} runs of each side: {', '.join(counts)}."


def sentence(row: Finding) -> str:
    """The decision on a finding with its reason."""
    if row.is_by_runs:
        return f"{row.decision}: {row.reason}"
    told = seeds_in_words(row.seeds)
    more = f"; {told}" if told else ""
    base, change, margin = _numbers(row)
    return f"{row.decision}: {base} -> {change}, margin {margin}; {row.reason}{more}"


def _place(row: Finding) -> str:
    point = ", ".join(f"{path}={value}" for path, value in row.point.items())
    return f"{row.case}, {point}" if point else row.case


def _cells(row: Finding) -> list[str]:
    decision = f"{row.decision}: {row.reason}" if row.is_by_runs else row.decision
    return [decision, _place(row), row.of, row.metric, *_numbers(row)]


def _numbers(row: Finding) -> list[str]:
    """Base, change and margin with their unit."""
    unit = row.unit
    values = (row.reference, known(row.other), row.allowed)
    return [
        f"{number_shown(value, unit, row.metric)} {unit_shown(unit, row.metric)}".rstrip() for value in values
    ]


def _xml(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
