"""Ethernet, IPv4 and TCP, UDP or ICMP headers of a captured packet.

Layouts: RFC 791, 9293, 7323, 2018, 3168 and 9768; 768; 792."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ETHERNET_BYTES = 14
SNAP_BYTES = 128
"""What is captured of a packet at most: any header fits."""

_SHIFT = 14
"""Window scale, the largest one allowed, because windows in a simulation may be of any size."""
_FIN, _SYN, _RST, _PSH, _ACK, _URG, _ECE, _CWR = (1 << bit for bit in range(8))
_AE = 1 << 8
_ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_SENDER_NET, _RECEIVER_NET = 10 << 24, (10 << 24) + (1 << 23)
_FROM_SENDER = ("syn", "handshake_ack", "data", "datagram")
"""Kinds of packets that senders of data send, in runs that do not say it."""
_PORTS = (49_152, 5_201)
_TTL = 64
_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}


@dataclass(frozen=True)
class Flow:
    """What the headers of a flow have in common; `number` gives addresses, from 10.0.0.1 and 10.128.0.1."""

    number: int
    mss_bytes: int
    timestamps: bool
    ecn: bool | Literal["accecn"]
    protocol: Literal["tcp", "udp", "icmp"] = "tcp"


def frame(row: Mapping[str, Any], flow: Flow) -> tuple[bytes, int]:
    """The headers of a row of `packets`, and the length of the packet on the wire with its payload.

    Args:
        row: With the `identity` that its packet has in the header of IP.
        flow: What the headers of its flow have in common.
    """
    from_sender = _is_from_sender(row)
    protocol = _PROTOCOLS[flow.protocol]
    source, target = _SENDER_NET + flow.number + 1, _RECEIVER_NET + flow.number + 1
    if not from_sender:
        source, target = target, source
    pseudo = struct.pack("!IIBB", source, target, 0, protocol)
    inner = {"tcp": _tcp, "udp": _udp, "icmp": _icmp}[flow.protocol](row, flow, pseudo)
    length = 20 + len(inner) + row["len"]
    fields = (0x45, _ECN[row["ecn"]], length, row["identity"], 0x4000, _TTL, protocol, 0, source, target)
    ip = struct.pack("!BBHHHBBHII", *fields)
    ip = ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:]
    ethernet = _mac(target) + _mac(source) + b"\x08\x00"
    return ethernet + ip + inner, ETHERNET_BYTES + length


def _ports(row: Mapping[str, Any]) -> tuple[int, int]:
    """Every connection of a flow has one of its own at the flow's sender."""
    first, other = _PORTS
    return first + ((row.get("connection") or 1) - 1) % (2**16 - first), other


def _is_from_sender(row: Mapping[str, Any]) -> bool:
    source = row.get("source")
    return source == "sender" if source else row["kind"] in _FROM_SENDER


def _udp(row: Mapping[str, Any], flow: Flow, pseudo: bytes) -> bytes:
    ports = _PORTS if row["kind"] == "datagram" else _PORTS[::-1]
    length = 8 + row["len"]
    sum_over = pseudo + struct.pack("!H", length) + struct.pack("!HHHH", *ports, length, 0)
    return struct.pack("!HHHH", *ports, length, _checksum(sum_over) or 0xFFFF)


def _icmp(row: Mapping[str, Any], flow: Flow, pseudo: bytes) -> bytes:
    """An echo request or reply; its identifier is the number of the flow."""
    kind = 8 if row["kind"] == "datagram" else 0
    rest = struct.pack("!HH", flow.number & 0xFFFF, row["seq"] & 0xFFFF)
    return struct.pack("!BBH", kind, 0, _checksum(struct.pack("!BBH", kind, 0, 0) + rest)) + rest


def _tcp(row: Mapping[str, Any], flow: Flow, pseudo: bytes) -> bytes:
    header = _tcp_header(row, flow)
    summed = pseudo + struct.pack("!H", len(header) + row["len"]) + header
    return header[:16] + struct.pack("!H", _checksum(summed)) + header[18:]


def _tcp_header(row: Mapping[str, Any], flow: Flow) -> bytes:
    """A TCP header with an empty checksum. The SYN takes number 0, so the first byte of payload is 1."""
    from_sender, ports = _is_from_sender(row), _ports(row)
    kind, flags = row["kind"], row["flags"].split()
    sequence = (0 if kind in ("syn", "syn_ack") else row["seq"] + 1) & 0xFFFFFFFF
    acknowledged = (0 if kind == "syn" else row["ack"] + 1) & 0xFFFFFFFF
    bits = {"syn": _SYN, "syn_ack": _SYN | _ACK}.get(kind, _ACK)
    for name, bit in {"psh": _PSH, "ece": _ECE, "cwr": _CWR, "fin": _FIN}.items():
        bits |= bit if name in flags else 0
    if flow.ecn is True:
        bits |= {"syn": _ECE | _CWR, "syn_ack": _ECE}.get(kind, 0)
    elif flow.ecn:
        bits = bits & ~(_ECE | _CWR) | _accurate(row)
    opening = kind in ("syn", "syn_ack")
    window = row["window"] if opening else row["window"] >> _SHIFT
    if from_sender and not row["window"]:
        window = 0xFFFF  # one that receives no data says nothing of it
    options = _opening(row, flow) if opening else _stamps(row, flow) + _sacks(row["sacks"])
    source, target = ports if from_sender else ports[::-1]
    offset = (20 + len(options)) // 4 << 4 | bits >> 8
    fields = (source, target, sequence, acknowledged, offset, bits & 0xFF, min(window, 0xFFFF), 0, 0)
    return struct.pack("!HHIIBBHHH", *fields) + options


def _accurate(row: Mapping[str, Any]) -> int:
    """AE, CWR and ECE of AccECN: the handshake, and from then on a counter that begins at 5."""
    opening = {"syn": 7, "syn_ack": 2, "handshake_ack": 2}
    counter = opening.get(row["kind"], (5 + row["ce_count"]) & 7)
    return (_AE if counter & 4 else 0) | (_CWR if counter & 2 else 0) | (_ECE if counter & 1 else 0)


def _opening(row: Mapping[str, Any], flow: Flow) -> bytes:
    """MSS, SACK permitted, timestamps and window scale, as Linux orders them."""
    segment = struct.pack("!BBH", 2, 4, flow.mss_bytes + 12 * flow.timestamps)
    permitted = b"\x04\x02"
    stamps = _stamps(row, flow)[2:] if flow.timestamps else b"\x01\x01"
    return segment + permitted + stamps + struct.pack("!BBBB", 1, 3, 3, _SHIFT)


def _stamps(row: Mapping[str, Any], flow: Flow) -> bytes:
    if not flow.timestamps:
        return b""
    return struct.pack("!BBBBII", 1, 1, 8, 10, row["ts_val"] & 0xFFFFFFFF, row["ts_ecr"] & 0xFFFFFFFF)


def _sacks(text: str) -> bytes:
    if not text:
        return b""
    edges = [(int(edge) + 1) & 0xFFFFFFFF for block in text.split() for edge in block.split("-")]
    return struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)


def _mac(address: int) -> bytes:
    """Locally administered, from the IPv4 address."""
    return b"\x02\x00" + struct.pack("!I", address)


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
