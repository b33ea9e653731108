"""Cost of an AQM above that of a drop-tail queue: CPU per data packet of 16 CUBIC flows on 1 Gbit/s.

All queues run in turns, and the minimum of several turns is taken. Only the engine is measured, without
Python.
"""

from __future__ import annotations

import argparse

from benches.programs import simulated
from fullpipe import Scenario

# Cost above drop-tail in ns per packet, when queues were last made faster.
QUEUES = {"drop_tail": 0, "codel": 70, "fq_codel": 236, "cake": 404}


def behind(queue: str) -> Scenario:
    """The scenario with a queue: a round trip of 48 ms, access links ten times as fast."""
    limit = {"packets": 2000} if queue == "drop_tail" else {}
    return Scenario(
        name="queues",
        duration="20 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "1 Gbit/s", "delay": "20 ms", "queue": {"kind": queue, **limit}},
            "access": {"rate": "10 Gbit/s", "delay": "2 ms"},
        },
        flows=[{"cca": "cubic", "count": 16, "start_jitter": "100 ms"}],
        record={"interval": "0 s"},
    )


def costs(turns: int) -> dict[str, float]:
    """Minimum cost of a packet behind each queue, in nanoseconds."""
    found: dict[str, list[float]] = {queue: [] for queue in QUEUES}
    for _ in range(turns):
        for queue, values in found.items():
            told = simulated(behind(queue), from_s=2)
            values.append(told["cpu_s"] / told["data_packets"] * 1e9)
    return {queue: min(values) for queue, values in found.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=5, help="how often each queue runs (5)")
    found = costs(parser.parse_args().turns)
    print("ns per data packet, 16 CUBIC flows on 1 Gbit/s, and above drop-tail (goal: at most):")
    for queue, ns in found.items():
        print(f"  {queue:10s} {ns:5.0f}  {ns - found['drop_tail']:+5.0f} ({QUEUES[queue]})")


if __name__ == "__main__":
    main()
