"""Workloads without TCP: datagrams, which leave at given times whatever happens to them."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Switch
from fullpipe.scenario.model.workloads.application import Application, FlowContext, periods_plan
from fullpipe.scenario.quantities import NANOSECONDS, BitsPerSecond, Bytes, Seconds, to_nanoseconds

IP_BYTES, UDP_BYTES, ICMP_BYTES, RTP_BYTES = 20, 8, 8, 12

_LARGEST_BYTES = 9_000
"""What a datagram carries at most: a jumbo frame."""
Payload = Annotated[Bytes, Field(le=_LARGEST_BYTES)]
Interval = Annotated[Seconds, Field(ge=1e-6)]


class _Datagrams(Application):
    """What every kind says of itself."""

    protocol: ClassVar[Literal["udp", "icmp"]] = "udp"
    headers_bytes: ClassVar[int] = IP_BYTES + UDP_BYTES
    """Around the payload, without those of the link."""
    each: ClassVar[bool] = True
    """Each is a row of the table `probes`."""

    @property
    def payload_bytes(self) -> int:
        """What each carries."""
        raise NotImplementedError

    @property
    def interval_ns(self) -> int:
        """Time between two, or its mean."""
        raise NotImplementedError

    @property
    def active(self) -> float:
        """Share of the time in which it sends, in the mean."""
        return 1.0

    @property
    def echo(self) -> bool:
        """Whether the far end sends each back."""
        return False

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it: at a constant distance, all the time."""
        return {
            "kind": "datagrams",
            "protocol": self.protocol,
            "payload_bytes": self.payload_bytes,
            "overhead_bytes": self.headers_bytes + flow.tcp.link_overhead_bytes,
            "interval_ns": self.interval_ns,
            "poisson": False,
            "periods": None,
            "echo": self.echo,
            "each": self.each,
        }


class Udp(_Datagrams):
    """UDP at a rate, all the time or now and then."""

    kind: Literal["udp"]
    rate_bps: Annotated[BitsPerSecond, Field(gt=0)] = Field(alias="rate", examples=["2 Mbit/s"])
    """Payload, while it is active."""
    size_bytes: Annotated[Payload, Field(gt=0)] = Field(1_200, alias="size", examples=["1200 B"])
    """Payload of each datagram."""
    spacing: Literal["constant", "poisson"] = "constant"
    """"poisson": the time between two is exponential, with the mean that the rate gives."""
    on_s: Interval | None = Field(None, alias="on", examples=["1 s"])
    """How long it is active, before each silence; the mean if periods are exponential. Left out: always."""
    off_s: Seconds | None = Field(None, alias="off", examples=["2 s"])
    """How long it is silent."""
    periods: Literal["constant", "exponential"] = "constant"
    """How the lengths of both are distributed."""

    each: ClassVar[bool] = False

    @property
    def payload_bytes(self) -> int:
        """What each carries."""
        return self.size_bytes

    @property
    def interval_ns(self) -> int:
        """Time between two, or its mean."""
        return max(1, 8 * self.size_bytes * NANOSECONDS // self.rate_bps)

    @property
    def active(self) -> float:
        """Share of the time in which it sends, in the mean."""
        both_s = (self.on_s or 0.0) + (self.off_s or 0.0)
        return (self.on_s or 0.0) / both_s if both_s else 1.0

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        periods = None
        if self.on_s is not None and self.off_s is not None:
            periods = periods_plan(self.on_s, self.off_s, self.periods)
        return {**super().plan(flow), "poisson": self.spacing == "poisson", "periods": periods}

    @model_validator(mode="after")
    def _both_periods(self) -> Self:
        if (self.on_s is None) != (self.off_s is None):
            raise ValueError('on and off belong together, as in on = "1 s", off = "2 s"')
        return self


class Voip(_Datagrams):
    """One direction of a call: a frame of speech every so often. The default is G.711 over RTP."""

    kind: Literal["voip"]
    frame_s: Interval = Field(0.02, alias="frame", examples=["20 ms"])
    """Speech in each packet, and so the time between two."""
    payload: Annotated[Bytes, Field(gt=0, le=_LARGEST_BYTES - RTP_BYTES)] = Field(160, examples=["160 B"])
    """Coded speech in each packet; RTP adds 12 B."""

    @property
    def payload_bytes(self) -> int:
        """What each carries, with the header of RTP."""
        return self.payload + RTP_BYTES

    @property
    def interval_ns(self) -> int:
        """Time between two."""
        return to_nanoseconds(self.frame_s)


class _Regular(_Datagrams):
    """One of the same size again and again."""

    kind: Literal["ping", "probe"]
    interval_s: Interval
    size_bytes: Payload

    @property
    def payload_bytes(self) -> int:
        """What each carries."""
        return self.size_bytes

    @property
    def interval_ns(self) -> int:
        """Time between two."""
        return to_nanoseconds(self.interval_s)


class Ping(_Regular):
    """ICMP echo requests, which the far end answers. The reply takes the route of ACKs."""

    kind: Literal["ping"]
    interval_s: Interval = Field(1.0, alias="interval", examples=["200 ms"])
    """Time between two requests."""
    size_bytes: Payload = Field(56, alias="size", examples=["56 B"])
    """What a request carries behind its header of 8 B, as ping -s has it."""

    protocol: ClassVar[Literal["udp", "icmp"]] = "icmp"
    headers_bytes: ClassVar[int] = IP_BYTES + ICMP_BYTES

    @property
    def echo(self) -> bool:
        """The far end sends each back."""
        return True


class Probe(_Regular):
    """Small UDP packets that measure latency, there and back as in Flent's tests, or one way."""

    kind: Literal["probe"]
    interval_s: Interval = Field(0.2, alias="interval", examples=["200 ms"])
    """Time between two."""
    size_bytes: Payload = Field(32, alias="size", examples=["32 B"])
    """Payload of each."""
    round_trip: Switch = True
    """false: nothing is sent back, and the one-way delay is all that is measured."""

    @property
    def echo(self) -> bool:
        """Whether the far end sends each back."""
        return self.round_trip


Datagrams = Udp | Voip | Ping | Probe
"""Any of them: flows without congestion control."""
