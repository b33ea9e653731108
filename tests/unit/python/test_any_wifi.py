"""Whatever a scenario says of a Wi-Fi cell: no packet appears or vanishes, those of a flow stay in order, and
the same seed gives the same bytes."""

from collections.abc import Callable
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import fullpipe
from fullpipe import Scenario
from fullpipe.runs import Run
from fullpipe.scenario.checks import MAX_SEED
from fullpipe.scenario.model.cells import wifi_phy

CELLS = 1_000
STILL_S = 1.0
"""Longer than a packet is on the wire and on the air."""
IDENTITY = ("kind", "seq", "len", "ack", "ts_val", "ts_ecr", "sacks", "size")
"""What a packet keeps on its way."""


def queues() -> st.SearchStrategy[dict[str, Any]]:
    """Of the access point, or of a station."""
    return st.one_of(
        st.builds(lambda n: {"packets": n}, st.integers(1, 60)),
        st.builds(lambda n: {"kind": "codel", "limit": n}, st.integers(1, 60)),
        st.builds(lambda n: {"kind": "fq_codel", "limit": n}, st.integers(1, 60)),
        st.builds(
            lambda n, aql: {"kind": "mac80211", "limit": n, "aql": aql}, st.integers(1, 60), st.booleans()
        ),
    )


@st.composite
def channels(draw: st.DrawFn) -> dict[str, Any]:
    """A standard and what it has."""
    name = draw(st.sampled_from(sorted(wifi_phy.standards())))
    has = wifi_phy.standards()[name]
    band = draw(st.sampled_from(has.bands_mhz))
    width = draw(st.sampled_from([mhz for mhz in has.widths_mhz if band == 5_000 or mhz <= 40]))
    return {
        "standard": name,
        "band": f"{band / 1_000:g} GHz",
        "width": f"{width} MHz",
        "streams": draw(st.integers(1, has.streams)),
        "guard_interval": f"{draw(st.sampled_from(has.guard_intervals_ns))} ns",
        "control_rate": f"{draw(st.sampled_from(wifi_phy.control_rates_bps()))} bit/s",
        "max_ampdu_mpdus": draw(st.integers(1, has.window)),
        "max_ampdu": f"{draw(st.integers(1, has.ampdu_bytes))} B",
    }


@st.composite
def stations(draw: st.DrawFn, channel: dict[str, Any]) -> list[dict[str, Any]]:
    """One to four, each at a rate that there is."""
    found = []
    for n in range(draw(st.integers(1, 4))):
        streams = draw(st.integers(1, channel["streams"]))
        width = int(channel["width"].split()[0])
        every = range(wifi_phy.standards()[channel["standard"]].last_mcs + 1)
        known = [mcs for mcs in every if wifi_phy.exists(channel["standard"], width, mcs, streams)]
        station = {
            "node": f"s{n}",
            "streams": streams,
            "rate": draw(st.sampled_from([{"mcs": draw(st.sampled_from(known))}, "ideal", "minstrel"])),
            "errors": draw(st.sampled_from([0.0, 0.01, 0.3])),
        }
        noise = st.sampled_from(["25 dB", {"mean": "20 dB", "spread": "4 dB", "memory": "100 ms"}])
        found.append(station | draw(st.fixed_dictionaries({}, optional={"queue": queues(), "snr": noise})))
    return found


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A cell with flows of all its stations, which end early enough that all is still when the run ends."""
    channel, switch = draw(channels()), st.booleans()
    joined = draw(stations(channel))
    cell = {
        **channel,
        **{key: draw(switch) for key in ("rts", "beacons", "bar", "release_each")},
        "name": "home",
        "kind": "wifi",
        "retries": draw(st.sampled_from([0, 1, 4])),
        "delay": f"{draw(st.integers(0, 3_000))} ns",
        "queue": draw(queues()),
        "stations": joined,
    }
    kinds = [{"cca": "cubic"}, {"cca": "bbr1"}, {"workload": {"kind": "udp", "rate": "9 Mbit/s"}}]
    flows = [
        {**draw(st.sampled_from(kinds)), "station": station["node"], "upload": draw(switch), "stop": "200 ms"}
        for station in joined
        for _ in range(draw(st.integers(0, 2)))
    ]
    return Scenario(
        name="any cell",
        duration="6 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"cell": "home"},
            "access": {"rate": "1 Gbit/s", "delay": "2 ms"},
        },
        cells=[cell],
        tcp={"host": draw(st.sampled_from(["linux", "ns3-like"]))},
        flows=flows or [{"cca": "cubic", "station": "s0", "stop": "200 ms"}],
        record={"interval": "100 ms", "packets": ["sender", "receiver"], "variables": True},
    )


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


def test_any_cell_conserves_orders_and_repeats(cases: Callable[[int], int]) -> None:
    still = 0

    @settings(max_examples=cases(CELLS))
    @given(scenario=scenarios(), seed=st.integers(0, MAX_SEED))
    def holds(scenario: Scenario, seed: int) -> None:
        nonlocal still
        first, second = (fullpipe.run(scenario, seed=seed) for _ in range(2))
        still += check_conservation(first)
        check_order(first)
        for name, table in first.tables.items():
            assert table.equals(second.tables[name]), name

    holds()
    assert still > cases(CELLS) / 2
