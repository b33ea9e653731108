"""A cell's own trace in place of the cell, as Mahimahi has it: bulk flows get the same, short ones more, as a
trace of a busy cell knows neither requests for grants nor a slot that has just begun (CellReplay)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import deliveries

Cli = Callable[..., Any]
USER = {"node": "phone", "snr": {"mean": "14 dB", "spread": "4 dB", "memory": "500 ms"}}
MORE_THAN_IT_CARRIES = {"workload": {"kind": "udp", "rate": "100 Mbit/s", "size": "1472 B"}}
PROBE = {"workload": {"kind": "ping", "interval": "37 ms"}}


def over(bottleneck: dict[str, Any], flow: dict[str, Any], access_ms: float, **more: Any) -> Scenario:
    return Scenario(
        name="replayed",
        topology={
            "kind": "dumbbell",
            "bottleneck": bottleneck,
            "access": {"delay": f"{access_ms} ms"},
            **({} if "cell" in bottleneck else {"reverse": {"delay": "0 ms"}}),
        },
        flows=[flow],
        **{"duration": "12 s", "warmup": "4 s", "record": {"interval": "off"}, **more},
    )


def over_the_cell(flow: dict[str, Any], **more: Any) -> Scenario:
    mast = {"name": "mast", "kind": "lte", "users": [USER], "queue": {"bytes": "1.5 MB"}}
    return over({"cell": "mast"}, flow, 10, cells=[mast], **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture(scope="module")
def busy(folder: Path) -> Run:
    """The recording: more arrives than the cell carries."""
    record = {"interval": "off", "packets": ["mast-phone-down"]}
    return run(over_the_cell(MORE_THAN_IT_CARRIES, record=record), out=folder / "runs")


@pytest.fixture(scope="module")
def base_ms() -> float:
    """The least round trip that the cell has for a packet by itself, which Mahimahi adds to a trace."""
    return 1e3 * float(run(over_the_cell(PROBE)).flows["rtt_min_s"][0])


@pytest.fixture
def replayed(busy: Run, base_ms: float, fullpipe: Cli) -> Callable[[dict[str, Any]], Run]:
    """The run of a flow over the trace, with the same base and the same buffer."""
    done = fullpipe("export", busy.folder, "-o", "mast.down")
    assert done.exit_code == 0, done.output
    link = {"delay": "0 ms", "trace": {"file": "mast.down"}, "queue": {"bytes": "1.5 MB"}}
    # An opportunity is for 1,504 bytes: a packet of 1,500 and 4 of the link.
    return lambda flow: run(over(link, flow, base_ms / 4, tcp={"link_overhead": "4 B"}))


@pytest.mark.parametrize("flow", [MORE_THAN_IT_CARRIES, {"cca": "cubic"}], ids=["udp", "cubic"])
def test_bulk_flows_get_from_an_lte_cells_trace_what_they_get_from_the_cell(
    flow: dict[str, Any], replayed: Callable[[dict[str, Any]], Run]
) -> None:
    goodput = [float(found.flows["goodput_bps"][0]) for found in (replayed(flow), run(over_the_cell(flow)))]
    assert goodput[0] == pytest.approx(goodput[1], rel=0.005)


@pytest.mark.parametrize("size", ["10 kB", "100 kB", "1 MB"])
def test_short_flows_get_more_from_an_lte_cells_trace_than_from_the_cell(
    size: str, replayed: Callable[[dict[str, Any]], Run]
) -> None:
    flow = {"cca": "cubic", "size": size}
    times_s = [float(found.flows["fct_s"][0]) for found in (replayed(flow), run(over_the_cell(flow)))]
    assert 1.1 * times_s[0] < times_s[1]


AT_ONCE = {"request_period": "1 us", "grant_delay": "0 ms", "first_grant": "1 MB"}
"""A user may send all that it has, at any time."""


SEEDS = range(1, 7)


def over_a_quick_cell(flow: dict[str, Any], uplink: dict[str, Any], **more: Any) -> Scenario:
    """Blocks that fail are sent again within a slot or two, so that the way down has no other delays than
    those of its queue."""
    mast = {"name": "mast", "kind": "lte", "users": [USER], "queue": {"bytes": "1.5 MB"}}
    mast |= {"uplink": uplink, "harq": {"round_trip": "1 ms"}}
    return over({"cell": "mast"}, flow, 10, cells=[mast], **{"duration": "64 s", **more})


def record_deliveries(folder: Path) -> None:
    """Traces of the way down; datagrams ask nothing of the way up."""
    record = {"interval": "off", "packets": ["mast-phone-down"]}
    busy = over_a_quick_cell(MORE_THAN_IT_CARRIES, {}, warmup="0 s", record=record)
    for seed in SEEDS:
        (folder / f"{seed}.down").write_bytes(deliveries(run(busy, seed)))


def bulk_bbr(folder: Path, uplink: dict[str, Any], *reverse: dict[str, Any]) -> list[float]:
    """Goodput of BBRv1 over a cell, and over its trace with each of these ways back, the sum of six seeds.

    Recording and replay begin together, so that both have the same rate at any time.
    """
    flow = {"cca": "bbr1"}
    probed = run(over_a_quick_cell(PROBE, uplink, duration="12 s"))
    access_ms = 1e3 * float(probed.flows["rtt_min_s"][0]) / 4
    sums = [0.0] * (1 + len(reverse))
    for seed in SEEDS:
        trace = folder / f"{seed}.down"
        link = {"delay": "0 ms", "trace": {"file": str(trace)}, "queue": {"bytes": "1.5 MB"}}
        replayed = over(link, flow, access_ms, tcp={"link_overhead": "4 B"}, duration="64 s")
        ways_back = [replayed.with_values({"topology.reverse": way}) for way in reverse]
        for place, scenario in enumerate((over_a_quick_cell(flow, uplink), *ways_back)):
            sums[place] += float(run(scenario, seed).flows["goodput_bps"][0])
    return sums


def test_bulk_bbr_gets_from_a_trace_what_the_cell_gives_where_acks_come_alike(tmp_path: Path) -> None:
    """A trace of the way down knows nothing of the way up, where ACKs wait for grants and come in clumps.
    With neither of these, or with both, BBRv1 gets the same; it gets more from a trace without them."""
    record_deliveries(tmp_path)
    at_once: dict[str, Any] = {"delay": "0 ms"}
    clumps = {"delay": "0 ms", "batch": "8 ms"}  # the time of a grant
    cell, replayed = bulk_bbr(tmp_path, AT_ONCE, at_once)
    assert replayed == pytest.approx(cell, rel=0.005)
    cell, in_clumps, more = bulk_bbr(tmp_path, {}, clumps, at_once)
    assert in_clumps == pytest.approx(cell, rel=0.005)
    assert more > 1.01 * cell
