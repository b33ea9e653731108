"""Queues that shape: their rate, and how much of it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.remembered import Remembered


def shaper_bps(run: Run, link: str) -> float | None:
    """Return the rate to which the queue of a link shapes or polices, bit/s; None if it does neither.

    If the scenario changes the rate, this is the one at the start.
    """
    return _rates_bps(run.scenario).get(link)


def _found(scenario: Scenario) -> dict[str, float]:
    hops = ((hop.name, hop.queue) for hop in resolve(scenario).hops)
    rates = {name: queue.rate_bps for name, queue in hops if isinstance(queue, Discipline)}
    return {name: float(rate_bps) for name, rate_bps in rates.items() if rate_bps is not None}


_rates_bps = Remembered(_found)


def shaper_utilisation(run: Run, row: Mapping[str, Any]) -> float | None:
    """Rate at which bytes left a link after the warm-up, over the rate of its shaper; None without a shaper.

    Formula: 8 forwarded_bytes / (rate (duration - warmup)). The bytes are those of the link; a shaper that
    adds an overhead of its own to every packet is full below 1.
    Source: definition.

    Args:
        run: Of any engine.
        row: A row of the table `links_summary`.
    """
    rate_bps = shaper_bps(run, str(row["link"]))
    measured_s = run.meta.duration_s - run.scenario.warmup_s
    if rate_bps is None or row["forwarded_bytes"] is None or measured_s <= 0:
        return None
    return float(8 * row["forwarded_bytes"] / (rate_bps * measured_s))
