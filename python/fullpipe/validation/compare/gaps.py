"""The reasons why a metric of a side is not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from fullpipe.analysis.metrics.link_measures import LINK_MEASURES
from fullpipe.analysis.metrics.measure import LinkMeasure, Measure
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.validation.compare.pairs import Key, Pairs, Side


class Cell(NamedTuple):
    """A metric of something that is compared."""

    key: Key
    metric: str
    unit: str

    @property
    def measure(self) -> Measure | LinkMeasure:
        """How it comes about."""
        return _MEASURES[self.key[0], self.metric]


_MEASURES: Mapping[tuple[str, str], Measure | LinkMeasure] = {
    **{("flows", measure.name): measure for measure in MEASURES},
    **{("link", measure.name): measure for measure in LINK_MEASURES},
}


def reasons(
    cell: Cell, values: Mapping[str, Sequence[float]], pairs: Pairs, reference: str
) -> dict[str, str]:
    """By side, why its values are not compared; nothing of a side that can be compared with the reference.

    Args:
        cell: What is compared.
        values: By side, those that are known.
        pairs: The sides.
        reference: The side that the others are held against.
    """
    lacking = {name: _lacks(cell, pairs.sides[name], len(of)) for name, of in values.items()}
    otherwise = {name: _otherwise(cell, pairs.sides[name]) for name in values}
    expected, why = otherwise[reference], {}
    for name in values:
        if lacking[name]:
            why[name] = lacking[name]
        elif otherwise[name] != expected:
            why[name] = f"as {otherwise[name]}" if otherwise[name] else f"because of {reference}: {expected}"
    return why


def _lacks(cell: Cell, side: Side, known: int) -> str:
    """Why there is no value of some runs; empty if there is one of each."""
    if known == len(side.runs):
        return ""
    measure, how_many = cell.measure, f"{known} of {len(side.runs)} runs"
    table = measure.column.partition(".")[0]
    if {measure.column, table} & {column for run in side.runs for column in run.meta.not_measured}:
        return "as it is not measured"
    flows = pl.col("flow").is_in(side.flows.get(cell.key, ()))
    if measure.event and any(not run.tables[table].filter(flows).is_empty() for run in side.runs):
        return f"as {measure.event} in {how_many}"
    return f"as only {how_many} have it" if known else "as it has no value there"


def _otherwise(cell: Cell, side: Side) -> str:
    """Why the column is something else than it seems, which it is for connections."""
    flows = side.flows.get(cell.key, frozenset())
    is_of_datagrams = bool(flows) and flows.isdisjoint(side.connected)
    return "" if is_of_datagrams else side.runs[0].meta.otherwise.get(cell.measure.column, "")
