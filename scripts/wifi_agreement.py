"""Wi-Fi cells natively and on ns-3: goodput and round trips of the same scenarios, as a Markdown table.

    python scripts/wifi_agreement.py --seeds 6 --beside 2

Both engines have the same cell, the same queues and our algorithms; hosts are ns-3's ("ns3-like" natively).
"""

import argparse
from collections.abc import Iterator
from itertools import product
from statistics import fmean
from typing import Any

from fullpipe import engines
from fullpipe.runs import Run
from fullpipe.scenario import Scenario

WARMUP_S = 3
CELLS: dict[str, dict[str, Any]] = {
    "802.11n": {"standard": "802.11n", "mcs": 7},
    "802.11ax": {"standard": "802.11ax", "mcs": 11},
}
"""Fastest MCS of one stream in 20 MHz: 65 and 143.4 Mbit/s."""
SENT = {"udp": (1, 2, 5), "cubic": (1, 4), "bbr1": (1, 4)}
"""Traffic, and its numbers of stations."""
WAYS = {"down": False, "up": True}
BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "native, Linux's host": ("native", {"tcp": {"host": "linux"}}),
    "ns3, its algorithms": ("ns3", {"ns3.algorithms": "ns3"}),
}
"""Additional columns: an engine, and its changed settings."""


def described(name: str, stations: int) -> dict[str, Any]:
    """The cell with ns-3's defaults, except aggregates of at most 64 KiB and queues of 500 packets."""
    said = dict(CELLS[name])
    rate = {"mcs": said.pop("mcs")}
    joined = [{"node": f"s{n}", "rate": rate} for n in range(stations)]
    return {
        "name": "cell",
        "kind": "wifi",
        "preset": "ns3",
        "width": "20 MHz",
        "guard_interval": "800 ns",
        "stations": joined,
        **said,
    }


def scenario(cell: str, stations: int, upload: bool, duration_s: int, **flow: Any) -> Scenario:
    """The same flow to or from every station; behind the access point is a wire of 10 ms."""
    access = {"rate": "10 Gbit/s", "delay": "10 ms"}
    flows = [{**flow, "station": f"s{n}", "upload": upload, "start": f"{10 * n} ms"} for n in range(stations)]
    return Scenario(
        name="wifi-agreement",
        duration=f"{duration_s} s",
        warmup=f"{WARMUP_S} s",
        topology={"kind": "dumbbell", "bottleneck": {"cell": "cell"}, "access": access},
        cells=[described(cell, stations)],
        tcp={"host": "ns3-like"},
        ns3={"algorithms": "fullpipe"},
        flows=flows,
        record={"interval": "off"},
    )


def cases(duration_s: int) -> Iterator[tuple[str, str, str, int, Scenario]]:
    """Cell, traffic, direction, stations, and the scenario of every case."""
    for cell, (what, numbers), (way, upload) in product(CELLS, SENT.items(), WAYS.items()):
        for stations in numbers:
            made = scenario(cell, stations, upload, duration_s, **_flow(what, stations))
            yield cell, what, way, stations, made


def _flow(what: str, stations: int) -> dict[str, Any]:
    """Datagrams that are more than any cell carries, or a flow of an algorithm."""
    if what != "udp":
        return {"cca": what}
    return {"workload": {"kind": "udp", "rate": f"{160 // stations} Mbit/s", "size": "1472 B"}}


def measure(engine: str, made: Scenario, seeds: int) -> tuple[float, float | None]:
    """Goodput of all flows in Mbit/s and mean RTT in ms, over seeds."""
    runs = [engines.engine(engine).run(made, seed=seed) for seed in range(1, seeds + 1)]
    return fmean(map(_mbps, runs)), _rtt_ms(runs)


def _mbps(run: Run) -> float:
    return float(run.flows["goodput_bps"].sum()) / 1e6


def _rtt_ms(runs: list[Run]) -> float | None:
    found = [run.flows["rtt_mean_s"].drop_nulls().to_list() for run in runs]
    return 1e3 * fmean(map(fmean, found)) if all(found) else None


def row(made: Scenario, seeds: int, beside: int) -> Iterator[str]:
    """Both engines and their difference, then the additional columns, which are empty for datagrams."""
    native, ns3 = (measure(engine, made, seeds) for engine in ("native", "ns3"))
    yield from _shown(native)
    yield from _shown(ns3)
    yield f"{100 * (native[0] / ns3[0] - 1):+.1f} %"
    yield f"{100 * (native[1] / ns3[1] - 1):+.1f} %" if native[1] and ns3[1] else ""
    for engine, values in BESIDE.values():
        is_shown = beside and native[1]
        yield from _shown(measure(engine, made.with_values(values), beside)) if is_shown else ("", "")


def _shown(found: tuple[float, float | None]) -> tuple[str, str]:
    mbps, rtt_ms = found
    return f"{mbps:.2f}", "" if rtt_ms is None else f"{rtt_ms:.1f}"


def main() -> None:
    """Print the table, a row at a time."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--seeds", type=int, default=2)
    told.add_argument("--beside", type=int, default=0, help="seeds of the additional columns (default: none)")
    told.add_argument("--duration", type=int, default=10)
    told.add_argument("--cells", default=",".join(CELLS))
    told.add_argument("--sent", default=",".join(SENT))
    chosen = told.parse_args()
    each = ("native", "ns3", "difference", *BESIDE)
    heads = [f"{what} {name}" for name in each for what in ("Mbit/s", "RTT ms")]
    print("| cell | flows | way | stations |", " | ".join(heads), "|")
    print("|" + "---|" * (4 + len(heads)))
    for cell, what, way, stations, made in cases(chosen.duration):
        if cell in chosen.cells.split(",") and what in chosen.sent.split(","):
            cells = " | ".join(row(made, chosen.seeds, chosen.beside))
            print(f"| {cell} | {what} | {way} | {stations} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
