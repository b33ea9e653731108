"""Notes on shapers: default rates and limits, and rate changes without effect."""

from collections.abc import Iterator

from fullpipe.scenario import catalogue
from fullpipe.scenario.checks.links import named_states
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.network.parts import Hop, Link, Network
from fullpipe.scenario.quantities import RATE

_BUCKET = "tbf"
"""The shaper whose rate `changes` can set. By default it has no limit."""


def shaping_notes(network: Network) -> Iterator[str]:
    """Yield shapers left at their default rate or limit, and rate changes that another rate hides."""
    for hop in network.hops:
        if isinstance(hop.queue, Discipline):
            yield from _left_out(hop, hop.queue)
    for link in network.links:
        yield from _hidden(link)


def _left_out(hop: Hop, queue: Discipline) -> Iterator[str]:
    where, entry = f"{hop.where}.queue", catalogue.queue(queue.kind)
    for param in entry.with_role("rate"):
        if param.default is not None and param.name not in queue.params:
            default = f"its default, {RATE.format(param.default)}, whatever the link's rate"
            yield f"{where}: {queue.kind} shapes to {default}; write {param.name}"
    limits = [param.name for param in entry.with_role("limit")]
    if queue.kind == _BUCKET and not queue.params.keys() & set(limits):
        yield f"{where}: {queue.kind} has no limit and never drops; write {' or '.join(limits)}"


def _hidden(link: Link) -> Iterator[str]:
    """Yield changes to a rate above the other one of the link: the device's, or the shaper's above it."""
    queue = link.queue
    if not isinstance(queue, Discipline):
        return
    if queue.kind == _BUCKET and (link.rate_bps is None or link.device_packets is not None):
        whose, other, most_bps = f"that of the {queue.kind}", "the device below it", link.rate_bps
    else:
        whose, other, most_bps = "that of the wire", f"the {queue.kind} in front of it", queue.rate_bps
    for place, state in named_states(link):
        if most_bps is not None and state.rate_bps is not None and state.rate_bps > most_bps:
            rate = f"{RATE.format(state.rate_bps)} is {whose}"
            yield f"{link.where}.{place}.rate: {rate}, and {other} passes {RATE.format(most_bps)} at most"
