"""Links as a scenario describes them. Sizes relative to the path stay relative here."""

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
    from fullpipe.scenario.model.link.service import Frames, Trace
else:
    Change, Shape = (later(f"{__name__}.changes", name) for name in ("Change", "Shape"))
    Loss = later(f"{__name__}.losses", "Loss")
    Frames, Trace = (later(f"{__name__}.service", name) for name in ("Frames", "Trace"))

Rate = Annotated[BitsPerSecond, Field(gt=0)]


class Access(Model):
    """The link between a host and the router beside it; the same in both directions, apart from `queue`."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["10 Gbit/s"])
    """Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", title="one-way access delay", examples=["5 ms"])
    """Propagation, one way."""

    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Of what leaves the host: data of the sender, ACKs of the receiver. The router's side is never full.
    Left out: neither is the host's."""

    def overridden_by(self, other: "Access | None") -> "Access":
        """This link with what `other` sets explicitly in place of its own."""
        if other is None:
            return self
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


class _Wire(Model):
    """A queue and a wire, without impairments."""

    rate_bps: Rate | None = Field(None, alias="rate", examples=["100 Mbit/s"])
    """Left out: unlimited."""
    delay_s: Delay = Field(0.0, alias="delay", title="one-way delay", examples=["20 ms"])
    """Propagation, one way."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Left out: never full."""
    device_queue: DeviceQueue | None = Field(None, examples=["{ packets = 100 }"])
    """A device of this rate below the queue, with a queue of its own. Changes of the rate are then those of
    the queue, if it is a shaper such as tbf. Left out: the queue stands right at the wire."""
    loss: Loss | None = Field(None, examples=['{ kind = "bernoulli", probability = 0.01 }'])
    """Loss apart from the queue: bernoulli, periodic, gilbert_elliott or replay. Left out: none."""
    changes: tuple[Change, ...] | None = Field(None, examples=['[{ at = "5 s", rate = "10 Mbit/s" }]'])
    """Other rates, delays, loss and limits of the queue from given times on, in the order of time. Sizes
    relative to the path go by the link as it begins."""
    shapes: tuple[Shape, ...] | None = Field(
        None,
        examples=['[{ kind = "ramp", at = "5 s", over = "9 s", step = "1 s", to = { rate = "1 Mbit/s" } }]'],
    )
    """Ramps, spikes, cycles, waves and Markov channels, which stand for many changes. Where two set the same
    quantity, the later time holds; at the same time, the one that is written later, and spikes last."""
    trace: Annotated[Trace, OrWritten(str)] | None = Field(None, examples=['{ file = "cell.up" }'])
    """A recording in place of the rate, or of rate, delay and loss. Left out: none."""
    frames: Frames | None = Field(None, examples=['{ every = "5 ms", size = "64 KiB" }'])
    """Frames in place of the rate. Left out: none."""


class LinkModel(Impairments, _Wire):
    """One direction of a wire, with the queue in front of it, wherever it stands."""

    @property
    def is_changing(self) -> bool:
        """Whether it has changes, shapes, or a recording."""
        return bool(self.trace is not None or self.changes or self.shapes)

    @property
    def impairments(self) -> Impairments:
        """What it does to single packets."""
        given = {name: getattr(self, name) for name in declared(Impairments)}
        return Impairments.model_construct(**given)

    @model_validator(mode="after")
    def _one_service(self) -> Self:
        moments = {"trace": self.trace is not None and self.trace.kind == "mahimahi", "frames": self.frames}
        given = [name for name, value in moments.items() if value]
        given += ["rate"] if self.rate_bps is not None and given else []
        if len(given) > 1:
            raise ValueError(f"{given[0]}: stands in place of a rate; leave out {given[1]}")
        if self.device_queue and self.rate_bps is None:
            raise ValueError("device_queue: a device has a rate; add rate, or leave it out")
        if sum(shape.kind == "wander" for shape in self.shapes or ()) > 1:
            raise ValueError("shapes: a link has one Markov channel (wander) at most")
        return self
