"""Notes on metrics that leave out datagrams or connections in a group that has both."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.scenario import Scenario

_SAID = {
    "of connections alone, without datagrams such as pings and calls": frozenset(
        measure.name for measure in MEASURES if measure.is_of_connections
    ),
    "of datagrams alone, without connections": frozenset(
        measure.name for measure in MEASURES if measure.is_of_datagrams
    ),
}
"""Metrics by the note that they need."""


def of_parts(
    scenarios: Iterable[Scenario], shown: Iterable[tuple[str, str]], *, in_words: bool = False
) -> list[str]:
    """Return notes on the shown totals that cover only connections, or only datagrams.

    Args:
        scenarios: Scenarios of the runs.
        shown: The metrics that are shown, each with its group of flows.
        in_words: Whether metrics have their labels, as in figures, and not their names.
    """
    if not any(map(_has_both, scenarios)):
        return []
    totals = [*dict.fromkeys((of, metric) for metric, of in shown if of in TOTALS)]
    return [f"{said}: {told}" for said, names in _SAID.items() if (told := _told(totals, names, in_words))]


def _told(totals: Iterable[tuple[str, str]], names: Collection[str], in_words: bool) -> str:
    found = [(of, (in_words and BY_NAME[metric].label) or metric) for of, metric in totals if metric in names]
    by_group = ((of, ", ".join(metric for each, metric in found if each == of)) for of in TOTALS)
    return "; ".join(f"{metrics} of {of}" for of, metrics in by_group if metrics)


def _has_both(scenario: Scenario) -> bool:
    """Whether a scenario has both connections and datagrams."""
    return len({flow.datagrams is None for flow in scenario.flows}) > 1
