"""The wired testbed: a client behind a host at a switch, servers near and far, and Flent's tests on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.build import Choices, scenario_of
from fullpipe.scenario.flent.declared import declared
from fullpipe.scenario.flent.families import extra_rtt_ms
from fullpipe.scenario.flent.path import path_of
from fullpipe.studies.experiments import Value

SERVERS_CCA = "cubic"
"""Algorithm of both servers, with which they sent all downloads."""
LAN_S, UPLINK_S, NEAR_S = 0.000_15, 0.000_5, 0.000_1
"""One-way delays: client to host (sockets measured an RTT of 0.3 ms), host to switch, switch to a near
server."""
NAT, SWITCH, CLIENT = "nat", "switch", "client"
LAN, UPLINK = 0, 1
"""Indices of the first two links; those to servers follow."""
MAXIMA = {"receive_memory_most": "6 MiB", "send_memory_most": "4 MiB"}
"""Memory limits of the client in the published files: `tcp_rmem` and `tcp_wmem`."""
LENGTH_S, QUICK_LENGTH_S = 60.0, 12.0
"""Time under load: in full, and in the quick form."""

_UPLINK_QUEUE = f"topology.links.{UPLINK}.queue"
_SENDER_QUEUE = "hosts.0.nic.queue"
_BEHIND_NAT = {"tcp.mss": "1460 B", "tcp.timestamps": False}
"""Settings of connections that the host ended, from the published files."""


def _fifo(**limit: Any) -> dict[str, Any]:
    return {"kind": "drop_tail", **limit}


def _ended(buffer: str = "1 MiB") -> dict[str, Any]:
    nat = {"name": NAT, "terminated": True, "proxy_buffer": buffer, "proxy_cca": SERVERS_CCA}
    return {"hosts.1": nat, **_BEHIND_NAT}


DIRECT, ENDED, ENDED_FQ_CODEL = "direct", "ended", "ended, fq_codel"
PATHS: Mapping[Value, Mapping[str, Any]] = {
    DIRECT: {},
    "direct, 100 packets": {_UPLINK_QUEUE: _fifo(packets=100)},
    "direct, 250 ms": {_UPLINK_QUEUE: _fifo(size="250 ms")},
    "direct, 500 ms": {_UPLINK_QUEUE: _fifo(size="500 ms")},
    "direct, 1.2 s": {_UPLINK_QUEUE: _fifo(size="1.2 s")},
    "direct, fq_codel": {_UPLINK_QUEUE: {"kind": "fq_codel"}},
    "direct, sender fq_codel": {_SENDER_QUEUE: {"kind": "fq_codel"}},
    "direct, sender CAKE": {_SENDER_QUEUE: {"kind": "cake"}},
    ENDED: _ended(),
    "ended, 256 KiB": _ended("256 KiB"),
    "ended, 16 MiB": _ended("16 MiB"),
    "ended, 1.2 s": {**_ended("16 MiB"), _UPLINK_QUEUE: _fifo(size="1.2 s")},
    ENDED_FQ_CODEL: {**_ended(), _UPLINK_QUEUE: {"kind": "fq_codel"}},
}
"""Settings of the path and its hosts, which are not printed.

TCP is direct, as in the paper, or ended by the host with a buffer of 1 MiB, as the published files show. By
default the queue of the uplink has 1,000 packets, Linux's length, and the sender has fq."""
SERVERS_ALIKE = ", servers alike"
"""Suffix of settings in which downloads use the algorithm under test."""


def scenario(test: str, *, length_s: float) -> Scenario:
    """Return a Flent test on the testbed; uploads and downloads use CUBIC until others are chosen."""
    path = path_of(Scenario.named("ethernet-100m"))
    chosen = Choices(ccas=(SERVERS_CCA,), server_cca=SERVERS_CCA, length_s=length_s)
    tree = scenario_of(declared(test), path, chosen).to_dict()
    servers = dict.fromkeys(host for flow in tree["flows"] for host in flow["hosts"] if host != CLIENT)
    tree["flows"] = [_in_graph(flow) for flow in tree["flows"]]
    tree["topology"] = _graph({name: _extra_s(name) for name in servers})
    tree["hosts"] = [{"name": CLIENT, "nic": {"rate": "1 Gbit/s", "queue": {"kind": "fq"}}}, {"name": NAT}]
    tree["tcp"] = {**tree["tcp"], **MAXIMA}
    return Scenario(**tree)


def streams(of: Scenario, way: str) -> tuple[int, ...]:
    """Return the indices of the TCP streams in one direction, "upload" or "download"."""
    return tuple(n for n, flow in enumerate(of.flows) if (flow.name or "").startswith(f"TCP {way}"))


def _extra_s(server: str) -> float:
    """Return the additional one-way delay of a server, s."""
    number = server.removeprefix("server")
    return extra_rtt_ms(int(number) - 1) / 2e3 if number else 0.0


def _in_graph(flow: Mapping[str, Any]) -> dict[str, Any]:
    source, target = flow["hosts"]
    kept = {key: value for key, value in flow.items() if key not in ("hosts", "direction", "access")}
    return {**kept, "from": source, "to": target}


def _graph(servers: Mapping[str, float]) -> dict[str, Any]:
    delay, queue = f"{UPLINK_S} s", _fifo(packets=1000)
    links = [
        {"from": CLIENT, "to": NAT, "rate": "1 Gbit/s", "delay": f"{LAN_S} s", "duplex": True},
        {"from": NAT, "to": SWITCH, "rate": "100 Mbit/s", "delay": delay, "duplex": True, "queue": queue},
        *(
            {"from": SWITCH, "to": name, "rate": "1 Gbit/s", "delay": f"{NEAR_S + extra_s} s", "duplex": True}
            for name, extra_s in servers.items()
        ),
    ]
    return {"kind": "graph", "nodes": [CLIENT, NAT, SWITCH, *servers], "links": links}
