"""Experiments over Wi-Fi, and functions that the experiments over 5G and LTE share with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Protocol

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies.adbbr2025 import measures
from fullpipe.studies.experiments import Experiment, Variants

# Functions for the experiments over Wi-Fi, 5G and LTE: downloads and pairs of flows in several radio cells.


BUFFERS = {"0.5 bdp": 0.5, "5 bdp": 5.0}
LONGER_S = 0.05
"""Base RTT in s of the flow with the longer path, in experiments with two flows."""
QUICK_FILE = {"flows.0.size": "62.5 MB"}
"""Size of the download in the quick form: a tenth of its full size."""
QUICK_TIME = {"duration": "25 s"}
"""Duration of experiments with two flows in the quick form: a quarter of their full duration."""


class Point(Protocol):
    """Interface of a cell of a grid: its nominal rate, and its values in a scenario."""

    @property
    def nominal_mbps(self) -> float:
        """Rate of UDP in packets of 1500 B that the cell carries for one station."""
        ...

    def values(self) -> dict[str, object]:
        """Return the cell's values, by their paths in a scenario with one cell."""
        ...


Grid = Mapping[str, Point]
"""Cells by their names in tables."""


def downloads(
    name: str, scenario: Scenario, grid: Grid, rtts_ms: tuple[int, ...], **more: Variants
) -> Iterator[Experiment]:
    """Yield experiments with one download in every cell of a grid, with every base RTT and both buffers."""
    for (cell, point), rtt_ms in product(grid.items(), rtts_ms):
        conditions: dict[str, Variants] = {
            "cell": {cell: point.values()},
            **more,
            "rtt": {f"{rtt_ms} ms": {"topology.access.delay": f"{rtt_ms / 2:g} ms"}},
            "buffer": buffers(point, rtt_ms / 1e3),
        }
        measure = partial(download, nominal_mbps=point.nominal_mbps)
        yield Experiment(name, scenario, {}, measure, conditions)


def pairs(name: str, scenario: Scenario, grid: Grid, **more: Variants) -> Iterator[Experiment]:
    """Yield experiments with two flows (RTTs of 10 and 50 ms) in every cell of a grid, with both buffers."""
    for cell, point in grid.items():
        conditions: dict[str, Variants] = {
            "cell": {cell: point.values()},
            **more,
            "buffer": buffers(point, LONGER_S),
        }
        yield Experiment(name, scenario, {}, measures.shares, conditions)


def buffers(point: Point, rtt_s: float) -> Variants:
    """Return both buffers in bytes: 0.5 and 5 times the product of the cell's nominal rate and the base
    RTT."""
    product_bytes = point.nominal_mbps * 1e6 * rtt_s / 8
    return {size: {"cells.0.queue.bytes": f"{round(bdp * product_bytes)} B"} for size, bdp in BUFFERS.items()}


def download(run: Run, nominal_mbps: float) -> dict[str, float]:
    """Measure the goodput of a download, also in per cent of the cell's nominal rate, and the mean RTT."""
    found = measures.lone_flow(run)
    return {**found, "nominal_percent": 100 * found["goodput_mbps"] / nominal_mbps}


# The two experiments over Wi-Fi, in several Wi-Fi cells. We chose channel widths, streams and rates of the
# cells, because the paper prints only the names of Wi-Fi standards.


DOWNLOAD, FAIRNESS = "wifi-download", "wifi-fairness"
RTTS_MS = (10, 20, 50)
ERRORS = (0.0, 0.01)
OF_NS3 = "800 ns"
"""Default guard interval of ns-3 for 802.11n and 802.11ac."""


@dataclass(frozen=True)
class Radio:
    """A Wi-Fi cell. The access point and the stations send at the fixed rate of the given MCS."""

    standard: str
    width: str
    streams: int
    mcs: int
    nominal_mbps: float
    """Rate of UDP in packets of 1500 B that the cell carries for one station. Beacons reduce this rate."""
    guard_interval: str = OF_NS3

    def values(self) -> dict[str, object]:
        """Return the cell's values, by their paths in a scenario with one cell."""
        keys = {"standard": self.standard, "width": self.width, "streams": self.streams}
        keys["guard_interval"] = self.guard_interval
        return {f"cells.0.{key}": v for key, v in keys.items()} | {"cells.0.stations.*.rate.mcs": self.mcs}


GRID: Mapping[str, Radio] = {
    "n 20 MHz 1x1": Radio("802.11n", "20 MHz", 1, 7, 59.6),
    "n 40 MHz 1x1": Radio("802.11n", "40 MHz", 1, 7, 122.1),
    "n 20 MHz 2x2": Radio("802.11n", "20 MHz", 2, 7, 117.7),
    "n 40 MHz 2x2": Radio("802.11n", "40 MHz", 2, 7, 232.5),
    "ac 80 MHz 2x2": Radio("802.11ac", "80 MHz", 2, 9, 565.9),
    "ax 80 MHz 2x2": Radio("802.11ax", "80 MHz", 2, 11, 674.3, "3200 ns"),
}
"""Wi-Fi cells by their names in tables."""


def experiments(*, quick: bool) -> Iterator[Experiment]:
    """Yield the experiments "wifi-download" and "wifi-fairness" in every cell, with and without errors, with
    both buffers."""
    errors: Variants = {share: {"cells.0.stations.*.errors": share} for share in ERRORS}
    file, two = (Scenario.named(f"adbbr2025-{name}") for name in (DOWNLOAD, FAIRNESS))
    if quick:
        file, two = file.with_values(QUICK_FILE), two.with_values(QUICK_TIME)
    yield from downloads(DOWNLOAD, file, GRID, RTTS_MS, errors=errors)
    yield from pairs(FAIRNESS, two, GRID, errors=errors)
