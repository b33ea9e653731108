"""Workloads of transfers: applications that open and close TCP connections as they like."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, ProblemsError, Switch, short_for
from fullpipe.scenario.model.workloads.application import Application, FlowContext
from fullpipe.scenario.model.workloads.distributions import Constant, Pause, Size, Sizes
from fullpipe.scenario.quantities import (
    NANOSECONDS,
    RATE,
    BitsPerSecond,
    OrWritten,
    Seconds,
    to_nanoseconds,
)

Parallel = Annotated[int, Field(strict=True, ge=1, le=1_000)]
MAX_ARRIVALS = 10_000_000
"""Of one flow."""
Rung = Annotated[BitsPerSecond, Field(gt=0, le=10**12)]


class Poisson(Application):
    """Transfers that begin at random times, each over a connection of its own.

    The times between two are exponential. Exactly one of `interval` and `load` is given.
    """

    kind: Literal["poisson"] = "poisson"
    sizes: Sizes = Field(examples=["web_search"])
    """Payload of each transfer."""
    interval_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="interval", examples=["10 ms"])
    """Mean time between two arrivals, of every single flow."""
    load: Annotated[float, Field(strict=True, gt=0, le=10)] | None = Field(None, examples=[0.6])
    """In place of an interval: what all flows of this entry offer together, with headers but without what is
    sent again, as a share of `of`. More than 1 never gets done: transfers pile up until the end."""
    of_bps: Annotated[BitsPerSecond, Field(gt=0)] | None = Field(None, alias="of", examples=["100 Mbit/s"])
    """What a load of 1 is. Left out: the rate of the slowest link that data crosses at the start."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.interval_s is None) == (self.load is None):
            raise ValueError('give one of interval = "10 ms" and load = 0.6')
        if self.of_bps is not None and self.load is None:
            raise ValueError("of: only with a load")
        return self

    def mean_interval_s(self, flow: FlowContext) -> float:
        """The mean time between two arrivals of one flow.

        A load counts payload and headers: load * rate = flows * 8 * mean bytes on the wire / interval. A
        transfer of b bytes has a header for every segment begun: as many as it takes if all are alike, else
        about b / mss + 1/2.

        Raises:
            ProblemsError: If the load is relative to links that have no rate.
        """
        if self.interval_s is not None:
            return self.interval_s
        rate_bps = self.of_bps or flow.rate_bps
        if rate_bps is None or self.load is None:
            raise ProblemsError(
                "workload.load: no link on the way has a rate; say what a load of 1 is, as in "
                'of = "100 Mbit/s"'
            )
        mean, mss = self.sizes.mean, flow.tcp.mss_bytes
        segments = -(-mean // mss) if isinstance(self.sizes, Constant) else mean / mss + 0.5
        wire_bits = 8 * (mean + segments * flow.tcp.overhead_bytes)
        return flow.count * wire_bits / (self.load * rate_bps)

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        interval_ns = NANOSECONDS * self.mean_interval_s(flow)
        return {"kind": self.kind, "interval_ns": interval_ns, "sizes": self.sizes.plan()}


class Periodic(Application):
    """A transfer at every interval, from the start on: telemetry, or an upload in chunks."""

    kind: Literal["periodic"] = "periodic"
    sizes: Sizes = Field(examples=["20 kB"])
    """Payload of each transfer."""
    interval_s: Annotated[Seconds, Field(ge=1e-6)] = Field(alias="interval", examples=["1 s"])
    """Time between the beginnings of two."""
    keep: Switch = False
    """All go over one connection, which stays open: one that is due before the last is complete waits for it.
    Otherwise each has a connection of its own."""

    def mean_interval_s(self, flow: FlowContext) -> float:
        """Time between two transfers."""
        return self.interval_s

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        interval_ns = to_nanoseconds(self.interval_s)
        return {"kind": self.kind, "interval_ns": interval_ns, "sizes": self.sizes.plan(), "keep": self.keep}


class RequestResponse(Application):
    """A client, where the flow ends, that asks, waits for the answer and thinks, over one connection.

    Requests travel the opposite way. What the rows of the flow count are the answers.
    """

    kind: Literal["request_response"] = "request_response"
    request: Sizes = Field(default="400 B", validate_default=True, examples=["400 B"])
    """Payload of a request."""
    response: Sizes = Field(examples=["20 kB"])
    """Payload of an answer."""
    think: Pause = Field(
        default="0 s", validate_default=True, examples=['{ kind = "exponential", mean = "1 s" }']
    )
    """From an answer to the next request."""

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        parts = {"request": self.request, "response": self.response, "think": self.think}
        return {"kind": self.kind, **{name: part.plan() for name, part in parts.items()}}


def _objects(value: object) -> object:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return (value, value) if whole else value


Objects = Annotated[
    tuple[
        Annotated[int, Field(strict=True, ge=1, le=100_000)],
        Annotated[int, Field(strict=True, ge=1, le=100_000)],
    ],
    BeforeValidator(_objects),
    OrWritten(int),
]


class Web(Application):
    """A reader of web pages, where the flow ends: a page, a pause, the next page.

    First the document is fetched, then everything else in it, over several connections at once, which close
    with the page. Every object is asked for by a request.
    """

    kind: Literal["web"] = "web"
    think: Pause = Field(
        default={"kind": "exponential", "mean": "10 s"}, validate_default=True, examples=["10 s"]
    )
    """From a page, once it is complete, to the next one."""
    objects: Objects = Field(default=(30, 30), examples=["[10, 50]"])
    """Objects per page, the document included: a number, or the bounds between which it is drawn."""
    sizes: Sizes = Field(
        default={"kind": "lognormal", "mean": "25 kB", "sigma": 1.0},
        validate_default=True,
        examples=["20 kB"],
    )
    """Payload of an object."""
    connections: Parallel = 6
    """At most so many at once."""
    request_bytes: Size = Field(400, alias="request", examples=["400 B"])
    """Payload of a request."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.objects[1] < self.objects[0]:
            raise ValueError(
                f"objects: {self.objects[1]} is less than {self.objects[0]}; write the smaller first"
            )
        return self

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        low, high = self.objects
        # Uniform over whole numbers: each is as wide as the others before rounding.
        objects = {"kind": "uniform", "low": low - 0.4999, "high": high + 0.4999}
        return {
            "kind": self.kind,
            "think": self.think.plan(),
            "objects": {"kind": "constant", "value": low} if low == high else objects,
            "sizes": self.sizes.plan(),
            "connections": self.connections,
            "request_bytes": self.request_bytes,
        }


class RateRule(Model):
    """The highest bit rate below a share of the rate at which the last five pieces came (harmonic mean)."""

    kind: Literal["rate"] = "rate"
    safety: Annotated[float, Field(strict=True, ge=0.01, le=10)] = 0.9
    """That share."""


class BufferRule(Model):
    """The fuller the buffer, the higher the bit rate: the lowest up to 37.5 % of what it holds at most when a
    piece is asked for, the highest from 90 % on, a straight line in between, and no change before it has
    moved by a whole step (BBA-0: T. Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM
    2014)."""

    kind: Literal["buffer"] = "buffer"


Rule = Annotated[Annotated[RateRule | BufferRule, Field(discriminator="kind")], short_for("kind")]


class Video(Application):
    """A viewer of a video in pieces, where the flow ends. They are asked for one after the other, over one
    connection, each at a bit rate of the ladder, until the buffer is full. What was seen is in `videos`."""

    kind: Literal["video"] = "video"
    bitrates_bps: Annotated[tuple[Rung, ...], Field(min_length=1, max_length=100)] = Field(
        default=(350_000, 750_000, 1_500_000, 3_000_000, 6_000_000),
        alias="bitrates",
        examples=['["1 Mbit/s", "4 Mbit/s"]'],
    )
    """The ladder, rising."""
    chunk_s: Annotated[Seconds, Field(ge=0.001)] = Field(4.0, alias="chunk", examples=["4 s"])
    """Playing time of a piece."""
    buffer_s: Annotated[Seconds, Field(gt=0)] = Field(30.0, alias="buffer", examples=["30 s"])
    """Most playing time that is loaded ahead."""
    startup_s: Seconds = Field(4.0, alias="startup", examples=["4 s"])
    """Playing time that must be there before the picture moves, at first and after every stop."""
    rule: Rule = Field(default="rate", validate_default=True, examples=["buffer"])
    """How the bit rate of the next piece is chosen: "rate" or "buffer"."""
    request_bytes: Size = Field(400, alias="request", examples=["400 B"])
    """Payload of a request."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for low, high in pairwise(self.bitrates_bps):
            if high <= low:
                raise ValueError(
                    f"bitrates: {RATE.format(high)} comes after {RATE.format(low)}; they must rise"
                )
        for name, time_s in (("chunk", self.chunk_s), ("startup", self.startup_s)):
            if time_s > self.buffer_s:
                raise ValueError(f"{name}: {time_s:g} s do not fit into the buffer, {shown(self.buffer_s)} s")
        return self

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        return {
            "kind": self.kind,
            "bitrates_bps": list(self.bitrates_bps),
            "chunk_ns": to_nanoseconds(self.chunk_s),
            "buffer_ns": to_nanoseconds(self.buffer_s),
            "startup_ns": to_nanoseconds(self.startup_s),
            "rule": self.rule.model_dump(),
            "request_bytes": self.request_bytes,
        }


Transfers = Poisson | Periodic | RequestResponse | Web | Video
"""Any of those that open and close TCP connections as they like."""
