"""Recomputes the paper's statistical analyses from its published data, and repeats them with correct sample
sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import fdtri

from fullpipe import files
from fullpipe.analysis.statistics import (
    FTest,
    MeanPair,
    Sample,
    anova,
    anova_of_samples,
    games_howell_of_samples,
    hotelling,
    integrated_autocorrelation_time,
    lag1_autocorrelation,
    tukey_hsd,
    welch_anova_of_samples,
)
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
from fullpipe.studies.text import Aligned

# The printed results, recomputed from the exports: sums, analyses of variance, Tukey's test and MANOVA.


LEVEL = 0.95
Groups = Mapping[str, Vector]
"""Samples of a printed table by algorithm."""


def groups_of(of: Results, exports: Mapping[str, Export]) -> dict[str, Groups]:
    """Return the samples of each printed table whose export is given. Raises InputFileError."""
    return {
        table.id: exports[table.file].window(table.series, list(table.groups), table.rows)
        for table in of.tables
        if table.file in exports
    }


def measure(of: Results, groups: Mapping[str, Groups]) -> Measurements:
    """Compute every printed quantity of the tables for which samples are given."""
    found = Measurements()
    for table in of.tables:
        if table.id in groups:
            _put_table(found, table, groups[table.id])
    if of.further in groups:
        _put_further(found, of, groups[of.further])
    return found


def put(found: Measurements, place: str, algorithm: str, values: Mapping[str, float]) -> None:
    """Add computed values of a table or figure, which is named by `place`."""
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
    """Add the results of Tukey's test, with groups in the order of the printed pairs, and of MANOVA, with the
    groups as dependent variables."""
    order = list(dict.fromkeys(name for pair in of.pairs for name in pair))
    pairs = {(order[pair.first], order[pair.second]): pair for pair in tukey_hsd([groups[n] for n in order])}
    for names in of.pairs:
        put(found, TUKEY, pair_name(*names), dict(zip(PAIR, _numbers(pairs[names]), strict=True)))
    test = hotelling(np.column_stack([groups[name] for name in order]))
    put(found, JOINT, ALL, dict(zip(MANOVA, (test.wilks, test.f), strict=True)))


def _numbers(pair: MeanPair) -> tuple[float, ...]:
    rejected = float(pair.p < 1 - LEVEL)
    return pair.difference, pair.p, pair.interval.low, pair.interval.high, rejected


# The printed analyses, and analyses that allow for the correlation of samples of one run.
# Consecutive samples, 0.2 s apart, are correlated. The effective sample size of a series is its number of
# samples divided by its integrated autocorrelation time. Variances differ by up to four orders of magnitude,
# so Welch's test replaces the analysis of variance, and Games and Howell's test replaces Tukey's test. All
# these tests still compare single runs of the algorithms.


OURS, THEIRS = "BBR-n+", "BBRv3"
"""The two algorithms that the paper compares."""
TESTS = (
    "The printed analyses, which take 300 to 351 samples as independent, and the same with effective sample "
    "sizes (the length of a series over its integrated autocorrelation time):"
)
PAIRS = (
    f"Pairs of algorithms that differ, of 36, and {OURS} less {THEIRS} with its 95 % interval: by Tukey's "
    "test of samples taken as independent, and by Games and Howell's with effective sample sizes:"
)


@dataclass(frozen=True)
class Analysis:
    """The printed analysis of a table, and the analyses with effective sample sizes."""

    table: str
    groups: Groups
    samples: Mapping[str, Sample]
    """Mean, variance and effective sample size by algorithm."""
    printed: FTest
    classical: FTest
    """Result of the printed test (analysis of variance) with effective sample sizes."""
    welch: FTest
    as_independent: Sequence[MeanPair]
    """Results of Tukey's test, which takes all samples as independent."""
    effective: Sequence[MeanPair]
    """Results of Games and Howell's test with effective sample sizes."""

    def pair(self, pairs: Sequence[MeanPair], first: str, second: str) -> MeanPair:
        """Return the result for two algorithms, with the difference of means `second` minus `first`."""
        order = list(self.groups)
        wanted = {order.index(first), order.index(second)}
        found = next(pair for pair in pairs if {pair.first, pair.second} == wanted)
        return found if order[found.first] == first else _turned(found)


def analyses(groups: Mapping[str, Groups]) -> list[Analysis]:
    """Return the analyses of every table for which samples are given."""
    return [_analysis(table, of) for table, of in groups.items()]


def _analysis(table: str, groups: Groups) -> Analysis:
    values = list(groups.values())
    samples = {
        name: Sample(x.size / integrated_autocorrelation_time(x), float(x.mean()), float(x.var(ddof=1)))
        for name, x in groups.items()
    }
    worth = list(samples.values())
    return Analysis(
        table,
        groups,
        samples,
        anova(values),
        anova_of_samples(worth),
        welch_anova_of_samples(worth),
        tukey_hsd(values, LEVEL),
        games_howell_of_samples(worth, LEVEL),
    )


def differing(pairs: Sequence[MeanPair]) -> int:
    """Return the number of pairs whose means differ according to a test."""
    return sum(pair.p < 1 - LEVEL for pair in pairs)


def sizes(found: Sequence[Analysis]) -> pl.DataFrame:
    """Return the number of samples and the effective sample size by table and algorithm."""
    rows = [
        {
            "table": one.table,
            "algorithm": name,
            "samples": values.size,
            "mean": sample.mean,
            "variance": sample.variance,
            "lag1_autocorrelation": lag1_autocorrelation(values),
            "effective_samples": sample.n,
        }
        for one in found
        for (name, values), sample in zip(one.groups.items(), one.samples.values(), strict=True)
    ]
    return pl.DataFrame(rows)


def pairs_table(found: Sequence[Analysis]) -> pl.DataFrame:
    """Return the difference of means of every table and pair, with its interval and P value by both tests."""
    rows = []
    for one in found:
        order = list(one.groups)
        for printed, effective in zip(one.as_independent, one.effective, strict=True):
            rows.append(
                {
                    "table": one.table,
                    "first": order[printed.first],
                    "second": order[printed.second],
                    "difference": printed.difference,
                    **_interval("as_independent", printed),
                    **_interval("effective", effective),
                }
            )
    return pl.DataFrame(rows)


def write(found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Write the tables of `sizes` and `pairs_table`. Nothing is written if no published data are given."""
    if not found:
        return []
    tables = {"effective_samples.csv": sizes(found), "pairs.csv": pairs_table(found)}
    for name, table in tables.items():
        files.write_csv(folder / name, table)
    return [folder / name for name in tables]


def text(found: Sequence[Analysis]) -> list[str | Aligned]:
    """Return the sections of the report about the analyses; empty if no published data are given."""
    if not found:
        return []
    return [
        TESTS,
        _tests_text(found),
        PAIRS,
        _pairs_text(found),
    ]


def _tests_text(found: Sequence[Analysis]) -> Aligned:
    rows = [["", "samples", "worth", "F", "P", "F, effective", "P", "Welch's F, effective", "P"]]
    for one in found:
        worth = [sample.n for sample in one.samples.values()]
        lengths = [values.size for values in one.groups.values()]
        cells = [one.table, f"{min(lengths)}", f"{min(worth):.0f} to {max(worth):.0f}"]
        for test in (one.printed, one.classical, one.welch):
            cells += [f"{test.f:.2f}", _p(test.p)]
        rows.append(cells)
    return Aligned(rows, right=range(1, 9))


def _pairs_text(found: Sequence[Analysis]) -> Aligned:
    rows = [["", "apart", f"{OURS} - {THEIRS}", "apart, effective", f"{OURS} - {THEIRS}, effective"]]
    for one in found:
        cells = [one.table]
        for pairs in (one.as_independent, one.effective):
            cells += [f"{differing(pairs)}", _difference(one.pair(pairs, THEIRS, OURS))]
        rows.append(cells)
    return Aligned(rows, right=range(1, 5))


def _turned(pair: MeanPair) -> MeanPair:
    ends = pair.interval
    interval = type(ends)(-ends.high, -ends.low, ends.level, ends.method)
    return MeanPair(pair.second, pair.first, -pair.difference, interval, pair.p)


def _interval(of: str, pair: MeanPair) -> dict[str, float]:
    return {f"{of}_low": pair.interval.low, f"{of}_high": pair.interval.high, f"{of}_p": pair.p}


def _difference(pair: MeanPair) -> str:
    return f"{pair.difference:.2f} [{pair.interval.low:.2f}, {pair.interval.high:.2f}]"


def _p(p: float) -> str:
    return "below 1e-300" if p < 1e-300 else f"{p:.2g}"
