"""A dumbbell as nodes, links and routes."""

from collections.abc import Container
from functools import partial

from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.link import Access
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.entries import Single, entries
from fullpipe.scenario.network.links import link_of
from fullpipe.scenario.network.parts import Link, Network, Node, Route

BOTTLENECK = "bottleneck"


def from_dumbbell(scenario: ScenarioModel, topology: Dumbbell, each: int | None) -> Network:
    """Two routers, between them the bottleneck, which is link 0, and its reverse, link 1; hosts around them.

    An access link that does nothing is left out: its host stands right at the router.
    """
    named = {name for flow in scenario.flows for name in flow.hosts or ()}
    left, right = (_unused(name, named) for name in ("left", "right"))
    nodes = {name: Node(name, "router") for name in (left, right)}
    back = "topology.reverse" if topology.reverse else "topology.bottleneck"
    there, again = (left, right), (right, left)
    links = [
        link_of(topology.bottleneck, BOTTLENECK, there, "topology.bottleneck", scenario.duration_s),
        link_of(topology.backward, f"{BOTTLENECK}-reverse", again, back, scenario.duration_s),
    ]

    def access(
        end: str, ends: tuple[str, str], flow: Single, described: Access, where: str, *, leaves_host: bool
    ) -> list[int]:
        queue = described.queue if leaves_host else None
        if described.rate_bps is None and described.delay_s == 0 and queue is None:
            return []
        name, stream = f"{flow.name}-{end}", f"{flow.stream}-{end}"
        rate_bps, delay_s = described.rate_bps, described.delay_s
        links.append(Link(name, *ends, rate_bps, delay_s, queue, None, where, host_stream=stream))
        return [len(links) - 1]

    routes = []
    for entry in entries(scenario, each):
        own, tcp = topology.access.overridden_by(entry.flow.access), scenario.tcp_of(entry.flow)
        where = f"flows[{entry.place}].access" if _has_own_queue(entry.flow) else "topology.access"
        is_upload = entry.flow.direction == "reverse"
        data, acks, near, far = (1, 0, right, left) if is_upload else (0, 1, left, right)
        for single in entry.singles:
            source, target = entry.flow.hosts or (
                _unused(f"{single.name}-{end}", named) for end in ("sender", "receiver")
            )
            nodes |= {name: Node(name, "host") for name in (source, target)}
            to_host = partial(access, flow=single, described=own, where=where, leaves_host=False)
            to_router = partial(to_host, leaves_host=True)
            forward = [*to_router("sender", (source, near)), data, *to_host("receiver", (far, target))]
            reverse = [
                *to_router("receiver-reverse", (target, far)),
                acks,
                *to_host("sender-reverse", (near, source)),
            ]
            routes.append(Route(*single, entry.flow, tcp, source, target, tuple(forward), tuple(reverse)))
    return Network(tuple(nodes.values()), tuple(links), tuple(routes))


def _unused(name: str, taken: Container[str]) -> str:
    """A name for a node, other than those that the scenario gives its hosts."""
    while name in taken:
        name += "-"
    return name


def _has_own_queue(flow: Flow) -> bool:
    return flow.access is not None and "queue" in flow.access.model_fields_set
