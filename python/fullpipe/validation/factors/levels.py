"""Means of the levels of a factor, unweighted over the cells of the other factors, and contrasts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.statistics import MeanContrast
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.rows import LEVEL


@dataclass(frozen=True)
class LevelPair:
    """Two levels of a factor."""

    levels: tuple[str, str]
    """The reference, and the level compared with it."""
    values: tuple[Sequence[float], Sequence[float]]
    """Means of either level over its cells, one per seed; without common seeds the means of its cells."""
    contrast: MeanContrast
    """Mean of the other level minus mean of the reference."""
    has_pairs: bool
    """Whether values belong together by seed."""
    allowed: float
    """The difference that does not matter, in the unit of the metric."""

    @property
    def p_within(self) -> float:
        """P value of two one-sided tests against the margin; 1 if that is 0."""
        return self.contrast.p_within(self.allowed) if self.allowed else 1.0


@dataclass(frozen=True)
class Levels:
    """The levels of a factor of a design."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    """Unweighted over cells, in the unit of the metric."""
    pairs: tuple[LevelPair, ...]

    @property
    def widest(self) -> LevelPair:
        """The pair that is the least surely within its margin."""
        return max(self.pairs, key=lambda pair: (pair.p_within, abs(pair.contrast.difference)))

    @property
    def p_equivalent(self) -> float:
        """P value of the test that all pairs of levels differ by less than their margins.

        The hypothesis is that some pair does not, so the test rejects if those of all pairs do, each at the
        same error. Source: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling".
        """
        return self.widest.p_within

    @property
    def are_equivalent(self) -> bool:
        """Whether all levels are within the margin of each other, at an error of 5 %."""
        return self.p_equivalent < 1 - LEVEL


def levels_of(design: Design, place: int, margin: Margin) -> Levels:
    """The levels of the factor at a place among those of a design.

    Seeds are pairs if every cell has the same; else cells are independent.
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
        pairs.append(
            LevelPair((names[i], names[j]), values, contrast, design.is_blocked, margin.allowed(means[i]))
        )
    return Levels(names, tuple(means), tuple(pairs))
