"""The status of a factor for a subject: it matters, does not matter, or is undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.statistics import Effect
from fullpipe.validation.compare.finding import Subject, interval_dict, known
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.levels import Levels, levels_of
from fullpipe.validation.factors.rows import LEVEL, Row, effect_dict

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
    """The primary test of its main effect, corrected within the family."""
    interactions: tuple[Row, ...]
    """Tests of its interactions that reject after correction."""
    seeds: int | None
    """Seeds that would decide, if means and variances stay; None if decided or not known."""

    @property
    def status(self) -> Status:
        """Whether the factor matters.

        - does not matter: all levels are equivalent, see `Levels.p_equivalent`, at an error of 5 %;
        - matters: else, if the primary test of its main effect rejects at 5 % after correction;
        - undecided: else.
        """
        if self.levels.are_equivalent:
            return "does not matter"
        return "matters" if self.test.rejects else "undecided"

    @property
    def effect(self) -> Effect | None:
        """Share of the variance that the factor explains, or another effect size of its test."""
        found = {effect.name: effect for effect in self.test.effects}
        return found.get("eta²") or next(iter(self.test.effects), None)

    def to_dict(self) -> dict[str, Any]:
        """The factor as JSON, in base units."""
        widest = self.levels.widest
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
            "widest": {
                "levels": list(widest.levels),
                "difference": widest.contrast.difference,
                "interval": interval_dict(widest.contrast.interval(LEVEL)),
                "margin": widest.allowed,
            },
            "interactions": [list(row.factors) for row in self.interactions],
            "seeds_that_would_decide": self.seeds,
            "family": self.test.family,
        }


def factors_of(design: Design, margin: Margin, rows: Sequence[Row]) -> Iterator[Factor]:
    """The factors of a design.

    Args:
        design: The values of a subject.
        margin: The difference of its metric that does not matter.
        rows: The primary tests of this subject, corrected within their family.
    """
    tests = {row.factors: row for row in rows if row.is_primary}
    for place, path in enumerate(design.factors):
        test, levels = tests[path,], levels_of(design, place, margin)
        found = tuple(row for paths, row in tests.items() if path in paths and len(paths) > 1 and row.rejects)
        yield Factor(design.subject, path, levels, margin, test, found, _seeds(design, levels, test))


def _seeds(design: Design, levels: Levels, test: Row) -> int | None:
    """Seeds that would decide; None if that is decided, or the test is by ranks without blocks."""
    if test.pairs is not None or test.f is None or test.rejects or levels.are_equivalent:
        return test.seeds
    pairs = [(pair.contrast, pair.allowed) for pair in levels.pairs]
    seeds = min(len(of_cell) for of_cell in design.cells.values())
    return statistics.seeds_that_decide(test.f, pairs, seeds, level=LEVEL, tests=test.tests)
