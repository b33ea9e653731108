"""Whatever a scenario says of a Wi-Fi cell: no packet appears or vanishes, those of a flow stay in order, and
the same seed gives the same bytes."""

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

from fullpipe import Scenario
from fullpipe.scenario.model.cells import wifi
from tests.random_cells import around, check_all, flows

CELLS = 1_000


@cache
def queues() -> st.SearchStrategy[dict[str, Any]]:
    """Queues of the access point or of a station."""
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
    name = draw(st.sampled_from(sorted(wifi.standards())))
    has = wifi.standards()[name]
    band = draw(st.sampled_from(has.bands_mhz))
    width = draw(st.sampled_from([mhz for mhz in has.widths_mhz if band == 5_000 or mhz <= 40]))
    return {
        "standard": name,
        "band": f"{band / 1_000:g} GHz",
        "width": f"{width} MHz",
        "streams": draw(st.integers(1, has.streams)),
        "guard_interval": f"{draw(st.sampled_from(has.guard_intervals_ns))} ns",
        "control_rate": f"{draw(st.sampled_from(wifi.control_rates_bps()))} bit/s",
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
        every = range(wifi.standards()[channel["standard"]].last_mcs + 1)
        known = [mcs for mcs in every if wifi.exists(channel["standard"], width, mcs, streams)]
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
    """A cell with flows of its stations."""
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
    sent = draw(flows([station["node"] for station in joined]))
    return around(cell, tcp={"host": draw(st.sampled_from(["linux", "ns3-like"]))}, flows=sent)


def test_any_cell_conserves_orders_and_repeats(cases: Callable[[int], int]) -> None:
    check_all(scenarios(), cases(CELLS))
