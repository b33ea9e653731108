"""JSON text of a plan for the simulator, without values that equal the simulator's defaults.

A plan of 100,000 flows is written flow by flow. Equal transports and equal links at hosts are encoded once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fullpipe.engines.native.plan import around, flows_of, link_of, tcp_of
from fullpipe.scenario.network import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fullpipe.scenario import Network, Scenario

ASSUMED: Mapping[str, Mapping[str, Any]] = {
    "LinkPlan": {
        "nic": False,
        "rate_bps": None,
        "device_packets": None,
        "loss": None,
        "changes": [],
        "impairments": [],
        "opportunities": None,
        "markov_channel": None,
    },
    "FlowPlan": {
        "cca": None,
        "stop_ns": None,
        "bytes": None,
        "application": [],
        "workload": None,
        "reroutes": [],
        "dscp": 0,
        "hosts": None,
    },
}
"""Default values of the simulator, by the name of the type in `_native.plan_schema()`."""

_encoded = json.JSONEncoder(separators=(",", ":")).encode


def plan_text(scenario: Scenario) -> str:
    """Return the plan of a scenario without a sweep as JSON. Equal scenarios have equal text."""
    network = resolve(scenario)
    rest = _encoded(around(scenario, network)).removeprefix("{").removesuffix("}")
    links = ",".join(_link_texts(network))
    flows = ",".join(_flow_texts(network))
    return f'{{{rest},"links":[{links}],"flows":[{flows}]}}'


def _link_texts(network: Network) -> Iterator[str]:
    """Yield every link. Links at hosts have only a rate, a delay and a queue, equal for many flows."""
    at_hosts: dict[tuple[int | None, float, int], str] = {}
    for link in network.links:
        if link.host_stream is None:
            yield _encoded(_said(link_of(link), "LinkPlan"))
            continue
        key = link.rate_bps, link.delay_s, id(link.queue)
        rest = at_hosts.get(key)
        if rest is None:
            values = _said(link_of(link), "LinkPlan")
            del values["name"], values["stream"]
            rest = at_hosts[key] = _encoded(values).removeprefix("{")
        named = {"name": link.name, "stream": link.stream}
        yield f"{_encoded(named).removesuffix('}')},{rest}"


def _flow_texts(network: Network) -> Iterator[str]:
    transports: dict[int, str] = {}
    for flow, routed in zip(flows_of(network), network.flows, strict=True):
        transport = transports.get(id(routed.tcp))
        if transport is None:
            transport = transports[id(routed.tcp)] = _encoded(tcp_of(routed.tcp))
        yield f'{_encoded(_said(flow, "FlowPlan")).removesuffix("}")},"tcp":{transport}}}'


def _said(values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the values of a table that differ from the defaults."""
    assumed = ASSUMED[kind]
    return {key: value for key, value in values.items() if key not in assumed or assumed[key] != value}
