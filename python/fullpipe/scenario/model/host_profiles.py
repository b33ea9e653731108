"""Host profiles: the values that `tcp.host` gives to other keys of `tcp`.

A key that is set explicitly overrides the profile.
"""

from collections.abc import Mapping

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
    # PRR, no undo, no offloads. A sender whose application writes whole segments is never app-limited.
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
    },
}


def profile_of(values: object) -> Mapping[str, object]:
    """Return the values that the key `host` in `values` gives to other keys of `tcp`."""
    host = values.get("host") if isinstance(values, Mapping) else None
    return PROFILES.get(host, {}) if isinstance(host, str) else {}
