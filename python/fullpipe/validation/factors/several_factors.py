"""Several factors and their interactions, and several metrics at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from fullpipe.analysis import statistics
from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.one_factor import WITHOUT_PAIRS, f_row
from fullpipe.validation.factors.rows import INTERACTION, LEVEL, Row

ASSUMPTIONS = (
    "runs are independent of each other",
    "metrics are normal together within a group",
    "their covariances are the same in every group",
)


def several_factors(design: Design, *, classical: bool) -> Iterator[Row]:
    """The tests of every factor and interaction: with a variance of every cell, with a pooled one, and with
    seeds as random effects if every cell has the same."""
    cells = _numbered(design)
    varies = all(len(set(cell)) > 1 for cell in cells.values())
    pooled = statistics.factorial_anova(cells)
    effects = {
        places: (statistics.omega_squared(found, LEVEL), statistics.eta_squared(found, LEVEL))
        for places, found in pooled.items()
    }
    if varies:
        for places, found in statistics.welch_factorial_anova(cells).items():
            row = f_row(design, "Welch-James", places, found, effects[places], True)
            yield replace(row, assumptions=(WITHOUT_PAIRS,) if design.is_blocked else ())
    if classical or not varies:
        for places, found in pooled.items():
            yield f_row(design, "ANOVA", places, found, effects[places], not varies)
    if design.is_blocked:
        blocks = {(*cell, n): value for cell, values in cells.items() for n, value in enumerate(values)}
        for places, found in statistics.factorial_mixed_model(blocks).items():
            yield f_row(design, "mixed model", places, found, (), False)


def _numbered(design: Design) -> dict[tuple[int, ...], list[float]]:
    """Values of cells, in the order of seeds, by the places of their levels."""
    places = product(*(range(len(levels)) for levels in design.levels))
    return {place: design.values(cell) for place, cell in zip(places, product(*design.levels), strict=True)}


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
    effect = INTERACTION.join(designs[0].factors)
    statistic = f"Pillai {found.trace:.4g}, F({found.df1:g}, {found.df2:g}) = {found.f:.4g}"
    n = sum(map(len, groups))
    return Row(subject, "MANOVA", effect, n, found.p, statistic=statistic, assumptions=ASSUMPTIONS)
