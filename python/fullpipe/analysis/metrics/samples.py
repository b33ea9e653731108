"""Samples along time: spans of them, their spacing, and means over longer intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fullpipe.lazy import pl

EDGE_S = 1e-9
"""Tolerance for the ends of intervals, which rounding in sums of decimals moves."""


def between(samples: pl.DataFrame, start_s: float, end_s: float) -> pl.DataFrame:
    """Return the samples whose interval ends in (start, end].

    >>> between(pl.DataFrame({"time_s": [1.0, 2.0, 3.0]}), 1, 3)["time_s"].to_list()
    [2.0, 3.0]
    """
    return samples.filter((pl.col("time_s") > start_s + EDGE_S) & (pl.col("time_s") <= end_s + EDGE_S))


def rows_where(table: pl.DataFrame, are_chosen: Sequence[bool]) -> pl.DataFrame:
    """Return some rows of a small table by their indices: a query takes polars a hundred times as long.

    >>> rows_where(pl.DataFrame({"flow": ["a", "b", "c"]}), [True, False, True])["flow"].to_list()
    ['a', 'c']
    """
    rows = [row for row, is_chosen in enumerate(are_chosen) if is_chosen]
    return table if len(rows) == table.height else table[rows]


@dataclass(frozen=True)
class RowsByFlow:
    """A table with a column `flow`, indexed so that the rows of some flows are found without a scan.

    >>> RowsByFlow(pl.DataFrame({"flow": ["a", "b", "a"]})).rows_of(["a"])["flow"].to_list()
    ['a', 'a']
    """

    table: pl.DataFrame

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, flow in enumerate(self.table["flow"].to_list()):
            places.setdefault(flow, []).append(place)
        return places

    def rows_of(self, flows: Iterable[str]) -> pl.DataFrame:
        """The rows of some flows, in the order of the table."""
        if self.table.is_empty():
            return self.table
        places = sorted(place for flow in flows for place in self._places.get(flow, ()))
        if not places or places[-1] - places[0] == len(places) - 1:  # side by side, as most are: no copy
            return self.table.slice(places[0] if places else 0, len(places))
        return self.table[places]


def spacing_s(samples: pl.DataFrame) -> float | None:
    """Time between samples; None with fewer than two times.

    >>> spacing_s(pl.DataFrame({"time_s": [0.5, 0.5, 1.0, 1.0]}))
    0.5
    """
    first = samples["time_s"].unique().sort().head(2).to_list()
    return first[1] - first[0] if len(first) == 2 else None


def means_over(samples: pl.DataFrame, actor: str, column: str, interval_s: float) -> pl.DataFrame:
    """Return means of a column over longer intervals from 0 on, per flow or link; time_s is their end."""
    end = (pl.col("time_s") / interval_s - EDGE_S).floor() * interval_s + interval_s
    return samples.group_by(actor, end.alias("time_s"), maintain_order=True).agg(pl.col(column).mean())


def real(value: object) -> float | None:
    """Return the result of a polars aggregate as a float; None if it is no number."""
    return float(value) if isinstance(value, int | float) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None if there are none.

    >>> mean([1.0, None, 3.0])
    2.0
    """
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
