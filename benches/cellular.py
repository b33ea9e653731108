"""CPU per delivered packet in an LTE cell: natively, over a drop-tail link of the same rate, and in ns-3.

The cell is that of ns-3 (preset `ns3`, 20 MHz, 1.5 MB of RLC) with one user, and the algorithms are ours. CPU
seconds are those that each engine reports, the minimum of several turns. All three are run in turns.
"""

from __future__ import annotations

from typing import Any

from benches.delivered import cost_us, options
from fullpipe import Scenario, engines

MOST_OF_A_LINK = 3
"""Largest allowed ratio of the cost in the cell to that over the link."""
GOAL = 50
"""Smallest allowed ratio of the cost in ns-3 to that in the native cell."""
MSS_BYTES = 1_400
BUFFER = {"bytes": "1.5 MB"}
SENT: dict[str, dict[str, Any]] = {
    "UDP": {"workload": {"kind": "udp", "rate": "80 Mbit/s", "size": f"{MSS_BYTES} B"}},
    "CUBIC": {"cca": "cubic"},
    "BBRv1": {"cca": "bbr1"},
}
CELL: dict[str, Any] = {
    "name": "mast",
    "kind": "lte",
    "preset": "ns3",
    "users": [{"node": "phone"}],
    "queue": BUFFER,
}
LINK: dict[str, Any] = {"rate": "76 Mbit/s", "queue": BUFFER}


def scenario(sent: str, duration_s: int, bottleneck: dict[str, Any], **more: Any) -> Scenario:
    """A download over 20 ms of wire."""
    return Scenario(
        name="cellular",
        duration=f"{duration_s} s",
        topology={
            "kind": "dumbbell",
            "bottleneck": bottleneck,
            "access": {"rate": "10 Gbit/s", "delay": "10 ms"},
        },
        tcp={"mss": f"{MSS_BYTES} B"},
        ns3={"algorithms": "fullpipe"},
        flows=[SENT[sent]],
        record={"interval": "off"},
        **more,
    )


def main() -> None:
    """Measure and print."""
    given = options(str(__doc__).partition("\n")[0])
    lacks = engines.missing(engines.engine("ns3"))
    if lacks:
        print(f"cellular: not beside ns-3: {lacks[0]}")
    print(f"CPU per delivered packet (goals: {MOST_OF_A_LINK} times a link, {GOAL} times less than ns-3):")
    for sent in SENT:
        cell = scenario(sent, given.duration, {"cell": "mast"}, cells=[CELL])
        link = scenario(sent, given.duration, LINK)
        kinds = {"cell": ("native", cell), "link": ("native", link)}
        if not lacks:
            kinds["ns-3"] = ("ns3", cell)
        turns = [
            {name: cost_us(*kind, MSS_BYTES) for name, kind in kinds.items()} for _ in range(given.turns)
        ]
        least = {name: min(turn[name] for turn in turns) for name in kinds}
        beside = f"{least['cell'] / least['link']:.2f} links"
        if "ns-3" in least:
            beside += f", ns-3 {least['ns-3']:.1f} us, {least['ns-3'] / least['cell']:.0f} times"
        print(f"  {sent:5s} cell {least['cell']:6.3f} us, link {least['link']:6.3f} us: {beside}", flush=True)


if __name__ == "__main__":
    main()
