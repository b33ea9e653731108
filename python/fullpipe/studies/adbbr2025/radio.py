"""Common parts of the experiments over Wi-Fi, 5G and LTE: grids of cells, buffers and measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Protocol

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies.adbbr2025 import measures
from fullpipe.studies.experiments import Experiment, Variants

BUFFERS = {"0.5 bdp": 0.5, "5 bdp": 5.0}
LONGER_S = 0.05
"""Base RTT of the flow with the longer path, s."""
QUICK_FILE = {"flows.0.size": "62.5 MB"}
"""File of the quick form: a tenth of the file."""
QUICK_TIME = {"duration": "25 s"}
"""Duration of the quick form: a quarter of the time."""


class Point(Protocol):
    """A point of a grid."""

    @property
    def nominal_mbps(self) -> float:
        """Rate of UDP in packets of 1500 B that the cell carries for one station."""
        ...

    def values(self) -> dict[str, object]:
        """Return the values of the point, by path of a scenario with one cell."""
        ...


Grid = Mapping[str, Point]
"""Points by their names in tables."""


def downloads(
    name: str, scenario: Scenario, grid: Grid, rtts_ms: tuple[int, ...], **more: Variants
) -> Iterator[Experiment]:
    """Yield experiments with one flow in every cell of a grid, with wires of every RTT, and both buffers."""
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
    """Yield experiments with flows of 10 and 50 ms in every cell of a grid, with both buffers."""
    for cell, point in grid.items():
        conditions: dict[str, Variants] = {
            "cell": {cell: point.values()},
            **more,
            "buffer": buffers(point, LONGER_S),
        }
        yield Experiment(name, scenario, {}, measures.shares, conditions)


def buffers(point: Point, rtt_s: float) -> Variants:
    """Return both buffers in bytes: multiples of the product of the cell's nominal rate and the base RTT."""
    product_bytes = point.nominal_mbps * 1e6 * rtt_s / 8
    return {size: {"cells.0.queue.bytes": f"{round(bdp * product_bytes)} B"} for size, bdp in BUFFERS.items()}


def download(run: Run, nominal_mbps: float) -> dict[str, float]:
    """Goodput, also as a share of the cell's nominal rate, and mean RTT."""
    found = measures.lone_flow(run)
    return {**found, "nominal_percent": 100 * found["goodput_mbps"] / nominal_mbps}
