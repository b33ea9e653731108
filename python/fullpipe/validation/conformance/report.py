"""Results as a table, as JSON and as JUnit XML."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from rich.table import Table
from rich.text import Text

from fullpipe.validation.conformance.case import DRAFT, DraftTest, DraftVerdict, Result

_COLOURS = {DraftVerdict.passed: "green", DraftVerdict.failed: "red", DraftVerdict.not_applicable: "dim"}


def table(results: Sequence[Result]) -> Table:
    """One row per case: verdict, and what failed."""
    found = Table(
        "section", "test", "verdict", "what was seen", box=None, pad_edge=False, header_style="bold"
    )
    for result in results:
        verdict = Text(result.verdict, style=_COLOURS[result.verdict])
        broken = [step for step in result.steps if not step.holds]
        lines = [f"{step.expected}: {step.seen}" for step in broken] + (
            [result.reason] if result.reason else []
        )
        found.add_row(result.case.section, result.case.name, verdict, "\n".join(lines))
    return found


def listing(cases: Sequence[DraftTest]) -> Table:
    """One row per case: what it is for and what it needs."""
    found = Table("section", "test", "title", "needs", box=None, pad_edge=False, header_style="bold")
    for case in cases:
        found.add_row(case.section, case.name, case.title, ", ".join(case.needs) or "nothing")
    return found


def summary(results: Sequence[Result]) -> str:
    """One line of counts."""
    count = {verdict: sum(result.verdict == verdict for result in results) for verdict in DraftVerdict}
    return ", ".join(f"{number} {verdict}" for verdict, number in count.items())


def as_json(subject: str, results: Sequence[Result]) -> str:
    """Everything, for programs."""
    return json.dumps({"subject": subject, "draft": DRAFT, "results": [_plain(r) for r in results]}, indent=2)


def _plain(result: Result) -> dict[str, Any]:
    case = result.case
    steps = [{"expected": s.expected, "seen": s.seen, "holds": s.holds} for s in result.steps]
    return {
        "section": case.section,
        "name": case.name,
        "title": case.title,
        "verdict": str(result.verdict),
        "reason": result.reason,
        "tolerance": case.tolerance,
        "steps": steps,
    }


def as_junit(subject: str, results: Sequence[Result]) -> str:
    """JUnit XML, as build servers read it: cases that do not apply are skipped tests."""
    counts = {
        "tests": str(len(results)),
        "failures": str(sum(result.verdict == DraftVerdict.failed for result in results)),
        "errors": "0",
        "skipped": str(sum(result.verdict == DraftVerdict.not_applicable for result in results)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"{DRAFT} appendix A: {subject}", **counts})
    for result in results:
        attributes = {
            "classname": f"{DRAFT}.{result.case.section}",
            "name": result.case.name,
            "time": f"{result.seconds:.3f}",
        }
        element = ElementTree.SubElement(suite, "testcase", attributes)
        if result.verdict == DraftVerdict.failed:
            message = result.explanation
            ElementTree.SubElement(element, "failure", {"message": message}).text = "\n".join(
                f"{'+' if step.holds else '-'} {step.expected}: {step.seen}" for step in result.steps
            )
        elif result.verdict == DraftVerdict.not_applicable:
            ElementTree.SubElement(element, "skipped", {"message": result.reason})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
