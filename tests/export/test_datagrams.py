"""Captured datagrams for other tools."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullpipe import Scenario, run
from fullpipe.analysis.export import pcapng, qlog
from fullpipe.runs import Run


def packets(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Interface, time in nanoseconds, length on the wire and what was captured."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            interface, high, low, captured, size = struct.unpack_from("<IIIII", data, at + 8)
            yield interface, (high << 32) + low, size, data[at + 28 : at + 28 + captured]
        at += length


def ones_sum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.fixture(scope="module")
def mixed() -> Run:
    """A connection, a ping and a call."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"kind": "drop_tail", "packets": 20}}
    return run(
        Scenario(
            name="captured",
            duration="1 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck},
            flows=[
                {"cca": "cubic", "size": "20 kB"},
                {"workload": {"kind": "ping", "interval": "100 ms"}},
                {"workload": {"kind": "voip"}},
            ],
            record={"interval": "50 ms", "packets": ["sender", "receiver"]},
        )
    )


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ("icmp.type == 8 && frame.len == 98", 11 + 10),
        ("icmp.type == 0 && frame.len == 98", 10 + 10),
        ("udp.length == 180 && frame.len == 214", 51 + 49),
        ("_ws.malformed || _ws.expert.severity == error", 0),
    ],
)
def test_tshark_reads_datagrams(mixed: Run, tmp_path: Path, wanted: str, count: int) -> None:
    path = tmp_path / "mixed.pcapng"
    path.write_bytes(pcapng(mixed))
    command = ["tshark", "-r", str(path), "-Y", wanted]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert len(found.splitlines()) == count, found[:500]


@pytest.mark.parametrize(("protocol", "covers"), [(1, b""), (17, b"addresses")])
def test_checksums_hold_with_a_payload_of_zeros(mixed: Run, protocol: int, covers: bytes) -> None:
    mine = [p for p in packets(pcapng(mixed)) if p[3][23] == protocol]
    assert mine
    for _, _, length, headers in mine:
        pseudo = headers[26:34] + struct.pack("!BBH", 0, protocol, length - 34) if covers else b""
        assert ones_sum(pseudo + headers[34:]) == 0xFFFF


def test_qlog_leaves_datagrams_out(mixed: Run) -> None:
    text = qlog(mixed).decode()
    assert '"group_id":"cubic-1"' in text
    assert '"group_id":"ping-1"' not in text
    assert '"group_id":"voip-1"' not in text
