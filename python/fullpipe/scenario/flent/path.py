"""The path of a test: the parts of a scenario other than its flows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullpipe.errors import ScenarioError
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario

DEFAULT = "ethernet-100m"
LINES = ("cable", "dsl", "fibre", "home-lte", "5g", "starlink-like", "home-wifi")
"""Scenarios with paths of homes. Each gives the sources of its numbers."""
PRESETS = (DEFAULT, "wifi-p4-host", *LINES)
"""Scenarios with paths of homes and testbeds."""
_KEPT = ("topology", "hosts", "cells", "tcp")
_CLIENT = "client"


@dataclass(frozen=True)
class TestPath:
    """A dumbbell with a link or a cell as bottleneck, and the test host at one end."""

    parts: Mapping[str, Any]
    """Keys of the scenario that describe the path."""
    station: str | None
    """The station of the cell that is the test host, or None."""
    access_s: float
    """Delay of an access link."""

    def ends(self, server: str, *, is_upload: bool) -> dict[str, Any]:
        """Return the keys of a flow between the test host and a server."""
        way = {"direction": "reverse"} if is_upload else {}
        if self.station:
            return {"station": self.station, **way}
        return {"hosts": [_CLIENT, server] if is_upload else [server, _CLIENT], **way}

    def further(self, rtt_ms: float) -> dict[str, Any]:
        """Return the keys of a flow to a server with an additional RTT.

        A round trip crosses the wire next to a cell twice, and access links of a dumbbell four times.
        """
        if not rtt_ms:
            return {}
        delay_s = self.access_s + rtt_ms * 1e-3 / (2 if self.station else 4)
        return {"access": {"delay": f"{delay_s:.9g} s"}}


def path_of(scenario: Scenario, qdisc: Mapping[str, Any] | None = None) -> TestPath:
    """Return the path of a scenario. `qdisc` replaces the queue of the test host.

    Raises:
        ScenarioError: If the scenario is a graph.
    """
    topology = scenario.topology
    if not isinstance(topology, Dumbbell):
        raise ScenarioError([f'path "{scenario.name}": is a graph; give one with a dumbbell'])
    tree = scenario.to_dict()
    parts = {key: tree[key] for key in _KEPT if key in tree}
    station = next((flow.station for flow in scenario.flows if flow.station), None)
    if station is None and topology.bottleneck.cell:
        station = next(one.node for cell in scenario.cells or () for one in cell.stations)
    if qdisc:
        parts["hosts"] = _with_queue(parts.get("hosts", ()), station or _CLIENT, qdisc)
    return TestPath(parts, station, topology.access.delay_s)


def _with_queue(hosts: Any, name: str, queue: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the hosts with a queue at the network interface of one host."""
    known = {host["name"]: host for host in hosts}
    host = known.get(name, {"name": name})
    known[name] = {**host, "nic": {**host.get("nic", {}), "queue": dict(queue)}}
    return list(known.values())
