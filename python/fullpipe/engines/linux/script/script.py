"""The script of the guest, made from a scenario and a seed: see guest/main.c for its language."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fullpipe.engines.linux.layout.departures import departures_ns
from fullpipe.engines.linux.layout.namespaces import Layout, Planner
from fullpipe.engines.linux.layout.sizes import crossed, frame_bytes
from fullpipe.engines.linux.script import flow_lines, network_lines, tc_lines
from fullpipe.engines.linux.tc.link import Stage, arriving, first, stages
from fullpipe.scenario import Network, Scenario, resolve
from fullpipe.scenario.quantities import to_nanoseconds

SAMPLE_NS = 10_000_000
"""Flows are sampled at least so often, for RTTs."""
_TOLD = 200


@dataclass(frozen=True)
class Watched:
    """A device whose queue disciplines are counted."""

    link: int
    queues: bool
    """Whether what is in it waits for the link; otherwise it is on its way."""


@dataclass(frozen=True)
class Experiment:
    """What the guest is told, and what is needed to understand what it says."""

    script: str
    network: Network
    watched: tuple[Watched, ...]
    starts_ns: tuple[int, ...]
    receivers: tuple[str, ...]
    """Namespace of the receiver of every flow."""
    namespace_count: int
    departures_ns: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """When the datagrams of flows leave, by the number of the flow; files of the guest."""


def experiment(scenario: Scenario, seed: int, known_ccas: Collection[str]) -> Experiment:
    """The script for a scenario that `check` has nothing against. Pure."""
    network = resolve(scenario)
    frames = [frame_bytes(network, number) for number in range(len(network.links))]
    laid = [stages(link, first(link), frame, seed) for link, frame in zip(network.links, frames, strict=True)]
    planner = Planner(network, laid)
    watched = list(_watched(network, planner.layout, laid))
    routes = list(network_lines.routes(network, planner))
    later = [
        *tc_lines.changes(network, planner.layout, frames, seed),
        *network_lines.reroutes(network, planner),
    ]
    starts = tuple(flow_lines.start_ns(route, seed) for route in network.routes)
    lines = [
        *network_lines.first_of_all(),
        *network_lines.namespaces(network, planner.layout),
        *network_lines.cables(network, planner.layout),
        *network_lines.addresses(network, planner.layout),
        *routes,
        *tc_lines.lines(network, planner.layout, laid),
        *(f"watch {n} {namespace} {device}" for n, (_, (namespace, device)) in enumerate(watched)),
        *_times(scenario),
        *(
            line
            for number, route in enumerate(network.routes)
            for line in flow_lines.lines(number, route, planner.layout, starts[number], known_ccas)
        ),
        *later,
    ]
    receivers = tuple(planner.layout.hosts["receiver", number] for number in range(len(network.routes)))
    return Experiment(
        "\n".join(lines) + "\n",
        network,
        tuple(seen for seen, _ in watched),
        starts,
        receivers,
        len(planner.layout.namespaces),
        _departures_ns(network, scenario, starts, seed),
    )


def _watched(
    network: Network, layout: Layout, laid: Sequence[Sequence[Stage]]
) -> Iterator[tuple[Watched, tuple[str, str]]]:
    """What is counted, and on which device of which namespace, for every link that somebody crosses."""
    used = {link for route in network.routes for link in crossed(route)}
    for number in sorted(used):
        for stage, place in zip(laid[number], layout.links[number], strict=False):
            yield Watched(number, stage.queues), place
        if arriving(network.links[number]):
            yield Watched(number, queues=False), layout.ends[number]


def _departures_ns(
    network: Network, scenario: Scenario, starts_ns: Sequence[int], seed: int
) -> dict[int, Sequence[int]]:
    return {
        number: departures_ns(
            route.flow.datagrams, route.stream, starts_ns[number], flow_lines.end_ns(route, scenario), seed
        )
        for number, route in enumerate(network.routes)
        if route.flow.datagrams
    }


def _times(scenario: Scenario) -> Iterator[str]:
    duration_ns = to_nanoseconds(scenario.duration_s)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    # Samples of flows fall on those of the tables.
    flows_ns = interval_ns // -(-interval_ns // SAMPLE_NS) if interval_ns else SAMPLE_NS
    yield f"sample {flows_ns} {interval_ns or duration_ns} {max(1, duration_ns // _TOLD)}"
    yield f"end {duration_ns}"
    for mark_ns in sorted({to_nanoseconds(scenario.warmup_s), duration_ns}):
        yield f"at {mark_ns} mark"
