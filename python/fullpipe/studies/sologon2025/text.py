"""Sections of the report on the effects of the open settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from fullpipe.studies.experiments import Measurements
from fullpipe.studies.quantities import interval_of
from fullpipe.studies.text import Aligned

ROUTES: Mapping[str, str] = {"mean": "mean", "flow_30": "30 ms", "flow_90": "90 ms"}
LINKS: Mapping[str, str] = {
    "long_share_percent": "70 + 90 ms (%)",
    "dynamic_on_bbr": "on link 1",
    "dynamic_on_cubic": "on link 2",
    "jain_cubic_shared": "Jain, five on link 2",
    "bbr_gap_s": "link 1 not full (s)",
    "cubic_gap_s": "link 2 not full (s)",
}
CONTROLLED: Mapping[str, str] = {
    "long_mean": "long flows",
    "jain": "Jain",
    "link_1": "link 1 (%)",
    "link_2": "link 2 (%)",
    "short_median_ms": "50 kB, median (ms)",
    "short_p95_ms": "p95 (ms)",
}


REMARKS = (
    ". Throughput counts the headers of IP and TCP. Flows are named by their one-way delay along the faster "
    "route."
)


def sections(found: Measurements) -> list[str | Aligned]:
    """Return the sections on the open settings, for all experiments."""
    return [
        "Experiment 1 under every setting, throughput in Mbit/s:",
        settings_text(found, "routes", ROUTES, "setting", "interval"),
        "Experiment 2 under every setting, throughput of the dynamic flow in Mbit/s:",
        settings_text(found, "links", LINKS, "setting"),
        "With a controller (the thesis prints no results of one), by the algorithm of the ninth flow:",
        settings_text(found, "controller", CONTROLLED, "policy"),
    ]


def settings_text(
    found: Measurements, experiment: str, quantities: Mapping[str, str], first: str, *more: str
) -> Aligned:
    """Return a row per value of the first condition, algorithm and values of the other conditions."""
    rows = [[first, "algorithm", *more, *quantities.values()]]
    for value, algorithm, *others in product(
        found.choices(experiment, first),
        ("BBRv3", "CUBIC"),
        *(found.choices(experiment, key) for key in more),
    ):
        where = {first: value, **dict(zip(more, others, strict=True))}
        cells = [
            _cell(quantity, found.at(experiment, quantity, str(algorithm), where)) for quantity in quantities
        ]
        rows.append([str(value), str(algorithm), *map(str, others), *cells])
    return Aligned(rows, right=range(2 + len(more), len(rows[0])))


def _cell(quantity: str, values: Sequence[float]) -> str:
    interval = interval_of(quantity, values)
    if interval is None:
        return f"{values[0]:.3g}" if values else ""
    return f"{sum(values) / len(values):.3g} [{interval.low:.3g}, {interval.high:.3g}]"
