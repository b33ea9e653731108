"""What is said of a change, in the forms that others read: JUnit XML, Markdown and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from fullpipe.analysis.shown import number_shown, unit_shown
from fullpipe.markdown import escaped, table
from fullpipe.validation.gate.check import Checked, Row

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold (section 2.2)."""
_COLUMNS = ("verdict", "case", "of", "metric", "base", "change", "margin")


def junit(checked: Checked) -> bytes:
    """JUnit XML: a test case per row; what is regressed has failed, what is undecided was skipped."""
    counts = {"tests": len(checked.rows), "failures": checked.count("regressed")}
    counts |= {"skipped": checked.count("undecided"), "errors": 0}
    numbers = {name: str(count) for name, count in counts.items()}
    suites = Xml.Element("testsuites", numbers)
    suite = Xml.SubElement(suites, "testsuite", {"name": _xml(checked.suite), **numbers})
    for row in checked.rows:
        match = row.match
        name = _xml(f"{match.metric} of {match.of}")
        case = Xml.SubElement(suite, "testcase", {"classname": _xml(_place(row)), "name": name})
        tag = {"regressed": "failure", "undecided": "skipped"}.get(row.found.verdict)
        if tag:
            Xml.SubElement(case, tag, {"message": _xml(sentence(row))})
    Xml.indent(suites)
    return bytes(Xml.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def markdown(checked: Checked) -> str:
    """Markdown for the summary of a CI run: the verdict, the counts, and what is not "not worse"."""
    lines = [f"## {escaped(checked.suite)}: {checked.verdict}", "", summary(checked), ""]
    left = [row for row in checked.rows if row.found.verdict != "not worse"]
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
    """Everything as one object; `fullpipe report` reads it."""
    return {
        "kind": "check",
        "title": checked.suite,
        "question": f"Is the change worse than its base, {checked.base}?",
        "verdict": checked.verdict,
        "identical": checked.is_identical,
        "runs": checked.runs,
        "counts": {
            "regressed": checked.count("regressed"),
            "not worse": checked.count("not worse"),
            "undecided": checked.count("undecided"),
        },
        "rows": [row.to_dict() for row in checked.rows],
        "notes": list(checked.notes),
        "command": command,
        "versions": {"base": checked.base, "change": checked.change},
    }


def summary(checked: Checked) -> str:
    """What came out, in a sentence or two."""
    if checked.is_identical:
        return f"Bit-identical: all numbers of {checked.runs:,} runs are the same. There is nothing to test."
    counts = [
        f"{checked.count(verdict)} {verdict}"
        for verdict in ("regressed", "not worse", "undecided")
        if checked.count(verdict)
    ]
    return f"Of {len(checked.rows):,} values over {checked.runs:,} runs of each side: {', '.join(counts)}."


def sentence(row: Row) -> str:
    """What is said of a row, and why."""
    seeds = row.found.seeds
    more = f"; about {seeds:,} seeds would decide" if seeds else ""
    base, change, margin = _numbers(row)
    return f"{row.found.verdict}: {base} -> {change}, margin {margin}; {row.found.reason}{more}"


def _place(row: Row) -> str:
    point = ", ".join(f"{path}={value}" for path, value in row.point.items())
    return f"{row.case}, {point}" if point else row.case


def _cells(row: Row) -> list[str]:
    return [row.found.verdict, _place(row), row.match.of, row.match.metric, *_numbers(row)]


def _numbers(row: Row) -> list[str]:
    """Base, change and margin with their unit."""
    unit = row.match.unit
    values = (row.base, row.change, row.match.contrast.margin)
    return [f"{number_shown(value, unit, row.match.metric)} {unit_shown(unit)}".rstrip() for value in values]


def _xml(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
