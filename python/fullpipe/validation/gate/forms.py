"""Checks in the forms that other programs read: JUnit XML, Markdown and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from fullpipe.analysis.shown import number_shown, unit_shown
from fullpipe.markdown import escaped, table
from fullpipe.validation.compare.conclusion import MOST, placed, weight
from fullpipe.validation.compare.finding import Finding, interval_dict, known
from fullpipe.validation.gate.check import Checked

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may hold (section 2.2)."""
_COLUMNS = ("verdict", "case", "of", "metric", "base", "change", "margin")


def junit(checked: Checked) -> bytes:
    """JUnit XML: a test case per row; what is regressed has failed, what is undecided was skipped."""
    counts = {"tests": len(checked.findings), "failures": checked.count("regressed")}
    counts |= {"skipped": checked.count("undecided"), "errors": 0}
    numbers = {name: str(count) for name, count in counts.items()}
    suites = Xml.Element("testsuites", numbers)
    suite = Xml.SubElement(suites, "testsuite", {"name": _xml(checked.suite), **numbers})
    for row in checked.findings:
        name = _xml(row.subject.name)
        case = Xml.SubElement(suite, "testcase", {"classname": _xml(_place(row)), "name": name})
        tag = {"regressed": "failure", "undecided": "skipped"}.get(row.decision)
        if tag:
            Xml.SubElement(case, tag, {"message": _xml(sentence(row))})
    Xml.indent(suites)
    return bytes(Xml.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def markdown(checked: Checked) -> str:
    """Markdown for the summary of a CI run: the conclusion, the counts, and what is not "not worse"."""
    told = dict.fromkeys([" ".join(conclusion(checked)), summary(checked)])
    lines = [f"## {escaped(checked.suite)}: {checked.decision}", ""]
    lines += [line for sentence in told for line in (escaped(sentence), "")]
    left = [row for row in checked.findings if row.decision != "not worse"]
    if left:
        lines += [*table(_COLUMNS, ["---"] * len(_COLUMNS), map(_cells, left)), ""]
    lines += [f"- {escaped(note)}" for note in checked.notes]
    return "\n".join(lines).rstrip() + "\n"


def junit_error(suite: str, message: str) -> bytes:
    """JUnit XML of a suite that could not be run."""
    counts = {"tests": "1", "failures": "0", "skipped": "0", "errors": "1"}
    suites = Xml.Element("testsuites", counts)
    case = Xml.SubElement(
        Xml.SubElement(suites, "testsuite", {"name": _xml(suite), **counts}),
        "testcase",
        {"classname": _xml(suite), "name": "run"},
    )
    Xml.SubElement(case, "error", {"message": _xml(message)})
    Xml.indent(suites)
    return bytes(Xml.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def as_json(checked: Checked, command: str) -> Mapping[str, Any]:
    """Everything as one object, for `fullpipe report`: see `fullpipe.validation.compare.stored`."""
    from fullpipe.validation.compare.stored import told  # here: a terminal and JUnit need no file

    return {
        **told([checked]),
        "kind": "check",
        "title": checked.suite,
        "question": f"Is the change worse than its base, {checked.base}?",
        "verdict": checked.decision,
        "conclusion": conclusion(checked),
        "identical": checked.is_identical,
        "runs": checked.runs,
        "counts": {
            "regressed": checked.count("regressed"),
            "not worse": checked.count("not worse"),
            "undecided": checked.count("undecided"),
        },
        "rows": [_row(row) for row in checked.findings],
        "notes": list(checked.notes),
        "command": command,
        "versions": {"base": checked.base, "change": checked.change},
    }


def _row(row: Finding) -> dict[str, Any]:
    return {
        "verdict": row.decision,
        "case": row.case,
        "point": dict(row.point),
        "kind": row.kind,
        "of": row.of,
        "metric": row.metric,
        "unit": row.unit,
        "base": row.reference,
        "change": known(row.other),
        "difference": known(row.difference),
        "interval": interval_dict(row.interval),
        "p": row.p_corrected,
        "margin": row.allowed,
        "seeds": row.runs,
        "seeds_that_would_decide": row.seeds,
        "reason": row.reason,
    }


def conclusion(checked: Checked) -> list[str]:
    """Say whether anything is worse beyond its margin, and by how much: the largest differences first."""
    if checked.is_identical:
        return [summary(checked)]
    worse = sorted((each for each in checked.findings if each.decision == "regressed"), key=weight)
    total, open_ = len(checked.findings), checked.count("undecided")
    left = f"; {open_:,} are undecided" if open_ else ""
    if not worse:
        values = "the only value is" if total == 1 else f"none of {total:,} values is"
        first = "Not worse" if not open_ else "Undecided"
        return [f"{first}: {values} shown to be worse than the base{left}."]
    verb = "is" if len(worse) == 1 else "are"
    told = [
        f"Regressed: {len(worse):,} of {total:,} values {verb} worse than the base beyond the margin{left}."
    ]
    return [*told, *map(placed, worse[: MOST - 1])]


def summary(checked: Checked) -> str:
    """The result, in a sentence or two."""
    if checked.is_identical:
        return f"Bit-identical: all numbers of {checked.runs:,} runs are the same. There is nothing to test."
    counts = [
        f"{checked.count(verdict)} {verdict}"
        for verdict in ("regressed", "not worse", "undecided")
        if checked.count(verdict)
    ]
    return (
        f"Of {len(checked.findings):,} values over {checked.runs:,} runs of each side: {', '.join(counts)}."
    )


def sentence(row: Finding) -> str:
    """The decision on a finding with its reason."""
    seeds = row.seeds
    more = f"; about {seeds:,} seeds would decide" if seeds else ""
    base, change, margin = _numbers(row)
    return f"{row.decision}: {base} -> {change}, margin {margin}; {row.reason}{more}"


def _place(row: Finding) -> str:
    point = ", ".join(f"{path}={value}" for path, value in row.point.items())
    return f"{row.case}, {point}" if point else row.case


def _cells(row: Finding) -> list[str]:
    return [row.decision, _place(row), row.of, row.metric, *_numbers(row)]


def _numbers(row: Finding) -> list[str]:
    """Base, change and margin with their unit."""
    unit = row.unit
    values = (row.reference, known(row.other), row.allowed)
    return [f"{number_shown(value, unit, row.metric)} {unit_shown(unit)}".rstrip() for value in values]


def _xml(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
