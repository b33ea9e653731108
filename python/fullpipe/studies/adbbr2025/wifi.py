"""The Wi-Fi part: two experiments in a grid of cells, because only the standards are printed of the radio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fullpipe.scenario import Scenario
from fullpipe.studies.adbbr2025 import radio
from fullpipe.studies.experiments import Experiment, Variants

DOWNLOAD, FAIRNESS = "wifi-download", "wifi-fairness"
RTTS_MS = (10, 20, 50)
ERRORS = (0.0, 0.01)
OF_NS3 = "800 ns"
"""Guard interval of ns-3 for 802.11n and 802.11ac."""


@dataclass(frozen=True)
class Radio:
    """A kind of cell, with both ends at its highest rate."""

    standard: str
    width: str
    streams: int
    mcs: int
    nominal_mbps: float
    """Rate of UDP in packets of 1500 B for one station, beacons included."""
    guard_interval: str = OF_NS3

    def values(self) -> dict[str, object]:
        """Return the values of the cell, by path of a scenario with one cell."""
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
"""Cells by their names in tables."""


def experiments(*, quick: bool) -> Iterator[Experiment]:
    """Yield downloads and pairs of flows in every cell of the grid, with and without errors, both buffers."""
    errors: Variants = {share: {"cells.0.stations.*.errors": share} for share in ERRORS}
    file, two = (Scenario.named(f"adbbr2025-{name}") for name in (DOWNLOAD, FAIRNESS))
    if quick:
        file, two = file.with_values(radio.QUICK_FILE), two.with_values(radio.QUICK_TIME)
    yield from radio.downloads(DOWNLOAD, file, GRID, RTTS_MS, errors=errors)
    yield from radio.pairs(FAIRNESS, two, GRID, errors=errors)
