"""Latency by host, of Figures 6 to 9: the median of the pings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fullpipe.studies.ahsan2025.exports import NAMES, Export, Vector
from fullpipe.studies.ahsan2025.recompute import put
from fullpipe.studies.experiments import Measurements

FILE = "test-fig8.csv"
PINGS = "Ping (ms) ICMP"


def measure(found: Measurements, exports: Mapping[str, Export]) -> None:
    """Add the median ping of every host and algorithm, in ms."""
    if FILE in exports:
        for number, series in enumerate(series_of(exports[FILE], PINGS), start=1):
            for algorithm, values in known(exports[FILE], series).items():
                put(found, f"Fig. 6, host {number}", algorithm, {"ping": float(np.median(values))})


def series_of(export: Export, prefix: str) -> list[str]:
    """Return the series per host whose names begin with a prefix, in the order of the hosts."""
    return sorted(one for one in export.series() if one.startswith(prefix) and one != prefix)


def known(export: Export, series: str) -> dict[str, Vector]:
    """Return the measured values of a series by algorithm."""
    found = {}
    for algorithm in NAMES.values():
        if (series, algorithm) in export.columns:
            values = export.values(series, algorithm)
            found[algorithm] = values[~np.isnan(values)]
    return {algorithm: values for algorithm, values in found.items() if values.size}
