"""Profiles of hosts: what `tcp.host` says, as values of other keys of `tcp`.

A key that is given beside it takes their place.
"""

from collections.abc import Mapping

PROFILES: Mapping[str, Mapping[str, object]] = {
    # Its own defaults: Linux with buffers that are never in the way, as in the guest of the Linux engine.
    "linux": {},
    # Linux 7.2 as it ships (tcp_init): buffers that tune themselves on both sides.
    "linux-defaults": {
        "receive_memory": "128 KiB",
        "receive_memory_most": "32 MiB",
        "send_memory": "16 KiB",
        "send_memory_most": "4 MiB",
    },
    # ns-3 (TcpSocketBase, TcpPrrRecovery): duplicates, a long timeout, a reduction of its own, nothing taken
    # back, and no offloads; an application that writes segments is never the limit.
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
    """What the host sets of a transport that says `values`."""
    host = values.get("host") if isinstance(values, Mapping) else None
    return PROFILES.get(host, {}) if isinstance(host, str) else {}
