"""Runs for other tools, read back with a reader of our own, and with tshark where there is one."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, run
from fullpipe.analysis.export import pcapng, qlog
from fullpipe.cli import app
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from tests.export.reader import packets


@pytest.fixture(scope="module")
def lossy() -> Run:
    """Losses, selective acknowledgements and two points of capture."""
    bottleneck = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"kind": "drop_tail", "packets": 20}}
    return run(
        Scenario(
            name="captured",
            duration="3 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck},
            flows=[{"cca": "cubic"}],
            record={"interval": "50 ms", "variables": True, "packets": ["sender", "bottleneck"]},
        )
    )


def ones_sum(data: bytes) -> int:
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_checksums_hold_with_a_payload_of_zeros(lossy: Run) -> None:
    for _, _, length, headers in packets(pcapng(lossy)):
        ip, tcp = headers[14:34], headers[34:]
        assert ones_sum(ip) == 0xFFFF
        pseudo = ip[12:20] + struct.pack("!BBH", 0, 6, length - 34)
        assert ones_sum(pseudo + tcp) == 0xFFFF


def test_every_row_becomes_a_packet_at_its_time(lossy: Run) -> None:
    found = list(packets(pcapng(lossy)))
    assert [packet[1] for packet in found] == lossy.packets["time_ns"].to_list()
    data = lossy.packets.filter(lossy.packets["kind"] == "data")
    lengths = {length for _, _, length, headers in found if length - len(headers) > 0}
    assert lengths == set(data["size"].to_list())


def test_numbers_are_those_of_the_table(lossy: Run) -> None:
    row = lossy.packets.filter(lossy.packets["sacks"] != "").row(0, named=True)
    index = lossy.packets["sacks"].to_list().index(row["sacks"])
    tcp = list(packets(pcapng(lossy)))[index][3][34:]
    assert struct.unpack_from("!I", tcp, 8)[0] == row["ack"] + 1
    assert tcp[32:34] == b"\x01\x01"
    assert tcp[34] == 5
    edges = struct.unpack_from(f"!{(tcp[35] - 2) // 4}I", tcp, 36)
    assert "-".join(str(edge - 1) for edge in edges[:2]) == row["sacks"].split()[0]


def test_one_point_of_capture_alone(lossy: Run) -> None:
    chosen = list(packets(pcapng(lossy, ["bottleneck"])))
    assert len(chosen) == lossy.packets.filter(lossy.packets["point"] == "bottleneck").height
    with pytest.raises(UnknownNameError, match="there is sender, bottleneck"):
        pcapng(lossy, ["receiver"])


def test_accurate_ecn_counts_in_three_bits() -> None:
    link = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": {"kind": "dualpi2"}}
    marked = run(
        Scenario(
            name="marked",
            duration="2 s",
            topology={"kind": "dumbbell", "bottleneck": link},
            tcp={"ecn": "accecn"},
            flows=[{"cca": "prague"}],
            record={"interval": "off", "packets": ["sender"]},
        )
    )
    rows = marked.packets
    assert int(rows["ce_count"].max() or 0) > 8  # type: ignore[arg-type]
    for row, (_, _, _, headers) in zip(rows.iter_rows(named=True), packets(pcapng(marked)), strict=True):
        offset, flags = headers[46:48]
        found = (offset & 1) << 2 | (flags >> 7 & 1) << 1 | flags >> 6 & 1
        counter = (5 + row["ce_count"]) % 8
        expected = {"syn": 7, "syn_ack": 2, "handshake_ack": 2, "data": 5, "ack": counter}
        assert found == expected[row["kind"]]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark")
def test_tshark_finds_nothing_wrong(lossy: Run, tmp_path: Path) -> None:
    file = tmp_path / "sender.pcapng"
    file.write_bytes(pcapng(lossy, ["sender"]))
    tshark = ["tshark", "-r", str(file), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]

    def count(condition: str) -> int:
        done = subprocess.run([*tshark, "-Y", condition], capture_output=True, text=True, check=True)
        return len(done.stdout.splitlines())

    sent = lossy.packets.filter(lossy.packets["point"] == "sender")
    assert count("tcp") == sent.height
    assert count("_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0") == 0
    again = "tcp.analysis.retransmission or tcp.analysis.fast_retransmission or tcp.analysis.out_of_order"
    assert count(again) == int(lossy.flows["retransmitted_packets"][0])


def records(data: bytes) -> list[dict[str, Any]]:
    parts = data.decode().split("\x1e")
    assert parts[0] == ""
    return [json.loads(part) for part in parts[1:]]


def test_qlog_says_what_the_tables_say(lossy: Run) -> None:
    header, *events = records(qlog(lossy))
    assert header["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    times = [event["time"] for event in events]
    assert times == sorted(times)
    named = [event["name"].removeprefix("quic:") for event in events]
    assert named.count("packet_sent") == int(lossy.flows["sent_packets"][0])
    assert named.count("packet_lost") == int(lossy.flows["retransmitted_packets"][0])
    states = [event["data"] for event in events if event["name"] == "quic:congestion_state_updated"]
    assert states[0] == {"new": "SlowStart"}
    assert states[1] == {"old": "SlowStart", "new": "Avoidance"}


def test_what_was_not_recorded_cannot_be_exported() -> None:
    silent = run(Scenario.named("single-cubic").with_values({"duration": "1 s", "record.interval": "off"}))
    with pytest.raises(ResultError, match=r"record\.packets"):
        pcapng(silent)
    with pytest.raises(ResultError, match=r"record\.interval"):
        qlog(silent)


def test_the_command_goes_by_the_ending(tmp_path: Path) -> None:
    stored = run(Scenario.named("single-cubic").with_values({"duration": "1 s"}), out=tmp_path / "runs")
    done = CliRunner().invoke(app, ["export", str(stored.folder), "-o", str(tmp_path / "trace.qlog")])
    assert done.exit_code == 0, done.output
    assert records((tmp_path / "trace.qlog").read_bytes())
    done = CliRunner().invoke(app, ["export", str(stored.folder), "-o", str(tmp_path / "trace.txt")])
    assert done.exit_code == 2
    assert "--format" in done.output
