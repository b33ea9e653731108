"""Ethernet, IPv4 and TCP, UDP or ICMP headers of captured packets, built in batches.

Layouts: RFC 791 (IPv4); 9293, 7323, 2018, 3168 and 9768 (TCP); 768 (UDP); 792 (ICMP)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.errors import ResultError

ETHERNET_BYTES = 14
_LONGEST_BYTES = ETHERNET_BYTES + 65_535
SNAP_BYTES = 128
"""Maximum number of bytes that are captured of a packet: any header fits."""
FRAME_BYTES = 96
"""Room for the longest headers, a multiple of 4: headers of TCP with 40 B of options end at 94 B."""

_SHIFT = 14
"""Window scale: the largest one (RFC 7323, section 2.3), because simulated windows may be of any size."""
_FIN, _SYN, _RST, _PSH, _ACK, _URG, _ECE, _CWR = (1 << bit for bit in range(8))
_FLAGS = {"psh": _PSH, "ece": _ECE, "cwr": _CWR, "fin": _FIN}
_ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_SENDER_NET, _RECEIVER_NET = 10 << 24, (10 << 24) + (1 << 23)
_FROM_SENDER = ("syn", "handshake_ack", "data", "datagram")
"""Kinds of packets that the sender of data sends, for runs without the column `source`."""
_PORTS = (49_152, 5_201)
_TTL = 64
_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
_NUMBERS = ("identity", "connection", "seq", "len", "ack", "window", "ts_val", "ts_ecr", "ce_count")
"""Columns in which null counts as 0: the value is null if the packet has no such number."""

_LINK_AND_IP = np.dtype(
    [
        *(("target_prefix", ">u2"), ("target_mac", ">u4"), ("source_prefix", ">u2"), ("source_mac", ">u4")),
        *(("type", ">u2"), ("version", "u1"), ("ecn", "u1"), ("length", ">u2"), ("identity", ">u2")),
        *(("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("checksum", ">u2")),
        *(("source", ">u4"), ("target", ">u4")),
    ]
)
_TCP = np.dtype(
    [
        *(("source", ">u2"), ("target", ">u2"), ("sequence", ">u4"), ("acknowledgement", ">u4")),
        *(("offset_and_flags", ">u2"), ("window", ">u2"), ("checksum", ">u2"), ("urgent", ">u2")),
        ("options", ">u4", (10,)),
    ]
)
_UDP = np.dtype([("source", ">u2"), ("target", ">u2"), ("length", ">u2"), ("checksum", ">u2")])
_ICMP = np.dtype([("type_and_code", ">u2"), ("checksum", ">u2"), ("identifier", ">u2"), ("sequence", ">u2")])
_IP_WORDS = slice(ETHERNET_BYTES // 2, _LINK_AND_IP.itemsize // 2)

# Options as words of 32 bits; the byte 01 is a no-operation.
_MSS = 0x0204_0000  # RFC 9293, section 3.2
_SACK_PERMITTED, _SACK_PERMITTED_AND_STAMPS = 0x0402_0101, 0x0402_080A  # RFC 2018, section 2
_SCALE = 0x0103_0300 | _SHIFT  # RFC 7323, section 2.2
_STAMPS = 0x0101_080A  # RFC 7323, section 3.2
_SACKS = 0x0101_0500  # RFC 2018, section 3

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Headers = npt.NDArray[np.void]


@dataclass(frozen=True)
class Flow:
    """Constants of a flow's headers. `number` selects the addresses of the flow, from 10.0.0.1 and 10.128.0.1
    on."""

    number: int
    mss_bytes: int
    timestamps: bool
    ecn: bool | Literal["accecn"]
    protocol: Literal["tcp", "udp", "icmp"] = "tcp"


class Frames(NamedTuple):
    """Captured packets, one per row."""

    headers: npt.NDArray[np.uint8]
    """Array of shape (n, FRAME_BYTES), padded with zeros."""
    captured_bytes: Ints
    """Length of the headers."""
    wire_bytes: Ints
    """Length on the wire, with the payload."""


@dataclass(frozen=True)
class _Packets:
    """Packets of one protocol."""

    table: pl.DataFrame
    numbers: Mapping[str, Ints]
    """Columns of the table, and the constants of each packet's flow."""
    is_from_sender: Bools
    source: Ints
    """IPv4 address."""
    target: Ints

    def __getitem__(self, name: str) -> Ints:
        return self.numbers[name]

    def is_kind(self, *kinds: str) -> Bools:
        """Return a mask of the packets of these kinds."""
        return self.table["kind"].is_in(kinds).to_numpy()

    def pseudo_sum(self, protocol: str, header_bytes: Ints | int) -> Ints:
        """Return the sum of the pseudo header in TCP and UDP checksums (RFC 9293, section 3.1; RFC 768)."""
        total = header_bytes + self["len"] + _PROTOCOLS[protocol]
        for address in (self.source, self.target):
            total = total + (address >> 16) + (address & 0xFFFF)
        return total


def frames(packets: pl.DataFrame, flows: Mapping[str, Flow]) -> Frames:
    """Build the headers of rows of `packets`, and return them with the lengths of the packets.

    Args:
        packets: Rows of the table, with a column `identity` for the IP header.
        flows: Constants of the headers of every flow, by name.
    """
    table = packets.join(_table(flows), on="flow", how="left", maintain_order="left")
    found = Frames(
        np.zeros((table.height, FRAME_BYTES), np.uint8),
        np.zeros(table.height, np.int64),
        np.zeros(table.height, np.int64),
    )
    for protocol, build in (("tcp", _tcp), ("udp", _udp), ("icmp", _icmp)):
        chosen = (table["protocol"] == protocol).arg_true().to_numpy()
        if chosen.size:
            part = _packets(table if chosen.size == table.height else table[chosen])
            inner, inner_bytes = build(part)
            outer = _link_and_ip(part, protocol, inner_bytes)
            both = (_bytes(outer), _bytes(inner))
            width = _LINK_AND_IP.itemsize + inner.itemsize
            found.headers[chosen, :width] = np.concatenate(both, axis=1)
            found.captured_bytes[chosen] = _LINK_AND_IP.itemsize + inner_bytes
            found.wire_bytes[chosen] = _LINK_AND_IP.itemsize + inner_bytes + part["len"]
    if not found.captured_bytes.all():
        raise ResultError(
            "a flow of the captured packets is not in the scenario, so its packets cannot be exported"
        )
    if (longest := int(found.wire_bytes.max(initial=0))) > _LONGEST_BYTES:
        raise ResultError(f"a packet has {longest:,} bytes; IPv4 allows {_LONGEST_BYTES:,} at most")
    return found


def _table(flows: Mapping[str, Flow]) -> pl.DataFrame:
    """Return one row per flow."""
    known = flows.values()
    return pl.DataFrame(
        {
            "flow": list(flows),
            "protocol": [flow.protocol for flow in known],
            "number": [flow.number for flow in known],
            "mss": [flow.mss_bytes + 12 * flow.timestamps for flow in known],
            "timestamps": [int(flow.timestamps) for flow in known],
            "classic_ecn": [int(flow.ecn is True) for flow in known],
            "accurate_ecn": [int(flow.ecn == "accecn") for flow in known],
        }
    )


def _packets(table: pl.DataFrame) -> _Packets:
    flags = {text: sum(_FLAGS.get(name, 0) for name in text.split()) for text in table["flags"].unique()}
    columns = table.select(
        pl.col(*_NUMBERS).cast(pl.Int64).fill_null(0),
        pl.col("number", "mss", "timestamps", "classic_ecn", "accurate_ecn"),
        pl.col("ecn").replace_strict(_ECN, return_dtype=pl.Int64),
        pl.col("flags").replace_strict(flags, return_dtype=pl.Int64),
        pl.when(pl.col("source").fill_null("") != "")
        .then(pl.col("source") == "sender")
        .otherwise(pl.col("kind").is_in(_FROM_SENDER))
        .alias("is_from_sender"),
    )
    numbers = {column.name: column.to_numpy() for column in columns.drop("is_from_sender")}
    is_from_sender = columns["is_from_sender"].to_numpy()
    ends = (_SENDER_NET + numbers["number"] + 1, _RECEIVER_NET + numbers["number"] + 1)
    return _Packets(table, numbers, is_from_sender, *_directed(is_from_sender, *ends))


def _link_and_ip(packets: _Packets, protocol: str, inner_bytes: Ints) -> Headers:
    """Build Ethernet and IPv4 headers (RFC 791, section 3.1); MAC addresses are locally administered."""
    header = np.zeros(packets.source.size, _LINK_AND_IP)
    header["target_prefix"] = header["source_prefix"] = 0x0200
    header["target_mac"] = header["target"] = packets.target
    header["source_mac"] = header["source"] = packets.source
    header["type"], header["version"], header["fragment"], header["ttl"] = 0x0800, 0x45, 0x4000, _TTL
    header["ecn"] = packets["ecn"]
    header["length"] = 20 + inner_bytes + packets["len"]
    header["identity"] = packets["identity"]
    header["protocol"] = _PROTOCOLS[protocol]
    header["checksum"] = _checksum(_words(header)[:, _IP_WORDS])
    return header


def _udp(packets: _Packets) -> tuple[Headers, Ints]:
    header = np.zeros(packets.source.size, _UDP)
    header["source"], header["target"] = _directed(packets.is_kind("datagram"), *_PORTS)
    header["length"] = _UDP.itemsize + packets["len"]
    checksum = _checksum(_words(header), packets.pseudo_sum("udp", _UDP.itemsize))
    header["checksum"] = np.where(checksum == 0, 0xFFFF, checksum)  # RFC 768: 0 means no checksum
    return header, np.full(header.size, _UDP.itemsize)


def _icmp(packets: _Packets) -> tuple[Headers, Ints]:
    """Build echo requests and replies (RFC 792); the identifier is the number of the flow."""
    header = np.zeros(packets.source.size, _ICMP)
    header["type_and_code"] = np.where(packets.is_kind("datagram"), 8 << 8, 0)
    header["identifier"], header["sequence"] = packets["number"] & 0xFFFF, packets["seq"] & 0xFFFF
    header["checksum"] = _checksum(_words(header))
    return header, np.full(header.size, _ICMP.itemsize)


def _tcp(packets: _Packets) -> tuple[Headers, Ints]:
    """Build TCP headers, and return them with their lengths.

    The SYN has sequence number 0, so the first byte of payload has sequence number 1.
    """
    header = np.zeros(packets.source.size, _TCP)
    is_syn, is_opening = packets.is_kind("syn"), packets.is_kind("syn", "syn_ack")
    first, other = _PORTS
    # Every connection of a flow has a different port at the flow's sender.
    ports = first + (np.maximum(packets["connection"], 1) - 1) % (2**16 - first)
    header["source"], header["target"] = _directed(packets.is_from_sender, ports, other)
    header["sequence"] = np.where(is_opening, 0, packets["seq"] + 1) & 0xFFFFFFFF
    header["acknowledgement"] = np.where(is_syn, 0, packets["ack"] + 1) & 0xFFFFFFFF
    option_words = _options(header["options"], packets, is_opening)
    header["offset_and_flags"] = (5 + option_words) << 12 | _flag_bits(packets, is_syn, is_opening)
    header["window"] = _window(packets, is_opening)
    lengths = 20 + 4 * option_words
    header["checksum"] = _checksum(_words(header), packets.pseudo_sum("tcp", lengths))
    return header, lengths


def _flag_bits(packets: _Packets, is_syn: Bools, is_opening: Bools) -> Ints:
    bits = packets["flags"] | np.where(is_syn, 0, _ACK) | np.where(is_opening, _SYN, 0)
    # RFC 3168, section 6.1.1: ECE and CWR on the SYN, ECE alone on the SYN-ACK.
    agreed = np.where(is_syn, _ECE | _CWR, np.where(is_opening, _ECE, 0))
    bits |= np.where(packets["classic_ecn"] != 0, agreed, 0)
    counted = bits & ~(_ECE | _CWR) | _accurate(packets, is_syn)
    return np.where(packets["accurate_ecn"] != 0, counted, bits)


def _accurate(packets: _Packets, is_syn: Bools) -> Ints:
    """Return AE, CWR and ECE of AccECN: fixed values in the handshake, then a counter of CE marks that starts
    at 5."""
    counter = (5 + packets["ce_count"]) & 7  # RFC 9768, sections 3.2.1 and 3.2.2
    counter = np.where(is_syn, 7, counter)  # RFC 9768, section 3.1.1
    counter = np.where(packets.is_kind("syn_ack", "handshake_ack"), 2, counter)
    return counter * _ECE  # AE, CWR and ECE side by side (RFC 9768, section 3.2)


def _window(packets: _Packets, is_opening: Bools) -> Ints:
    """Return the window field, unscaled in a SYN or SYN-ACK (RFC 7323, section 2.2)."""
    window = np.where(is_opening, packets["window"], packets["window"] >> _SHIFT)
    # The table `packets` has no receive window for an end that receives no data.
    is_silent = packets.is_from_sender & (packets["window"] == 0)
    return np.where(is_silent, 0xFFFF, np.minimum(window, 0xFFFF))


def _options(words: npt.NDArray[np.uint32], packets: _Packets, is_opening: Bools) -> Ints:
    """Fill in the options as words, and return how many words each header has."""
    is_stamped = packets["timestamps"] != 0
    counts = np.where(is_stamped, 3, 0)
    _put(words, is_stamped & ~is_opening, _STAMPS, packets["ts_val"], packets["ts_ecr"])
    # MSS, SACK permitted, timestamps and window scale, as Linux orders them.
    opening = (_SACK_PERMITTED_AND_STAMPS, packets["ts_val"], packets["ts_ecr"], _SCALE)
    for chosen, more in (
        (is_opening & is_stamped, opening),
        (is_opening & ~is_stamped, (_SACK_PERMITTED, _SCALE)),
    ):
        _put(words, chosen, _MSS | packets["mss"], *more)
        counts[chosen] = 1 + len(more)
    return counts + _sacks(words, packets, is_opening, counts)


def _put(words: npt.NDArray[np.uint32], chosen: Bools, *values: Ints | int) -> None:
    """Write words into the chosen rows, beginning at the first option word."""
    rows = np.flatnonzero(chosen)
    for place, value in enumerate(values):
        words[rows, place] = (value if isinstance(value, int) else value[rows]) & 0xFFFFFFFF


def _sacks(words: npt.NDArray[np.uint32], packets: _Packets, is_opening: Bools, begins: Ints) -> Ints:
    """Fill in selective acknowledgements (RFC 2018, section 3), and return how many words each header has."""
    counts = np.zeros(begins.size, np.int64)
    texts = packets.table["sacks"].fill_null("")
    rows = np.flatnonzero((texts != "").to_numpy() & ~is_opening)
    if rows.size:
        edges = texts[rows].str.replace_all("-", " ", literal=True).str.split(" ")
        edge_counts = edges.list.len().cast(pl.Int64).to_numpy()
        words[rows, begins[rows]] = _SACKS | (2 + 4 * edge_counts)
        ends = np.cumsum(edge_counts)
        places = np.arange(ends[-1]) - np.repeat(ends - edge_counts, edge_counts)
        numbers = edges.explode().cast(pl.Int64).to_numpy()
        places += np.repeat(begins[rows] + 1, edge_counts)
        words[np.repeat(rows, edge_counts), places] = (numbers + 1) & 0xFFFFFFFF
        counts[rows] = 1 + edge_counts
    return counts


def _directed(is_forward: Bools, one: Ints | int, other: Ints | int) -> tuple[Ints, Ints]:
    """Return source and target: `one` and `other` for forward packets, swapped for all other packets."""
    return np.where(is_forward, one, other), np.where(is_forward, other, one)


def _bytes(headers: Headers) -> npt.NDArray[np.uint8]:
    return headers.view(np.uint8).reshape(headers.size, -1)


def _words(headers: Headers) -> npt.NDArray[Any]:
    """View headers as words of 16 bits, shape (n, words)."""
    return headers.view(">u2").reshape(headers.size, -1)


def _checksum(words: npt.NDArray[Any], more: Ints | int = 0) -> Ints:
    """Return the Internet checksum (RFC 1071, section 1) of each row, with `more` added to its sum."""
    total: Ints = words.sum(axis=1, dtype=np.int64) + more
    for _ in range(2):  # the second pass adds the carry of the first
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
