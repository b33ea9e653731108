"""What the cases have in common: a slow link, the flows beside those that a case is of, and a dumbbell."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Case = tuple[str, dict[str, Any]]
"""A name, and the scenario."""

CUBIC: Mapping[str, Any] = {"cca": "cubic"}
PROBE: Mapping[str, Any] = {"workload": {"kind": "probe", "interval": "10 ms"}}
LINK: Mapping[str, Any] = {
    "rate": "10 Mbit/s",
    "delay": "10 ms",
    "queue": {"kind": "drop_tail", "packets": 25},
}
ENDS: Mapping[str, Any] = {"interval": "100 ms", "packets": ["sender", "receiver"]}
"""Samples, and every packet at both ends."""


def dumbbell(*flows: Mapping[str, Any], link: Mapping[str, Any] = LINK, **more: Any) -> dict[str, Any]:
    """Two seconds of flows over a bottleneck; `topology` and `duration` may say more."""
    topology = {"kind": "dumbbell", "bottleneck": link, **more.pop("topology", {})}
    return {"duration": "2 s", "topology": topology, "flows": list(flows), **more}
