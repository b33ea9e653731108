"""What holds in a random cell: no packet appears or vanishes, those of a flow stay in order, and the same
seed gives the same bytes."""

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import fullpipe
from fullpipe import Scenario
from fullpipe.runs import Run
from fullpipe.scenario.quantities import MAX_SEED

STILL_S = 1.0
"""Longer than a packet is on the wire and on the air."""
IDENTITY = ("kind", "seq", "len", "ack", "ts_val", "ts_ecr", "sacks", "size")
"""What a packet keeps on its way."""


def around(cell: dict[str, Any], **more: Any) -> Scenario:
    """A dumbbell around a cell, with all that is checked in its record."""
    return Scenario(
        name="any cell",
        duration="6 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"cell": cell["name"]},
            "access": {"rate": "1 Gbit/s", "delay": "2 ms"},
        },
        cells=[cell],
        record={"interval": "100 ms", "packets": ["sender", "receiver"], "variables": True},
        **more,
    )


@st.composite
def flows(draw: st.DrawFn, stations: list[str]) -> list[dict[str, Any]]:
    """None to two of each station, one at least, which end so early that all is still when the run ends."""
    kinds = [{"cca": "cubic"}, {"cca": "bbr1"}, {"workload": {"kind": "udp", "rate": "9 Mbit/s"}}]
    found = [
        {**draw(st.sampled_from(kinds)), "station": station, "upload": draw(st.booleans()), "stop": "200 ms"}
        for station in stations
        for _ in range(draw(st.integers(0, 2)))
    ]
    return found or [{"cca": "cubic", "station": stations[0], "stop": "200 ms"}]


def check_conservation(run: Run) -> bool:
    """What was sent has arrived or was dropped, if all was still at the end; whether it was."""
    begins = pl.col("source") == pl.col("point")
    sent, arrived = run.packets.filter(begins), run.packets.filter(~begins)
    dropped = int(run.links_summary["dropped_packets"].sum())
    late_s = run.scenario.duration_s - STILL_S
    assert len(sent) >= len(arrived) + dropped
    is_still = not run.links.filter(pl.col("time_s") > late_s)["backlog_packets"].sum()
    is_still &= not (sent["time_ns"] > late_s * 1e9).any()
    windows = run.variables.filter((pl.col("name") == "window") & (pl.col("time_s") > late_s))
    is_still &= not windows["value"].sum()  # noise may take a frame again and again
    assert not is_still or len(sent) == len(arrived) + dropped
    return is_still


def check_order(run: Run) -> None:
    """What arrives of a flow, either way, is what was sent without what was dropped, in the same order."""
    for (_, source), packets in run.packets.group_by("flow", "source"):
        sent = iter(packets.filter(pl.col("point") == source).select(IDENTITY).iter_rows())
        for packet in packets.filter(pl.col("point") != source).select(IDENTITY).iter_rows():
            assert packet in sent  # behind the one before


def check_all(scenarios: st.SearchStrategy[Scenario], cases: int) -> None:
    """All of it in so many cases, of which most are still at the end."""
    still = 0

    @settings(max_examples=cases)
    @given(scenario=scenarios, seed=st.integers(0, MAX_SEED))
    def holds(scenario: Scenario, seed: int) -> None:
        nonlocal still
        first, second = (fullpipe.run(scenario, seed=seed) for _ in range(2))
        still += check_conservation(first)
        check_order(first)
        for name, table in first.tables.items():
            assert table.equals(second.tables[name]), name

    holds()
    assert still > cases / 2
