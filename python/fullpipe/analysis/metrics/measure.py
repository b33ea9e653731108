"""Classes of metrics: name, unit, function, better direction, bounds and margin."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Flag, auto
from math import inf
from typing import Any, Literal, Self

from fullpipe.analysis.metrics.rows import Group
from fullpipe.runs import Run

# Margins: the largest differences that still count as equivalent.


@dataclass(frozen=True, slots=True)
class Margin:
    """Largest difference that does not matter: a share of the reference or an amount, whichever is larger."""

    relative: float = 0.0
    absolute: float = 0.0
    """Amount in the unit of the metric."""

    def allowed(self, reference: float) -> float:
        """Return the allowed difference from a reference value, in the unit of that value."""
        return max(self.relative * abs(reference), self.absolute)

    @property
    def has_two_parts(self) -> bool:
        """Whether the margin is the larger of a share and an amount."""
        return bool(self.relative and self.absolute)

    def __str__(self) -> str:
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        return " or ".join([*parts, f"{self.absolute:g}"] if self.absolute else parts) or "0"


RATE, DELAY = Margin(0.03), Margin(0.08)
PACKETS, SHARE_OF_PACKETS = Margin(0.40, 20), Margin(0.40, 0.001)
SHARE = Margin(absolute=0.03)
FLOWS = Margin(absolute=0.5)
BEGAN = Margin(0.03, 0.5)
WAIT = Margin(0.15, 0.001)


# Measures: metrics per group of flows or per link, with unit, meaning and margin.


Value = Callable[[Group], float | None]


Better = Literal["higher", "lower", ""]
"""The better direction; empty if there is no preferred direction."""


Bounds = tuple[float, float]
"""Smallest and largest possible value of a metric. Confidence intervals are truncated at these bounds."""
NO_LESS_THAN_0, PART = (0.0, inf), (0.0, 1.0)


class View(Flag):
    """The outputs in which a metric appears by default."""

    NOWHERE = 0
    TABLE = auto()
    """Tables of several runs."""
    COMPARISON = auto()
    REPORT = auto()
    FIGURE = auto()
    SENTENCE = auto()
    """The sentences of a report about the highest and the lowest mean."""


EVERYWHERE = View.TABLE | View.COMPARISON | View.REPORT | View.FIGURE | View.SENTENCE


Aspect = Literal["delay", "loss", "fairness", ""]
"""Metrics of delay, loss and fairness. Short tables and conclusions of comparisons show the clearest
difference of each."""
Combined = Literal["sum", "mean", ""]
"""Value of a group of several flows: the sum or the mean over its flows; empty if it is computed from all
flows together, such as a share or an index."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Presentation of a metric: the outputs that include it, and its position there."""

    views: View = View.NOWHERE
    """Outputs that include the metric unless the user chooses metrics."""
    rank: int = 0
    """Position among the metrics of a flow or link. Users notice the metric with the smallest rank first; 0
    means no rank."""
    instead_of: str = ""
    """Name of another metric. This metric is shown only where the other metric has no value."""
    is_percent: bool = False
    """Whether the metric is a part of a whole, shown in per cent. Differences of such a metric are in
    percentage points."""
    is_in_seconds: bool = False
    """Whether the metric is a time of seconds, shown in s; other times are shown in ms."""
    combined: Combined = ""
    aspect: Aspect = ""
    synonyms: tuple[str, ...] = ()
    """Other words for the metric, in lower case with underscores. An error on such a word names the
    metric."""

    def leads(self, views: View, rank: int = 0, instead_of: str = "", aspect: Aspect = "") -> Self:
        """Return the metric with another presentation: its views, rank, `instead_of` and aspect."""
        return replace(self, views=views, rank=rank, instead_of=instead_of, aspect=aspect)

    def also(self, *synonyms: str) -> Self:
        """Return the metric with its `synonyms`."""
        return replace(self, synonyms=synonyms)


@dataclass(frozen=True)
class Measure(Shown):
    """A number per group of flows."""

    name: str
    unit: str
    better: Better
    margin: Margin
    """Default of the largest difference that does not matter."""
    meaning: str
    value: Value
    column: str
    """Column that the metric is computed from, as "table.column". Engines that do not measure this column
    give no value."""
    event: str = ""
    """Event without which a run has no value of the metric; empty if every run has a value."""
    is_of_one_way: bool = False
    """Whether the metric is undefined for downloads and uploads together, which share no link."""
    is_of_connections: bool = False
    """Whether the metric of a group with connections and datagrams covers only the connections, because a
    mean over both kinds of flows describes neither."""
    is_of_datagrams: bool = False
    """Whether the metric of a group with connections and datagrams covers only the datagrams."""
    is_of_echoes: bool = True
    """Whether the metric is meaningful for pings and probes, whose rate the scenario sets."""
    label: str = ""
    """Label of the metric in figures; its name if empty."""
    neutral: str | float = ""
    """Neutral value, such as a fair share, at the middle of a colour scale: a number, or the name of a metric
    with this value."""
    bounds: Bounds = NO_LESS_THAN_0
    digits: int | None = None
    """Decimals in tables for people; None for the decimals of the unit."""
    times: str = ""
    """Prefix of two metrics that belong to a statistic of completion times; empty for all other measures.
    `_began` counts the transfers or pages, `_unfinished` is the share that did not finish."""


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
    """Column that the metric is computed from, as "table.column"."""
    event: str = ""
    label: str = ""
    bounds: Bounds = NO_LESS_THAN_0
    digits: int | None = None
