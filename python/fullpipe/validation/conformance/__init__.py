"""The example tests of the IETF's BBR draft, run against any algorithm.

draft-ietf-ccwg-bbr-06, appendix A, lists 22 example tests. Each test is a `DraftTest`: one or two scenarios,
and steps in the draft's terms, which are checked in the tables of the run and in the variables that the
algorithm published. A case does not apply to an algorithm that never publishes the variables and states of
the case.

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


# Runs of all cases, and their results.


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
        cca: The algorithm as in a scenario: a name, or kind and parameters.
        only: Sections or names of cases; empty for all.
        workers: Number of simultaneous cases; never changes results.
        store: Store of the runs; None keeps runs in memory.
        seed: Seed of random waits and random loss; a verdict should not depend on the seed.
        engine: The engine of the algorithm. Cases that the engine cannot run do not apply.
        done: Called with every case when its runs are finished, before it is known whether the case applies.
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
    """The result. The case does not apply if no run published a variable or state that the case needs."""
    case = result.case
    missing = [name for name in case.needs if not published & set(ALIASES.get(name, (name,)))]
    if not missing or result.verdict is DraftVerdict.not_applicable:
        return result
    reason = f"never publishes {', '.join(missing)}"
    return Result(case, DraftVerdict.not_applicable, (), reason, result.seconds)


# Results as a table, as JSON and as JUnit XML.


_COLOURS = {DraftVerdict.passed: "green", DraftVerdict.failed: "red", DraftVerdict.not_applicable: "dim"}


def table(results: Sequence[Result]) -> Table:
    """One row per case: the verdict and the failed steps."""
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
    """One row per case: the purpose of the case, and the variables and states that the case needs."""
    found = Table("section", "test", "title", "needs", box=None, pad_edge=False, header_style="bold")
    for case in cases:
        found.add_row(case.section, case.name, case.title, ", ".join(case.needs) or "nothing")
    return found


def summary(results: Sequence[Result]) -> str:
    """The numbers of cases by verdict, in one line."""
    count = {verdict: sum(result.verdict == verdict for result in results) for verdict in DraftVerdict}
    return ", ".join(f"{number} {verdict}" for verdict, number in count.items())


def as_json(subject: str, results: Sequence[Result]) -> str:
    """All results as JSON."""
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
    """JUnit XML for build servers; cases that do not apply are skipped tests."""
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
