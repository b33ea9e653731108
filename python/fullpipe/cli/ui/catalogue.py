"""Names that can be chosen on the page, and labels and meanings of metrics."""

from __future__ import annotations

from functools import cache
from typing import Any

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.scenario import catalogue as registry
from fullpipe.scenario import scenario_names
from fullpipe.validation.over import HEADLINES

_NOT_OF_LINKS = frozenset({"tbf", "police", "mac80211"})
"""Queues that need a rate of their own, or a cell."""


@cache
def catalogue() -> dict[str, Any]:
    """Names with their titles, in the order of the registry."""
    return {
        "algorithms": [{"name": n, "title": e.title} for n, e in registry.controllers().items()],
        "queues": [
            {"name": n, "title": e.title} for n, e in registry.queues().items() if n not in _NOT_OF_LINKS
        ],
        "scenarios": scenario_names(),
        "metrics": {name: BY_NAME[name].label or name for name in HEADLINES},
        "meanings": {name: BY_NAME[name].meaning for name in HEADLINES},
    }
