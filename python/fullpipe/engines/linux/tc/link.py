"""Converts links of a scenario to qdiscs of Linux: a queue, followed by netem."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from fullpipe.engines.linux import departures
from fullpipe.engines.linux.tc import gates, qdisc
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
from fullpipe.scenario.quantities import BITS, NANOSECONDS

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


_PACKET_BITS = 1_514 * BITS
_HEADROOM = 1.0001
"""Ratio of netem's rate to the rate of the htb class. With a ratio of 1, packets would wait in netem because
of rounding."""


@dataclass(frozen=True)
class LinkState:
    """The rate, queue and netem of a link from one change to the next."""

    rate_bps: int | None
    """Rate of the link, or of its shaper. In an outage, the rate before the outage."""
    queue: DropTail | Discipline | None
    netem: Netem
    outage_bps: int | None = None
    """Rate in an outage: 0, or so low that no packet is sent before the next change of the rate. None without
    an outage."""
    is_gated: bool = False
    """Whether the link needs gate packets during the run: it has outages, or a shaper whose rate changes."""

    @property
    def link_bps(self) -> int | None:
        """Rate of the link without its shaper, or None if unlimited."""
        return None if _shapes(self.queue) else self.rate_bps

    def after(self, values: Values, *, is_outage: bool) -> "LinkState":
        """Return the state of the link after a change of the given values, which may begin an outage."""
        netem, queue = self.netem, self.queue
        if "delay_ns" in values:
            netem = replace(netem, delay_ns=values["delay_ns"])
        if "loss" in values:
            netem = replace(netem, loss=MODELS[values["loss"]["kind"]].model_construct(**values["loss"]))
        if "limit" in values:
            limit = values["limit"]
            queue = DropTail.model_construct(packets=limit["packets"], limit_bytes=limit["bytes"])
        state = replace(self, queue=queue, netem=netem)
        if "rate_bps" not in values:
            return state
        if is_outage:
            return replace(state, outage_bps=values["rate_bps"])
        return replace(state, rate_bps=values["rate_bps"], outage_bps=None)


def link_states(link: Link) -> list[tuple[int, LinkState]]:
    """Return the states of a link with their start times in nanoseconds. The first state starts at 0."""
    loss = None if link.loss and link.loss.kind == "periodic" else link.loss
    outage_steps = _outage_steps(link)
    gated = bool(outage_steps) or (
        _shapes(link.queue) and any("rate_bps" in values for _, values in link.steps)
    )
    netem = Netem(link.delay_ns, None, loss, jitter_of(link.impairments))
    state = LinkState(link.rate_bps, link.queue, netem, is_gated=gated)
    found = [(0, state)]
    for number, (at_ns, values) in enumerate(link.steps):
        state = state.after(values, is_outage=number in outage_steps)
        if at_ns <= 0:
            found = [(0, state)]
        else:
            found.append((at_ns, state))
    return found


def _outage_steps(link: Link) -> set[int]:
    """Return the indices of steps that begin an outage: with a rate of 0, or with a rate at which a packet
    takes longer than a second and longer than the time until the next change of the rate."""
    rates = [
        (n, at_ns, values["rate_bps"]) for n, (at_ns, values) in enumerate(link.steps) if "rate_bps" in values
    ]
    found = {n for n, _, rate_bps in rates if rate_bps == 0}
    if _shapes(link.queue):
        return found
    for (n, at_ns, rate_bps), (_, until_ns, _) in pairwise(rates):
        if rate_bps < _PACKET_BITS and rate_bps * (until_ns - at_ns) < _PACKET_BITS * NANOSECONDS:
            found.add(n)
    return found


class Outage(NamedTuple):
    """An outage of a link: its begin and end, and the states of the link in and after the outage."""

    begin_ns: int
    end_ns: int
    state: LinkState
    after: LinkState


def outages(states: Sequence[tuple[int, LinkState]]) -> Iterator[Outage]:
    """Yield the outages of a link. If the rate in an outage is not 0, the outage ends earlier, by the time
    that the bits sent in the outage take at the rate after the outage."""
    begin, bits = None, 0
    for (at_ns, state), (until_ns, after) in pairwise(states):
        if state.outage_bps is None:
            continue
        begin = at_ns if begin is None else begin
        bits += state.outage_bps * (until_ns - at_ns) // NANOSECONDS
        if after.outage_bps is None:
            early_ns = bits * NANOSECONDS // after.rate_bps if after.rate_bps else 0
            if until_ns - early_ns > begin:
                yield Outage(begin, until_ns - early_ns, state, after)
            begin, bits = None, 0


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
    rate_bps = state.link_bps
    if state.queue is not None or state.is_gated:
        objects = _gated(state, frame_bytes) if state.is_gated else _queue(state, frame_bytes)
        made.append(QdiscTree(objects, queues=True))
        rate_bps = int(rate_bps * _HEADROOM) if rate_bps is not None else None
    netem = replace(state.netem, rate_bps=rate_bps)
    apart = rate_bps is not None and (state.is_gated or _needs_end(link, netem))
    parts = netem.split() if apart else (netem,)
    if link.steps or any(not part.does_nothing for part in parts):
        made += [_alone(part.qdisc(loss_seed)) for part in parts]
    if state.is_gated and apart:
        # The packet in transmission leaves only after the outage.
        transmission = TcObject(gates.DATA_CLASS, OUTER, parts[0].qdisc(loss_seed))
        made[1] = QdiscTree((*gates.tree(None, frame_bytes), transmission), queues=False)
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


def _needs_end(link: Link, netem: Netem) -> bool:
    """Whether propagation needs its own netem, which packets reach at the end of their transmission: the link
    has jitter, by which packets overtake each other, or changes of the delay or the loss."""
    changes = any("delay_ns" in values or "loss" in values for _, values in link.steps)
    return changes or netem.jitter is not None


def _shapes(queue: DropTail | Discipline | None) -> bool:
    """Whether a queue limits the rate itself."""
    return isinstance(queue, Discipline) and queue.rate_bps is not None and queue.kind != "police"


def _gated(state: LinkState, frame_bytes: int) -> tuple[TcObject, ...]:
    queue = _alone_at(gates.DATA_CLASS, state)
    return (*gates.tree(state.link_bps, frame_bytes), *queue)


def _queue(state: LinkState, frame_bytes: int) -> tuple[TcObject, ...]:
    """Return the htb class and its child queue, or only the queue if the queue limits the rate itself."""
    queue = state.queue
    policed = isinstance(queue, Discipline) and queue.kind == "police"
    if _shapes(queue) or (state.rate_bps is None and not policed):
        return _alone_at(ROOT, state)
    return (TcObject(ROOT, OUTER, htb()), *_served(state, frame_bytes), *_policed(queue))


def _served(state: LinkState, frame_bytes: int) -> tuple[TcObject, ...]:
    """Return the htb class that serves a queue at the link's rate, and the queue. Empty for an unlimited
    rate, at which no packet waits."""
    if state.rate_bps is None or state.queue is None:
        return ()
    return (
        TcObject(OUTER, CLASS, htb_class(state.rate_bps, frame_bytes), "class"),
        TcObject(CLASS, INNER, qdisc_for(state.queue)),
    )


def _policed(queue: DropTail | Discipline | None) -> tuple[TcObject, ...]:
    """Return the filter that polices packets before the htb class. Empty unless the queue is a policer."""
    if not isinstance(queue, Discipline) or queue.kind != "police":
        return ()
    policer = qdisc.policer(all_params(queue.kind, queue.params), int(CLASS, 16))
    return (TcObject(OUTER, FILTER, policer, "filter"),)


def _alone_at(parent: str, state: LinkState) -> tuple[TcObject, ...]:
    """Return the queue without an htb class. A token bucket has a drop-tail child queue."""
    queue = state.queue or DropTail.model_construct(packets=None, limit_bytes=None)
    if not isinstance(queue, Discipline) or queue.kind != "tbf":
        return (TcObject(parent, OUTER, qdisc_for(queue)),)
    params = dict(queue.params)
    if state.rate_bps is not None:
        params["rate_bps"] = state.rate_bps
    limit = DropTail.model_construct(packets=params.get("packets"), limit_bytes=params.get("limit_bytes"))
    shaping = queue.model_copy(update={"params": params})
    return (TcObject(parent, OUTER, qdisc_for(shaping)), TcObject(CLASS, INNER, qdisc_for(limit)))


def differing(before: Sequence[QdiscTree], after: Sequence[QdiscTree]) -> Iterator[tuple[int, int]]:
    """Yield the qdiscs, classes and filters that differ: the index of the device, and of the object on the
    device.

    If a token bucket changes, its child queue is also yielded, because the kernel then sets the limit of the
    child queue to the limit of the bucket.
    """
    for n, (old, new) in enumerate(zip(before, after, strict=True)):
        bucket = False
        for place, (then, now) in enumerate(zip(old.objects, new.objects, strict=True)):
            if then != now or bucket:
                yield n, place
            bucket = then != now and now.qdisc.kind == "tbf"
