"""Links as a scenario describes them. Queue sizes may still be relative to the path, such as "1 bdp"."""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Delay, Model
from fullpipe.scenario.model.later import declared, later
from fullpipe.scenario.model.link.impairments import Impairments
from fullpipe.scenario.model.link.queues import DeviceQueue, Queue
from fullpipe.scenario.quantities import BitsPerSecond, OrWritten

if TYPE_CHECKING:
    from fullpipe.scenario.model.link.changes import Change, Shape
    from fullpipe.scenario.model.link.losses import Loss
    from fullpipe.scenario.model.link.trace import Frames, Trace
else:
    Change, Shape = (later(f"{__name__}.changes", name) for name in ("Change", "Shape"))
    Loss = later(f"{__name__}.losses", "Loss")
    Frames, Trace = (later(f"{__name__}.trace", name) for name in ("Frames", "Trace"))

Rate = Annotated[BitsPerSecond, Field(gt=0)]


class Access(Model):
    """The link between a host and the next router. Rate and delay are equal in both directions."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["10 Gbit/s"])
    """Link rate. Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", title="one-way access delay", examples=["5 ms"])
    """Propagation delay, one way."""

    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Queue of packets that leave the host: data at the sender, ACKs at the receiver. Left out: a queue
    without a limit. The queue on the router's side never has a limit."""

    def overridden_by(self, other: "Access | None") -> "Access":
        """Return this link with the fields that `other` sets explicitly."""
        if other is None:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


class _Wire(Model):
    """A queue and a wire, without impairments."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["100 Mbit/s"])
    """Link rate. Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", title="one-way delay", examples=["20 ms"])
    """Propagation delay, one way."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Queue in front of the link. Left out: first in, first out, without a limit."""
    device_queue: DeviceQueue | None = Field(None, examples=["{ packets = 100 }"])
    """Queue of the network device that `queue` feeds, such as a driver ring; the device sends at `rate`. If
    `queue` is a shaper such as tbf, `changes` of the rate apply to the shaper. Left out: `queue` feeds the
    wire directly."""
    loss: Loss | None = Field(None, examples=['{ kind = "bernoulli", probability = 0.01 }'])
    """Loss on the wire, apart from drops of the queue: bernoulli, periodic, gilbert_elliott or replay. Left
    out: none."""
    changes: tuple[Change, ...] | None = Field(None, examples=['[{ at = "5 s", rate = "10 Mbit/s" }]'])
    """Changes of rate, delay, loss and queue limit at given times, in the order of time. Queue sizes relative
    to the path are computed from the link's initial values."""
    shapes: tuple[Shape, ...] | None = Field(
        None,
        examples=['[{ kind = "ramp", at = "5 s", over = "9 s", step = "1 s", to = { rate = "1 Mbit/s" } }]'],
    )
    """Patterns of many changes: ramps, spikes, cycles, waves and Markov channels. If two patterns set the
    same quantity, the latest change applies. If two changes have the same time, the pattern further down the
    list applies. Spikes override all other changes."""
    trace: Annotated[Trace, OrWritten(str)] | None = Field(None, examples=['{ file = "cell.up" }'])
    """A recording that replaces the link's rate, or its rate, delay and loss. Left out: none."""
    frames: Frames | None = Field(None, examples=['{ every = "5 ms", size = "64 KiB" }'])
    """Periodic frames that replace the rate. Left out: none."""


class LinkModel(Impairments, _Wire):
    """One direction of a link: a queue, a wire, and the impairments of the wire."""

    @property
    def is_changing(self) -> bool:
        """Whether the link has changes, shapes or a trace."""
        return bool(self.trace is not None or self.changes or self.shapes)

    @property
    def impairments(self) -> Impairments:
        """The impairments of the wire."""
        given = {name: getattr(self, name) for name in declared(Impairments)}
        return Impairments.model_construct(**given)

    @model_validator(mode="after")
    def _one_service(self) -> Self:
        moments = {"trace": self.trace is not None and self.trace.kind == "mahimahi", "frames": self.frames}
        given = [name for name, value in moments.items() if value]
        given += ["rate"] if self.rate_bps is not None and given else []
        if len(given) > 1:
            raise ValueError(f"{given[0]}: replaces the rate; leave out {given[1]}")
        if self.device_queue and self.rate_bps is None:
            raise ValueError("device_queue: a device needs a rate; add rate, or leave out device_queue")
        if sum(shape.kind == "wander" for shape in self.shapes or ()) > 1:
            raise ValueError("shapes: a link can have at most one Markov channel (wander)")
        return self
