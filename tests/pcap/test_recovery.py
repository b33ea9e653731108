"""What captures tell of losses: timeouts, what is sent again for nothing, numbers that wrap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.engines.pcap import read, read_run
from fullpipe.engines.pcap.flow import Flow, flows_of
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
    sacks,
    stamps,
    swapped,
    written,
)

BACK = (SERVER, CLIENT)
SIZE = 1000


def simulated(cca: str, link: dict[str, Any], **tcp: Any) -> Run:
    return run(
        Scenario(
            name="lossy",
            duration="20 s",
            warmup="0 s",
            topology={"kind": "dumbbell", "bottleneck": link},
            flows=[{"cca": cca}],
            tcp=tcp,
            record={"interval": "10 ms", "packets": ["sender", "receiver"]},
        )
    )


def random_loss(probability: float) -> dict[str, Any]:
    return {"kind": "bernoulli", "probability": probability}


LOSSY = {"rate": "5 Mbit/s", "delay": "15 ms", "loss": random_loss(0.2)}
REORDERING = {
    "rate": "10 Mbit/s",
    "delay": "15 ms",
    "queue": {"kind": "drop_tail", "packets": 50},
    "jitter": {"spread": "10 ms", "reorder": True},
    "loss": random_loss(0.01),
}
SLOW = {"rate": "1 Mbit/s", "delay": "30 ms", "loss": random_loss(0.25)}


def captured(made: Run, folder: Path, point: str = "sender") -> Flow:
    path = folder / f"{point}.pcapng"
    path.write_bytes(pcapng(made, [point]))
    return flows_of(read(path).connections)[0][0]


def test_every_timeout_is_found(tmp_path: Path) -> None:
    made = simulated("reno", LOSSY)
    flow = captured(made, tmp_path)
    assert flow.window is not None
    assert flow.retransmissions is not None
    assert flow.window.timeouts.size == made.flows["timeouts"][0] >= 10
    assert flow.retransmissions.packets.sum() == made.flows["retransmitted_packets"][0]


def test_a_capture_at_the_receiver_does_not_tell_timeouts(tmp_path: Path) -> None:
    captured(simulated("reno", LOSSY), tmp_path, "receiver")
    assert read_run(tmp_path / "receiver.pcapng").flows["timeouts"].to_list() == [None]


def arrived_twice(made: Run) -> set[int]:
    arrived = made.packets.filter((pl.col("point") == "receiver") & (pl.col("kind") == "data"))
    return set(arrived.filter(pl.col("seq").is_duplicated())["seq"].to_list())


def sent_for_nothing(made: Run, flow: Flow) -> set[int]:
    """By the numbers of packets in the run, in the order in which they were sent."""
    sent = made.packets.filter((pl.col("point") == "sender") & (pl.col("kind") == "data")).sort("time_ns")
    assert flow.retransmissions is not None
    return set(sent["seq"].to_numpy()[flow.retransmissions.is_spurious].tolist())


def test_what_is_sent_again_for_nothing_is_what_arrives_twice(tmp_path: Path) -> None:
    made = simulated("reno", REORDERING, timestamps=False)
    assert sent_for_nothing(made, captured(made, tmp_path)) == arrived_twice(made) != set()


def test_with_timestamps_nothing_that_was_lost_is_taken_for_needless(tmp_path: Path) -> None:
    """Not all is found: a receiver drops what comes late beyond a hole, and says nothing of it."""
    made = simulated("reno", REORDERING)
    found = sent_for_nothing(made, captured(made, tmp_path))
    assert found
    assert found <= arrived_twice(made)


def test_acks_of_several_retransmissions_say_nothing_of_the_later_ones(tmp_path: Path) -> None:
    made = simulated("bbr1", SLOW)
    assert made.flows["retransmitted_packets"][0] > 100
    assert arrived_twice(made) == set()
    assert sent_for_nothing(made, captured(made, tmp_path)) == set()


class Talk:
    """A connection whose first numbers and timestamps are given."""

    def __init__(self, isn: int = 1000, stamp: int = 1000) -> None:
        self.isn, self.stamp = isn, stamp
        self.records: list[Record] = []
        self._add(0.0, Tcp(isn, 0, SYN, options=opening() + stamps(stamp, 0)))
        self._add(0.02, Tcp(70, isn + 1, SYN | ACK, options=opening() + stamps(9, stamp)), is_back=True)
        self._add(0.0201, Tcp(isn + 1, 71, options=stamps(stamp + 20, 9)))

    def _add(self, time_s: float, segment: Tcp, is_back: bool = False) -> None:
        one = swapped(segment) if is_back else segment
        frame = ethernet(ip4(one, BACK if is_back else (CLIENT, SERVER)))
        self.records.append(record(time_s, frame, segment.payload))

    def data(self, time_s: float, n: int, sent_s: float | None = None) -> None:
        """The n-th full segment, with the time in ms at which it was sent as its timestamp."""
        stamp = self.stamp + round((time_s if sent_s is None else sent_s) * 1e3)
        self._add(time_s, Tcp(self.isn + 1 + n * SIZE, 71, payload=SIZE, options=stamps(stamp, 9)))

    def ack(self, time_s: float, n: int, echo_s: float, *blocks: tuple[int, int]) -> None:
        """All below the n-th is there, and blocks of others; it echoes what was sent at a time."""
        edges = [(self.isn + 1 + left * SIZE, self.isn + 1 + right * SIZE) for left, right in blocks]
        options = stamps(9, self.stamp + round(echo_s * 1e3)) + (sacks(*edges) if edges else b"")
        self._add(time_s, Tcp(71, self.isn + 1 + n * SIZE, options=options), is_back=True)

    def flow(self, folder: Path) -> Flow:
        """As it is read."""
        ordered = sorted(self.records, key=lambda one: one.time_ns)
        return flows_of(read(written(folder, pcap(ordered))).connections)[0][0]


def repaired(**first: int) -> Talk:
    """Twelve segments, of which the third and the fourth are lost; those before are acknowledged."""
    talk = Talk(**first)
    for n in range(12):
        talk.data(0.1 + 0.002 * n, n)
    talk.ack(0.12, 2, 0.100)
    talk.ack(0.15, 2, 0.102, (4, 12))
    talk.data(0.16, 2)
    talk.data(0.17, 3)
    return talk


def needless(flow: Flow) -> list[int]:
    """The places of what was sent again for nothing."""
    assert flow.retransmissions is not None
    assert flow.retransmissions.packets.sum() == 2
    return np.flatnonzero(flow.retransmissions.is_spurious).tolist()


def test_one_ack_of_two_retransmissions_echoes_the_first(tmp_path: Path) -> None:
    talk = repaired()
    talk.ack(0.19, 12, 0.16)
    assert needless(talk.flow(tmp_path)) == []


def test_an_ack_that_echoes_the_original(tmp_path: Path) -> None:
    talk = repaired()
    talk.ack(0.175, 3, 0.104)
    talk.ack(0.19, 12, 0.17)
    assert needless(talk.flow(tmp_path)) == [12]


def test_a_duplicate_that_is_reported(tmp_path: Path) -> None:
    talk = repaired()
    talk.ack(0.19, 12, 0.16)
    talk.ack(0.20, 12, 0.16, (3, 4))
    assert needless(talk.flow(tmp_path)) == [13]


def test_a_retransmission_that_another_overtook_is_no_original(tmp_path: Path) -> None:
    talk = repaired()
    talk.ack(0.19, 12, 0.16)
    talk.data(0.21, 3, sent_s=0.205)
    talk.data(0.22, 3, sent_s=0.201)
    again = talk.flow(tmp_path).retransmissions
    assert again is not None
    assert (int(again.packets.sum()), int(again.is_late.sum())) == (4, 0)


@pytest.mark.parametrize(
    "first",
    [
        {"isn": 2**32 - 1 - at * SIZE + by, "stamp": stamp}
        for at, by, stamp in ((0, 0, 1000), (3, 0, 2**32 - 165), (3, 500, 2**32 - 110), (11, 1, 2**32 - 1))
    ],
    ids=str,
)
def test_numbers_and_timestamps_that_wrap_change_nothing(tmp_path: Path, first: dict[str, int]) -> None:
    flows = []
    for talk in (repaired(), repaired(**first)):
        talk.ack(0.175, 3, 0.104)
        talk.ack(0.19, 12, 0.17)
        flows.append(talk.flow(tmp_path))
    one, other = flows
    assert needless(one) == needless(other) == [12]
    assert one.window is not None
    assert other.window is not None
    assert one.window.in_flight.tolist() == other.window.in_flight.tolist()
    assert one.window.in_flight.max() == 10 * SIZE
    for both in ("rtts_s", "delivered"):
        for left, right in zip(getattr(one, both), getattr(other, both), strict=True):
            assert left.tolist() == right.tolist()
    assert one.delivered[1][-1] == 12 * SIZE


def again(talk: Talk) -> list[Record]:
    """Another connection between the same ends, ten seconds later."""
    later = Talk(900_000_000)
    for n in range(12):
        later.data(0.1 + 0.002 * n, n)
    later.ack(0.15, 12, 0.1)
    return [
        *talk.records,
        *(Record(one.time_ns + 10 * 10**9, one.data, one.length) for one in later.records),
    ]


@pytest.mark.parametrize("begins_late", [False, True])
def test_ends_that_have_two_connections_have_two_flows(tmp_path: Path, begins_late: bool) -> None:
    talk = repaired()
    talk.ack(0.19, 12, 0.16)
    records = again(talk)[3 * begins_late :]
    made = read_run(written(tmp_path, pcap(records)))
    name = f"{CLIENT}.40000 - {SERVER}.5201"
    assert made.flows["flow"].to_list() == [name, f"{name} 2"]
    assert made.flows["delivered_bytes"].to_list() == [12 * SIZE, 12 * SIZE]


@pytest.mark.parametrize(("scale", "shift"), [(3, 3), (None, 0)])
def test_windows_are_scaled_if_both_ends_say_so(tmp_path: Path, scale: int | None, shift: int) -> None:
    made = [
        record(0.0, ethernet(ip4(Tcp(1, 0, SYN, options=opening(scale=7))))),
        record(0.1, ethernet(ip4(swapped(Tcp(70, 2, SYN | ACK, options=opening(scale=scale))), BACK))),
        record(0.2, ethernet(ip4(Tcp(2, 71, payload=9, window=500))), 9),
        record(0.3, ethernet(ip4(swapped(Tcp(71, 11, window=400)), BACK))),
    ]
    client, server = read(written(tmp_path, pcap(made))).connections[0].sent
    assert client.window_bytes.tolist() == [1000, 500 << (7 if shift else 0)]
    assert server.window_bytes.tolist() == [1000, 400 << shift]
