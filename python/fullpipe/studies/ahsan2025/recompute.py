"""Printed results recomputed from the exports: sums, analyses of variance, Tukey's test, MANOVA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from scipy.special import fdtri

from fullpipe.analysis.statistics import MeanPair, anova, hotelling, tukey_hsd
from fullpipe.studies.ahsan2025.exports import Export, Vector
from fullpipe.studies.ahsan2025.printed import (
    ALL,
    ANOVA,
    EXPERIMENT,
    JOINT,
    MANOVA,
    PAIR,
    PLACE,
    SUMMARY,
    TUKEY,
    Results,
    Table,
    pair_name,
)
from fullpipe.studies.experiments import Measurements

LEVEL = 0.95
Groups = Mapping[str, Vector]
"""Values of a table by algorithm."""


def groups_of(of: Results, exports: Mapping[str, Export]) -> dict[str, Groups]:
    """Return the values of each table whose file is there. Raises InputFileError."""
    return {
        table.id: exports[table.file].window(table.series, list(table.groups), table.rows)
        for table in of.tables
        if table.file in exports
    }


def measure(of: Results, groups: Mapping[str, Groups]) -> Measurements:
    """Compute every printed quantity of these tables."""
    found = Measurements()
    for table in of.tables:
        if table.id in groups:
            _put_table(found, table, groups[table.id])
    if of.further in groups:
        _put_further(found, of, groups[of.further])
    return found


def put(found: Measurements, place: str, algorithm: str, values: Mapping[str, float]) -> None:
    """Add computed values of a table or figure."""
    found.put({"experiment": EXPERIMENT, "algorithm": algorithm, PLACE: place}, values)


def _put_table(found: Measurements, table: Table, groups: Groups) -> None:
    for algorithm, values in groups.items():
        numbers = (values.size, fsum(values), values.mean(), values.var(ddof=1))
        put(found, table.id, algorithm, dict(zip(SUMMARY, map(float, numbers), strict=True)))
    put(found, f"{table.id}a", ALL, dict(zip(ANOVA, spreadsheet_anova(list(groups.values())), strict=True)))


def spreadsheet_anova(groups: Sequence[Vector]) -> tuple[float, ...]:
    """Return the numbers that a spreadsheet prints for a one-way analysis of variance, in the order of
    `ANOVA`."""
    together, test = np.concatenate(groups), anova(groups)
    mean = together.mean()
    between = fsum(values.size * (values.mean() - mean) ** 2 for values in groups)
    within = fsum(float(((values - values.mean()) ** 2).sum()) for values in groups)
    critical = float(fdtri(test.df1, test.df2, LEVEL))
    tested = (between, test.df1, between / test.df1, test.f, test.p, critical)
    in_all = float(((together - mean) ** 2).sum())
    return (*tested, within, test.df2, within / test.df2, in_all, float(together.size - 1))


def _put_further(found: Measurements, of: Results, groups: Groups) -> None:
    """Add Tukey's test, with groups in the order of the printed pairs, and MANOVA, whose metrics are the
    groups."""
    order = list(dict.fromkeys(name for pair in of.pairs for name in pair))
    pairs = {(order[pair.first], order[pair.second]): pair for pair in tukey_hsd([groups[n] for n in order])}
    for names in of.pairs:
        put(found, TUKEY, pair_name(*names), dict(zip(PAIR, _numbers(pairs[names]), strict=True)))
    test = hotelling(np.column_stack([groups[name] for name in order]))
    put(found, JOINT, ALL, dict(zip(MANOVA, (test.wilks, test.f), strict=True)))


def _numbers(pair: MeanPair) -> tuple[float, ...]:
    rejected = float(pair.p < 1 - LEVEL)
    return pair.difference, pair.p, pair.interval.low, pair.interval.high, rejected
