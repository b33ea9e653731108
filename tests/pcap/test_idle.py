"""RTTs at the receiver of a sender that is not always busy: the echo of the next data is no round trip."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullpipe.engines.pcap import read_run
from tests.pcap.made import (
    ACK,
    CLIENT,
    SERVER,
    SYN,
    Record,
    Tcp,
    ethernet,
    ip4,
    opening,
    pcap,
    record,
    stamps,
    swapped,
    written,
)

WAY_S, SIZE = 0.02, 1000


def stamp(time_s: float) -> int:
    """The clock of either end, in ms."""
    return 50_000 + round(time_s * 1e3)


def received(starts_s: list[float], segments: int = 1) -> list[Record]:
    """Data that come in trains, 0.6 ms from one segment to the next, and are acknowledged at once.

    The capture is at the client, which opened the connection. Data echo the last ACK that the server had
    when it sent them.
    """
    acked_s = 2 * WAY_S + 1e-4
    said = [
        (0.0, Tcp(1000, 0, SYN, options=opening() + stamps(stamp(0), 0)), False),
        (2 * WAY_S, Tcp(5000, 1001, SYN | ACK, options=opening() + stamps(stamp(WAY_S), stamp(0))), True),
        (acked_s, Tcp(1001, 5001, options=stamps(stamp(acked_s), stamp(WAY_S))), False),
    ]
    acks_s, n = [acked_s], 0
    for start_s in starts_s:
        for m in range(segments):
            came_s = start_s + 0.0006 * m
            echoed_s = max(time_s for time_s in acks_s if time_s + WAY_S <= came_s - WAY_S)
            options = stamps(stamp(came_s - WAY_S), stamp(echoed_s))
            said.append((came_s, Tcp(5001 + SIZE * n, 1001, payload=SIZE, options=options), True))
            n, acked_s = n + 1, came_s + 1e-4
            acks_s.append(acked_s)
            options = stamps(stamp(acked_s), stamp(came_s - WAY_S))
            said.append((acked_s, Tcp(1001, 5001 + SIZE * n, options=options), False))
    return [
        record(time_s, ethernet(ip4(swapped(one), (SERVER, CLIENT)) if back else ip4(one)), one.payload)
        for time_s, one, back in said
    ]


@pytest.mark.parametrize("segments", [1, 10], ids=["single segments", "trains"])
def test_a_pause_of_the_sender_is_no_rtt(tmp_path: Path, segments: int) -> None:
    made = read_run(written(tmp_path, pcap(received([1.0 + n for n in range(20)], segments))))
    row = made.flows.row(0, named=True)
    assert row["rtt_mean_s"] == pytest.approx(2 * WAY_S, rel=0.01)
    assert row["rtt_p95_s"] == pytest.approx(2 * WAY_S, rel=0.01)


def test_echoes_of_a_busy_sender_tell_its_rtt_without_a_handshake(tmp_path: Path) -> None:
    trains = received([1.0 + 0.05 * n for n in range(20)], 30)  # the next begins while ACKs are on their way
    row = read_run(written(tmp_path, pcap(trains[3:]))).flows.row(0, named=True)
    assert row["rtt_mean_s"] == pytest.approx(2 * WAY_S, rel=0.05)


def test_without_a_handshake_an_idle_sender_says_no_rtt(tmp_path: Path) -> None:
    made = read_run(written(tmp_path, pcap(received([1.0 + n for n in range(20)])[3:])))
    assert made.flows["rtt_mean_s"].to_list() == [None]
    assert made.flows["delivered_bytes"].to_list() == [20 * SIZE]
    assert any("the sender was idle at every ACK that it echoes" in line for line in made.meta.remarks)
