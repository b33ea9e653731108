"""Checks of links: their changes, and changed limits of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullpipe.scenario.checks.routes import in_order
from fullpipe.scenario.model.topology import Dumbbell, Graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullpipe.scenario.model.link import LinkModel
    from fullpipe.scenario.model.link.changes import State
    from fullpipe.scenario.model.scenario import ScenarioModel
    from fullpipe.scenario.network.parts import Link, Network


def links_of(topology: Dumbbell | Graph) -> Iterator[tuple[str, LinkModel]]:
    """Yield every link that the scenario describes, with its path in the scenario."""
    if isinstance(topology, Graph):
        yield from ((f"topology.links[{i}]", link) for i, link in enumerate(topology.links))
    else:
        yield "topology.bottleneck", topology.bottleneck
        yield "topology.reverse", topology.backward


def change_problems(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    lines = [
        line
        for link in network.links
        if link.changes or link.steps or link.trace
        for line in (
            *in_order(f"{link.where}.changes", [change.at_s for change in link.changes]),
            *_without_end(link),
            *_too_short(link, scenario.duration_s),
        )
    ]
    yield from dict.fromkeys(lines)


def _too_short(link: Link, duration_s: float) -> Iterator[str]:
    if link.trace is None or link.trace.repeat or link.trace.deliveries is None:
        return
    left_s = link.trace.deliveries.period_s - link.trace.offset_s
    if left_s < duration_s:
        yield (
            f"{link.where}.trace: ends after {left_s:g} s, before the end of the run, {duration_s:g} s, so "
            "nothing is sent any more; write repeat = true, or shorten the run"
        )


def _without_end(link: Link) -> Iterator[str]:
    rates = [values["rate_bps"] for _, values in link.steps if "rate_bps" in values]
    if rates and rates[-1] == 0:
        yield (
            f"{link.where}: its rate ends at 0, after which nothing is ever sent; add a change that ends "
            "the outage, after the end of the run if you like"
        )


def limit_problems(topology: Dumbbell | Graph) -> Iterator[str]:
    """Yield changes of a queue limit from packets to bytes, or from bytes to packets. `tc qdisc change` does
    not allow such changes either."""
    for where, link in links_of(topology):
        if link.queue is None:
            continue
        units = link.queue.limit_units
        for place, state in named_states(link):
            for unit, limit in (("packets", state.packets), ("bytes", state.limit_bytes)):
                if limit is not None and unit not in units:
                    what = f"the limit of this {link.queue.kind} is in {units[0]}"
                    yield f"{where}.{place}.{unit}: {what}; write {units[0]}"


def named_states(link: LinkModel | Link) -> Iterator[tuple[str, State]]:
    """Yield the states of a link's changes and shapes, each with its path relative to the link."""
    yield from ((f"changes[{i}]", change) for i, change in enumerate(link.changes or ()))
    if not link.shapes:
        return
    from fullpipe.scenario.model.link.changes import states_of  # imported here, as most links do not change

    for i, shape in enumerate(link.shapes):
        yield from ((f"shapes[{i}].{place}", state) for place, state in states_of(shape))
