"""Experiments over 5G and LTE: downloads and pairs of flows in a grid of NR cells and in one LTE cell.

The experiments use a grid of NR cells because the paper prints only "power levels" of the radio. ns-3 has no
NR, but can run the LTE cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import hypot, log10
from typing import Any

from fullpipe.scenario import Scenario
from fullpipe.studies.adbbr2025 import wifi
from fullpipe.studies.experiments import Experiment, Measurements, Variants

DOWNLOAD, FAIRNESS = "5g-download", "5g-fairness"
LTE_DOWNLOAD, LTE_FAIRNESS = "lte-download", "lte-fairness"
RTTS_MS = (10, 50)
RECEIVERS: Variants = {"two": {"flows.1.station": "far"}, "one": {"flows.1.station": "near"}}
"""Changes of the scenario by the number of phones. With two phones, each flow has its own phone and buffer;
with one, both flows share the phone and its buffer."""

LOSS_BASED = ("CUBIC", "Reno")

CARRIER_GHZ = 3.5
BANDWIDTH_HZ = 273 * 12 * 30e3
"""Occupied bandwidth of a carrier of 100 MHz with subcarriers of 30 kHz (3GPP TS 38.101-1, table 5.3.2-1)."""
NOISE_DBM_HZ = -174
NOISE_FIGURE_DB = 9
"""Noise figure of a phone in dB (3GPP TR 38.802, table A.2.1-1: cited from memory)."""
HEIGHTS_M = (10.0, 1.5)
SHADOWING_DB, SHADOWING_M = 7.82, 13.0
"""Standard deviation in dB and correlation distance in m of shadowing (3GPP TR 38.901, tables 7.4.1-1 and
7.5-6, UMi without line of sight: cited from memory)."""
WALKING_M_S = 3 / 3.6


@dataclass(frozen=True)
class Place:
    """An NR cell: a phone in a street canyon without line of sight to its base station."""

    power_dbm: float
    distance_m: float
    nominal_mbps: float
    """Rate of UDP in packets of 1500 B that the cell carries for one phone that does not move."""
    pattern: str = "DDDSU"
    walks: bool = False

    @property
    def snr_db(self) -> float:
        """SNR: transmit power minus path loss and noise. Antennas have no gain. Other cells do not
        transmit."""
        noise_dbm = NOISE_DBM_HZ + 10 * log10(BANDWIDTH_HZ) + NOISE_FIGURE_DB
        return self.power_dbm - path_loss_db(self.distance_m) - noise_dbm

    def values(self) -> dict[str, object]:
        """Return the cell's values, by their paths in a scenario with one cell."""
        snr = {"mean": f"{self.snr_db:.1f} dB"}
        if self.walks:
            snr |= {"spread": f"{SHADOWING_DB} dB", "memory": f"{SHADOWING_M / WALKING_M_S:.1f} s"}
        return {"cells.0.pattern": self.pattern, "cells.0.users.*.snr": snr}


def path_loss_db(distance_m: float) -> float:
    """Return the path loss in dB (3GPP TR 38.901, table 7.4.1-1, UMi without line of sight: cited from
    memory)."""
    way_m = hypot(distance_m, HEIGHTS_M[0] - HEIGHTS_M[1])
    return 35.3 * log10(way_m) + 22.4 + 21.3 * log10(CARRIER_GHZ)


GRID: Mapping[str, Place] = {
    "23 dBm 100 m": Place(23, 100, 92.6),
    "30 dBm 100 m": Place(30, 100, 260.8),
    "43 dBm 100 m": Place(43, 100, 668.8),
    "43 dBm 300 m": Place(43, 300, 153.2),
    "30 dBm 100 m FDD": Place(30, 100, 358.2, pattern="FDD"),
    "30 dBm 100 m walking": Place(30, 100, 260.8, walks=True),
}
"""NR cells by their names in tables: three transmit powers, a longer distance, FDD, and a walking user."""


@dataclass(frozen=True)
class LteCell:
    """The LTE cell as in ns-3: 20 MHz, one antenna, no noise."""

    nominal_mbps: float = 73.7

    def values(self) -> dict[str, object]:
        """Return no values, because the scenario already has the LTE cell."""
        return {}


LTE: Mapping[str, LteCell] = {"LTE 20 MHz": LteCell()}


def experiments(*, quick: bool) -> Iterator[Experiment]:
    """Yield the experiments "5g-download" and "5g-fairness" in every NR cell, with both buffers."""
    file, two = scenarios(quick=quick)
    yield from wifi.downloads(DOWNLOAD, file, GRID, RTTS_MS)
    yield from wifi.pairs(FAIRNESS, two, GRID, receivers=RECEIVERS)


def lte_experiments(*, quick: bool) -> Iterator[Experiment]:
    """Yield the experiments of `experiments` in the LTE cell. On ns-3, flows use Fullpipe's implementations
    of the algorithms."""
    file, two = (in_lte(scenario) for scenario in scenarios(quick=quick))
    yield from wifi.downloads(LTE_DOWNLOAD, file, LTE, RTTS_MS)
    yield from wifi.pairs(LTE_FAIRNESS, two, LTE, receivers=RECEIVERS)


def scenarios(*, quick: bool) -> tuple[Scenario, Scenario]:
    """Return the scenario with one download, and the scenario with two flows. In the quick form, both are
    shorter."""
    file, two = (Scenario.named(f"adbbr2025-{name}") for name in (DOWNLOAD, FAIRNESS))
    return (file.with_values(wifi.QUICK_FILE), two.with_values(wifi.QUICK_TIME)) if quick else (file, two)


def in_lte(scenario: Scenario) -> Scenario:
    """Return a scenario with its NR cell replaced by the LTE cell. The cell keeps its name, buffers and
    users."""
    tree: dict[str, Any] = scenario.to_dict()
    (cell,) = tree["cells"]
    users = [{key: user[key] for key in ("node", "queue")} for user in cell["users"]]
    lte = {"name": cell["name"], "kind": "lte", "preset": "ns3", "queue": cell["queue"], "users": users}
    named = scenario.name.replace("5g", "lte")
    return Scenario(**{**tree, "name": named, "cells": [lte], "ns3": {"algorithms": "fullpipe"}})


def compare_with_wifi(found: Measurements, names: Iterable[str]) -> None:
    """Add to the downloads over 5G the ratio of each algorithm's rate to the mean rate of CUBIC and Reno.

    One ratio is computed from downloads over 5G, and one from downloads over Wi-Fi. Rates are shares of the
    nominal rates, averaged over the grid. No ratio is added if CUBIC, Reno or the algorithm has no runs.
    """
    for rtt_ms, buffer in product(RTTS_MS, wifi.BUFFERS):
        where = {"rtt": f"{rtt_ms} ms", "buffer": buffer}
        for experiment, quantity in ((DOWNLOAD, "times_loss_based"), (wifi.DOWNLOAD, "times_over_wifi")):
            cubic, reno = (found.at(experiment, "nominal_percent", name, where) for name in LOSS_BASED)
            for name in names:
                rates = found.at(experiment, "nominal_percent", name, where)
                point = {"experiment": DOWNLOAD, "algorithm": name, **where}
                of_both = zip(cubic, reno, strict=True) if cubic and reno else ()
                for rate, (a, b) in zip(rates, of_both, strict=False):
                    found.put(point, {quantity: 2 * rate / (a + b)})
