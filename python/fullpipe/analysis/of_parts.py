"""What is to be said of metrics that leave out datagrams where there are connections, too."""

from __future__ import annotations

from collections.abc import Iterable

from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.scenario import Scenario

_NAMES = tuple(measure.name for measure in MEASURES if measure.is_of_connections)


def of_connections(scenarios: Iterable[Scenario], shown: Iterable[tuple[str, str]]) -> list[str]:
    """A line on the metrics of several flows together that are of their connections alone; none without any.

    Args:
        scenarios: Of the runs.
        shown: The metrics that are shown, each with the group of flows that it is of.
    """
    if not any(map(_has_both, scenarios)):
        return []
    found = dict.fromkeys((of, metric) for metric, of in shown if of in TOTALS and metric in _NAMES)
    by_group = ((of, ", ".join(metric for each, metric in found if each == of)) for of in TOTALS)
    told = "; ".join(f"{metrics} of {of}" for of, metrics in by_group if metrics)
    return [f"of connections alone, without datagrams such as pings and calls: {told}"] if told else []


def _has_both(scenario: Scenario) -> bool:
    """Whether some of its flows are connections and others datagrams."""
    return len({flow.datagrams is None for flow in scenario.flows}) > 1
