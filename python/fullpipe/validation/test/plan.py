"""Number of seeds that a comparison needs, from the spread of differences in a few pilot runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
from scipy.special import chdtri

from fullpipe.analysis import statistics
from fullpipe.analysis.shown import (
    begun,
    difference_unit_shown,
    listed,
    metric_shown,
    number_shown,
    point_shown,
)
from fullpipe.analysis.statistics.equivalence import MOST_SEEDS
from fullpipe.analysis.statistics.power import MOST_SIMULATED
from fullpipe.validation.compare.finding import Cell, Subject
from fullpipe.validation.compare.side import joint
from fullpipe.validation.test.design import Design, designs

VARIANT = "variant"
"""Column of a table of values with the name of the variant."""
_MOST_NAMED = 3
"""Maximum number of items of one kind, such as metrics of groups or variants, that the conclusion names."""
_OPEN = 0.95
"""Confidence level of the interval of the standard deviation, from which the range of seeds follows."""


@dataclass(frozen=True)
class Planned:
    """The number of seeds that finds a difference in a metric of a group of flows or a link."""

    subject: Subject
    other: str
    """Variant that is compared with the first variant; empty without variants."""
    pilot: int
    """Number of seeds of the pilot."""
    mean: float
    """Mean of the reference, in the unit of the metric."""
    difference: float
    """Difference to be found, in the unit of the metric."""
    deviation: float
    """Standard deviation of paired differences, in the unit of the metric."""
    seeds: int | None
    """Number of seeds; None if more seeds are needed than the largest number tried: a million, or 5,000 by
    simulation."""
    least: int | None
    most: int | None
    """Number of seeds for the lower and for the upper end of the 95 % interval of the deviation; None for
    simulation, which has no interval."""
    is_simulated: bool
    """Whether the number was simulated, because the runs have two modes and no formula applies."""
    reference: str = ""
    """Variant that the other variants are compared with; empty without variants."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Names of the group or link, by variant."""

    @property
    def name(self) -> str:
        """Name of the group or link; both names if the sides differ, as in `cubic-1 -> vegas-1`."""
        told = {side: self.labels[side] for side in (self.reference, self.other) if side in self.labels}
        return joint(told) or self.subject.of

    @property
    def wanted(self) -> str:
        """Number of seeds in words."""
        most = MOST_SIMULATED if self.is_simulated else MOST_SEEDS
        return f"more than {most:,}" if self.seeds is None else f"{self.seeds:,}"

    @property
    def rank(self) -> float:
        """Sorting key: the number of seeds, or infinity if it is unknown."""
        return math.inf if self.seeds is None else self.seeds

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON, in base units."""
        return {
            **self.subject.to_dict(),
            "labels": list(self.labels.values()),
            "reference": self.reference or None,
            "variant": self.other or None,
            "pilot": self.pilot,
            "mean": self.mean,
            "difference": self.difference,
            "deviation": self.deviation,
            "seeds": self.seeds,
            "least": self.least,
            "most": self.most,
            "simulated": self.is_simulated,
        }


def planned(values: pl.DataFrame, detect: float, power: float) -> tuple[list[Planned], list[str]]:
    """Plan the number of seeds for every subject and variant: the number with which a given difference is
    found. The difference is a share of the mean of the reference.

    Args:
        values: Values of the runs of a pilot, as `values_of` returns them. Several variants are in the column
            `variant` and have the same seeds. With one variant, two independent sides are assumed.
        detect: The difference, as a share of the mean.
        power: Probability of finding the difference.

    Returns:
        The plan, and notes on left-out subjects.

    Raises:
        ScenarioError: If seeds change nothing, or there is nothing to plan: see `designs`.
    """
    alone = values[VARIANT].n_unique() == 1
    twice = values.with_columns(pl.lit("another").alias(VARIANT))
    found, notes = designs(pl.concat([values, twice]) if alone else values, [VARIANT], blocked=True)
    rows: list[Planned] = []
    names = _names_of_flows(values)
    for design in found:
        first, *others = design.levels[0]
        reference = design.values((first,))
        if sum(reference) == 0:
            notes.append(
                f"{design.subject.name} is left out: its mean is 0, so a share of the mean is no difference"
            )
            continue
        for other in others:
            row = _planned(design, reference, other, detect, power, alone=alone)
            of_sides = names.get(design.subject.entry, {})
            labels = {side: of_sides[side] for side in (first, other) if side in of_sides}
            rows.append(row if alone else replace(row, reference=first, labels=labels))
    return rows, notes


def _names_of_flows(values: pl.DataFrame) -> dict[int | None, dict[str, str]]:
    """The name of every entry of `flows` by variant, if the entry has the same name at all points."""
    found: dict[int | None, dict[str, str]] = {}
    of_entries = values.filter(pl.col("entry").is_not_null()).group_by("entry", VARIANT, maintain_order=True)
    for entry, variant, names in of_entries.agg(pl.col("of").unique()).iter_rows():
        if len(names) == 1:
            found.setdefault(entry, {})[variant] = names[0]
    return found


def _planned(
    design: Design, reference: Sequence[float], other: str, detect: float, power: float, *, alone: bool
) -> Planned:
    values, mean = design.values((other,)), sum(reference) / len(reference)
    if alone:
        differences = np.array([b - a for a, b in permutations(reference, 2)])
        deviation = math.sqrt(2) * float(np.std(reference, ddof=1))
    else:
        differences = np.array(values) - np.array(reference)
        deviation = float(np.std(differences, ddof=1))
    wanted, n = detect * abs(mean), len(reference)
    is_simulated = deviation > 0 and any(
        statistics.two_modes(sample) is not None for sample in (reference, values, differences.tolist())
    )
    if deviation == 0:
        seeds: Sequence[int | None] = (2, 2, 2)
    elif is_simulated:
        seeds = (statistics.pairs_by_simulation(differences, wanted, power), None, None)
    else:
        tails = ((1 + _OPEN) / 2, (1 - _OPEN) / 2)
        ends = [deviation * math.sqrt((n - 1) / float(chdtri(n - 1, 1 - tail))) for tail in tails]
        seeds = [statistics.pairs_for_power(wanted, each, power) for each in (deviation, *ends)]
    enough, least, most = seeds
    variant = "" if alone else other
    return Planned(design.subject, variant, n, mean, wanted, deviation, enough, least, most, is_simulated)


def conclusion_of(rows: Sequence[Planned], detect: float, power: float) -> list[str]:
    """Say how many seeds find the difference in each metric and group, and name the worst of several points.

    Args:
        rows: The plan.
        detect: The difference, as a share of the mean.
        power: Probability of finding the difference.

    Returns:
        One to five sentences; empty if nothing was planned.
    """
    by_cell: dict[Cell, list[Planned]] = {}
    for row in rows:
        by_cell.setdefault(row.subject.cell, []).append(row)
    told = sorted(by_cell.values(), key=lambda of: of[0].subject.entry is None)
    others = list(dict.fromkeys(row.other for row in rows if row.other))
    share, times = f"{100 * detect:g} % of the mean", f"{100 * power:g} of 100 comparisons"
    sentences = [
        f"{_sides(rows, others)}{_range(of)} find a difference of {share} ({_amounts(of)}) in {_name(of)} in"
        f" {times}."
        if n == 0
        else f"{begun(_name(of))} takes {_range(of)} for {_amounts(of)}."
        for n, of in enumerate(told[:_MOST_NAMED])
    ]
    worst = max(rows, key=lambda row: row.rank, default=None)
    is_said = any(of == [worst] for of in told[:_MOST_NAMED])
    if worst and not is_said:
        side = f" with {worst.other}" if len(others) > 1 else ""
        at = ", ".join(point_shown(worst.subject.point))
        name, spread = _name(by_cell[worst.subject.cell]), 100 * worst.deviation / abs(worst.mean)
        sentences.append(
            f"The worst case takes {worst.wanted} seeds{_open(worst)}: {name}{side}{at and f' at {at}'},"
            f" where differences vary by {spread:.1f} % of the mean."
        )
    if len(told) > _MOST_NAMED:
        sentences.append(f"{len(told) - _MOST_NAMED:,} more metrics and groups are in the table.")
    return sentences


def _sides(rows: Sequence[Planned], others: Sequence[str]) -> str:
    """The compared variants; empty without variants, or with many variants."""
    if not others or len(others) > _MOST_NAMED:
        return ""
    return f"{listed(others)} instead of {rows[0].reference}: "


def _range(rows: Sequence[Planned]) -> str:
    """Return the numbers of seeds of several rows in words. A single row also has the range that the pilot
    leaves open."""
    least, most = min(rows, key=lambda row: row.rank), max(rows, key=lambda row: row.rank)
    if len(rows) == 1:
        return f"{least.wanted} seeds{_open(least)}"
    alone = least.seeds == most.seeds
    return f"{least.wanted} seeds" if alone else f"{least.wanted} to {most.wanted} seeds"


def _open(row: Planned) -> str:
    """Return the range of the number of seeds that the pilot leaves open, in brackets; empty if unknown."""
    if not row.least:
        return ""
    return f" [{row.least:,} {'or more' if row.most is None else f'to {row.most:,}'}]"


def _amounts(rows: Sequence[Planned]) -> str:
    """The difference in the unit of the metric."""
    subject = rows[0].subject
    ends = [
        number_shown(end(row.difference for row in rows), subject.unit, subject.metric) for end in (min, max)
    ]
    amount = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f"{amount} {difference_unit_shown(subject.unit, subject.metric)}".rstrip()


def _name(rows: Sequence[Planned]) -> str:
    """Metric and group of rows; with several variants, the group has its name in the reference."""
    first = rows[0]
    names = dict.fromkeys(row.name for row in rows)
    name = first.name if len(names) == 1 else first.labels.get(first.reference, first.subject.of)
    return f"{metric_shown(first.subject.metric)} {'at' if first.subject.kind == 'link' else 'of'} {name}"
