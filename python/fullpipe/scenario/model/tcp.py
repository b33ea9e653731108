"""The transport: what the kernel and the network card do apart from congestion control."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, Switch, fields_by_key, laid_under
from fullpipe.scenario.model.host_profiles import PROFILES, profile_of
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.quantities import Bytes, BytesOrOff, Seconds

IP_AND_TCP_HEADERS_BYTES = 40
TIMESTAMPS_BYTES = 12
DEFAULT_MSS_BYTES = 536
"""Where no end announces one over IPv4 (RFC 9293, section 3.7.1)."""
MOST_MSS_BYTES = 9_000
"""Of jumbo frames."""


def _ecn(value: object) -> object:
    if isinstance(value, bool) or value == "accecn":
        return value
    raise ValueError(f'expected true, false or "accecn", got {shown(value)}')


Ecn = Annotated[bool | Literal["accecn"], BeforeValidator(_ecn)]

LARGEST_MEMORY_BYTES = 2**31 - 1
"""The largest buffer of a socket on Linux."""
RECEIVE_MEMORY_BYTES = 16 * 2**20
SEND_MEMORY_BYTES = 64 * 2**10
"""What sockets begin with where nothing is said."""
PACKET_MEMORY_BYTES = 832
"""And what a packet takes there beside its payload."""
Memory = Annotated[Bytes, Field(ge=4_096, le=LARGEST_MEMORY_BYTES)]


class Tcp(Model):
    """The transport of a flow. Defaults are Linux on Ethernet: 1514 B per full segment, 66 B per bare ACK."""

    host: Literal["linux", "linux-defaults", "ns3-like"] | None = None
    """Sets other keys, each of which can be given beside it: "linux" leaves their defaults, under which no
    buffer is in the way; "linux-defaults" has the buffers that Linux 7.2 ships, which tune themselves on both
    sides; "ns3-like" finds losses, reduces, times out and acknowledges as ns-3 does. Left out: "linux"."""
    mss_bytes: Annotated[Bytes, Field(ge=1, le=MOST_MSS_BYTES)] = Field(
        1448, alias="mss", examples=["1448 B"]
    )
    """Payload of a full segment."""
    timestamps: Switch = True
    """The timestamps option, 12 B in every packet."""
    link_overhead_bytes: Annotated[Bytes, Field(le=1_000)] = Field(
        14, alias="link_overhead", examples=["14 B"]
    )
    """What the link layer adds to every packet, counted by rates and by queues limited in bytes."""
    ack_every: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = None
    """One ACK per so many packets, like ns-3's DelAckCount. Left out: Linux's delayed ACK and quick ACK."""
    delayed_ack_timeout_s: Annotated[Seconds, Field(gt=0, le=10)] = Field(0.2, alias="delayed_ack_timeout")
    """How long an ACK is withheld at most. Only with `ack_every`; Linux's delayed ACK has its own timer."""
    sack_compression: Switch = True
    """Merge duplicate ACKs that come close together, as Linux does."""
    initial_window: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 10
    """Packets that may be sent before the first ACK."""
    send_buffer_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="send_buffer")
    """Payload that the sender may hold until it is acknowledged. Left out: what its memory is good for."""
    receive_buffer_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="receive_buffer")
    """The window that the receiver advertises. Left out: what its memory is good for."""
    send_memory_bytes: Memory | None = Field(None, alias="send_memory", examples=["16 KiB"])
    """Memory that a sender's socket begins with (Linux: tcp_wmem[1]). It grows with the window. Left out:
    64 KiB; all is written at once if `max_burst` is off."""
    send_memory_most_bytes: Memory | None = Field(None, alias="send_memory_most", examples=["4 MiB"])
    """What that grows to at most (tcp_wmem[2]). Left out: as much as Linux knows, 2 GiB."""
    receive_memory_bytes: Memory | None = Field(None, alias="receive_memory", examples=["128 KiB"])
    """Memory that a receiver's socket begins with (tcp_rmem[1]). It grows with what is read in a round trip;
    while the window opens, every packet is acknowledged. Left out: 16 MiB."""
    receive_memory_most_bytes: Memory | None = Field(None, alias="receive_memory_most", examples=["32 MiB"])
    """What that grows to at most (tcp_rmem[2]). Left out: never a limit."""
    packet_memory_bytes: Annotated[Bytes, Field(le=2**20)] | None = Field(
        None, alias="packet_memory", examples=["832 B"]
    )
    """Memory that a packet takes in a socket beside its payload (skb->truesize), if the memory of sockets is
    given. Left out: 832 B, as over virtual Ethernet."""
    pacing: Literal["auto", "always", "fq"] = "auto"
    """Pace when the algorithm needs it, or always. With "fq" everything is paced by sch_fq at the host, to
    which packets are handed up to a millisecond, or two bursts, ahead of their departure."""
    max_burst_bytes: Annotated[BytesOrOff, Field(le=2**24)] = Field(65_536, alias="max_burst")
    """Payload handed to the network card at once (segmentation offload); "off" sends single packets."""
    min_burst: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = None
    """Smallest burst in packets, if data and window allow (Linux: tcp_min_tso_segs). Left out: the
    algorithm's, which is 2 for most."""
    gro_s: Annotated[Seconds, Field(le=1)] | None = Field(None, alias="gro", examples=["50 us"])
    """Receive offload: the network card collects packets for so long after the first, and those that follow
    one another without hole, mark or end of a burst are acknowledged as one; "0 s": each by itself. Left out:
    each by itself, but natively a station behind a queue "mac80211" takes what an aggregate delivers at once
    as one, unless `ack_every` is given."""
    small_queues: Switch | None = None
    """Whether what waits below the socket, in a network interface of its host or, natively, in a queue
    "mac80211", limits a sender (Linux: tcp_small_queue_check). Left out: it does."""
    pacing_shift: Annotated[int, Field(strict=True, ge=0, le=31)] | None = None
    """Natively, bursts and what small queues permit last for 2^-n seconds at the pacing rate (Linux:
    sk_pacing_shift). Left out: n is 10, a millisecond; 7 for a sender behind a queue "mac80211"."""
    ecn: Ecn = False
    """Negotiate explicit congestion notification. `true`: using the feedback the algorithm wants: that is,
    DCTCP's for `dctcp` (RFC 8257), AccECN for `prague` (RFC 9768), else RFC 3168's, one echo per round trip.
    "accecn": with AccECN, which counts marks, whatever the algorithm. Prague sends ECT(1), others ECT(0)."""
    loss_detection: Literal["rack", "dupack"] | None = None
    """How losses are found: by the time at which packets were sent, with a reordering timer (RACK, RFC 8985),
    or by three duplicates, as in ns-3 (RFC 6675): then a lost retransmission waits for the timeout. Left out:
    as the engine's stack has it, which natively is Linux's RACK."""
    min_rto_s: Annotated[Seconds, Field(ge=0.001, le=60)] | None = Field(
        None, alias="min_rto", examples=["1 s"]
    )
    """By how much the retransmission timeout is longer than the smoothed RTT, at least, as Linux's
    tcp_rto_min_us; in ns-3 the timeout itself is no shorter. Left out: 200 ms, in ns-3 1 s."""
    tail_loss_probe: Switch | None = None
    """Whether a flight whose end is lost is probed (RFC 8985 section 7). Left out: yes, in ns-3 no."""
    undo: Switch | None = None
    """Whether a reduction that turns out to be spurious is taken back: by duplicates reported (RFC 3708) or
    timestamps (Eifel, RFC 3522). What F-RTO proves (RFC 5682) is, natively, in any case. Left out: yes, in
    ns-3 no."""
    accecn_option: Switch | None = None
    """With AccECN every packet but the SYN bears its option (Linux: tcp_ecn_option), whose 12 bytes come out
    of the payload. Left out: it does, as on Linux. Feedback is the same without, natively."""
    rate_sample: Literal["linux", "ns3_3.40"] | None = None
    """Where the interval of a delivery-rate sample begins: with the packet that is sampled, as in Linux, or
    with the sample before (after an invalid one, with the simulation), as in ns-3 3.40. Left out: Linux."""
    invalid_rate_samples: Literal["discarded", "repeated"] | None = None
    """What becomes of a sample that is shorter than the smallest RTT: Linux discards it; with "repeated" it
    ends rounds and has the rate of the last valid one, as in ns-3 3.40. Left out: discarded."""
    rescue_retransmit: Literal["none", "rfc6675", "unbounded"] | None = None
    """What is sent again in recovery when nothing is known to be lost and the send buffer holds nothing new:
    nothing, as in Linux; what is missing below the highest SACK (rule 3 of NextSeg in RFC 6675); or
    everything in flight, as in ns-3 3.40. Left out: nothing."""
    full_send_buffer: Literal["app_limited", "network_limited"] | None = None
    """What a sender looks like whose send buffer is all in flight and its window not full: on Linux limited
    by the application, so that BBR ignores its low samples; in ns-3 not. Left out: as on Linux."""
    idle_application: Literal["app_limited", "network_limited"] | None = None
    """What a sender looks like that has sent all its application has written, its window not full: limited by
    the application, as Linux asks before it takes a write; in ns-3, which asks afterwards, not, if the
    application writes a segment or more at a time. Left out: as on Linux."""
    prr: Literal["rfc9937", "ns3"] | None = None
    """How proportional rate reduction counts: as RFC 9937 says, or as ns-3, which takes every ACK that only
    reports packets selectively for one packet more, so that a sender in recovery sends more than arrives, and
    whose product of bytes wraps at 2^32, so that it then stops for a while. Left out: as in the RFC."""
    lost_in_flight: Literal["counted", "shifted"] | None = None
    """What BBRv2 and BBRv3 are told was in flight when a lost packet left: what was counted then, or less
    those before it in its burst that were acknowledged selectively, as Google's kernel with BBRv3 has it
    (tcp_shifted_skb). Left out: what was counted."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_profile(cls, values: object, make: ModelWrapValidatorHandler[Self]) -> Self:
        return laid_under(values, profile_of(values), make)

    @property
    def said(self) -> frozenset[str]:
        """The fields that are set, by themselves or by the host."""
        return frozenset(self.model_fields_set | self._by_host)

    @property
    def overhead_bytes(self) -> int:
        """Bytes on the wire around the payload; also the size of a bare ACK; SYNs and SACKs add to it."""
        return self.link_overhead_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * self.timestamps

    @property
    def segment_bytes(self) -> int:
        """Bytes on the wire of a full segment."""
        return self.mss_bytes + self.overhead_bytes

    @property
    def _by_host(self) -> set[str]:
        keys = fields_by_key(type(self))
        return {keys[key] for key in PROFILES.get(self.host or "", {})}

    def overridden_by(self, other: "Tcp | None") -> "Tcp":
        """This transport with what `other` sets in place of its own. A host takes the place of all that
        the one here sets."""
        if other is None:
            return self
        left = self._by_host - self.model_fields_set if other.host else set()
        usual = {name: declared(type(self))[name].get_default() for name in left}
        return self.model_copy(update=usual | {name: getattr(other, name) for name in other.said})


HEADERS_BYTES = Tcp.model_construct().overhead_bytes
"""Around the payload on the wire, unless told otherwise: Ethernet, IPv4 and TCP with timestamps."""
