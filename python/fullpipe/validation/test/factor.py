"""Rows of tests, and factors with their levels and their status: whether a factor matters for a subject."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.statistics import Effect, FTest, Interval, MeanContrast, Paired
from fullpipe.validation.compare.finding import Subject, interval_dict, known
from fullpipe.validation.compare.rules import LEVEL
from fullpipe.validation.test.design import Design

INTERACTION = " x "
"""Separator between the factors of an interaction."""


@dataclass(frozen=True)
class Row:
    """A test of a subject, that is, of one metric of a group of flows or link."""

    subject: Subject
    test: str
    effect: str
    """Factor, interaction, or two levels, in words."""
    n: int
    """Number of runs."""
    p: float
    is_primary: bool = False
    """Whether the answer is based on this test. Primary tests of a family are corrected together. All other
    rows are checks or pairs of levels."""
    is_follow_up: bool = False
    """Whether the test compares two levels after the primary test of its subject has rejected."""
    is_corrected: bool = False
    """Whether the test itself corrects p for all pairs."""
    statistic: str = ""
    """Test statistic in words, such as F(2, 57) = 4.1."""
    levels: tuple[str, ...] = ()
    """The two compared levels, the reference first."""
    means: tuple[float, ...] = ()
    """Means of the levels."""
    difference: float | None = None
    """Difference of the means, in the unit of the metric."""
    interval: Interval | None = None
    """Interval of the difference."""
    relative: Interval | None = None
    """Interval of the difference as a share of the reference."""
    effects: Sequence[Effect] = ()
    margin: float | None = None
    """Largest difference that does not matter, in the unit of the metric."""
    stated: Margin | None = None
    """The margin as stated: a share of the reference, an amount, or both."""
    p_equivalent: float | None = None
    """P value of two one-sided tests against the margin."""
    seeds: int | None = None
    """Number of seeds with which a verdict is expected, if mean and spread stay the same."""
    family: str = ""
    is_planned: bool = False
    p_corrected: float = math.nan
    """P value after correction within the family."""
    q: float = math.nan
    """P value after Benjamini's and Hochberg's procedure over all families and metrics."""
    raw: float | None = None
    """P value before any correction, for tests that correct p themselves; None if it is unknown."""
    tests: float = 1.0
    """Factor by which the correction has raised p."""
    verdict: str = ""
    assumptions: Sequence[str] = field(default=())
    factors: tuple[str, ...] = ()
    """Columns of the factors whose effect is tested; several columns for an interaction."""
    f: FTest | None = None
    """The F test, if the row shows one."""
    pairs: Paired | None = None
    """Paired differences, if the row shows a paired test."""

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

    @property
    def explained(self) -> Effect | None:
        """Share of the variance that the effect explains, if the test estimates that share."""
        return next((effect for effect in self.effects if effect.name == "eta²"), None)

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
            "relative_interval": _interval(self.relative),
            "effects": [effect_dict(effect) for effect in self.effects],
            "statistic": self.statistic,
            "p": known(self.p),
            "p_raw": known(self.p_raw),
            "primary": self.is_primary,
            "corrected": self.is_corrected,
            "p_corrected": known(self.p_corrected),
            "q": known(self.q),
            "margin": self.margin,
            "p_equivalent": self.p_equivalent,
            "seeds_that_would_decide": self.seeds,
            "family": self.family,
            "planned": self.is_planned,
            "assumptions": list(self.assumptions),
        }


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {**asdict(found), "low": known(found.low), "high": known(found.high)}


def effect_shown(found: Effect, form: str = ".3g") -> str:
    """An effect size with its interval; `form` is the format of its numbers."""
    ends = f" [{found.interval.low:{form}}, {found.interval.high:{form}}]" if found.interval else ""
    return f"{found.name} {found.value:{form}}{ends}"


def effect_dict(found: Effect) -> dict[str, Any]:
    """An effect size as JSON."""
    return {"name": found.name, "value": known(found.value), "interval": _interval(found.interval)}


@dataclass(frozen=True)
class LevelPair:
    """Two levels of a factor."""

    levels: tuple[str, str]
    """The reference, and the level compared with it."""
    values: tuple[Sequence[float], Sequence[float]]
    """Values of each level. If all cells have the same seeds, a level has one value per seed: the mean over
    its cells. Otherwise a level has the mean of each of its cells."""
    contrast: MeanContrast
    """Mean of the other level minus mean of the reference."""
    has_pairs: bool
    """Whether the values of both levels are paired by seed."""
    allowed: float
    """Largest difference that does not matter, in the unit of the metric."""
    relative: Interval | None = None
    """Interval of the difference as a share of the reference."""

    @property
    def p_within(self) -> float:
        """P value of two one-sided tests against the margin; 1 if the margin is 0."""
        return self.contrast.p_within(self.allowed) if self.allowed else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON, in base units."""
        return {
            "levels": list(self.levels),
            "difference": self.contrast.difference,
            "interval": interval_dict(self.contrast.interval(LEVEL)),
            "relative_interval": interval_dict(self.relative),
            "margin": self.allowed,
        }


@dataclass(frozen=True)
class Levels:
    """The levels of a factor of a design."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    """Mean of every level, unweighted over cells, in the unit of the metric."""
    pairs: tuple[LevelPair, ...]

    @property
    def widest(self) -> LevelPair:
        """The pair with the weakest evidence of equivalence."""
        return max(self.pairs, key=lambda pair: (pair.p_within, abs(pair.contrast.difference)))

    @property
    def largest(self) -> LevelPair:
        """The pair with the largest difference of means."""
        return max(self.pairs, key=lambda pair: abs(pair.contrast.difference))

    @property
    def p_equivalent(self) -> float:
        """P value of the test that all pairs of levels differ by less than their margins.

        The null hypothesis is that some pair differs by its margin or more. The test rejects if the tests of
        all pairs reject, each at the same error rate. Source: Berger 1982, "Multiparameter hypothesis testing
        and acceptance sampling".
        """
        return self.widest.p_within

    @property
    def are_equivalent(self) -> bool:
        """Whether all levels are within the margin of each other, at an error rate of 5 %."""
        return self.p_equivalent < 1 - LEVEL


def levels_of(design: Design, place: int, margin: Margin) -> Levels:
    """The levels of a factor, given by its index among the factors of a design.

    Values are paired by seed if every cell has the same seeds; else cells are independent.
    """
    cells = [design.values(cell) for cell in product(*design.levels)]
    shape = [len(levels) for levels in design.levels]
    level_of = np.indices(shape)[place].ravel()
    names = design.levels[place]
    if design.is_blocked:
        table = np.array(cells)
        by_level = [table[level_of == n].mean(axis=0) for n in range(len(names))]
    else:
        cell_means = np.array([np.mean(values) for values in cells])
        by_level = [cell_means[level_of == n] for n in range(len(names))]
    means = [float(values.mean()) for values in by_level]
    share = len(names) / len(cells)
    pairs = []
    for i, j in combinations(range(len(names)), 2):
        if design.is_blocked:
            contrast = statistics.contrast_of_pairs(by_level[i], by_level[j])
        else:
            weights = share * ((level_of == j) * 1.0 - (level_of == i))
            contrast = statistics.contrast_of_cells(cells, weights.tolist())
        values = by_level[i].tolist(), by_level[j].tolist()
        if design.is_blocked:
            relative = statistics.relative_interval(*values, LEVEL, pairs=True)
        else:
            own = statistics.contrast_of_cells(cells, (share * (level_of == i)).tolist())
            relative = contrast.relative_to(own, LEVEL)
        allowed = margin.allowed(means[i])
        pairs.append(LevelPair((names[i], names[j]), values, contrast, design.is_blocked, allowed, relative))
    return Levels(names, tuple(means), tuple(pairs))


Status = Literal["matters", "does not matter", "undecided"]


@dataclass(frozen=True)
class Factor:
    """A factor, its levels, and whether they matter for a subject."""

    subject: Subject
    path: str
    """The column of the table of values."""
    levels: Levels
    margin: Margin
    test: Row
    """The primary test of the factor's main effect, corrected within the family."""
    interactions: tuple[Row, ...]
    """Tests of the factor's interactions that reject after correction."""
    seeds: int | None
    """Number of seeds with which a status other than "undecided" is expected, if means and variances stay the
    same; None if the status is decided already, or if the number is not known."""

    @property
    def status(self) -> Status:
        """Whether the factor matters.

        - does not matter: all levels are equivalent at an error rate of 5 %: see `Levels.p_equivalent`;
        - matters: otherwise, if the primary test of its main effect rejects at 5 % after correction;
        - undecided: otherwise.
        """
        if self.levels.are_equivalent:
            return "does not matter"
        return "matters" if self.test.rejects else "undecided"

    @property
    def effect(self) -> Effect | None:
        """Share of the variance that the factor explains, or another effect size of its test."""
        return self.test.explained or next(iter(self.test.effects), None)

    def to_dict(self) -> dict[str, Any]:
        """The factor as JSON, in base units."""
        return {
            **self.subject.to_dict(),
            "factor": self.path,
            "status": self.status,
            "levels": list(self.levels.names),
            "means": list(self.levels.means),
            "effect": effect_dict(self.effect) if self.effect else None,
            "p": known(self.test.p),
            "p_corrected": known(self.test.p_corrected),
            "p_equivalent": self.levels.p_equivalent,
            "margin": asdict(self.margin),
            "widest": self.levels.widest.to_dict(),
            "largest": self.levels.largest.to_dict(),
            "interactions": [list(row.factors) for row in self.interactions],
            "seeds_that_would_decide": self.seeds,
            "family": self.test.family,
        }


def factors_of(design: Design, margin: Margin, rows: Sequence[Row]) -> Iterator[Factor]:
    """The factors of a design.

    Args:
        design: The values of a subject.
        margin: The largest difference of the metric that does not matter.
        rows: The primary tests of this subject, corrected within their family.
    """
    tests = {row.factors: row for row in rows if row.is_primary}
    for place, path in enumerate(design.factors):
        test, levels = tests[path,], levels_of(design, place, margin)
        found = tuple(row for paths, row in tests.items() if path in paths and len(paths) > 1 and row.rejects)
        yield Factor(design.subject, path, levels, margin, test, found, _seeds(design, levels, test))


def _seeds(design: Design, levels: Levels, test: Row) -> int | None:
    """Number of seeds for `Factor.seeds`; None if the status is decided already, or for tests by ranks
    without blocks."""
    if test.pairs is not None or test.f is None or test.rejects or levels.are_equivalent:
        return test.seeds
    pairs = [(pair.contrast, pair.allowed) for pair in levels.pairs]
    seeds = min(len(of_cell) for of_cell in design.cells.values())
    return statistics.seeds_that_decide(test.f, pairs, seeds, level=LEVEL, tests=test.tests)
