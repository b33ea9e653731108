"""Links that change during a run: single changes at given times, and shapes that generate many changes."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Delay, Model, Packets, Switch
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, Seconds, to_nanoseconds

_Positive = Annotated[Seconds, Field(gt=0)]


class _At(Model):
    at_s: Seconds = Field(alias="at", examples=["5 s"])
    """Start time."""


class State(Model):
    """Values of a link. The value of a key that is left out does not change. To end losses, write
    { kind = "bernoulli", probability = 0 }."""

    rate_bps: BitsPerSecond | None = Field(None, alias="rate", examples=["10 Mbit/s"])
    """Link rate. The new rate also applies to the rest of the packet in transmission. "0 bit/s" is an outage,
    which a later change must end. On a link without a rate whose queue is tbf, this is the rate of tbf; the
    tokens in its bucket remain."""
    delay_s: Delay | None = Field(None, alias="delay", examples=["50 ms"])
    """Propagation delay of packets that leave after the change. If the delay becomes shorter, these packets
    can overtake earlier packets."""
    loss: Loss | None = Field(None, examples=['{ kind = "bernoulli", probability = 0.05 }'])
    """Loss on the wire."""
    packets: Packets | None = Field(None, examples=[50])
    """Limit of the queue in packets. When the limit is lowered, packets beyond the new limit are treated as
    by `tc qdisc change`: drop_tail, tbf and the policer keep them; CoDel, PIE, FQ-CoDel, FQ-PIE, fq and
    DualPI2 drop from the head."""
    limit_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="bytes", examples=["1 MiB"])
    """Limit of the queue in bytes, if it has a byte limit. A change makes RED drop all waiting packets. CAKE
    drops the excess at the next arrival."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        values = (self.rate_bps, self.delay_s, self.loss, self.packets, self.limit_bytes)
        if all(value is None for value in values):
            raise ValueError("changes nothing; give at least one of rate, delay, loss, packets and bytes")
        return self


class Change(State, _At):
    """New values of a link from a time on. The value of a key that is left out does not change. To end
    losses, write { kind = "bernoulli", probability = 0 }."""


class Ramp(_At):
    """A change in equal steps from one state to another. Rate, delay, queue limit, and the probability of
    Bernoulli loss can change in this way."""

    kind: Literal["ramp"]
    over_s: _Positive = Field(alias="over", examples=["10 s"])
    """Duration of the ramp."""
    step_s: _Positive = Field(alias="step", examples=["100 ms"])
    """Time between two steps."""
    source: State | None = Field(None, alias="from", examples=['{ rate = "10 Mbit/s" }'])
    """First state. Left out: the link's values when the ramp begins."""
    target: State = Field(alias="to", examples=['{ rate = "50 Mbit/s" }'])
    """Last state."""


class Spike(_At):
    """A temporary state. Afterwards the link has the values that it would have without the spike."""

    kind: Literal["spike"]
    lasts_s: _Positive = Field(alias="lasts", examples=["200 ms"])
    """Duration of a spike."""
    every_s: _Positive | None = Field(None, alias="every", examples=["10 s"])
    """Time from the start of one spike to the next. Left out: one spike."""
    state: State = Field(alias="to", examples=['{ delay = "100 ms" }'])
    """State during a spike."""

    @model_validator(mode="after")
    def _ends_before_the_next(self) -> Self:
        if self.every_s is not None and self.every_s <= self.lasts_s:
            raise ValueError("every: a spike would begin before the previous spike ends; lengthen every")
        return self


class Cycle(_At):
    """A repeating sequence of states of equal duration."""

    kind: Literal["cycle"]
    every_s: _Positive = Field(alias="every", examples=["3 s"])
    """Duration of each state."""
    states: Annotated[tuple[State, ...], Field(min_length=2, max_length=10_000)] = Field(
        examples=['[{ rate = "10 Mbit/s" }, { rate = "30 Mbit/s" }]']
    )
    """The states, in order."""


class Wave(_At):
    """A periodic wave between two states."""

    kind: Literal["wave"]
    shape: Literal["sine", "triangle", "sawtooth", "square"] = "sine"
    """Waveform. A sine begins halfway between `low` and `high` and rises. A triangle and a sawtooth begin at
    `low`, a square begins at `high`."""
    period_s: _Positive = Field(alias="period", examples=["10 s"])
    """Duration of one wave."""
    step_s: _Positive | None = Field(None, alias="step", examples=["100 ms"])
    """Time between two steps. Required, except for a square, which does not accept `step`."""
    low: State = Field(examples=['{ rate = "10 Mbit/s" }'])
    """Lowest state."""
    high: State = Field(examples=['{ rate = "30 Mbit/s" }'])
    """Highest state, with the same keys as `low`."""

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        if (self.step_s is None) != (self.shape == "square"):
            raise ValueError('step: needed, as in step = "100 ms", unless the shape is square')
        if to_nanoseconds(self.period_s) < 2:
            raise ValueError("period: at least 2 ns, 1 ns for each half")
        return self


class MarkovChannel(_At):
    """A continuous-time Markov chain of states; times and order are drawn from the seed.

    The time in each state is exponentially distributed, so that changes form a Poisson process.
    """

    kind: Literal["wander"]
    mean_s: _Positive = Field(alias="mean", examples=["2 s"])
    """Mean time in a state."""
    states: Annotated[tuple[State, ...], Field(min_length=2, max_length=10_000)] = Field(
        examples=['[{ rate = "10 Mbit/s" }, { rate = "30 Mbit/s" }]']
    )
    """The states. The link begins in the first state."""
    neighbours: Switch = False
    """Move only to the previous or next state in the list, as in a random walk. false: any other state can
    follow."""


Shape = Annotated[Ramp | Spike | Cycle | Wave | MarkovChannel, Field(discriminator="kind")]


def states_of(shape: Shape) -> Iterator[tuple[str, State]]:
    """Yield every state of a shape, with its key in the shape."""
    for name, field in type(shape).model_fields.items():
        value, place = getattr(shape, name), field.alias or name
        if isinstance(value, State):
            yield place, value
        elif isinstance(value, tuple):
            yield from ((f"{place}[{i}]", state) for i, state in enumerate(value))
