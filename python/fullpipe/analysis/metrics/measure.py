"""What a measure is: a number per group of flows, or per link, with its unit, meaning and margin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Flag, auto
from math import inf
from typing import Any, Literal, Self

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.metrics.rows import Group
from fullpipe.runs import Run

Value = Callable[[Group], float | None]


Better = Literal["higher", "lower", ""]
"""Which direction is better; empty of what is neither."""


Bounds = tuple[float, float]
"""The least and the most that a metric can be: its intervals end there."""
NO_LESS_THAN_0, PART = (0.0, inf), (0.0, 1.0)


class View(Flag):
    """Where a metric is shown that is not asked for."""

    NOWHERE = 0
    TABLE = auto()
    """Tables of several runs."""
    COMPARISON = auto()
    REPORT = auto()
    FIGURE = auto()
    SENTENCE = auto()
    """The sentences of a report on the highest and the lowest mean."""


EVERYWHERE = View.TABLE | View.COMPARISON | View.REPORT | View.FIGURE | View.SENTENCE


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a metric is shown besides by its numbers."""

    views: View = View.NOWHERE
    """Where it is shown unless others are asked for."""
    rank: int = 0
    """When it is told of a flow or link, the smallest first: what its users notice first; 0: it is not."""
    instead_of: str = ""
    """The metric without whose value alone it is shown."""
    is_percent: bool = False
    """Whether it is a part of a whole, shown in per cent; its differences are in percentage points."""

    def leads(self, views: View, rank: int = 0, instead_of: str = "") -> Self:
        """Return the same metric, shown in these views."""
        return replace(self, views=views, rank=rank, instead_of=instead_of)


@dataclass(frozen=True)
class Measure(Shown):
    """A number per group of flows: what it is called, in which unit, and how it comes about."""

    name: str
    unit: str
    better: Better
    margin: Margin
    """The difference that does not matter, unless a user says another."""
    meaning: str
    value: Value
    column: str
    """What it is made of, as "table.column": if an engine does not measure that, there is no value."""
    event: str = ""
    """What has to happen in a run for there to be a value; empty if it takes no more than measuring."""
    is_of_one_way: bool = False
    """Whether it makes no sense of downloads and uploads together, which share no link."""
    is_of_connections: bool = False
    """Whether it leaves out the datagrams of a group that has connections, too: a mean over both says nothing
    of either."""
    is_of_datagrams: bool = False
    """Whether it leaves out the connections of a group that has datagrams, too."""
    label: str = ""
    """What figures call it; its name if empty."""
    neutral: str | float = ""
    """What is neither much nor little, in the middle of colours: a value, or the metric that has it."""
    bounds: Bounds = NO_LESS_THAN_0
    digits: int | None = None
    """Decimals in tables for people; None: those of its unit."""
    times: str = ""
    """Of a statistic of completion times: how the names of the metrics begin that say of how many, and which
    share of them it leaves out, as the run ended before they did: `_began` and `_unfinished` end them."""


@dataclass(frozen=True)
class LinkMeasure(Shown):
    """A number per link."""

    name: str
    unit: str
    better: Better
    margin: Margin
    meaning: str
    value: Callable[[dict[str, Any], Run], float | None]
    column: str
    """What it is made of, as "table.column"."""
    event: str = ""
    label: str = ""
    bounds: Bounds = NO_LESS_THAN_0
    digits: int | None = None
