"""A link of a scenario as one to four devices in a row, and what a change of the link does to them.

A rate with a queue is a class of htb without a burst over the queue, which holds what waits, and then netem,
which takes the time that sending takes and adds propagation, loss and jitter. Without a queue netem does all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fullpipe.engines import streams
from fullpipe.engines.linux.tc import filters
from fullpipe.engines.linux.tc.netem import Wire
from fullpipe.engines.linux.tc.qdiscs import Qdisc, server, service
from fullpipe.engines.linux.tc.queues import of, params
from fullpipe.scenario.model.link.losses import Bernoulli, GilbertElliott, Periodic
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network import Link
from fullpipe.scenario.network.timeline import Values

ROOT, OUTER, INNER = "ffffffff", "10000", "20000"
"""Handles: that of any device, those of a qdisc at the root and of one below it."""
INGRESS, ARRIVALS = "fffffff1", "ffff0000"
"""Those of what a device receives, and of the qdisc that sees it."""
_CHILD = "10001"
_FILTER = "1"
_HEADROOM = 1.0001
"""netem's rate over that of the class, so that rounding never makes what leaves the queue wait again."""


@dataclass(frozen=True)
class Placed:
    """A queue discipline, or a class of one, and where on a device it stands."""

    parent: str
    handle: str
    qdisc: Qdisc
    word: str = "qdisc"
    """Qdisc, class or filter."""


@dataclass(frozen=True)
class Stage:
    """What one device does to the packets of a link."""

    placed: tuple[Placed, ...]
    queues: bool
    """Whether packets that are here wait for the link; otherwise they are on their way."""


@dataclass(frozen=True)
class State:
    """What a link is like for some time."""

    rate_bps: int | None
    queue: DropTail | Discipline | None
    wire: Wire

    def after(self, values: Values) -> "State":
        """What it is like when some of its quantities have others."""
        wire, queue = self.wire, self.queue
        if "delay_ns" in values:
            wire = replace(wire, delay_ns=values["delay_ns"])
        if "loss" in values:
            wire = replace(wire, loss=_LOSSES[values["loss"]["kind"]].model_construct(**values["loss"]))
        if "limit" in values:
            limit = values["limit"]
            queue = DropTail.model_construct(packets=limit["packets"], limit_bytes=limit["bytes"])
        return State(values.get("rate_bps", self.rate_bps), queue, wire)


_LOSSES: Mapping[str, type[Bernoulli] | type[GilbertElliott]] = {
    "bernoulli": Bernoulli,
    "gilbert_elliott": GilbertElliott,
}


def first(link: Link) -> State:
    """What a link is like when the run begins."""
    loss = None if isinstance(link.loss, Periodic) else link.loss
    state = State(link.rate_bps, link.queue, Wire(link.delay_ns, None, loss, link.jitter))
    for at_ns, values in link.steps:
        state = state.after(values) if at_ns <= 0 else state
    return state


def states(link: Link) -> Iterator[tuple[int, State]]:
    """When a link changes, in nanoseconds, and what it is like from then on."""
    state = first(link)
    for at_ns, values in link.steps:
        if at_ns > 0:
            state = state.after(values)
            yield at_ns, state


def stages(link: Link, state: State, frame_bytes: int, seed: int, turn: int = 0) -> list[Stage]:
    """The devices of a link in one of its states; there are as many in every state.

    Args:
        link: The link.
        state: What it is like.
        frame_bytes: The largest packet that crosses it, on the wire.
        seed: Of the run.
        turn: How many changes came before.
    """
    dice = streams.bits(seed, f"loss/{link.name}/{turn}")
    made = []
    rate_bps = state.rate_bps
    if state.queue is not None:
        made.append(Stage(_queue(state.queue, state, frame_bytes), queues=True))
        rate_bps = int(rate_bps * _HEADROOM) if rate_bps is not None else None
    wire = replace(state.wire, rate_bps=rate_bps)
    parts = wire.apart() if _is_uneven(link) and rate_bps is not None else (wire,)
    needed = any(not part.does_nothing for part in parts) or link.steps
    made += [Stage((Placed(ROOT, OUTER, part.qdisc(dice)),), queues=False) for part in parts if needed]
    if link.duplicate:
        # Apart from all else, or copies would take time, and have other delays than what they are of.
        copier = Wire(duplicate=link.duplicate).qdisc(streams.bits(seed, f"duplicate/{link.name}"))
        made.append(Stage((Placed(ROOT, OUTER, copier),), queues=False))
    return made


def arriving(link: Link) -> tuple[Placed, ...]:
    """What stands where packets arrive that have crossed the link."""
    if not isinstance(link.loss, Periodic):
        return ()
    ingress = Placed(INGRESS, ARRIVALS, Qdisc("ingress"))
    return (ingress, Placed(ARRIVALS, _FILTER, filters.every(link.loss.every), "filter"))


def _is_uneven(link: Link) -> bool:
    """Whether packets may catch up with those before them on the wire, after having been sent one by one."""
    delays = [link.delay_ns, *(values["delay_ns"] for _, values in link.steps if "delay_ns" in values)]
    return delays != sorted(delays) or link.jitter is not None


def _queue(queue: DropTail | Discipline, state: State, frame_bytes: int) -> tuple[Placed, ...]:
    """The class with the queue below it; a queue that shapes is there alone."""
    policed = isinstance(queue, Discipline) and queue.kind == "police"
    if isinstance(queue, Discipline) and queue.rate_bps is not None and not policed:
        return _shaping(queue, state.rate_bps)
    if state.rate_bps is None and not policed:
        return (Placed(ROOT, OUTER, of(queue)),)
    return (Placed(ROOT, OUTER, server()), *_served(queue, state.rate_bps, frame_bytes), *_policed(queue))


def _served(queue: DropTail | Discipline, rate_bps: int | None, frame_bytes: int) -> tuple[Placed, ...]:
    """What waits for a link with a rate. Without one there is no class, and nobody waits."""
    if rate_bps is None:
        return ()
    return (
        Placed(OUTER, _CHILD, service(rate_bps, frame_bytes), "class"),
        Placed(_CHILD, INNER, of(queue)),
    )


def _policed(queue: DropTail | Discipline) -> tuple[Placed, ...]:
    """The filter through which packets get there, if it drops some."""
    if not isinstance(queue, Discipline) or queue.kind != "police":
        return ()
    policer = filters.policer(params(queue.kind, queue.params), int(_CHILD, 16))
    return (Placed(OUTER, _FILTER, policer, "filter"),)


def _shaping(queue: Discipline, changed_bps: int | None) -> tuple[Placed, ...]:
    params = dict(queue.params)
    if queue.kind != "tbf":
        return (Placed(ROOT, OUTER, of(queue)),)
    if changed_bps is not None:
        params["rate_bps"] = changed_bps
    limit = DropTail.model_construct(packets=params.get("packets"), limit_bytes=params.get("limit_bytes"))
    shaping = queue.model_copy(update={"params": params})
    return (Placed(ROOT, OUTER, of(shaping)), Placed(_CHILD, INNER, of(limit)))


def differing(before: list[Stage], after: list[Stage]) -> set[tuple[int, int]]:
    """What has to be set again, by the number of the stage and its place there.

    A queue below a token bucket is set again after the bucket, because the bucket sets its limit.
    """
    found = set()
    for n, (old, new) in enumerate(zip(before, after, strict=True)):
        changed = [old_placed != placed for old_placed, placed in zip(old.placed, new.placed, strict=True)]
        bucket = bool(changed) and changed[0] and new.placed[0].qdisc.kind == "tbf"
        found |= {(n, place) for place, differs in enumerate(changed) if differs or bucket}
    return found
