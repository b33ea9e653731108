"""Workloads of transfers: applications that open and close TCP connections during a run."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fullpipe.errors import shown
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, ProblemsError, short_for
from fullpipe.scenario.model.registered import registered, values_of
from fullpipe.scenario.model.workloads.distributions import Constant, Pause, Sizes
from fullpipe.scenario.model.workloads.writers import Application, FlowContext
from fullpipe.scenario.quantities import NANOSECONDS, RATE, BitsPerSecond, OrWritten, Seconds

APPLICATIONS: Mapping[str, catalogue.Entry] = catalogue.family("applications")
"""Settings of applications, as the simulator declares them."""
MAX_ARRIVALS = 10_000_000
"""Maximum number of transfers of one flow."""
Rung = Annotated[BitsPerSecond, Field(gt=0, le=10**12)]


class Transfer(Application):
    """Base class of workloads whose settings the simulator declares.

    A model declares a field itself only if scenario files describe the setting by another quantity or by a
    table.
    """

    kind: str

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan."""
        settings = values_of(self, APPLICATIONS[self.kind])
        return {"kind": self.kind, **{name: _planned(value) for name, value in settings}}


def _planned(value: Any) -> Any:
    """Return a setting in the format of the plan: distributions and rules are tables."""
    if isinstance(value, Model):
        return value.plan() if hasattr(value, "plan") else value.model_dump()
    return list(value) if isinstance(value, tuple) else value


@registered(APPLICATIONS["poisson"])
class Poisson(Transfer):
    """Transfers that arrive as a Poisson process. Each transfer has its own connection.

    Give exactly one of `interval` and `load`.
    """

    kind: Literal["poisson"] = "poisson"
    sizes: Sizes = Field(examples=["web_search"])
    interval_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="interval", examples=["10 ms"])
    load: Annotated[float, Field(strict=True, gt=0, le=10)] | None = Field(None, examples=[0.6])
    """Offered load of all flows of this entry together, as a share of `of`. Headers count, retransmissions do
    not count. With a load above 1, transfers accumulate until the end of the run."""
    of_bps: Annotated[BitsPerSecond, Field(gt=0)] | None = Field(None, alias="of", examples=["100 Mbit/s"])
    """Rate that corresponds to a load of 1. Left out: the initial rate of the slowest link on the data's
    route."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.interval_s is None) == (self.load is None):
            raise ValueError('give one of interval = "10 ms" and load = 0.6')
        if self.of_bps is not None and self.load is None:
            raise ValueError("of: only with a load")
        return self

    def mean_interval_s(self, flow: FlowContext) -> float:
        """Return the mean time between two arrivals of one flow.

        A load counts payload and headers: load * rate = flows * 8 * mean bytes on the wire / interval. A
        transfer of b bytes has a header per segment: ceil(b / mss) segments if sizes are constant, otherwise
        about b / mss + 1/2.

        Raises:
            ProblemsError: If the load is relative to links that have no rate.
        """
        if self.interval_s is not None:
            return self.interval_s
        rate_bps = self.of_bps or flow.rate_bps
        if rate_bps is None or self.load is None:
            raise ProblemsError(
                "workload.load: no link on the route has a rate; set the key `of` to the rate that is "
                'a load of 1, for example: of = "100 Mbit/s"'
            )
        mean, mss = self.sizes.mean, flow.tcp.mss_bytes
        segments = -(-mean // mss) if isinstance(self.sizes, Constant) else mean / mss + 0.5
        wire_bits = 8 * (mean + segments * flow.tcp.overhead_bytes)
        return flow.count * wire_bits / (self.load * rate_bps)

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan."""
        interval_ns = NANOSECONDS * self.mean_interval_s(flow)
        return {"kind": self.kind, "interval_ns": interval_ns, "sizes": self.sizes.plan()}


@registered(APPLICATIONS["periodic"])
class Periodic(Transfer):
    """Transfers at a constant interval from the start of the flow: telemetry, or an upload in chunks."""

    kind: Literal["periodic"] = "periodic"
    sizes: Sizes = Field(examples=["20 kB"])

    if TYPE_CHECKING:
        interval_s: ClassVar[float]

    def mean_interval_s(self, flow: FlowContext) -> float:
        """Return the time between two transfers."""
        return self.interval_s


@registered(APPLICATIONS["request_response"])
class RequestResponse(Transfer):
    """A client at the receiving host that sends requests over one connection. Each request waits for the
    previous response.

    Requests travel against the direction of the flow. The rows of the flow count responses only.
    """

    kind: Literal["request_response"] = "request_response"
    request: Sizes = Field(default="400 B", validate_default=True, examples=["400 B"])
    response: Sizes = Field(examples=["20 kB"])
    think: Pause = Field(
        default="0 s", validate_default=True, examples=['{ kind = "exponential", mean = "1 s" }']
    )


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


@registered(APPLICATIONS["web"])
class Web(Transfer):
    """A browser at the receiving host: it loads a page, pauses, and loads the next page.

    The browser fetches the document first, then the other objects of the page over parallel connections, one
    request per object. The connections close when the page is complete.
    """

    kind: Literal["web"] = "web"
    think: Pause = Field(
        default={"kind": "exponential", "mean": "10 s"}, validate_default=True, examples=["10 s"]
    )
    objects: Objects = Field(default=(30, 30), examples=["[10, 50]"])
    """Objects per page, the document included: a number, or the bounds of a uniform draw."""
    sizes: Sizes = Field(
        default={"kind": "lognormal", "mean": "25 kB", "sigma": 1.0},
        validate_default=True,
        examples=["20 kB"],
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.objects[1] < self.objects[0]:
            raise ValueError(
                f"objects: {self.objects[1]} is less than {self.objects[0]}; write the smaller number first"
            )
        return self

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan."""
        low, high = self.objects
        # The draw is rounded to a whole number; with these bounds, all whole numbers are equally likely.
        objects = {"kind": "uniform", "low": low - 0.4999, "high": high + 0.4999}
        return super().plan(flow) | {
            "objects": {"kind": "constant", "value": low} if low == high else objects
        }


class RateRule(Model):
    """The highest bit rate below `safety` x (harmonic mean of the throughputs of the last five chunks)."""

    kind: Literal["rate"] = "rate"
    safety: Annotated[float, Field(strict=True, ge=0.01, le=10)] = 0.9
    """Factor: the bit rate is at most this share of the throughput."""


class BufferRule(Model):
    """A bit rate that grows with the buffer level at each request.

    At a buffer level up to 37.5 % of the largest level that a request can find, the bit rate is the lowest of
    the ladder. From 90 % on, the bit rate is the highest. In between, a straight line leads from the lowest
    to the highest bit rate. The bit rate changes only when this line reaches the next step of the ladder
    (BBA-0: T. Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014).
    """

    kind: Literal["buffer"] = "buffer"


Rule = Annotated[Annotated[RateRule | BufferRule, Field(discriminator="kind")], short_for("kind")]


@registered(APPLICATIONS["video"])
class Video(Transfer):
    """A video player at the receiving host, with adaptive bit rate.

    The player requests chunks one after the other over one connection until its buffer is full. Each chunk
    has a bit rate of the ladder. The table `videos` describes the playback.
    """

    kind: Literal["video"] = "video"
    bitrates_bps: Annotated[tuple[Rung, ...], Field(min_length=1, max_length=100)] = Field(
        default=(350_000, 750_000, 1_500_000, 3_000_000, 6_000_000),
        alias="bitrates",
        examples=['["1 Mbit/s", "4 Mbit/s"]'],
    )
    rule: Rule = Field(default="rate", validate_default=True, examples=["buffer"])

    if TYPE_CHECKING:
        chunk_s: ClassVar[float]
        buffer_s: ClassVar[float]
        startup_s: ClassVar[float]

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


Transfers = Poisson | Periodic | RequestResponse | Web | Video
"""Any of the workloads that open and close TCP connections during a run."""
