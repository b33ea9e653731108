"""Headers of captured packets, byte by byte."""

from __future__ import annotations

import importlib
import struct
from typing import Any

import polars as pl
import pytest

from fullpipe import Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.analysis.export.headers import Flow, frames
from tests.pcap.made import ACK, CWR, ECE, PSH, SYN, Tcp, opening, sacks, stamps

TCP = {"mss_bytes": 1448, "timestamps": True, "ecn": False}
ROW: dict[str, Any] = {
    "flow": "it",
    "connection": 1,
    "source": "sender",
    "kind": "data",
    "seq": 1000,
    "len": 500,
    "ack": 0,
    "window": 0,
    "sacks": "",
    "ts_val": 7,
    "ts_ecr": 9,
    "ce_count": 0,
    "flags": "",
    "ecn": "not_ect",
    "identity": 3,
}


def inner(row: dict[str, Any], **flow: Any) -> bytes:
    """Return the bytes after the header of IP, with an empty checksum if it is of TCP."""
    table = pl.DataFrame([ROW | row], schema_overrides={"source": pl.String, "ce_count": pl.Int64})
    found = frames(table, {"it": Flow(0, **(TCP | flow))})
    data = found.headers[0, 34 : found.captured_bytes[0]].tobytes()
    assert found.wire_bytes[0] == 34 + len(data) + table["len"][0]
    return data if flow.get("protocol") else data[:16] + bytes(2) + data[18:]


PERMITTED = opening(1448, 14)
STAMPED = opening(1460, 14)[:6] + stamps(7, 9)[2:] + opening(1460, 14)[8:]
BLOCKS = "0-100 200-300 4294967294-4294967295"
EDGES = sacks((1, 101), (201, 301), (4294967295, 0))
AT_RECEIVER = {"source": "receiver", "kind": "ack", "len": 0, "ack": 2**32 + 5, "window": 3 << 14}
FORTH, BACK = (49_152, 5_201), (5_201, 49_152)


def sent(seq: int, ack: int, flags: int, options: bytes, ports: tuple[int, int] = FORTH) -> Tcp:
    """A segment of the sender, which receives no data."""
    return Tcp(seq, ack, flags, window=0xFFFF, options=options, ports=ports)


@pytest.mark.parametrize(
    ("row", "flow", "expected"),
    [
        ({"kind": "syn"}, {}, sent(0, 0, SYN, STAMPED)),
        ({"kind": "syn"}, {"timestamps": False}, sent(0, 0, SYN, PERMITTED)),
        ({"kind": "syn"}, {"ecn": True}, sent(0, 0, SYN | ECE | CWR, STAMPED)),
        (
            {"source": "receiver", "kind": "syn_ack", "window": 70_000, "flags": "psh"},
            {"ecn": True},
            Tcp(0, 1, SYN | ACK | PSH | ECE, window=0xFFFF, options=STAMPED, ports=BACK),
        ),
        ({"source": None}, {}, sent(1001, 1, ACK, stamps(7, 9))),
        ({"connection": 2}, {}, sent(1001, 1, ACK, stamps(7, 9), ports=(49_153, 5_201))),
        ({"connection": 16_385}, {}, sent(1001, 1, ACK, stamps(7, 9))),
        (AT_RECEIVER | {"sacks": BLOCKS}, {}, Tcp(1001, 6, ACK, 0, 3, stamps(7, 9) + EDGES, BACK)),
        (AT_RECEIVER | {"sacks": BLOCKS}, {"timestamps": False}, Tcp(1001, 6, ACK, 0, 3, EDGES, BACK)),
        # Linux runs have no counter of marks for an end that receives no data.
        ({"ce_count": None}, {"ecn": "accecn"}, sent(1001, 1, 0x100 | ACK | ECE, stamps(7, 9))),
    ],
)
def test_a_header_of_tcp(row: dict[str, Any], flow: dict[str, Any], expected: Tcp) -> None:
    assert inner(row, **flow) == expected.header()


def test_a_udp_checksum_of_zero_is_sent_as_ones() -> None:
    """RFC 768: a checksum of zero means that there is none."""
    addresses = struct.pack("!II", 0x0A000001, 0x0A800001)
    words = struct.unpack("!4H", addresses)
    rest = sum(words) + 17 + 49_152 + 5_201  # and the length, twice
    size = next(size for size in range(8, 65_508) if (rest + 2 * size) % 0xFFFF == 0)
    row = {"kind": "datagram", "len": size - 8}
    assert inner(row, protocol="udp") == struct.pack("!HHHH", 49_152, 5_201, size, 0xFFFF)


def test_batches_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    workloads = [{"kind": "ping", "interval": "50 ms"}, {"kind": "voip"}]
    made = run(
        Scenario(
            name="mixed",
            duration="300 ms",
            topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
            flows=[{"cca": "cubic"}, *({"workload": workload} for workload in workloads)],
            record={"interval": "off", "packets": ["sender", "receiver"]},
        )
    )
    whole = pcapng(made)
    # The function of that name hides the module from a path with dots.
    monkeypatch.setattr(importlib.import_module("fullpipe.analysis.export.packets"), "_BATCH", 50)
    assert pcapng(made) == whole
