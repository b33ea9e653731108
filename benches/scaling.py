"""Cost of a packet by number of flows and rate: nanoseconds of CPU per data packet, and memory.

Six links of 120 ms as in the first study, bulk flows that start within four seconds, and a drop-tail queue
of 0.5 BDP. The first five seconds are left out. The engine runs alone, without Python, with one thread and
without samples. `python -m benches.scaling --page docs/reference/scaling.md` writes the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

from benches.programs import simulated
from fullpipe import Scenario

WARMUP_S = 5
# Gbit/s, and the seconds that are measured at this rate: two to four million packets.
RATES = {1: 20.0, 10: 4.0, 100: 0.5}
FLOWS = (16, 1_000, 10_000)
ALGORITHMS = ("cubic", "bbr1")


class Point(NamedTuple):
    """One cell of the table."""

    cca: str
    flows: int
    rate_gbps: int


class Cost(NamedTuple):
    """CPU per packet, and peak memory of the process."""

    ns_per_packet: float
    peak_mb: float


def scenario_at(point: Point) -> Scenario:
    """The scenario of a point."""
    return Scenario.named("kato2025").with_values(
        {
            "flows.0.cca": point.cca,
            "flows.0.count": point.flows,
            "flows.0.start_jitter": "4 s",
            "duration": f"{WARMUP_S + RATES[point.rate_gbps]} s",
            "topology.bottleneck.rate": f"{point.rate_gbps} Gbit/s",
            "topology.bottleneck.queue": {"kind": "drop_tail", "size": "0.5 bdp"},
            "record.interval": "0 s",
        }
    )


def cost(point: Point) -> Cost:
    """Run one point to its end."""
    told = simulated(scenario_at(point), from_s=WARMUP_S)
    return Cost(told["cpu_s"] / told["data_packets"] * 1e9, told["peak_mb"])


def table(costs: dict[Point, Cost]) -> str:
    """Rows of algorithm and flows, columns of rates (Markdown)."""
    head = "".join(f" {rate} Gbit/s |" for rate in RATES)
    lines = [f"| ns per data packet (peak memory) | flows |{head}", "|---|---|" + "---|" * len(RATES)]
    for cca, flows in dict.fromkeys((point.cca, point.flows) for point in costs):
        cells = (costs.get(Point(cca, flows, rate)) for rate in RATES)
        told = " | ".join(f"{one.ns_per_packet:,.0f} ({one.peak_mb:.0f} MB)" if one else "" for one in cells)
        lines.append(f"| {cca} | {flows:,d} | {told} |")
    return "\n".join(lines) + "\n"


PAGE = """# Scaling

The table has the cost of a data packet by the number of flows and the rate of their link. There are six links
of 120 ms as in the first study, bulk flows that start within four seconds, and a drop-tail queue of 0.5 BDP.
The first five seconds are left out. The engine runs alone, without Python, with one thread on a shared
machine of two cores. Numbers are comparable only with others of the same machine.

{table}
Memory is that of the whole process. Flows that do not fit into the processor's caches cost more per packet,
because the state of a flow must be loaded for each of its packets.

This command makes the page:

```sh title="takes minutes"
python -m benches.scaling --page docs/reference/scaling.md
```
"""


def main() -> None:
    """Measure, print, and write the page of `--page`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", type=Path, help="write the page of the documentation to this file")
    parser.add_argument("--flows", type=int, nargs="+", default=FLOWS)
    parser.add_argument("--rates", type=int, nargs="+", choices=RATES, default=list(RATES), help="Gbit/s")
    options = parser.parse_args()
    costs = {}
    points = [Point(c, f, r) for c in ALGORITHMS for f in options.flows for r in options.rates]
    for point in points:
        costs[point] = cost(point)
        print(f"{point}: {costs[point]}", file=sys.stderr, flush=True)
    print(table(costs))
    if options.page:
        options.page.write_text(PAGE.format(table=table(costs)))


if __name__ == "__main__":
    main()
