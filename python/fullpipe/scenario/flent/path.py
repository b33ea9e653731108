"""The path of a test: what a scenario has besides its flows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullpipe.errors import ScenarioError
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.scenario import Scenario

DEFAULT = "ethernet-100m"
LINES = ("cable", "dsl", "fibre", "home-lte", "5g", "starlink-like", "home-wifi")
"""Scenarios whose paths are those of homes; each says where its numbers are from."""
PRESETS = (DEFAULT, "wifi-p4-host", *LINES)
"""With those whose paths are of testbeds."""
_KEPT = ("topology", "hosts", "cells", "tcp")
_CLIENT = "client"


@dataclass(frozen=True)
class TestPath:
    """A dumbbell, or a cell in its middle, with the test host at one end."""

    parts: Mapping[str, Any]
    """What a scenario says of it."""
    station: str | None
    """The station that is the test host, if it is one."""
    access_s: float
    """The delay of an access link."""

    def ends(self, server: str, *, is_upload: bool) -> dict[str, Any]:
        """The keys of a flow between the test host and a server."""
        way = {"direction": "reverse"} if is_upload else {}
        if self.station:
            return {"station": self.station, **way}
        return {"hosts": [_CLIENT, server] if is_upload else [server, _CLIENT], **way}

    def further(self, rtt_ms: float) -> dict[str, Any]:
        """The keys of a flow whose server is further away, by a round trip of so much. A wire beside a cell
        is crossed twice in it, and access links of a dumbbell four times."""
        if not rtt_ms:
            return {}
        delay_s = self.access_s + rtt_ms * 1e-3 / (2 if self.station else 4)
        return {"access": {"delay": f"{delay_s:.9g} s"}}


def path_of(scenario: Scenario, qdisc: Mapping[str, Any] | None = None) -> TestPath:
    """The path of a scenario, with a queue at the test host in place of its own.

    Raises:
        ScenarioError: If it is a graph, or its host has no network card for the queue.
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
    """Hosts of which that of a name has this queue at its network card."""
    known = {host["name"]: host for host in hosts}
    host = known.get(name, {"name": name})
    known[name] = {**host, "nic": {**host.get("nic", {}), "queue": dict(queue)}}
    return list(known.values())
