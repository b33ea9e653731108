"""Plan of a scenario for the native engine: integers in base units (docs/reference/plan.md).

`plan_text` writes the plan for the simulator.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fullpipe.scenario.model.link.impairments import given
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.model.registered import in_plan
from fullpipe.scenario.model.tcp import TRANSPORT, Tcp
from fullpipe.scenario.network import resolve
from fullpipe.scenario.network.parts import flow_context
from fullpipe.scenario.quantities import to_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fullpipe.scenario import Link, Medium, Network, RoutedFlow, Scenario
    from fullpipe.scenario.model.link.changes import MarkovChannel
    from fullpipe.scenario.model.link.losses import Loss
    from fullpipe.scenario.network import HandOver, Hop, Reroute, Way


Plan = dict[str, Any]
_NEVER_FULL = DropTail.model_construct()


def plan(scenario: Scenario) -> Plan:
    """Return the plan of a scenario without a sweep. The plan contains every value except TCP options that
    have their defaults.

    Equal scenarios have equal plans.
    """
    network = resolve(scenario)
    flows = zip(flows_of(network), network.flows, strict=True)
    return {
        **around(scenario, network),
        "links": [link_of(link) for link in network.links],
        "flows": [{**flow, "tcp": tcp_of(routed.tcp)} for flow, routed in flows],
    }


def around(scenario: Scenario, network: Network) -> Plan:
    """Return the members of a plan other than links and flows."""
    return {
        "duration_ns": to_nanoseconds(scenario.duration_s),
        "warmup_ns": to_nanoseconds(scenario.warmup_s),
        **({"media": [_medium(medium) for medium in network.media]} if network.media else {}),
        **_route_controllers(scenario, network),
        **({"hand_overs": [_hand_over(one) for one in network.hand_overs]} if network.hand_overs else {}),
        "record": {
            "interval_ns": to_nanoseconds(scenario.record.interval_s) or None,
            "variables": scenario.record.variables,
            "packets": list(scenario.record.packets or ()),
            **({"in_order": True} if scenario.record.in_order else {}),
        },
    }


def _route_controllers(scenario: Scenario, network: Network) -> Plan:
    """Return the member `route_controllers` of a plan, or an empty dictionary if the scenario has no
    controllers."""
    found = [
        {
            "every_ns": to_nanoseconds(controller.every_s),
            "policy": controller.policy,
            "delay_ns": to_nanoseconds(controller.delay_s),
            "flows": [
                {"flow": n, "ways": [_way(way) for way in routed.steering.ways]}
                for n, routed in enumerate(network.flows)
                if routed.steering and routed.steering.controller == number
            ],
        }
        for number, controller in enumerate(scenario.route_controllers or ())
    ]
    return {"route_controllers": found} if found else {}


def link_of(link: Link) -> Plan:
    """Return a link in the format of the plan."""
    return {
        "name": link.name,
        "stream": link.stream,
        "nic": link.nic_of is not None,
        "rate_bps": link.rate_bps,
        "delay_ns": link.own_delay_ns,
        "queue": _queue(link.queue),
        "device_packets": link.device_packets,
        "loss": _loss(link.loss) if link.loss else None,
        "changes": [{"at_ns": at_ns, **values} for at_ns, values in link.steps],
        "impairments": [{"kind": one.name, **one.params} for one in given(link.impairments)],
        "opportunities": _opportunities(link),
        "markov_channel": next((_markov(s) for s in link.shapes if s.kind == "wander"), None),
    }


def _loss(loss: Loss) -> Plan:
    from fullpipe.scenario.model.link.losses import plan_of  # imported here, because most links have no loss

    return plan_of(loss)


def _medium(medium: Medium) -> Plan:
    return {
        "name": medium.name,
        "stream": medium.stream,
        "kind": medium.kind,
        "params": dict(medium.params),
        "ports": [
            {"name": port.name, "stream": port.stream, "queue": _queue(port.queue)} for port in medium.ports
        ],
    }


def _opportunities(link: Link) -> Plan | None:
    if link.frames is not None:
        return _rounds([to_nanoseconds(link.frames.every_s)], 1, link.frames.size_bytes)
    trace = link.trace
    if trace is None or trace.deliveries is None:
        return None
    rounds = _rounds(trace.deliveries.times_ms.tolist(), 1_000_000, trace.opportunity_bytes)
    made = {**rounds, "repeat": trace.repeat, "offset_ns": to_nanoseconds(trace.offset_s)}
    if trace.light is None:
        return made
    light = {"trains": trace.light.trains.lines(), "idle_ns": to_nanoseconds(trace.light.idle_s)}
    return {**made, "light": light}


def _rounds(times: list[int], unit_ns: int, size_bytes: int) -> Plan:
    return {"times": times, "unit_ns": unit_ns, "bytes": size_bytes, "repeat": True, "offset_ns": 0}


def _markov(channel: MarkovChannel) -> Plan:
    from fullpipe.scenario.network.timeline import values_of

    return {
        "from_ns": to_nanoseconds(channel.at_s),
        "mean_ns": to_nanoseconds(channel.mean_s),
        "neighbours": channel.neighbours,
        "states": [{"at_ns": 0, **values_of(state)} for state in channel.states],
    }


def _queue(queue: DropTail | Discipline | None) -> Plan:
    queue = queue or _NEVER_FULL
    if isinstance(queue, Discipline):
        return {"kind": queue.kind, **queue.params}
    return {"kind": queue.kind, "packets": queue.packets, "bytes": queue.limit_bytes}


def flows_of(network: Network) -> Iterator[Plan]:
    """Yield every flow in the format of the plan, in order, without its transport."""
    hosts = _host_numbers(network)
    for n, routed in enumerate(network.flows):
        yield {**_flow(routed, hosts, network.hops), **_relayed(routed, n)}


def _host_numbers(network: Network) -> dict[str, int]:
    names = dict.fromkeys(name for routed in network.flows for name in routed.hosts or ())
    return {name: number for number, name in enumerate(names)}


def _flow(routed: RoutedFlow, hosts: Mapping[str, int], hops: Sequence[Hop]) -> Plan:
    flow = routed.flow
    return {
        "name": routed.name,
        "stream": routed.stream,
        "cca": {"kind": flow.cca.kind, "params": flow.cca.params} if flow.cca else None,
        "start_ns": to_nanoseconds(flow.start_s),
        "start_jitter_ns": to_nanoseconds(flow.start_jitter_s),
        "stop_ns": None if flow.stop_s is None else to_nanoseconds(flow.stop_s),
        "bytes": flow.size_bytes,
        "application": [
            {"at_ns": to_nanoseconds(pace.at_s), "rate_bps": pace.rate_bps} for pace in flow.application or ()
        ],
        "workload": _workload(routed, hops),
        "forward": list(routed.forward),
        "reverse": list(routed.reverse),
        "reroutes": [_reroute(reroute) for reroute in routed.reroutes],
        **({"upload": True} if flow.is_upload else {}),
        "dscp": flow.dscp or 0,
        "hosts": [hosts[name] for name in routed.hosts] if routed.hosts else None,
    }


def _workload(routed: RoutedFlow, hops: Sequence[Hop]) -> Plan | None:
    if routed.flow.workload is None:
        return None
    return routed.flow.workload.plan(flow_context(routed, hops))


def _relayed(routed: RoutedFlow, number: int) -> Plan:
    """Return the member `relayed` of a connection that forwards the data of another connection; an empty
    dictionary for all other connections."""
    if routed.relayed is None:
        return {}
    return {"relayed": {"from": number - 1, "buffer_bytes": routed.relayed.buffer_bytes}}


def _reroute(reroute: Reroute) -> Plan:
    return {"at_ns": to_nanoseconds(reroute.at_s), **_way(reroute)}


def _hand_over(one: HandOver) -> Plan:
    gap_ns = to_nanoseconds(one.gap_s)
    return {"at_ns": to_nanoseconds(one.at_s), "gap_ns": gap_ns, "from": one.source, "to": one.target}


def _way(way: Reroute | Way) -> Plan:
    return {
        "forward": None if way.forward is None else list(way.forward),
        "reverse": None if way.reverse is None else list(way.reverse),
    }


def tcp_of(tcp: Tcp) -> Plan:
    """Return the options of a transport that differ from the defaults of the simulator."""
    return dict(in_plan(tcp, TRANSPORT))


# JSON text of a plan for the simulator, without values that equal the simulator's defaults.
# Flows are written one by one, because a plan can have 100,000 flows. Equal transports and equal access links
# are encoded only once.


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
    """Yield the text of every link. The access links of hosts have only a rate, a delay and a queue. Equal
    access links of many flows are encoded only once."""
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
