"""Metrics that are shown unless others are asked for."""

from collections.abc import Iterable

from fullpipe.scenario import Scenario

_ONE_WAY = frozenset({"owd_mean", "owd_p95"})


def headlines(names: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """Return names of metrics without one-way delays where all flows are connections, of which RTTs tell."""
    has_datagrams = any(flow.datagrams for scenario in scenarios for flow in scenario.flows)
    return [name for name in names if has_datagrams or name not in _ONE_WAY]
