"""Links that change during a run: steps at given times, and shapes that stand for many of them."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Delay, Model, Packets, Switch
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, Seconds, to_nanoseconds

_Positive = Annotated[Seconds, Field(gt=0)]


class _At(Model):
    at_s: Seconds = Field(alias="at", examples=["5 s"])
    """When it begins."""


class State(Model):
    """What a link is like. What is left out stays as it is; no loss is a probability of 0."""

    rate_bps: BitsPerSecond | None = Field(None, alias="rate", examples=["10 Mbit/s"])
    """What remains of the packet being transmitted goes at the new rate, too. "0 bit/s" is an outage, which
    has to end. On a link without a rate whose queue is tbf, it is the rate of the queue, which keeps its
    tokens."""
    delay_s: Delay | None = Field(None, alias="delay", examples=["50 ms"])
    """Of what leaves from then on; behind a shorter delay, packets overtake those sent before."""
    loss: Loss | None = Field(None, examples=['{ kind = "bernoulli", probability = 0.05 }'])
    packets: Packets | None = Field(None, examples=[50])
    """Limit of the queue. What a lower one does to packets that wait is what `tc qdisc change` does:
    drop_tail, tbf and the policer keep them, CoDel, PIE, FQ-CoDel, FQ-PIE, fq and DualPI2 drop from the
    head."""
    limit_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="bytes", examples=["1 MiB"])
    """The same in bytes, for queues that count them: RED drops all that waits, CAKE too much of it at the
    next arrival."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        values = (self.rate_bps, self.delay_s, self.loss, self.packets, self.limit_bytes)
        if all(value is None for value in values):
            raise ValueError("changes nothing; give one of rate, delay, loss, packets and bytes")
        return self


class Change(State, _At):
    """What a link is like from a time on. What is left out stays as it is; no loss is a probability of 0."""


class Ramp(_At):
    """From one state to another in equal steps: rate, delay, limit, and the probability of Bernoulli loss."""

    kind: Literal["ramp"]
    over_s: _Positive = Field(alias="over", examples=["10 s"])
    """How long it takes."""
    step_s: _Positive = Field(alias="step", examples=["100 ms"])
    """Time between two steps."""
    source: State | None = Field(None, alias="from", examples=['{ rate = "10 Mbit/s" }'])
    """Left out: as the link is when the ramp begins."""
    target: State = Field(alias="to", examples=['{ rate = "50 Mbit/s" }'])


class Spike(_At):
    """Another state for a while, then back to what it would have been without."""

    kind: Literal["spike"]
    lasts_s: _Positive = Field(alias="lasts", examples=["200 ms"])
    every_s: _Positive | None = Field(None, alias="every", examples=["10 s"])
    """Again and again, so often. Left out: once."""
    state: State = Field(alias="to", examples=['{ delay = "100 ms" }'])

    @model_validator(mode="after")
    def _ends_before_the_next(self) -> Self:
        if self.every_s is not None and self.every_s <= self.lasts_s:
            raise ValueError("every: the next spike would begin before this one ends; lengthen it")
        return self


class Cycle(_At):
    """States in turn, each for the same time, over and over again."""

    kind: Literal["cycle"]
    every_s: _Positive = Field(alias="every", examples=["3 s"])
    """How long each lasts."""
    states: Annotated[tuple[State, ...], Field(min_length=2, max_length=10_000)] = Field(
        examples=['[{ rate = "10 Mbit/s" }, { rate = "30 Mbit/s" }]']
    )


class Wave(_At):
    """Up and down between two states, over and over again."""

    kind: Literal["wave"]
    shape: Literal["sine", "triangle", "sawtooth", "square"] = "sine"
    """A sine begins in the middle, going up; a triangle and a sawtooth begin at `low`; a square begins with
    `high`."""
    period_s: _Positive = Field(alias="period", examples=["10 s"])
    step_s: _Positive | None = Field(None, alias="step", examples=["100 ms"])
    """Time between two steps; a square needs none."""
    low: State = Field(examples=['{ rate = "10 Mbit/s" }'])
    high: State = Field(examples=['{ rate = "30 Mbit/s" }'])

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        if (self.step_s is None) != (self.shape == "square"):
            raise ValueError('step: needed, as in step = "100 ms", unless the shape is square')
        if to_nanoseconds(self.period_s) < 2:
            raise ValueError("period: at least 2 ns, one for each half")
        return self


class MarkovChannel(_At):
    """States in an order and at times that are drawn from the seed: a Markov chain in continuous time.

    The link stays in each for an exponentially distributed time, so that changes come as a Poisson process.
    """

    kind: Literal["wander"]
    mean_s: _Positive = Field(alias="mean", examples=["2 s"])
    """Mean time in a state."""
    states: Annotated[tuple[State, ...], Field(min_length=2, max_length=10_000)] = Field(
        examples=['[{ rate = "10 Mbit/s" }, { rate = "30 Mbit/s" }]']
    )
    """It begins in the first."""
    neighbours: Switch = False
    """From each state to the one before or behind it in the list, as in a random walk; otherwise to any
    other."""


Shape = Annotated[Ramp | Spike | Cycle | Wave | MarkovChannel, Field(discriminator="kind")]


def states_of(shape: Shape) -> Iterator[tuple[str, State]]:
    """Every state that a shape names, each with its place in the shape."""
    for name, field in type(shape).model_fields.items():
        value, place = getattr(shape, name), field.alias or name
        if isinstance(value, State):
            yield place, value
        elif isinstance(value, tuple):
            yield from ((f"{place}[{i}]", state) for i, state in enumerate(value))
