"""The example tests of the IETF's BBR draft, run against any algorithm.

draft-ietf-ccwg-bbr-06, appendix A, lists 22 example tests. Each is a case here: one or two scenarios, and
steps in the draft's terms that are looked up in the tables of the run and in the variables that the algorithm
published. Cases that need what an algorithm never publishes do not apply to it.

>>> from fullpipe.validation import conformance
>>> [case.section for case in conformance.cases()][:3]
['A.1', 'A.2', 'A.3']
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

from rich.table import Table
from rich.text import Text

from fullpipe.errors import ScenarioError
from fullpipe.runs import Store
from fullpipe.validation.conformance import disturbances, probes, startup
from fullpipe.validation.conformance.lab import (
    ALIASES,
    DRAFT,
    DraftTest,
    DraftVerdict,
    Lab,
    Result,
    Step,
    StuckError,
)

__all__ = ["DraftTest", "DraftVerdict", "Result", "Step", "StuckError", "cases", "judge"]


# Runs all cases, with their results.


_GROUPS = (startup, probes, disturbances)


def cases() -> tuple[DraftTest, ...]:
    """Every case, in the order of the draft."""
    found = [case for group in _GROUPS for case in vars(group).values() if isinstance(case, DraftTest)]
    return tuple(sorted(found, key=lambda case: int(case.section.removeprefix("A."))))


def judge(
    cca: str | Mapping[str, Any],
    *,
    only: Sequence[str] = (),
    workers: int = 1,
    store: Store | None = None,
    seed: int = 1,
    engine: str = "native",
    done: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Judge an algorithm by every case.

    Args:
        cca: As in a scenario: a name, or kind and parameters.
        only: Sections or names of cases; empty for all.
        workers: How many cases at the same time. Has no influence on results.
        store: Where runs are kept; None keeps them in memory.
        seed: Feeds random waits and random loss; a verdict should not depend on it.
        engine: Whose algorithm it is. What an engine cannot run does not apply.
        done: Told about every case when its runs are over, before it is known whether it applies.
    """
    lab = Lab(cca, store, seed, engine)
    chosen = [case for case in cases() if not only or case.section in only or case.name in only]

    def attempt(case: DraftTest) -> Result:
        result = _attempt(case, lab)
        if done:
            done(result)
        return result

    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        attempts = list(pool.map(attempt, chosen))
    return [_applied(result, lab.published) for result in attempts]


def _attempt(case: DraftTest, lab: Lab) -> Result:
    started = time.perf_counter()
    steps: list[Step] = []
    reason = ""
    try:
        steps.extend(case.steps(lab))
    except StuckError as stuck:
        reason = str(stuck)
    except ScenarioError as refusal:
        return Result(case, DraftVerdict.not_applicable, (), str(refusal), time.perf_counter() - started)
    good = not reason and all(step.holds for step in steps)
    verdict = DraftVerdict.passed if good else DraftVerdict.failed
    return Result(case, verdict, tuple(steps), reason, time.perf_counter() - started)


def _applied(result: Result, published: set[str]) -> Result:
    """A case does not apply if the algorithm never published what it needs, in any of the runs."""
    case = result.case
    missing = [name for name in case.needs if not published & set(ALIASES.get(name, (name,)))]
    if not missing or result.verdict is DraftVerdict.not_applicable:
        return result
    reason = f"never publishes {', '.join(missing)}"
    return Result(case, DraftVerdict.not_applicable, (), reason, result.seconds)


# Results as a table, as JSON and as JUnit XML.


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
