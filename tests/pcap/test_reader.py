"""The reader of captures, on files made byte by byte: every format, every link layer, every version of IP."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullpipe.engines.pcap import Capture, read, read_run
from fullpipe.engines.pcap.connections import NO_ACK
from tests.pcap.made import (
    ACK,
    CLIENT,
    SERVER,
    SYN,
    V6,
    Record,
    Tcp,
    acknowledged,
    block,
    ethernet,
    interface,
    ip4,
    ip6,
    opening,
    option,
    packet,
    pcap,
    pcapng,
    record,
    sacks,
    section,
    stamps,
    swapped,
    written,
)

BACK = (SERVER, CLIENT)
ISN, OTHER = 4_294_966_000, 77
SEGMENTS = [
    (0.00, Tcp(ISN, 0, SYN, options=opening()), False),
    (0.01, Tcp(OTHER, ISN + 1, SYN | ACK, window=500, options=opening(1400, 9)), True),
    (0.02, Tcp(ISN + 1, OTHER + 1), False),
    (0.03, Tcp(ISN + 1, OTHER + 1, payload=1000, options=stamps(5, 4)), False),
    (0.04, Tcp(ISN + 1001, OTHER + 1, payload=1000, options=stamps(6, 4)), False),
    (0.05, Tcp(OTHER + 1, ISN + 1, options=stamps(7, 5) + sacks((ISN + 1001, ISN + 2001))), True),
    (0.06, Tcp(OTHER + 1, ISN + 2001, window=3), True),
]
"""A connection whose numbers wrap."""


def records(frame: Callable[[bytes], bytes] = ethernet, start_s: float = 1.7e9) -> list[Record]:
    found = []
    for time_s, segment, is_back in SEGMENTS:
        one = swapped(segment) if is_back else segment
        found.append(
            record(start_s + time_s, frame(ip4(one, BACK if is_back else (CLIENT, SERVER))), segment.payload)
        )
    return found


def check(capture: Capture, tolerance_s: float = 1e-6) -> None:
    (connection,) = capture.connections
    assert connection.ends == (f"{CLIENT}.40000", f"{SERVER}.5201")
    client, server = connection.sent
    assert client.seq.tolist() == [-1, 0, 0, 1000]
    assert client.payload.tolist() == [0, 0, 1000, 1000]
    assert client.ack.tolist() == [NO_ACK, 0, 0, 0]
    assert client.time_s == pytest.approx([0, 0.02, 0.03, 0.04], abs=tolerance_s)
    assert client.ts_val.tolist() == [-1, -1, 5, 6]
    assert server.ack.tolist() == [0, 0, 2000]
    assert server.ts_ecr.tolist() == [-1, 5, -1]
    assert server.window_bytes.tolist() == [500, 1000 << 9, 3 << 9]
    assert (server.sack_row.tolist(), server.sack_left.tolist(), server.sack_right.tolist()) == (
        [1],
        [1000],
        [2000],
    )
    assert (client.mss_bytes, server.mss_bytes, client.scale, server.scale) == (1460, 1400, 7, 9)
    assert client.sack_permitted
    assert server.sack_permitted
    assert (capture.packets, capture.segments, capture.damage) == (7, 7, "")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("unit_ns", [1, 1_000])
def test_either_byte_order_and_unit_of_pcap(tmp_path: Path, order: str, unit_ns: int) -> None:
    check(read(written(tmp_path, pcap(records(), order=order, unit_ns=unit_ns))))


@pytest.mark.parametrize("order", ["<", ">"])
def test_either_byte_order_of_pcapng(tmp_path: Path, order: str) -> None:
    check(read(written(tmp_path, pcapng(records(), order=order))))


@pytest.mark.parametrize(
    ("link_type", "frame"),
    [
        (1, ethernet),
        (1, lambda ip: ethernet(ip, tags=[0x8100])),
        (1, lambda ip: ethernet(ip, tags=[0x88A8, 0x8100])),
        (1, lambda ip: ethernet(struct.pack("!BBHHH", 0x11, 0, 9, 0, 0x0021) + ip, 0x8864)),
        (113, lambda ip: b"\0" * 14 + b"\x08\x00" + ip),
        (276, lambda ip: b"\x08\x00\0\0" + b"\0\0\0\x03" + b"\0" * 12 + ip),
        (0, lambda ip: b"\x02\0\0\0" + ip),
        (108, lambda ip: b"\0\0\0\x02" + ip),
        (101, lambda ip: ip),
        (228, lambda ip: ip),
        (12, lambda ip: ip),
    ],
)
def test_every_link_layer(tmp_path: Path, link_type: int, frame: Callable[[bytes], bytes]) -> None:
    check(read(written(tmp_path, pcap(records(frame), link_type))))


@pytest.mark.parametrize(
    ("resolution", "per_s"),
    [(None, 10**6), (9, 10**9), (3, 10**3), (6, 10**6), (0x80 | 20, 2**20), (0x80 | 32, 2**32), (12, 10**12)],
)
def test_resolutions_of_pcapng(tmp_path: Path, resolution: int | None, per_s: int) -> None:
    options = b"" if resolution is None else option(9, bytes([resolution]))
    start_s = 1e6 if per_s > 10**10 or per_s == 2**32 else 1.7e9  # 64 bits hold no later picoseconds
    body = b"".join(packet(one, per_s=per_s) for one in records(start_s=start_s))
    check(read(written(tmp_path, section() + interface(options=options) + body)), 1.1 / per_s + 2e-7)


def test_an_offset_of_times(tmp_path: Path) -> None:
    options = option(14, struct.pack("<q", 1_000_000_000))
    capture = read(
        written(
            tmp_path, section() + interface(options=options) + b"".join(map(packet, records(start_s=7e8)))
        )
    )
    check(capture)
    assert capture.began_ns == 1_700_000_000 * 10**9


def test_sections_of_either_order_and_blocks_that_are_not_read(tmp_path: Path) -> None:
    first, second = records()[:3], records()[3:]
    other = block(0x0BAD, b"\0" * 5_000_000, ">")
    check(read(written(tmp_path, pcapng(first, order=">") + other + pcapng(second, order="<"))))


def test_packet_blocks_of_old(tmp_path: Path) -> None:
    body = b""
    for one in records():
        ticks = one.time_ns // 1000
        fields = struct.pack("<HHIIII", 0, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(one.data), one.length)
        body += block(2, fields + one.data + bytes(-len(one.data) % 4))
    check(read(written(tmp_path, section() + interface() + body)))


def of_ip6(tmp_path: Path, extensions: list[tuple[int, bytes]], jumbo: bool = False) -> Capture:
    segment = Tcp(1, payload=90_000 if jumbo else 1200)
    frame = ethernet(ip6(segment, extensions, jumbo), V6)
    return read(written(tmp_path, pcap([record(0, frame, segment.payload)])))


@pytest.mark.parametrize(
    "extensions",
    [
        [],
        [(0, b"\0\0" + b"\0" * 6)],
        [(0, b"\0\1" + b"\0" * 14), (43, b"\0\0" + b"\0" * 6), (60, b"\0\0" + b"\0" * 6)],
        [(44, b"\0" * 8)],
        [(51, b"\0\4" + b"\0" * 22)],
    ],
)
def test_extension_headers_of_ip6(tmp_path: Path, extensions: list[tuple[int, bytes]]) -> None:
    (connection,) = of_ip6(tmp_path, extensions).connections
    assert connection.ends == ("2001:db8::1.40000", "2001:db8::2.5201")
    assert connection.sent[0].payload.tolist() == [1200]
    assert connection.sent[0].ecn.tolist() == [2]


def test_a_super_packet_whose_length_ip_cannot_say(tmp_path: Path) -> None:
    assert of_ip6(tmp_path, [], jumbo=True).connections[0].sent[0].payload.tolist() == [90_000]
    segment = Tcp(1, payload=100_000)
    data = pcap([record(0, ethernet(ip4(segment, total=0)), segment.payload)])
    assert read(written(tmp_path, data)).connections[0].sent[0].payload.tolist() == [100_000]


def test_payload_that_its_frame_cannot_hold_does_not_count(tmp_path: Path) -> None:
    sent = acknowledged(0.1 + 0.05 * n for n in range(20))
    cut = record(0.1001, ethernet(ip4(Tcp(1001, 5001), total=1040)))
    made = read_run(written(tmp_path, pcap(sorted([*sent, cut], key=lambda one: one.time_ns))))
    assert made.flows["retransmitted_packets"].to_list() == [0]
    assert any("1 with lengths that contradict each other" in remark for remark in made.meta.remarks)


def test_padding_of_ethernet_is_no_payload(tmp_path: Path) -> None:
    short = record(0, ethernet(ip4(Tcp(1, payload=0))) + b"\0" * 6)
    data = pcap([short, record(1, ethernet(ip4(Tcp(1, payload=10))), 10)])
    assert read(written(tmp_path, data)).connections[0].sent[0].payload.tolist() == [0, 10]


def test_marks_of_ecn(tmp_path: Path) -> None:
    data = pcap([record(n, ethernet(ip4(Tcp(1 + n, payload=1), tos=n)), 1) for n in range(4)])
    assert read(written(tmp_path, data)).connections[0].sent[0].ecn.tolist() == [0, 1, 2, 3]


def test_what_two_interfaces_saw_is_counted_once(tmp_path: Path) -> None:
    near, far = records(), records(start_s=1.7e9 + 0.005)
    far = [Record(one.time_ns, one.data, one.length, 1) for one in far]
    both = sorted(near + far, key=lambda one: one.time_ns)
    capture = read(written(tmp_path, section() + interface() + interface() + b"".join(map(packet, both))))
    (connection,) = capture.connections
    assert (connection.views, connection.interface) == (2, 0)
    assert connection.sent[0].seq.tolist() == [-1, 0, 0, 1000]


def test_a_packet_that_one_interface_has_twice(tmp_path: Path) -> None:
    twice = [
        record(time_s, ethernet(ip4(Tcp(1, payload=100), identity=identity)), 100)
        for time_s, identity in ((0, 9), (0.0001, 9), (0.2, 10))
    ]
    (connection,) = read(written(tmp_path, pcap(twice))).connections
    assert connection.twice == 1
    assert connection.sent[0].time_s == pytest.approx([0, 0.2])


def test_ends_that_open_a_connection_anew(tmp_path: Path) -> None:
    made = [
        record(at, ethernet(ip4(Tcp(isn + n, flags=flags, payload=payload))), payload)
        for at, isn in ((0, 1000), (5, 900_000_000))
        for n, flags, payload in ((0, SYN, 0), (1, ACK, 100))
    ]
    capture = read(written(tmp_path, pcap(made)))
    assert [connection.sent[0].seq.tolist() for connection in capture.connections] == [[-1, 0], [-1, 0]]


def test_a_clock_that_was_set_back(tmp_path: Path) -> None:
    times_s = [100, 101, 50, 51]
    made = [record(at, ethernet(ip4(Tcp(1 + n, payload=1))), 1) for n, at in enumerate(times_s)]
    capture = read(written(tmp_path, pcap(made)))
    assert capture.set_back_s.tolist() == [51]
    assert capture.connections[0].sent[0].time_s == pytest.approx([0, 1, 1, 2])


def test_records_that_are_a_little_out_of_order(tmp_path: Path) -> None:
    made = [record(at, ethernet(ip4(Tcp(seq, payload=1))), 1) for at, seq in ((1, 1), (1.2, 3), (1.1, 2))]
    capture = read(written(tmp_path, pcap(made)))
    assert np.diff(capture.connections[0].sent[0].seq).tolist() == [1, 1]


def test_without_a_handshake_windows_are_not_known(tmp_path: Path) -> None:
    made = [record(0, ethernet(ip4(Tcp(500, 9, payload=10, options=stamps(1, 1)))), 10)]
    sent = read(written(tmp_path, pcap(made))).connections[0].sent[0]
    assert sent.window_bytes.tolist() == [-1]
    assert sent.seq.tolist() == [0]
    assert sent.mss_bytes is None
