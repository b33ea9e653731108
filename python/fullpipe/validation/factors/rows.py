"""Rows of an answer: one per test and subject."""

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
    """Runs."""
    p: float
    is_primary: bool = False
    """Whether the answer rests on it, so that it is corrected with the others of its family. All other rows
    are checks or pairs of levels."""
    is_follow_up: bool = False
    """Whether it compares two levels once the primary test of its subject rejects."""
    is_corrected: bool = False
    """Whether the test itself corrects p for all pairs."""
    statistic: str = ""
    """Such as F(2, 57) = 4.1."""
    levels: tuple[str, ...] = ()
    """Two levels that are compared, the reference first."""
    means: tuple[float, ...] = ()
    """Means of the levels."""
    difference: float | None = None
    """Difference of the means, in the unit of the metric."""
    interval: Interval | None = None
    """Interval of the difference."""
    effects: Sequence[Effect] = ()
    margin: float | None = None
    """The difference that does not matter, in the unit of the metric."""
    p_equivalent: float | None = None
    """P value of two one-sided tests against the margin."""
    seeds: int | None = None
    """Seeds that would decide, if mean and spread stay."""
    family: str = ""
    is_planned: bool = False
    p_corrected: float = math.nan
    """Within its family."""
    q: float = math.nan
    """After Benjamini's and Hochberg's procedure over all families and metrics."""
    raw: float | None = None
    """P value before any correction, if p is corrected by the test itself and has one."""
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
    def p_raw(self) -> float:
        """P value without any correction; NaN if the test has none."""
        if self.raw is not None:
            return self.raw
        return math.nan if self.is_corrected else self.p

    @property
    def rejects(self) -> bool:
        """Whether p is below 5 % after correction."""
        return self.p_corrected < 1 - LEVEL

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON, in base units, with null for missing values."""
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
            "p_raw": _known(self.p_raw),
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
