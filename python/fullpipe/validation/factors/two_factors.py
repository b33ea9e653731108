"""Two factors and their interaction, and several metrics at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from fullpipe.analysis import statistics
from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.one_factor import WITHOUT_PAIRS, f_row
from fullpipe.validation.factors.rows import LEVEL, Row

ASSUMPTIONS = (
    "runs are independent of each other",
    "metrics are normal together within a group",
    "their covariances are the same in every group",
)


def two_factors(design: Design, *, classical: bool) -> Iterator[Row]:
    """The tests of both factors and of their interaction: with a variance of every cell, with a pooled one,
    and with seeds as random effects if every cell has the same."""
    first, second = design.levels
    cells = [[design.values((i, j)) for j in second] for i in first]
    names = dict(zip(statistics.EFFECTS, (*design.factors, " x ".join(design.factors)), strict=True))
    varies = all(len(set(cell)) > 1 for row in cells for cell in row)
    pooled = statistics.two_way_anova(cells)
    effects = {
        name: (statistics.omega_squared(found, LEVEL), statistics.eta_squared(found, LEVEL))
        for name, found in pooled.items()
    }
    if varies:
        for name, found in statistics.welch_two_way_anova(cells).items():
            row = f_row(design, "Welch-James", names[name], found, effects[name], True)
            yield replace(row, assumptions=(WITHOUT_PAIRS,) if design.is_blocked else ())
    if classical or not varies:
        for name, found in pooled.items():
            yield f_row(design, "ANOVA", names[name], found, effects[name], not varies)
    if design.is_blocked:
        for name, found in statistics.mixed_model(_numbered(design)).items():
            yield f_row(design, "mixed model", names[name], found, (), False)


def _numbered(design: Design) -> dict[tuple[int, int, int], float]:
    first, second = design.levels
    return {
        (i, j, n): design.cells[first[i], second[j]][seed]
        for i, j in product(range(len(first)), range(len(second)))
        for n, seed in enumerate(design.seeds)
    }


def several_metrics(designs: Sequence[Design]) -> Row:
    """Whether the levels of a factor differ in several metrics taken together. It is read beside each of
    them.

    Raises:
        ValueError: If that cannot be tested: see `fullpipe.statistics.manova`.
    """
    groups = []
    for cell, of_cell in designs[0].cells.items():
        seeds = sorted(of_cell)
        if any(sorted(design.cells.get(cell, {})) != seeds for design in designs):
            raise ValueError("metrics have to be of the same runs")
        groups.append(np.array([[design.cells[cell][seed] for design in designs] for seed in seeds]))
    found = statistics.manova(groups)
    subjects = [design.subject for design in designs]
    metrics = ", ".join(dict.fromkeys(subject.metric for subject in subjects))
    first = subjects[0]
    subject = Subject(first.kind, first.entry, first.of, metrics, "", first.point)
    effect = " x ".join(designs[0].factors)
    statistic = f"Pillai {found.trace:.4g}, F({found.df1:g}, {found.df2:g}) = {found.f:.4g}"
    n = sum(map(len, groups))
    return Row(subject, "MANOVA", effect, n, found.p, statistic=statistic, assumptions=ASSUMPTIONS)
