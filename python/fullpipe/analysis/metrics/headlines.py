"""Metrics that are shown unless others are asked for, as their declarations say."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fullpipe.analysis.metrics.link_measures import LINK_MEASURES
from fullpipe.analysis.metrics.measure import LinkMeasure, Measure, View
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.scenario import Scenario

_ALL: tuple[Measure | LinkMeasure, ...] = (*MEASURES, *LINK_MEASURES)
_ONE_WAY = frozenset(measure.name for measure in MEASURES if measure.is_of_datagrams)
_GOODPUT = "goodput"
RANKED = tuple(each.name for each in sorted(_ALL, key=lambda each: each.rank) if each.rank)
"""Metrics that are told of flows and links, in the order in which users notice them."""
INSTEAD_OF = {each.name: each.instead_of for each in _ALL if each.instead_of}
"""Metrics that are shown only where another one has no value, and that one."""


def leading(names: Collection[str], *, is_bulk: bool) -> list[str]:
    """Order metrics by when the users of a group notice them; those without a rank are left out.

    Bulk flows want goodput. Calls, pages, transfers and pings get as much as they ask for, so that goodput
    tells least of them.

    >>> leading(["goodput", "rtt_mean"], is_bulk=False)
    ['rtt_mean', 'goodput']
    """
    ranked = [name for name in RANKED if name in names and name != _GOODPUT]
    own = [_GOODPUT] if _GOODPUT in names else []
    return [*own, *ranked] if is_bulk else [*ranked, *own]


def names_in(view: View) -> tuple[str, ...]:
    """Return the names of the metrics that a view shows: of flows, then of links, in the order declared."""
    return tuple(each.name for each in _ALL if view in each.views)


def headlines(names: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """Return names of metrics without one-way delays where all flows are connections, of which RTTs tell."""
    has_datagrams = any(flow.datagrams for scenario in scenarios for flow in scenario.flows)
    return [name for name in names if has_datagrams or name not in _ONE_WAY]
