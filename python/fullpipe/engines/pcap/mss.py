"""The payload of a full segment: from the handshake, or a guess from the sizes of segments."""

import numpy as np

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import Connection
from fullpipe.engines.pcap.headers import NONE, SYN
from fullpipe.scenario.model.tcp import DEFAULT_MSS_BYTES, IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES

_ETHERNET, _JUMBO, _LEAST_MTU = 1_500, 9_000, 1_280
"""MTUs: the usual ones, and the smallest of IPv6 (RFC 8200, section 5)."""
_IP6_MORE_BYTES = 20
"""Bytes by which the IPv6 header is larger than that of IPv4 (RFC 8200, section 3)."""
_MOST_SEEN = 16
"""Most captured sizes that are tried, those with the most payload; it limits the work."""


def announced_mss(connection: Connection) -> int | None:
    """Return the MSS that the handshake allows, without options, or None if it was not captured."""
    said = [one.mss_bytes for one in connection.sent if one.mss_bytes]
    options = _options_bytes(connection)
    return min(said) - options if said and min(said) > options else None


def mss_of(connection: Connection, sender: int) -> int:
    """Return the payload of a full segment of a direction, without options."""
    payload = connection.sent[sender].payload
    said = announced_mss(connection)
    if said is not None or not payload.any():
        return said or DEFAULT_MSS_BYTES
    ip_bytes = IP_AND_TCP_HEADERS_BYTES + (_IP6_MORE_BYTES if ":" in connection.ends[0] else 0)
    return _guessed(payload[payload > 0], ip_bytes + _options_bytes(connection))


def _options_bytes(connection: Connection) -> int:
    """Return the bytes of options in a full segment. Timestamps offered in a SYN can be declined."""
    stamped = any(((one.ts_val != NONE) & ((one.flags & SYN) == 0)).any() for one in connection.sent)
    return TIMESTAMPS_BYTES if stamped else 0


def _guessed(sizes: Ints, headers_bytes: int) -> int:
    """Guess the MSS from the sizes that carry most of the payload.

    A packet that fits into an Ethernet frame is one segment. A larger one is a jumbo frame or a super-packet
    of whole segments. The MSS is then the size that divides the sizes of most of the payload. Usual sizes are
    tried first and win ties. If none fits, as on loopback, it is the size that carries the most payload.
    """
    values, counts = np.unique(sizes, return_counts=True)
    bytes_ = values * counts
    ethernet, jumbo, least = (mtu - headers_bytes for mtu in (_ETHERNET, _JUMBO, _LEAST_MTU))
    is_single = values <= ethernet
    if 2 * bytes_[is_single].sum() >= bytes_.sum():
        return int(values[is_single][np.argmax(bytes_[is_single])])
    by_bytes = np.argsort(-bytes_, kind="stable")
    seen = values[by_bytes][(values > ethernet)[by_bytes] & (values < _JUMBO)[by_bytes]]
    tried = [jumbo, *range(ethernet, least - 1, -1), *sorted(seen[:_MOST_SEEN].tolist(), reverse=True)]
    whole = [int(bytes_[values % mss == 0].sum()) for mss in tried]
    best = int(np.argmax(whole))
    return tried[best] if 2 * whole[best] > bytes_.sum() else int(values[by_bytes[0]])
