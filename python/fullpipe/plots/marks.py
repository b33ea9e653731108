"""Looks and words of what figures over many runs draw: the same for a value in every panel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl
from matplotlib.axes import Axes

from fullpipe.palette import Look, look_of

_NOTHING: Mapping[str, Any] = {}


class Marks(NamedTuple):
    """Looks and words of values. A value without words is shown as it is."""

    looks: Mapping[str, Look] = _NOTHING
    """The look of every value of `colour`, in the order of the legend."""
    colours: Mapping[str, str] = _NOTHING
    """Words for values of `colour`."""
    x: Mapping[str, str] = _NOTHING
    """Words for names along x."""
    y: Mapping[str, str] = _NOTHING

    def look(self, value: str, number: int) -> Look:
        """The look of a value of `colour`, which is the `number`-th of its panel."""
        return self.looks.get(value) or look_of(value, number)

    def parts(self, rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, str, str, Look]]:
        """The rows of every value of `colour`, the value, its words, and its look."""
        for number, part in enumerate(rows.partition_by("colour", maintain_order=True)):
            value = str(part["colour"][0])
            yield part, value, self.colours.get(value, value), self.look(value, number)


PLAIN = Marks()
"""Without words and looks of their own."""


def text(value: Any, words: Mapping[str, str] = _NOTHING) -> str:
    """A value along an axis in words."""
    plain = f"{value:g}" if isinstance(value, float) else str(value)
    return words.get(plain, plain)


def places_along(axes: Axes, values: pl.Series, words: Mapping[str, str] = _NOTHING) -> dict[Any, float]:
    """The place of every value along an axis: numbers at themselves, all else one after the other."""
    distinct = values.unique(maintain_order=True).to_list()
    if values.dtype.is_numeric():
        return {value: float(value) for value in distinct}
    axes.set_xticks(range(len(distinct)), [text(value, words) for value in distinct])
    return {value: float(place) for place, value in enumerate(distinct)}
