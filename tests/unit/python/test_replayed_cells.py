"""A cell's own trace in place of the cell, as Mahimahi has it: bulk flows get the same, short ones more, as a
trace of a busy cell knows neither requests for grants nor a slot that has just begun (CellReplay)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Run, Scenario, run

Cli = Callable[..., Any]
USER = {"node": "phone", "snr": {"mean": "14 dB", "spread": "4 dB", "memory": "500 ms"}}
MORE_THAN_IT_CARRIES = {"workload": {"kind": "udp", "rate": "100 Mbit/s", "size": "1472 B"}}
PROBE = {"workload": {"kind": "ping", "interval": "37 ms"}}


def over(bottleneck: dict[str, Any], flow: dict[str, Any], access_ms: float, **more: Any) -> Scenario:
    return Scenario(
        name="replayed",
        duration="12 s",
        warmup="4 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": bottleneck,
            "access": {"delay": f"{access_ms} ms"},
            **({} if "cell" in bottleneck else {"reverse": {"delay": "0 ms"}}),
        },
        flows=[flow],
        **{"record": {"interval": "off"}, **more},
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
