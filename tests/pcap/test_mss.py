"""The bytes of a full segment, with the handshake and without: of frames, super-packets and loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.engines.pcap import read_run
from fullpipe.engines.pcap.capture import read
from fullpipe.engines.pcap.flow import Flow, flows_of
from tests.pcap.made import (
    ACK,
    CLIENT,
    SERVER,
    SYN,
    V6,
    Record,
    Tcp,
    ethernet,
    ip4,
    ip6,
    opening,
    pcap,
    record,
    stamps,
    swapped,
    written,
)

Cli = Callable[..., Any]
RTT_S = 0.02


def opened(mss: int, *, offers_timestamps: bool = False) -> list[Record]:
    """The handshake."""
    syn = Tcp(0, flags=SYN, options=opening(mss) + (stamps(1, 0) if offers_timestamps else b""))
    answer = swapped(Tcp(0, 1, SYN | ACK, options=opening(mss)))
    return [
        record(0.0, ethernet(ip4(syn))),
        record(RTT_S, ethernet(ip4(answer, (SERVER, CLIENT)))),
        record(RTT_S + 1e-4, ethernet(ip4(Tcp(1, 1)))),
    ]


def data(sizes: list[int], *, stamped: bool = True, version: int = 4, rtt_s: float = RTT_S) -> list[Record]:
    """Segments of these sizes, each acknowledged before the next."""
    found, seq = [], 1
    for n, size in enumerate(sizes):
        options = stamps(n, n) if stamped else b""
        sent, ack = Tcp(seq, 1, payload=size, options=options), Tcp(1, seq + size, options=options)
        seq += size
        time_s = 0.1 + 2 * rtt_s * n
        if version == 6:
            found.append(record(time_s, ethernet(ip6(sent, jumbo=size > 60_000), V6), size))
            continue
        found.append(record(time_s, ethernet(ip4(sent)), size))
        found.append(record(time_s + rtt_s, ethernet(ip4(swapped(ack), (SERVER, CLIENT)))))
    return found


def flow_of(folder: Path, records: list[Record]) -> Flow:
    (flow,), _ = flows_of(read(written(folder, pcap(records))).connections)
    return flow


GUESSES = {
    "frames": ([1448] * 30 + [500], {}, 1448),
    "messages between frames": ([100] * 30 + [1448] * 10, {}, 1448),
    "small frames": ([536] * 30, {}, 536),
    "super-packets of one size": ([14_480] * 30, {}, 1448),
    "super-packets without timestamps": ([14_600] * 30, {"stamped": False}, 1460),
    "super-packets of IPv6": ([14_280] * 30, {"version": 6}, 1428),
    "super-packets of PPPoE": ([14_400] * 20 + [2880] * 5 + [777], {}, 1440),
    "super-packets of less than 9 kB": ([7240] * 30, {}, 1448),
    "super-packets with other ends": ([14_480, 1904] * 15, {}, 1448),
    "super-packets of many sizes": ([1448 * n for n in range(1, 45)], {}, 1448),
    "jumbo frames": ([8948] * 30, {}, 8948),
    "jumbo frames without timestamps": ([8960] * 30, {"stamped": False}, 8960),
    "super-packets of jumbo frames": ([35_792, 17_896] * 10, {}, 8948),
    "super-packets of frames of 9,001 B": ([17_898] * 20 + [8949] * 3, {}, 8949),
    "loopback": ([32_741] * 30, {}, 32_741),
}


@pytest.mark.parametrize("name", list(GUESSES))
def test_without_a_handshake_sizes_tell(tmp_path: Path, name: str) -> None:
    sizes, options, mss = GUESSES[name]
    flow = flow_of(tmp_path, data(sizes, **options))
    assert flow.mss == mss
    assert flow.is_mss_guess


@pytest.mark.parametrize(("size", "options"), [(1460, False), (14_600, True)])
def test_a_handshake_tells_it(tmp_path: Path, size: int, options: bool) -> None:
    records = opened(1460, offers_timestamps=options) + data([size] * 20, stamped=False)
    flow = flow_of(tmp_path, records)
    assert (flow.mss, flow.is_mss_guess) == (1460, False)


def test_packets_of_super_packets_count_each(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, pcap(data([14_480] * 30))))
    assert run.flows["sent_packets"].to_list() == [300]
    assert any("1,448 B, a guess from the sizes of packets" in remark for remark in run.meta.remarks)


def loopback() -> list[Record]:
    return opened(65_495) + data([65_483] * 12)


def test_a_capture_of_loopback_is_read(fullpipe: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, pcap(loopback()))
    assert flow_of(tmp_path, loopback()).mss == 65_483
    told = json.loads(fullpipe("import", path, "--out", tmp_path, "--json").output)
    assert any("65,483 B, in the scenario 9,000 B, the maximum" in one for one in told["remarks"])
    twin = json.loads(fullpipe("twin", path, "--json").output)
    assert [flow["tcp"]["mss"] for flow in twin["scenario"]["flows"]] == ["9 kB"]
    assert any("65,483 B, in the scenario" in line for line in twin["guessed"])


def test_a_twin_says_that_the_size_is_a_guess(fullpipe: Cli, tmp_path: Path) -> None:
    told = json.loads(fullpipe("twin", written(tmp_path, pcap(data([14_480] * 30))), "--json").output)
    assert [flow["tcp"]["mss"] for flow in told["scenario"]["flows"]] == ["1448 B"]
    assert any("a guess from the sizes of packets" in line for line in told["guessed"])
