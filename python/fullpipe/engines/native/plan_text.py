"""A plan as the JSON text that the simulator reads, without the values that it assumes where none is written.

A plan of 100,000 flows is written flow by flow. The text of a transport, and of links at hosts, is made once.
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
"""Values that the simulator assumes, by the name of the type in its schema: `_native.plan_schema()` has the
same."""

_encoded = json.JSONEncoder(separators=(",", ":")).encode


def plan_text(scenario: Scenario) -> str:
    """The plan of a scenario without a sweep as JSON. Pure: equal scenarios have equal text."""
    network = resolve(scenario)
    rest = _encoded(around(scenario, network)).removeprefix("{").removesuffix("}")
    links = ",".join(_link_texts(network))
    flows = ",".join(_flow_texts(network))
    return f'{{{rest},"links":[{links}],"flows":[{flows}]}}'


def _link_texts(network: Network) -> Iterator[str]:
    """Every link. Those at hosts have a rate, a delay and a queue only, which are equal for many flows."""
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
    """The values of a table that have to be written."""
    assumed = ASSUMED[kind]
    return {key: value for key, value in values.items() if key not in assumed or assumed[key] != value}
