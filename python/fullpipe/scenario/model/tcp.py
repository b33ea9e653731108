"""The transport: TCP options of the kernel and offloads of the network card, without congestion control."""

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
"""MSS over IPv4 if the peer announces none (RFC 9293, section 3.7.1)."""
MOST_MSS_BYTES = 9_000
"""Largest MSS, as in jumbo frames."""


def _ecn(value: object) -> object:
    if isinstance(value, bool) or value == "accecn":
        return value
    raise ValueError(f'expected true, false or "accecn", got {shown(value)}')


Ecn = Annotated[bool | Literal["accecn"], BeforeValidator(_ecn)]

LARGEST_MEMORY_BYTES = 2**31 - 1
"""The largest socket buffer on Linux."""
RECEIVE_MEMORY_BYTES = 16 * 2**20
SEND_MEMORY_BYTES = 64 * 2**10
"""Initial memory of a receiving and of a sending socket if the scenario gives none."""
PACKET_MEMORY_BYTES = 832
"""Socket memory of a packet beyond its payload, by default."""
Memory = Annotated[Bytes, Field(ge=4_096, le=LARGEST_MEMORY_BYTES)]


class Tcp(Model):
    """The transport of a flow. Defaults are Linux on Ethernet: 1514 B per full segment, 66 B per bare ACK."""

    host: Literal["linux", "linux-defaults", "ns3-like"] | None = None
    """Preset of other keys of this table; explicit keys override it. "linux": the defaults, with buffers that
    never limit. "linux-defaults": the autotuned buffers that Linux 7.2 ships. "ns3-like": loss detection,
    window reduction, timeouts and ACKs as in ns-3. Left out: "linux"."""
    mss_bytes: Annotated[Bytes, Field(ge=1, le=MOST_MSS_BYTES)] = Field(
        1448, alias="mss", examples=["1448 B"]
    )
    """Payload of a full segment."""
    timestamps: Switch = True
    """Send the timestamps option, 12 B in every packet."""
    link_overhead_bytes: Annotated[Bytes, Field(le=1_000)] = Field(
        14, alias="link_overhead", examples=["14 B"]
    )
    """Bytes that the link layer adds to every packet. Link rates and byte limits of queues count them."""
    ack_every: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = None
    """Packets per ACK, like ns-3's DelAckCount. Left out: Linux's delayed ACKs and quick ACKs."""
    delayed_ack_timeout_s: Annotated[Seconds, Field(gt=0, le=10)] = Field(0.2, alias="delayed_ack_timeout")
    """Longest delay of an ACK with `ack_every`. Linux's delayed ACK has a timer of its own and ignores it."""
    sack_compression: Switch = True
    """Merge duplicate ACKs that are close together, as Linux does."""
    initial_window: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 10
    """Initial congestion window in packets."""
    send_buffer_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="send_buffer")
    """Payload that the sender holds until it is acknowledged, at most. Left out: limited by the socket's
    memory (`send_memory`)."""
    receive_buffer_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="receive_buffer")
    """Advertised receive window. Left out: limited by the socket's memory (`receive_memory`)."""
    send_memory_bytes: Memory | None = Field(None, alias="send_memory", examples=["16 KiB"])
    """Initial memory of the sending socket (Linux: tcp_wmem[1]); it grows with the congestion window. Left
    out: 64 KiB. With `max_burst = "off"` as well, the application writes all its data at once."""
    send_memory_most_bytes: Memory | None = Field(None, alias="send_memory_most", examples=["4 MiB"])
    """Largest memory of the sending socket (tcp_wmem[2]). Left out: Linux's maximum, 2 GiB."""
    receive_memory_bytes: Memory | None = Field(None, alias="receive_memory", examples=["128 KiB"])
    """Initial memory of the receiving socket (tcp_rmem[1]). It grows with the bytes that the application
    reads per RTT. While the window opens, every packet is acknowledged. Left out: 16 MiB."""
    receive_memory_most_bytes: Memory | None = Field(None, alias="receive_memory_most", examples=["32 MiB"])
    """Largest memory of the receiving socket (tcp_rmem[2]). Left out: unlimited."""
    packet_memory_bytes: Annotated[Bytes, Field(le=2**20)] | None = Field(
        None, alias="packet_memory", examples=["832 B"]
    )
    """Socket memory of a packet beyond its payload (skb->truesize), used if the memory of sockets is given.
    Left out: 832 B, as over virtual Ethernet."""
    pacing: Literal["auto", "always", "fq"] = "auto"
    """Pacing: "auto" paces if the algorithm needs it, "always" paces every flow. "fq" paces every flow by
    sch_fq at the host, which receives packets up to 1 ms, or two bursts, ahead of their departure."""
    max_burst_bytes: Annotated[BytesOrOff, Field(le=2**24)] = Field(65_536, alias="max_burst")
    """Largest burst handed to the network card at once (segmentation offload), in payload. "off" sends single
    packets."""
    min_burst: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = None
    """Smallest burst in packets, if data and window allow (Linux: tcp_min_tso_segs). Left out: the
    algorithm's, which is 2 for most."""
    gro_s: Annotated[Seconds, Field(le=1)] | None = Field(None, alias="gro", examples=["50 us"])
    """Receive offload: time for which the network card collects packets after the first. Consecutive packets
    without a hole, mark or end of a burst are acknowledged as one. "0 s": no offload. Left out: no offload,
    with one exception. In the native engine, a station behind a queue "mac80211" merges the packets of an
    aggregate, unless `ack_every` is given."""
    small_queues: Switch | None = None
    """Whether packets waiting below the socket limit the sender (Linux: tcp_small_queue_check). They wait in
    the host's network interface or, in the native engine, in a queue "mac80211". Left out: true."""
    pacing_shift: Annotated[int, Field(strict=True, ge=0, le=31)] | None = None
    """Size of bursts and of the small-queue limit: 2^-n s at the pacing rate (Linux: sk_pacing_shift). Native
    engine only. Left out: n = 10 (1 ms), or 7 for a sender behind a queue "mac80211"."""
    ecn: Ecn = False
    """Negotiate explicit congestion notification. `true`: with the feedback that the algorithm needs. That is
    DCTCP's for `dctcp` (RFC 8257), AccECN for `prague` (RFC 9768), else RFC 3168's, one echo per RTT.
    "accecn": AccECN, which counts marks, for any algorithm. Prague sends ECT(1), others ECT(0)."""
    loss_detection: Literal["rack", "dupack"] | None = None
    """Loss detection. "rack": by send times, with a reordering timer (RACK, RFC 8985). "dupack": by three
    duplicate ACKs, as in ns-3 (RFC 6675); a lost retransmission then waits for the timeout. Left out: that of
    the engine's stack; the native engine has Linux's RACK."""
    min_rto_s: Annotated[Seconds, Field(ge=0.001, le=60)] | None = Field(
        None, alias="min_rto", examples=["1 s"]
    )
    """Minimum RTO. As on Linux, it is the least time by which the RTO exceeds the smoothed RTT
    (tcp_rto_min_us); in ns-3 it bounds the RTO itself. Left out: 200 ms; in ns-3 1 s."""
    tail_loss_probe: Switch | None = None
    """Send a tail loss probe if the end of a flight is not acknowledged (RFC 8985 section 7). Left out: true;
    in ns-3 false."""
    undo: Switch | None = None
    """Undo a window reduction that proves spurious, by reported duplicates (RFC 3708) or timestamps (Eifel,
    RFC 3522). The native engine always undoes after F-RTO (RFC 5682). Left out: true; in ns-3 false."""
    accecn_option: Switch | None = None
    """Send the AccECN option in every packet except the SYN (Linux: tcp_ecn_option); its 12 B reduce the
    payload. In the native engine, feedback is the same without the option. Left out: true, as on Linux."""
    rate_sample: Literal["linux", "ns3_3.40"] | None = None
    """Start of the interval of a delivery-rate sample. "linux": at the sampled packet. "ns3_3.40": where the
    previous sample began or, after an invalid sample, at time 0. Left out: "linux"."""
    invalid_rate_samples: Literal["discarded", "repeated"] | None = None
    """Treatment of a rate sample shorter than the smallest RTT. "discarded": ignored, as in Linux.
    "repeated": it ends rounds and has the rate of the last valid sample, as in ns-3 3.40. Left out:
    "discarded"."""
    rescue_retransmit: Literal["none", "rfc6675", "unbounded"] | None = None
    """Packets retransmitted in recovery when none is marked lost and the send buffer has no new data. "none":
    as in Linux. "rfc6675": holes below the highest SACK (rule 3 of NextSeg in RFC 6675). "unbounded":
    everything in flight, as in ns-3 3.40. Left out: "none"."""
    full_send_buffer: Literal["app_limited", "network_limited"] | None = None
    """Classification of a sender whose send buffer is all in flight while its window is not full.
    "app_limited": as on Linux, so that BBR ignores its low samples. "network_limited": as in ns-3. Left out:
    "app_limited"."""
    idle_application: Literal["app_limited", "network_limited"] | None = None
    """Classification of a sender that has sent everything written while its window is not full.
    "app_limited": as Linux, which checks before it takes a write. "network_limited": as ns-3, which checks
    after the write, if the application writes a segment or more at a time. Left out: "app_limited"."""
    prr: Literal["rfc9937", "ns3"] | None = None
    """Arithmetic of proportional rate reduction. "rfc9937": as in RFC 9937. "ns3": each ACK with only SACKs
    counts one packet more, so that recovery sends more than is delivered. Its product of bytes wraps at 2^32,
    after which the sender pauses. Left out: "rfc9937"."""
    lost_in_flight: Literal["counted", "shifted"] | None = None
    """Packets in flight when a lost packet was sent, as reported to BBRv2 and BBRv3. "counted": as counted at
    that time. "shifted": without earlier packets of its burst that were SACKed, as in Google's kernel with
    BBRv3 (tcp_shifted_skb). Left out: "counted"."""

    @model_validator(mode="wrap")
    @classmethod
    def _with_profile(cls, values: object, make: ModelWrapValidatorHandler[Self]) -> Self:
        return laid_under(values, profile_of(values), make)

    @property
    def said(self) -> frozenset[str]:
        """The fields that are set explicitly or by the host preset."""
        return frozenset(self.model_fields_set | self._by_host)

    @property
    def overhead_bytes(self) -> int:
        """Bytes on the wire around the payload; also the size of a bare ACK. SYNs and SACKs add options."""
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
        """Return this transport with the fields that `other` sets.

        A host preset in `other` also resets the fields that this transport's preset has set.
        """
        if other is None:
            return self
        left = self._by_host - self.model_fields_set if other.host else set()
        usual = {name: declared(type(self))[name].get_default() for name in left}
        return self.model_copy(update=usual | {name: getattr(other, name) for name in other.said})


HEADERS_BYTES = Tcp.model_construct().overhead_bytes
"""Default bytes on the wire around the payload: Ethernet, IPv4 and TCP with timestamps."""
