"""Transport options of a host (table `tcp`), and named profiles of hosts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import ModelWrapValidatorHandler, model_validator

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, fields_by_key, laid_under
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.model.registered import registered

# Host profiles: `tcp.host` selects a profile, which sets other keys of `tcp`. Explicit keys override the
# profile.


PROFILES: Mapping[str, Mapping[str, object]] = {
    # The model's defaults: Linux with buffers that never limit, as in the guest of the Linux engine.
    "linux": {},
    # Linux 7.2 as it ships (tcp_init): autotuned buffers on both sides.
    "linux-defaults": {
        "receive_memory": "128 KiB",
        "receive_memory_most": "32 MiB",
        "send_memory": "16 KiB",
        "send_memory_most": "4 MiB",
    },
    # ns-3 (TcpSocketBase, TcpPrrRecovery): loss detection by duplicate ACKs, RTO of at least 1 s, its own
    # PRR, no undo, no offloads, exact timers. In ns-3, a sender whose application writes whole segments is
    # never application-limited.
    "ns3-like": {
        "loss_detection": "dupack",
        "min_rto": "1 s",
        "tail_loss_probe": False,
        "sack_compression": False,
        "ack_every": 2,
        "max_burst": "off",
        "undo": False,
        "full_send_buffer": "network_limited",
        "idle_application": "network_limited",
        "prr": "ns3",
        "timer_tick": "0 s",
    },
}


def profile_of(values: object) -> Mapping[str, object]:
    """Return the values that the key `host` in `values` gives to other keys of `tcp`."""
    host = values.get("host") if isinstance(values, Mapping) else None
    return PROFILES.get(host, {}) if isinstance(host, str) else {}


# The transport: TCP options of the kernel and offloads of the network card, without congestion control.


IP_AND_TCP_HEADERS_BYTES = 40
TIMESTAMPS_BYTES = 12
DEFAULT_MSS_BYTES = 536
"""MSS over IPv4 if the peer announces none (RFC 9293, section 3.7.1)."""
RECEIVE_MEMORY_BYTES = 16 * 2**20
SEND_MEMORY_BYTES = 64 * 2**10
"""Initial memory of a receiving and of a sending socket if the scenario gives none."""

TRANSPORT = catalogue.family("transport")["tcp"]
"""Options of the transport, as the simulator declares them."""
MOST_MSS_BYTES = int(TRANSPORT.params["mss"].max or 0)
"""Largest MSS, as in jumbo frames."""


@registered(TRANSPORT)
class Tcp(Model):
    """The transport of a flow. Defaults are Linux on Ethernet: 1514 B per full segment, 66 B per bare ACK."""

    host: Literal["linux", "linux-defaults", "ns3-like"] | None = None
    """Preset of other keys of this table; explicit keys override it. "linux": the defaults, with buffers that
    never limit. "linux-defaults": the autotuned buffers that Linux 7.2 ships. "ns3-like": loss detection,
    window reduction, timeouts and ACKs as in ns-3. Left out: "linux"."""

    if TYPE_CHECKING:  # the other keys are declared in crates/tcp/src/options.rs
        mss_bytes: ClassVar[int]
        link_overhead_bytes: ClassVar[int]
        timestamps: ClassVar[bool]

        def __getattr__(self, name: str) -> Any: ...

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
        """Bytes on the wire around the payload, which is also the size of a bare ACK. Options of SYNs and
        SACK blocks are not included."""
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

        A host preset in `other` also resets the fields that the preset of this transport has set.
        """
        if other is None:
            return self
        left = self._by_host - self.model_fields_set if other.host else set()
        usual = {name: declared(type(self))[name].get_default() for name in left}
        return self.model_copy(update=usual | {name: getattr(other, name) for name in other.said})


HEADERS_BYTES = Tcp.model_construct().overhead_bytes
"""Default bytes on the wire around the payload: Ethernet, IPv4 and TCP with timestamps."""
