"""Workloads without TCP: datagrams at predetermined times, regardless of loss or delay."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Switch
from fullpipe.scenario.model.workloads.writers import Application, FlowContext, periods_plan
from fullpipe.scenario.quantities import NANOSECONDS, BitsPerSecond, Bytes, Seconds, to_nanoseconds

IP_BYTES, UDP_BYTES, ICMP_BYTES, RTP_BYTES = 20, 8, 8, 12

_LARGEST_BYTES = 9_000
"""Largest payload of a datagram: a jumbo frame."""
Payload = Annotated[Bytes, Field(le=_LARGEST_BYTES)]
Interval = Annotated[Seconds, Field(ge=1e-6)]


class _Datagrams(Application):
    """Base class of all kinds of datagrams."""

    protocol: ClassVar[Literal["udp", "icmp"]] = "udp"
    headers_bytes: ClassVar[int] = IP_BYTES + UDP_BYTES
    """Headers around the payload, without the header of the link layer."""
    each: ClassVar[bool] = True
    """Whether every datagram becomes a row of the table `probes`."""

    @property
    def payload_bytes(self) -> int:
        """Payload of each datagram."""
        raise NotImplementedError

    @property
    def interval_ns(self) -> int:
        """Time between two datagrams in ns; the mean time if it varies."""
        raise NotImplementedError

    @property
    def active(self) -> float:
        """Mean share of the time in which the application sends."""
        return 1.0

    @property
    def echo(self) -> bool:
        """Whether the receiver returns each datagram."""
        return False

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan, with constant spacing and no periods."""
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
    """UDP at a given rate, continuously or in periods."""

    kind: Literal["udp"]
    rate_bps: Annotated[BitsPerSecond, Field(gt=0)] = Field(alias="rate", examples=["2 Mbit/s"])
    """Payload rate while active."""
    size_bytes: Annotated[Payload, Field(gt=0)] = Field(1_200, alias="size", examples=["1200 B"])
    """Payload of each datagram."""
    spacing: Literal["constant", "poisson"] = "constant"
    """Times between datagrams. "poisson": the times between datagrams are exponentially distributed, with the
    mean given by the rate."""
    on_s: Interval | None = Field(None, alias="on", examples=["1 s"])
    """Duration of an active period; the mean if periods are exponential. Left out: always active."""
    off_s: Seconds | None = Field(None, alias="off", examples=["2 s"])
    """Duration of the silence after an active period; the mean if periods are exponential."""
    periods: Literal["constant", "exponential"] = "constant"
    """Distribution of the durations of active periods and of silences."""

    each: ClassVar[bool] = False

    @property
    def payload_bytes(self) -> int:
        """Payload of each datagram."""
        return self.size_bytes

    @property
    def interval_ns(self) -> int:
        """Time between two datagrams in ns; the mean time if it varies."""
        return max(1, 8 * self.size_bytes * NANOSECONDS // self.rate_bps)

    @property
    def active(self) -> float:
        """Mean share of the time in which the application sends."""
        both_s = (self.on_s or 0.0) + (self.off_s or 0.0)
        return (self.on_s or 0.0) / both_s if both_s else 1.0

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan."""
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
    """One direction of a call: frames of speech at regular intervals. The default is G.711 over RTP."""

    kind: Literal["voip"]
    frame_s: Interval = Field(0.02, alias="frame", examples=["20 ms"])
    """Duration of the speech in each packet, and time between two packets."""
    payload: Annotated[Bytes, Field(gt=0, le=_LARGEST_BYTES - RTP_BYTES)] = Field(160, examples=["160 B"])
    """Coded speech in each packet. RTP adds 12 B."""

    @property
    def payload_bytes(self) -> int:
        """Payload of each packet, with the RTP header."""
        return self.payload + RTP_BYTES

    @property
    def interval_ns(self) -> int:
        """Time between two packets."""
        return to_nanoseconds(self.frame_s)


class _Regular(_Datagrams):
    """Datagrams of one size at constant intervals."""

    kind: Literal["ping", "probe"]
    interval_s: Interval
    size_bytes: Payload

    @property
    def payload_bytes(self) -> int:
        """Payload of each datagram."""
        return self.size_bytes

    @property
    def interval_ns(self) -> int:
        """Time between two datagrams."""
        return to_nanoseconds(self.interval_s)


class Ping(_Regular):
    """ICMP echo requests and their replies. A reply takes the route of ACKs."""

    kind: Literal["ping"]
    interval_s: Interval = Field(1.0, alias="interval", examples=["200 ms"])
    """Time between two requests."""
    size_bytes: Payload = Field(56, alias="size", examples=["56 B"])
    """Data of a request after its header of 8 B, as in ping -s."""

    protocol: ClassVar[Literal["udp", "icmp"]] = "icmp"
    headers_bytes: ClassVar[int] = IP_BYTES + ICMP_BYTES

    @property
    def echo(self) -> bool:
        """True: the receiver returns each request."""
        return True


class Probe(_Regular):
    """Small UDP packets that measure the RTT, as in Flent's tests, or the one-way delay."""

    kind: Literal["probe"]
    interval_s: Interval = Field(0.2, alias="interval", examples=["200 ms"])
    """Time between two probes."""
    size_bytes: Payload = Field(32, alias="size", examples=["32 B"])
    """Payload of each probe."""
    round_trip: Switch = True
    """Have the receiver return each probe, which also measures the RTT. false: measure the one-way delay
    only."""

    @property
    def echo(self) -> bool:
        """Whether the receiver returns each probe."""
        return self.round_trip


Datagrams = Udp | Voip | Ping | Probe
"""Any of the workloads without congestion control."""
