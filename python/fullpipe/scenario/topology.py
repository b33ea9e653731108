"""The network: a dumbbell, or any graph of nodes and links. Sizes relative to the path stay relative here."""

from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_serializer, model_validator

from fullpipe.scenario import catalogue
from fullpipe.scenario.changing import Change, Delay, Shape, Wander
from fullpipe.scenario.chosen import Chosen
from fullpipe.scenario.losses import Loss, Probability
from fullpipe.scenario.model import Model, Name, Packets, ProblemsError, Switch
from fullpipe.scenario.quantities import Bdps, BitsPerSecond, Bytes, Seconds, shown
from fullpipe.scenario.service import Frames, Trace
from fullpipe.scenario.ways import Alternation, Reroute

Rate = Annotated[BitsPerSecond, Field(gt=0)]

_SHAPED_BY = ("rate_bps", "bandwidth_bps")
"""Parameters of queues that limit the rate of a link."""
_LIMITS = ("limit", "packets", "limit_bytes", "memlimit_bytes")
"""Parameters of queues that limit what waits."""


class DropTail(Model):
    """First in, first out; a packet that finds the queue full is dropped.

    The limit counts waiting packets, not the one being sent. Exactly one of `packets`, `bytes` and `size` is
    given.
    """

    kind: Literal["drop_tail"] = "drop_tail"
    packets: Packets | None = None
    """At most so many packets."""
    limit_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="bytes", examples=["1 MiB"])
    """At most so many bytes on the wire."""
    size_bdp: Bdps | None = Field(None, alias="size", examples=["1 bdp"])
    """A multiple of the link's bandwidth-delay product: its rate times the largest base RTT of the flows that
    cross it, rounded down to whole packets of a full segment on the wire, and at least one."""

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        given = sum(limit is not None for limit in (self.packets, self.limit_bytes, self.size_bdp))
        if given != 1:
            raise ValueError(
                f'give one of packets = 100, bytes = "1 MiB" and size = "1 bdp"; there are {given}'
            )
        return self

    @property
    def limit_units(self) -> tuple[str, ...]:
        """Of what its limit is one: "packets" or "bytes"."""
        return ("packets",) if self.limit_bytes is None else ("bytes",)


class Discipline(Chosen):
    """Any other queue discipline of the catalogue, with the parameters that differ from its defaults.

    Written { kind = "codel", parameter = value }. `size` sets its limit in packets, as for drop_tail.
    """

    size_bdp: Bdps | None = Field(None, alias="size", examples=["1 bdp"])
    """A multiple of the link's bandwidth-delay product in place of the parameter that limits packets."""

    _example = 'a queue such as { kind = "codel", ... }'

    @model_validator(mode="after")
    def _thresholds_rise(self) -> Self:
        low, high = self.params.get("min", 0), self.params.get("max", 0)
        if self.kind == "red" and 0 < high < low:
            raise ValueError(f"max: {high} bytes are less than min, {low} bytes; write the smaller as min")
        return self

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry:
        return catalogue.queue(name)

    @property
    def limit_key(self) -> str | None:
        """The parameter that limits the packets that wait, if it has one."""
        return next((key for key, unit in self._limits.items() if unit == "packets"), None)

    @property
    def limit_units(self) -> tuple[str, ...]:
        """Of what its limit may be one: "packets", "bytes" or either."""
        return tuple(self._limits.values())

    @property
    def _limits(self) -> dict[str, str]:
        """The parameters that limit what waits, and their units."""
        params = catalogue.queue(self.kind).params
        return {key: params[key].unit for key in _LIMITS if key in params}

    @property
    def rate_bps(self) -> int | None:
        """The rate to which it shapes, if it does."""
        params = catalogue.queue(self.kind).params
        rates = (self.params.get(key, params[key].default) for key in _SHAPED_BY if key in params)
        return next((int(rate) for rate in rates if rate is not None), None)

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.size_bdp is not None and self.limit_key is None:
            raise ValueError(f"{self.kind} has no limit in packets that a size could set")
        if self.size_bdp is not None and self.limit_key in self.params:
            raise ValueError(f"give one of {self.limit_key} and size")
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any) -> dict[str, Any]:
        size = {key: v for key, v in write(self).items() if key in ("size", "size_bdp") and v is not None}
        return {"kind": self.kind, **size, **self.params}


def _queue_class(value: object) -> str:
    if isinstance(value, DropTail | Discipline):
        return type(value).__name__
    kind = value.get("kind", "drop_tail") if isinstance(value, dict) else "drop_tail"
    return "DropTail" if kind == "drop_tail" else "Discipline"


Queue = Annotated[
    Annotated[DropTail, Tag("DropTail")] | Annotated[Discipline, Tag("Discipline")],
    Discriminator(_queue_class),
]


class Jitter(Model):
    """Extra delay that differs from packet to packet."""

    spread_s: Delay = Field(alias="spread", examples=["5 ms"])
    """The largest extra delay; of a normal distribution, the standard deviation."""
    shape: Literal["uniform", "normal"] = "uniform"
    """Uniform from 0 to the spread, or the absolute value of a normal variable."""
    reorder: Switch = False
    """Packets may overtake each other; otherwise one that would waits for those before."""


class Detour(Model):
    """Every so many packets, one takes longer on the wire, and those behind overtake it: reordering."""

    every: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)] = Field(examples=[100])
    """Packets per detour."""
    extra_s: Annotated[Delay, Field(gt=0)] = Field(alias="extra", examples=["30 ms"])
    """How much longer it takes."""
    from_s: Seconds = Field(0.0, alias="from")
    """When it begins."""
    until_s: Seconds | None = Field(None, alias="until")
    """When it ends. Left out: never."""


class Access(Model):
    """The link between a host and the router beside it; the same in both directions, apart from `queue`."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["10 Gbit/s"])
    """Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["5 ms"])
    """Propagation, one way."""

    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Of what leaves the host: data of the sender, ACKs of the receiver. The router's side is never full.
    Left out: neither is the host's."""

    def overridden_by(self, other: "Access | None") -> "Access":
        """This link with what `other` sets explicitly in place of its own."""
        if other is None:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


class Bottleneck(Model):
    """The link that all flows share."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["100 Mbit/s"])
    """Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["20 ms"])
    """Propagation, one way."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Left out: never full."""
    loss: Loss | None = Field(None, examples=['{ kind = "bernoulli", probability = 0.01 }'])
    """Loss apart from the queue: bernoulli, periodic, gilbert_elliott or replay. Left out: none."""
    changes: tuple[Change, ...] | None = Field(None, examples=['[{ at = "5 s", rate = "10 Mbit/s" }]'])
    """Other rates, delays, loss and limits of the queue from given times on, in the order of time. Sizes
    relative to the path go by the link as it begins."""
    shapes: tuple[Shape, ...] | None = Field(
        None,
        examples=['[{ kind = "ramp", at = "5 s", over = "9 s", step = "1 s", to = { rate = "1 Mbit/s" } }]'],
    )
    """Ramps, spikes, cycles, waves and wandering, which stand for many changes. Where two set the same
    quantity, the later time holds; at the same time, the one that is written later, and spikes last."""
    trace: Trace | None = Field(None, examples=['{ file = "cell.up" }'])
    """A recording in place of the rate, or of rate, delay and loss. Left out: none."""
    frames: Frames | None = Field(None, examples=['{ every = "5 ms", size = "64 KiB" }'])
    """Frames in place of the rate. Left out: none."""
    duplicate: Probability | None = Field(None, examples=[0.01])
    """Probability that a packet arrives twice, the copy right behind it (`netem duplicate`). Left out:
    none."""
    thin: Annotated[int, Field(strict=True, ge=2, le=1_000_000)] | None = Field(None, examples=[4])
    """A middlebox drops all but every n-th of the ACKs of each flow that report nothing but progress (no
    SACK, no mark). Left out: none. CAKE's `ack_filter` does it by what waits."""
    batch_s: Annotated[Delay, Field(gt=0)] | None = Field(None, alias="batch", examples=["10 ms"])
    """Packets are handed over at multiples of this time only, as on a radio link that aggregates them."""
    detour: Detour | None = Field(None, examples=['{ every = 100, extra = "30 ms" }'])
    """Some packets are overtaken. Left out: none."""
    jitter: Jitter | None = Field(None, examples=['{ spread = "5 ms" }'])
    """Every packet takes a little longer. Left out: none."""

    @model_validator(mode="after")
    def _one_service(self) -> Self:
        moments = {"trace": self.trace is not None and self.trace.kind == "mahimahi", "frames": self.frames}
        given = [name for name, value in moments.items() if value]
        given += ["rate"] if self.rate_bps is not None and given else []
        if len(given) > 1:
            raise ValueError(f"{given[0]}: stands in place of a rate; leave out {given[1]}")
        if sum(isinstance(shape, Wander) for shape in self.shapes or ()) > 1:
            raise ValueError("shapes: a link wanders in one way only")
        return self


_WEATHER = (
    "loss",
    "changes",
    "shapes",
    "trace",
    "frames",
    "duplicate",
    "thin",
    "batch_s",
    "detour",
    "jitter",
)


class Dumbbell(Model):
    """Senders and receivers on access links, and one bottleneck between them.

    Data passes the sender's access link, the bottleneck and the receiver's access link; ACKs come back over
    three more. The base RTT is 2 x (access + bottleneck + access) delays. A flow whose `direction` is
    "reverse" goes the other way: its data shares `reverse` with the ACKs of the others.
    """

    kind: Literal["dumbbell"]
    bottleneck: Bottleneck
    """The direction of the data, but for that of uploads."""
    reverse: Bottleneck | None = None
    """The direction of ACKs and uploads. Left out: rate, delay and queue of the bottleneck, nothing else; of
    one without a rate that follows a recording or sends in frames, the delay alone."""
    access: Access = Access()
    """Both access links of every flow, which a flow may override."""

    @property
    def backward(self) -> Bottleneck:
        """The bottleneck as ACKs see it."""
        there = self.bottleneck
        recorded = there.rate_bps is None and (there.trace is not None or there.frames is not None)
        left_out = (*_WEATHER, "queue") if recorded else _WEATHER
        return self.reverse or there.model_copy(update=dict.fromkeys(left_out))


class GraphLink(Bottleneck):
    """A link of a graph."""

    name: Name | None = None
    """Left out: "a-b" from a to b."""
    source: Name = Field(alias="from", examples=["a"])
    target: Name = Field(alias="to", examples=["b"])
    duplex: Switch = False
    """Also the same link the other way round, with a queue of its own; its name ends in "-reverse"."""
    reroutes: tuple[Reroute, ...] | None = Field(None, examples=['[{ at = "10 s", via = ["slow"] }]'])
    """Other ways from one end to the other from given times on, in the order of time, for what would cross
    this link. What goes there is not moved again by the links on those ways."""
    alternate: Alternation | None = Field(None, examples=['{ every = "3 s", via = [["slow"], []] }'])
    """Such ways that take turns."""


class Graph(Model):
    """Nodes and links. Flows take the shortest path by delay, past the nodes that their `via` names."""

    kind: Literal["graph"]
    nodes: Annotated[tuple[Name, ...], Field(min_length=2, max_length=100_000)] = Field(
        examples=['["a", "b"]']
    )
    links: Annotated[tuple[GraphLink, ...], Field(min_length=1, max_length=100_000)]

    @cached_property
    def places(self) -> dict[str, None]:
        """What a way may lead past, in order: every node, and every link in both directions."""
        links = [(link.name or f"{link.source}-{link.target}", link.duplex) for link in self.links]
        both = [n for name, duplex in links for n in ((name, f"{name}-reverse") if duplex else (name,))]
        return dict.fromkeys((*self.nodes, *both))

    @cached_property
    def known_nodes(self) -> frozenset[str]:
        """The nodes, to look names up."""
        return frozenset(self.nodes)

    @model_validator(mode="after")
    def _ends_exist(self) -> Self:
        known = self.known_nodes
        lines = [
            f"topology.links[{i}].{key}: unknown node {shown(node)}; there is {', '.join(self.nodes[:20])}"
            for i, link in enumerate(self.links)
            for key, node in (("from", link.source), ("to", link.target))
            if node not in known
        ]
        lines += [
            f"topology.links[{i}].to: {shown(link.target)} is where the link starts"
            for i, link in enumerate(self.links)
            if link.source == link.target
        ]
        if len(known) < len(self.nodes):
            lines.append("topology.nodes: a node is listed twice")
        if lines:
            raise ProblemsError(*lines)
        return self


Topology = Annotated[Dumbbell | Graph, Field(discriminator="kind")]
