"""Converts links of a scenario to qdiscs of Linux: a queue, followed by netem."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fullpipe.engines.linux import departures
from fullpipe.engines.linux.tc import qdisc
from fullpipe.engines.linux.tc.jitter import Jitter, jitter_of
from fullpipe.engines.linux.tc.qdisc import (
    ARRIVALS,
    CLASS,
    FILTER,
    INGRESS,
    INNER,
    MOST_U32,
    OUTER,
    ROOT,
    Qdisc,
    QdiscTree,
    TcObject,
    all_params,
    attribute,
    htb,
    htb_class,
    qdisc_for,
    s64,
    u64,
)
from fullpipe.scenario.model.link.losses import MODELS, Loss
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network import Link
from fullpipe.scenario.network.timeline import Values
from fullpipe.scenario.quantities import BITS

# The qdisc netem: transmission time, propagation delay, loss, jitter and duplication on a link.


_PLENTY_PACKETS = 1_000_000
_CERTAIN = MOST_U32
_IN_ORDER_BPS = 400_000_000_000
"""Rate of netem for jitter that must not reorder packets. Only a netem with a rate preserves the order. At
400 Gbit/s, a packet of 1,500 B takes 30 ns to transmit."""


@dataclass(frozen=True)
class Netem:
    """Treatment of a link's packets after the queue: delay, rate, loss, jitter and duplication."""

    delay_ns: int = 0
    rate_bps: int | None = None
    loss: Loss | None = None
    jitter: Jitter | None = None
    duplicate: float = 0.0

    @property
    def does_nothing(self) -> bool:
        """Whether netem neither delays, drops nor copies packets."""
        return self == Netem()

    def split(self) -> "tuple[Netem, Netem]":
        """Split netem into a part with the rate, and a part with all other properties. Packets can overtake
        each other only in the second part."""
        return Netem(rate_bps=self.rate_bps), replace(self, rate_bps=None)

    def qdisc(self, seed: int) -> Qdisc:
        """Encode netem with its options. Since Linux 6.7, netem draws its random numbers from `seed`."""
        kind = self.loss.kind if self.loss else None
        loss = round(self.loss.probability * _CERTAIN) if self.loss and kind == "bernoulli" else 0
        copies = round(self.duplicate * _CERTAIN)
        options = struct.pack("<IIIIII", 0, _PLENTY_PACKETS, loss, 0, copies, 0)
        options += s64(10, self.delay_ns + (self.jitter.least_ns if self.jitter else 0))
        if self.jitter and self.jitter.spread_ns:
            options += s64(11, self.jitter.spread_ns)
        if self.jitter and self.jitter.table:
            options += attribute(2, self.jitter.table)
        if self.loss and kind == "gilbert_elliott":
            chain = (self.loss.worsens, self.loss.improves, 1 - self.loss.bad, self.loss.good)
            model = struct.pack("<IIII", *(round(probability * _CERTAIN) for probability in chain))
            options += attribute(5, attribute(2, model))
        rate_bps = self.rate_bps or (_IN_ORDER_BPS if self.jitter and not self.jitter.reorder else None)
        if rate_bps:
            rate = rate_bps // BITS
            options += attribute(6, struct.pack("<IiIi", min(rate, MOST_U32), 0, 0, 0))
            options += u64(8, rate) if rate > MOST_U32 else b""
        return Qdisc("netem", options + u64(14, seed), nested=False)


# Links of a scenario in the guest: one to four devices in a row with qdiscs, and changes of the qdiscs.
# In a link with a rate and a queue, an htb class without a burst serves the queue. The packets then pass a
# netem, which adds transmission time, propagation delay, loss and jitter. A link without a queue has only the
# netem.


_HEADROOM = 1.0001
"""Ratio of netem's rate to the rate of the htb class. With a ratio of 1, packets would wait in netem because
of rounding."""


@dataclass(frozen=True)
class LinkState:
    """The rate, queue and netem of a link from one change to the next."""

    rate_bps: int | None
    queue: DropTail | Discipline | None
    netem: Netem

    def after(self, values: Values) -> "LinkState":
        """Return the state of the link after a change of the given values."""
        netem, queue = self.netem, self.queue
        if "delay_ns" in values:
            netem = replace(netem, delay_ns=values["delay_ns"])
        if "loss" in values:
            netem = replace(netem, loss=MODELS[values["loss"]["kind"]].model_construct(**values["loss"]))
        if "limit" in values:
            limit = values["limit"]
            queue = DropTail.model_construct(packets=limit["packets"], limit_bytes=limit["bytes"])
        return LinkState(values.get("rate_bps", self.rate_bps), queue, netem)


def link_states(link: Link) -> list[tuple[int, LinkState]]:
    """Return the states of a link with their start times in nanoseconds. The first state starts at 0."""
    loss = None if link.loss and link.loss.kind == "periodic" else link.loss
    netem = Netem(link.delay_ns, None, loss, jitter_of(link.impairments))
    state = LinkState(link.rate_bps, link.queue, netem)
    found = [(0, state)]
    for at_ns, values in link.steps:
        state = state.after(values)
        if at_ns <= 0:
            found = [(0, state)]
        else:
            found.append((at_ns, state))
    return found


def qdisc_trees(link: Link, state: LinkState, frame_bytes: int, seed: int, turn: int = 0) -> list[QdiscTree]:
    """Return the qdiscs on each device of a link in one state. The number of devices is the same in all
    states.

    Args:
        link: The link.
        state: The state of the link.
        frame_bytes: Size on the wire of the largest packet that crosses the link.
        seed: Seed of the run.
        turn: Number of changes of the link before this state.
    """
    loss_seed = departures.bits(seed, f"loss/{link.name}/{turn}")
    made = []
    rate_bps = state.rate_bps
    if state.queue is not None:
        made.append(QdiscTree(_queue(state.queue, state, frame_bytes), queues=True))
        rate_bps = int(rate_bps * _HEADROOM) if rate_bps is not None else None
    netem = replace(state.netem, rate_bps=rate_bps)
    parts = netem.split() if _may_reorder(link) and rate_bps is not None else (netem,)
    if link.steps or any(not part.does_nothing for part in parts):
        made += [_alone(part.qdisc(loss_seed)) for part in parts]
    if link.impairments.duplicate:
        # Duplication has its own netem, because copies would otherwise take transmission time and differ in
        # delay.
        duplicate_seed = departures.bits(seed, f"duplicate/{link.name}")
        made.append(_alone(Netem(duplicate=link.impairments.duplicate).qdisc(duplicate_seed)))
    return made


def _alone(qdisc: Qdisc) -> QdiscTree:
    return QdiscTree((TcObject(ROOT, OUTER, qdisc),), queues=False)


def arrival_filter(link: Link) -> tuple[TcObject, ...]:
    """Return the filter at the end of the link that drops every n-th packet, for periodic losses."""
    if link.loss is None or link.loss.kind != "periodic":
        return ()
    ingress = TcObject(INGRESS, ARRIVALS, Qdisc("ingress"))
    return (ingress, TcObject(ARRIVALS, FILTER, qdisc.every(link.loss.every), "filter"))


def _may_reorder(link: Link) -> bool:
    """Whether packets can overtake each other during propagation: the link has jitter, or its delay
    decreases."""
    delays = [link.delay_ns, *(values["delay_ns"] for _, values in link.steps if "delay_ns" in values)]
    return delays != sorted(delays) or jitter_of(link.impairments) is not None


def _queue(queue: DropTail | Discipline, state: LinkState, frame_bytes: int) -> tuple[TcObject, ...]:
    """Return the htb class and its child queue, or only the queue if the queue limits the rate itself."""
    policed = isinstance(queue, Discipline) and queue.kind == "police"
    if isinstance(queue, Discipline) and queue.rate_bps is not None and not policed:
        return _shaping(queue, state.rate_bps)
    if state.rate_bps is None and not policed:
        return (TcObject(ROOT, OUTER, qdisc_for(queue)),)
    return (TcObject(ROOT, OUTER, htb()), *_served(queue, state.rate_bps, frame_bytes), *_policed(queue))


def _served(queue: DropTail | Discipline, rate_bps: int | None, frame_bytes: int) -> tuple[TcObject, ...]:
    """Return the htb class that serves a queue at the link's rate, and the queue. Empty for an unlimited
    rate, at which no packet waits."""
    if rate_bps is None:
        return ()
    return (
        TcObject(OUTER, CLASS, htb_class(rate_bps, frame_bytes), "class"),
        TcObject(CLASS, INNER, qdisc_for(queue)),
    )


def _policed(queue: DropTail | Discipline) -> tuple[TcObject, ...]:
    """Return the filter that polices packets before the htb class. Empty unless the queue is a policer."""
    if not isinstance(queue, Discipline) or queue.kind != "police":
        return ()
    policer = qdisc.policer(all_params(queue.kind, queue.params), int(CLASS, 16))
    return (TcObject(OUTER, FILTER, policer, "filter"),)


def _shaping(queue: Discipline, changed_bps: int | None) -> tuple[TcObject, ...]:
    """Return a queue that limits the rate itself. A token bucket has a drop-tail child queue."""
    if queue.kind != "tbf":
        return (TcObject(ROOT, OUTER, qdisc_for(queue)),)
    params = dict(queue.params)
    if changed_bps is not None:
        params["rate_bps"] = changed_bps
    limit = DropTail.model_construct(packets=params.get("packets"), limit_bytes=params.get("limit_bytes"))
    shaping = queue.model_copy(update={"params": params})
    return (TcObject(ROOT, OUTER, qdisc_for(shaping)), TcObject(CLASS, INNER, qdisc_for(limit)))


def differing(before: Sequence[QdiscTree], after: Sequence[QdiscTree]) -> Iterator[tuple[int, int]]:
    """Yield the qdiscs, classes and filters that differ: the index of the device, and of the object on the
    device.

    If a token bucket changes, its child queue is also yielded, because the kernel then sets the limit of the
    child queue to the limit of the bucket.
    """
    for n, (old, new) in enumerate(zip(before, after, strict=True)):
        changed = [then != now for then, now in zip(old.objects, new.objects, strict=True)]
        bucket = changed[0] and new.objects[0].qdisc.kind == "tbf"
        yield from ((n, place) for place, differs in enumerate(changed) if differs or bucket)
