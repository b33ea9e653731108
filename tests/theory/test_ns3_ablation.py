"""Which behaviours of ns-3 3.40 starve BBR flows; see docs/explanation/why-ns3-versions-differ.md."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario

RESCUE, SAMPLE = "rescue_retransmit", "rate_sample"
BUFFER, INVALID = "full_send_buffer", "invalid_rate_samples"
NS3 = {RESCUE: "unbounded", SAMPLE: "ns3_3.40", BUFFER: "network_limited", INVALID: "repeated"}


@cache
def starved(*names: str, send_buffer: str = "1 MiB") -> int:
    """Of sixteen flows, those below 1 Mbit/s from 10 to 20 s, with the behaviours named."""
    scenario = Scenario.named("kato2025-ablation")
    [linux] = [
        point for point in scenario.points() if not any(point[f"tcp.{name}"] == NS3[name] for name in NS3)
    ]
    chosen = {**linux, **{f"tcp.{name}": NS3[name] for name in names}}
    values = {**chosen, "duration": "20 s", "tcp.send_buffer": send_buffer}
    late = fullpipe.run(scenario.with_values(values)).series.filter(pl.col("time_s") > 10)
    return int((late.group_by("flow").agg(pl.col("goodput_bps").mean())["goodput_bps"] < 1e6).sum())


def test_linux_starves_no_flow() -> None:
    assert starved() == 0


@pytest.mark.slow
def test_all_four_together_starve_several() -> None:
    assert starved(*NS3) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", NS3)
def test_none_of_them_starves_a_flow_alone(name: str) -> None:
    assert starved(name) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [RESCUE, SAMPLE])
def test_without_the_rescue_or_the_carried_interval_the_others_starve_none(name: str) -> None:
    assert starved(*(other for other in NS3 if other != name)) == 0


@pytest.mark.slow
def test_a_send_buffer_that_never_fills_prevents_it() -> None:
    assert starved(*NS3, send_buffer="1 GiB") == 0
