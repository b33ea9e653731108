"""What a test says: one row per test and subject."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullpipe.analysis.statistics import Effect, FTest, Interval, Paired
from fullpipe.validation.compare.finding import Subject

LEVEL = 0.95
INTERACTION = " x "
"""Between the factors of an interaction."""


@dataclass(frozen=True)
class Row:
    """A test of a subject."""

    subject: Subject
    test: str
    effect: str
    """Factor, interaction, or two levels, in words."""
    n: int
    """How many runs there are."""
    p: float
    is_primary: bool = False
    """Whether it is what the question is answered by, and corrected with the others of its family. The rest
    is there to check it by."""
    is_follow_up: bool = False
    """Whether it says which levels differ, once the primary test of its subject says that some do."""
    is_corrected: bool = False
    """Whether the test itself corrects p for all pairs."""
    statistic: str = ""
    """Such as F(2, 57) = 4.1."""
    levels: tuple[str, ...] = ()
    """Of a comparison of two: the reference first."""
    means: tuple[float, ...] = ()
    """Of the levels."""
    difference: float | None = None
    """Of the means, in the unit of the metric."""
    interval: Interval | None = None
    """Of the difference."""
    effects: Sequence[Effect] = ()
    margin: float | None = None
    """The difference that does not matter, in the unit of the metric."""
    p_equivalent: float | None = None
    """Of two one-sided tests against the margin."""
    seeds: int | None = None
    """How many seeds would decide, if mean and spread stay as they are."""
    family: str = ""
    is_planned: bool = False
    p_corrected: float = math.nan
    """Within its family."""
    q: float = math.nan
    """After Benjamini's and Hochberg's procedure over all families and metrics."""
    tests: float = 1.0
    """Factor by which the correction has raised p."""
    verdict: str = ""
    assumptions: Sequence[str] = field(default=())
    factors: tuple[str, ...] = ()
    """Columns of the factors whose effect is tested; several of an interaction."""
    f: FTest | None = None
    """The F test, if it is one."""
    pairs: Paired | None = None
    """Paired differences, if it is a test of them."""

    @property
    def rejects(self) -> bool:
        """Whether p is below 5 % after correction."""
        return self.p_corrected < 1 - LEVEL

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: base units, and null for what there is not."""
        return {
            "test": self.test,
            "verdict": self.verdict,
            **self.subject.to_dict(),
            "effect": self.effect,
            "levels": list(self.levels),
            "means": list(self.means),
            "n": self.n,
            "difference": self.difference,
            "interval": _interval(self.interval),
            "effects": [effect_dict(effect) for effect in self.effects],
            "statistic": self.statistic,
            "p": _known(self.p),
            "primary": self.is_primary,
            "corrected": self.is_corrected,
            "p_corrected": _known(self.p_corrected),
            "q": _known(self.q),
            "margin": self.margin,
            "p_equivalent": self.p_equivalent,
            "seeds_that_would_decide": self.seeds,
            "family": self.family,
            "planned": self.is_planned,
            "assumptions": list(self.assumptions),
        }


def _interval(found: Interval | None) -> Mapping[str, Any] | None:
    if found is None:
        return None
    return {
        "low": _known(found.low),
        "high": _known(found.high),
        "level": found.level,
        "method": found.method,
    }


def effect_dict(found: Effect) -> Mapping[str, Any]:
    """An effect size as JSON."""
    return {"name": found.name, "value": _known(found.value), "interval": _interval(found.interval)}


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
