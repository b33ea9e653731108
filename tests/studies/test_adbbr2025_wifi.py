"""The Wi-Fi part of the study of Ad-BBR: its grid, what cells carry, and what small buffers do there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.studies import adbbr2025
from fullpipe.studies.adbbr2025 import mobile, wifi
from fullpipe.studies.experiments import Measurements
from tests.studies.todo import jobs

UDP = {
    "duration": "3 s",
    "warmup": "1 s",
    "flows.0": {"workload": {"kind": "udp", "rate": "1 Gbit/s", "size": "1472 B"}, "station": "receiver"},
}
SMALLEST = wifi.GRID["n 20 MHz 1x1"]
AGGREGATE = 28
"""Packets in 5.484 ms, the longest that 802.11n has, at 65 Mbit/s."""


def carried_mbps(cell: wifi.Radio, values: Mapping[str, Any]) -> float:
    scenario = Scenario.named("adbbr2025-wifi-download").with_values({**cell.values(), **values})
    return float(run(scenario).flows["goodput_bps"].sum()) / 1e6


@pytest.mark.parametrize("name", wifi.GRID)
def test_what_is_called_nominal_is_what_a_cell_carries(name: str) -> None:
    cell = wifi.GRID[name]
    found = carried_mbps(cell, {**UDP, "cells.0.queue": {"packets": 1000}})
    assert found == pytest.approx(cell.nominal_mbps, rel=0.003)


def test_buffers_are_multiples_of_nominal_rate_and_rtt() -> None:
    every = {
        (job.point["experiment"], job.point.get("rtt", "50 ms"), job.point["buffer"]): job.scenario.cells[
            0
        ].queue
        for job in jobs("adbbr2025", seeds=1)
        if job.point.get("cell") == "n 20 MHz 1x1"
    }
    sizes = {key: queue.limit_bytes for key, queue in every.items() if queue is not None}
    product = SMALLEST.nominal_mbps * 1e6 / 8 / 1e3
    rtts = [(wifi.DOWNLOAD, rtt_ms) for rtt_ms in (10, 20, 50)] + [(wifi.FAIRNESS, 50)]
    assert sizes == {
        (experiment, f"{rtt_ms} ms", size): round(product * rtt_ms * times)
        for experiment, rtt_ms in rtts
        for size, times in (("0.5 bdp", 0.5), ("5 bdp", 5.0))
    }


def test_behind_less_than_an_aggregate_throughput_falls() -> None:
    """Half a product at 10 ms is 24 packets: no aggregate is full, and TCP loses what comes meanwhile."""
    half, five = (
        str(values["cells.0.queue.bytes"]) for values in wifi.buffers(SMALLEST, rtt_s=0.01).values()
    )
    waiting = int(half.removesuffix(" B")) // 1514
    assert waiting == 24 < AGGREGATE

    def fall(**values: object) -> float:
        small, large = (
            carried_mbps(SMALLEST, {**values, "cells.0.queue.bytes": size}) for size in (half, five)
        )
        return small / large

    assert fall(**UDP) == pytest.approx(cycle_share(waiting) / cycle_share(AGGREGATE), abs=1e-3)
    file = {"flows.0.size": "20 MB", "topology.access.delay": "5 ms"}
    assert fall(**file, **{"flows.0.cca": "bbr1"}) < 0.95
    assert fall(**file, **{"flows.0.cca": "cubic"}) < 0.5


def cycle_share(packets: int) -> float:
    """Packets per microsecond: AIFS, 7.5 slots, a PPDU at 65 Mbit/s, SIFS and a block ACK."""
    ppdu = 36 + 4 * math.ceil((16 + 8 * (1544 * packets - 2) + 6) / 260)
    return packets / (16 + 27 + 67.5 + ppdu + 16 + 32)


def test_the_grid_has_a_row_per_point_and_says_what_is_as_printed() -> None:
    """The share of the short flow is a third with 1 % of errors behind 5 BDP, and half elsewhere."""
    found = Measurements()
    for job in jobs("adbbr2025", seeds=5):
        if job.point["experiment"] == wifi.FAIRNESS:
            third = (job.point["errors"], job.point["buffer"]) == (0.01, "5 bdp")
            found.add(job, {"short_share": 1 / 3 if third else 0.5, "jain": 0.9})
    checked = adbbr2025.check_claims(adbbr2025.transcription().claims, found)
    heads, printed, *points = adbbr2025.rows(checked, wifi.FAIRNESS)
    assert heads[:4] == ["cell", "errors", "buffer", "index, % above BBRv1"]
    assert len(points) == 6 * 2 * 2
    at = heads.index("share BBRv1")
    assert printed[at] == "0.334"
    assert {(row[1], row[2]) for row in points if row[at].endswith("+")} == {("0.01", "5 bdp")}
    assert adbbr2025.rows(checked, mobile.FAIRNESS) == []
    assert adbbr2025.grid_sections([]) == []


def test_other_engines_have_the_wired_part_and_lte() -> None:
    names = {job.point["experiment"] for job in jobs("adbbr2025", seeds=1, engine="ns3")}
    assert not names & {wifi.DOWNLOAD, wifi.FAIRNESS, mobile.DOWNLOAD, mobile.FAIRNESS}
    assert {mobile.LTE_DOWNLOAD, mobile.LTE_FAIRNESS, "latency"} <= names
