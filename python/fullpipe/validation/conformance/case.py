"""A case of the conformance tests, and its result."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from fullpipe.errors import FullpipeError
from fullpipe.validation.conformance.lab import Lab

DRAFT = "draft-ietf-ccwg-bbr-06"


class StuckError(FullpipeError):
    """A test cannot go on, because what it waits for never happened."""


@dataclass(frozen=True)
class Step:
    """Something that the draft says must hold, and what was seen."""

    expected: str
    seen: str
    holds: bool


Steps = Callable[[Lab], Iterator[Step]]


class DraftVerdict(StrEnum):
    """What became of a test."""

    passed = "passed"
    failed = "failed"
    not_applicable = "not applicable"


@dataclass(frozen=True)
class DraftTest:
    """One example test of the draft."""

    name: str
    section: str
    """Of the draft's appendix."""
    title: str
    why: str
    """What it is for, and where it departs from the recipe of the draft."""
    tolerance: str
    """How far off a number may be, with the reason."""
    needs: tuple[str, ...]
    """States and variables, in the draft's names, without which it does not apply."""
    steps: Steps


@dataclass(frozen=True)
class Result:
    """What became of a test for one algorithm."""

    case: DraftTest
    verdict: DraftVerdict
    steps: tuple[Step, ...] = ()
    reason: str = ""
    """Why it does not apply, or why it could not be finished."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def explanation(self) -> str:
        """What failed, or why it does not apply; empty if it passed."""
        broken = [f"{step.expected}: {step.seen}" for step in self.steps if not step.holds]
        return "; ".join([*broken, *([self.reason] if self.reason else [])])


def case(
    section: str, name: str, title: str, *, why: str, tolerance: str, needs: tuple[str, ...]
) -> Callable[[Steps], DraftTest]:
    """Makes a case of the function that runs it."""

    def make(steps: Steps) -> DraftTest:
        return DraftTest(name, section, title, why, tolerance, needs, steps)

    return make
