"""Cost of a delivered packet, for benchmarks that run engines in turns."""

from __future__ import annotations

import argparse

from fullpipe import Scenario, engines


def cost_us(engine: str, made: Scenario, payload_bytes: int) -> float:
    """CPU per delivered packet in microseconds, from the engine's own measurement."""
    run = engines.engine(engine).run(made, seed=1)
    return 1e6 * run.meta.cpu_s * payload_bytes / float(run.flows["delivered_bytes"].sum())


def options(description: str) -> argparse.Namespace:
    """`turns` and `duration` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--turns", type=int, default=3, help="how often each runs (3)")
    parser.add_argument("--duration", type=int, default=10, help="simulated seconds (10)")
    return parser.parse_args()
