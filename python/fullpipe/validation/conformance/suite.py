"""Runs all cases, with their results."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fullpipe.errors import ScenarioError
from fullpipe.runs import Store
from fullpipe.validation.conformance import (
    drain,
    path_changes,
    probe_down,
    probe_rtt,
    probe_up,
    recovery,
    startup,
)
from fullpipe.validation.conformance.case import DraftTest, DraftVerdict, Result, Step, StuckError
from fullpipe.validation.conformance.lab import ALIASES, Lab

_GROUPS = (startup, drain, probe_up, probe_down, probe_rtt, path_changes, recovery)


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
