"""Axes of figures over many runs: labels, scales and ticks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
import typer
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from fullpipe.plots.charts import spans_much
from fullpipe.scenario.model.base import Unit
from fullpipe.scenario.quantities import as_numbers

_NOTHING: Mapping[str, str] = {}
_FEW = 3
"""Minimum number of ticks on a logarithmic axis. If decades give fewer, ticks within decades are added."""
_STEPS: tuple[tuple[int, ...], ...] = ((1,), (1, 2, 5), (1, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9))
_MOST_TICKS, _MOST_LOG_TICKS = 9, 6
"""Maximum number of ticks at swept values, and at computed values of a logarithmic axis."""
_EVEN = 1.1
"""Maximum ratio of the widest to the narrowest step at which values count as evenly spaced."""
ROOM = 0.04
"""Room for marks at the end of an axis, as a share of its length."""
MUCH = 3.0
"""Panels share an axis only if it spans at most this multiple of each panel's own range."""
_TO_BETTER = ", better →"
"""End of the label of an axis on which better values are to the right or at the top."""
Axis = Literal["x", "y"]


class Factor(NamedTuple):
    """A path whose values are on an axis, or have one colour or one panel each."""

    name: str = ""
    words: Mapping[str, str] = _NOTHING
    """Labels of values, by the text of the value."""
    given: Mapping[str, str] = _NOTHING
    """Labels of values that the user gives, by the text of the value."""
    unit: Unit = Unit()
    """Unit of values that are numbers without a unit."""

    @property
    def label(self) -> str:
        """The label of the axis: name, and unit in brackets."""
        return f"{self.name} ({self.unit.name})" if self.unit.name else self.name

    def titled(self, value: str) -> str:
        """A title for a value: the user's label, or the name of the factor and the value."""
        return self.given.get(value) or f"{self.name} {self.words.get(value, value)}".strip()


class Factors(NamedTuple):
    """Factors of the runs on the axes, the colours and the panels."""

    x: Factor = Factor()
    y: Factor = Factor()
    colour: Factor = Factor()
    panel: Factor = Factor()


NO_FACTORS = Factors()


def as_axis(rows: pl.DataFrame, column: Axis, factor: Factor) -> tuple[pl.DataFrame, Factor]:
    """Rows sorted along an axis. Values with units become numbers in one unit; names are unchanged."""
    distinct = rows[column].unique(maintain_order=True).to_list()
    found = as_numbers(distinct)
    if found is None:
        return rows.sort(column, maintain_order=True), factor._replace(unit=Unit())
    numbers, unit = found
    by_value = dict(zip(distinct, numbers, strict=True))
    made = rows.with_columns(
        pl.col(column).replace_strict(by_value, return_dtype=pl.Float64).alias(column)
    ).sort(column, maintain_order=True)
    one = Unit({"bdp": "BDP"}.get(unit, unit)) if unit else factor.unit
    words = {
        f"{number:g}": factor.given.get(str(value)) or f"{number * one.scale:g}"
        for value, number in by_value.items()
    }
    return made, factor._replace(unit=one, words=words)


def rank(names: pl.Series) -> pl.Series:
    """The rank of every name: by size if all names are quantities, else in the order of the enum."""
    distinct = names.unique().sort().to_list()
    found = as_numbers(distinct)
    places = found[0] if found else list(map(float, range(len(distinct))))
    by_name = dict(zip(distinct, places, strict=True))
    return names.cast(pl.String).replace_strict(by_name, return_dtype=pl.Float64)


def is_automatic(axis: str, log: Sequence[str] | None) -> bool:
    """Whether the values of an axis determine its scale: `log` neither names the axis nor makes all other
    axes linear with "none". Without any name, both axes are linear."""
    return log is None or (bool(log) and not {axis, "none"} & {*log})


def is_log(axis: str, values: pl.Series, log: Sequence[str] | None) -> bool:
    """Whether an axis is logarithmic: as in `log`, or if the scale is automatic, whether `spans_much` of its
    values.

    Raises:
        BadParameter: If `log` names the axis, but the values are names, or are not all positive.
    """
    if not values.dtype.is_numeric():
        if log and axis in log:
            raise typer.BadParameter(f"--log {axis}: the axis has names, not numbers; leave out --log {axis}")
        return False
    if log is None or axis not in log:
        return is_automatic(axis, log) and bool(spans_much(values))
    if bool((values <= 0).any()):
        raise typer.BadParameter(f"--log {axis}: some values are 0 or below; leave out --log {axis}")
    return True


def make_log(place: Any, axis: Axis, values: pl.Series) -> None:
    """Make an axis logarithmic, and fit it to the data. Ticks within decades are added if needed."""
    ends = [(end, end) for end in (values.min(), values.max())]
    place.update_datalim(ends, updatex=axis == "x", updatey=axis == "y")  # violins do not set data limits
    getattr(place, f"set_{axis}scale")("log")
    place.autoscale(axis=axis)
    low, high = sorted(getattr(place, f"get_{axis}lim")())
    along = getattr(place, f"{axis}axis")
    locators = (LogLocator(subs=steps) for steps in _STEPS)
    enough = (locator for locator in locators if _FEW <= _count(locator, low, high) <= _MOST_LOG_TICKS)
    along.set_major_locator(next(enough, MaxNLocator(5)))
    along.set_minor_locator(NullLocator())
    along.set_major_formatter("{x:g}")


Ends = tuple[float, float]
"""The first and the last value of an axis."""


def read_ends(text: str | None, option: str) -> Ends | None:
    """The ends of an axis from text such as "0, 120"; None without a text.

    Raises:
        BadParameter: If the text is not two different numbers.
    """
    if text is None:
        return None
    try:
        first, last = (float(part) for part in text.split(","))
    except ValueError:
        first = last = math.nan
    if not math.isfinite(first) or not math.isfinite(last) or first == last:
        raise typer.BadParameter(f'{text}: give two different numbers, such as "0, 120"', param_hint=option)
    return first, last


def set_ends(places: Sequence[Any], axis: Axis, ends: Ends | None) -> None:
    """Set the ends of an axis in all panels, in the direction of the axis; None changes nothing.

    Raises:
        BadParameter: If a logarithmic axis would begin at 0 or below.
    """
    for place in places if ends else ():
        assert ends is not None
        if min(ends) <= 0 and getattr(place, f"get_{axis}scale")() == "log":
            raise typer.BadParameter(f"--{axis}lim: a logarithmic axis begins above 0; or add --log none")
        is_inverted = bool(getattr(place, f"{axis}axis_inverted")())
        getattr(place, f"set_{axis}lim")(*sorted(ends, reverse=is_inverted))


def with_better(label: str, has_direction: bool) -> str:
    """The label of an axis, with the direction of better values; an empty label stays empty."""
    return f"{label}{_TO_BETTER}" if label and has_direction else label


def begin_at_0(place: Any, axis: Axis) -> None:
    """Begin an axis on which all values are 0 at 0. Marks at its beginning are whole."""
    getattr(place, f"set_{axis}lim")(0, 1)
    for mark in place.lines:
        mark.set_clip_on(False)


def are_readable_on_one_axis(rows: pl.DataFrame) -> bool:
    """Whether no panel of rows, except one of a single value, spans less than a third of an axis of all
    values, or this axis is logarithmic."""
    span = pl.col("value").max() - pl.col("value").min()
    own = rows.group_by("panel").agg(span=span)["span"]
    return spans_much(rows["value"]) or rows.select(span).item() <= MUCH * min(filter(None, own), default=0)


def share_horizontal(places: Sequence[Any]) -> None:
    """Give panels the same horizontal axis if they have the same scale."""
    if len({place.get_xscale() for place in places}) == 1:
        ends = [place.get_xlim() for place in places]
        for place in places:
            place.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))


def least_delay(rows: pl.DataFrame) -> float:
    """The beginning of a delay axis: the base RTT (`least`) for RTTs, else 0."""
    known = rows["least"].min() if "least" in rows.columns and not rows["least"].has_nulls() else None
    return known if isinstance(known, float) else 0.0


def share_delays(places: Sequence[Any], begins: Sequence[float], less_is_right: bool) -> None:
    """Give all panels the same delay axis, with room for marks at its ends. Better is to the right. The axis
    begins at the least of `begins`, or below if marks are below.

    If the ellipses of a panel would be less than a third as wide as with an axis of its own, every panel gets
    an axis of its own.
    """
    ends = [end for place in places for end in place.get_xlim()]
    low, high = min(ends), max(ends)
    if len(places) > 1 and any(high - low > MUCH * abs(np.diff(place.get_xlim())[0]) for place in places):
        for place, begin in zip(places, begins, strict=True):
            share_delays([place], [begin], less_is_right)
        return
    if any(place.get_xscale() == "log" for place in places):
        factor = (high / low) ** ROOM
        low, high = low / factor, high * factor
    else:
        begin = min(begins)
        room = ROOM * (high - min(low, begin))
        low, high = begin if low > begin + room else low - room, high + room
    for place in places:
        place.set_xlim(*((high, low) if less_is_right else (low, high)))


def _count(locator: LogLocator, low: float, high: float) -> int:
    """Number of ticks of a locator from `low` to `high`."""
    return sum(low <= tick <= high for tick in locator.tick_values(low, high))


def tick_at_values(place: Any, values: pl.Series, factor: Factor) -> None:
    """Set ticks at the swept values if the axis is logarithmic or the values are evenly spaced.

    With many values, only every second or third value has a tick. Ticks at swept values have the labels of
    the values. Other ticks have numbers in the unit of the axis.
    """
    swept = values.unique().sort().to_list()
    steps = [high - low for low, high in pairwise(swept)]
    if place.get_xscale() == "log" or not steps or max(steps) < _EVEN * min(steps):
        place.xaxis.set_major_locator(FixedLocator(swept[:: -(-len(swept) // _MOST_TICKS)]))
        place.xaxis.set_minor_locator(NullLocator())
    words, scale = factor.words, factor.unit.scale
    place.xaxis.set_major_formatter(FuncFormatter(lambda at, _: words.get(f"{at:g}", f"{at * scale:g}")))
