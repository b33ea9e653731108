"""CPU per delivered packet in a Wi-Fi cell: the native engine and ns-3, in turns.

Hosts and cells are those of ns-3 (`tcp.host`, the preset `ns3`), the algorithms ours. CPU seconds are those
that each engine reports, the minimum of several turns.
"""

from __future__ import annotations

from typing import Any

from benches.delivered import cost_us, options
from fullpipe import Scenario, engines

GOAL = 50
"""Smallest allowed ratio of the cost in ns-3 to the native cost."""
MSS_BYTES = 1_448
CELLS: dict[str, dict[str, Any]] = {
    "802.11n": {"standard": "802.11n", "stations": [{"node": "laptop", "rate": {"mcs": 7}}]},
    "802.11ax": {"standard": "802.11ax", "stations": [{"node": "laptop", "rate": {"mcs": 11}}]},
}
"""20 MHz, one stream: 65 and 143.4 Mbit/s."""
SENT: dict[str, dict[str, Any]] = {
    "UDP": {"workload": {"kind": "udp", "rate": "160 Mbit/s", "size": f"{MSS_BYTES} B"}},
    "CUBIC": {"cca": "cubic"},
    "BBRv1": {"cca": "bbr1"},
}


def scenario(cell: str, sent: str, duration_s: int) -> Scenario:
    """A download over 20 ms of wire."""
    radio = {"preset": "ns3", "width": "20 MHz", "guard_interval": "800 ns"}
    return Scenario(
        name="wifi",
        duration=f"{duration_s} s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"cell": "home"},
            "access": {"rate": "10 Gbit/s", "delay": "10 ms"},
        },
        cells=[{"name": "home", "kind": "wifi", **radio, **CELLS[cell]}],
        tcp={"host": "ns3-like"},
        ns3={"algorithms": "fullpipe"},
        flows=[{"station": "laptop", **SENT[sent]}],
        record={"interval": "off"},
    )


def main() -> None:
    """Measure and print."""
    given = options(str(__doc__).partition("\n")[0])
    if lacks := engines.missing(engines.engine("ns3")):
        print(f"wifi: not beside ns-3: {lacks[0]}")
        return
    print(f"CPU per delivered packet in a Wi-Fi cell, native and ns-3 (goal: {GOAL} times less):")
    for cell in CELLS:
        for sent in SENT:
            made = scenario(cell, sent, given.duration)
            turns = [
                (cost_us("native", made, MSS_BYTES), cost_us("ns3", made, MSS_BYTES))
                for _ in range(given.turns)
            ]
            native_us, ns3_us = (min(each) for each in zip(*turns, strict=True))
            ratio = f"{ns3_us / native_us:.0f} times"
            print(f"  {cell:8s} {sent:5s} {native_us:6.3f} us {ns3_us:7.1f} us {ratio:>10s}", flush=True)


if __name__ == "__main__":
    main()
