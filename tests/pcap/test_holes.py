"""What fills a hole at the receiver: sent again, or overtaken on a path that reorders. Without timestamps."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from fullpipe import Run, Scenario, run
from fullpipe.analysis.export import pcapng
from fullpipe.analysis.export.packets import identities
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
    swapped,
    written,
)

CASES = 10
"""Of paths drawn at random; no rule was made on these."""


def drawn(seed: int) -> Scenario:
    """One flow over a path that reorders by up to three times its RTT, and may lose packets."""
    draw = random.Random(1_000 + seed)
    delay_ms = draw.choice([2, 5, 15, 30, 60]) * draw.uniform(0.8, 1.2)
    spread_ms = draw.choice([0.1, 0.3, 0.6, 1, 2, 3]) * 2 * delay_ms
    shape = draw.choice(["uniform", "normal"])
    link: dict[str, Any] = {
        "rate": f"{draw.choice([1, 3, 10, 30])} Mbit/s",
        "delay": f"{delay_ms:.3f} ms",
        "queue": {"kind": "drop_tail", "packets": draw.choice([20, 50, 200])},
        "jitter": {"spread": f"{spread_ms:.3f} ms", "reorder": True, "shape": shape},
    }
    if probability := draw.choice([0, 0.002, 0.01, 0.05]):
        link["loss"] = {"kind": "bernoulli", "probability": probability}
    return line(link, draw.choice(["reno", "cubic", "bbr3"]))


def line(link: dict[str, Any], cca: str = "reno") -> Scenario:
    return Scenario(
        name="line",
        duration="20 s",
        topology={"kind": "dumbbell", "bottleneck": link},
        flows=[{"cca": cca}],
        tcp={"timestamps": False},
        record={"packets": ["sender", "receiver"]},
    )


def at_receiver(made: Run, folder: Path) -> Flow:
    path = folder / "line.pcapng"
    path.write_bytes(pcapng(made, ["receiver"]))
    (flow,), _ = flows_of(read(path).connections)
    return flow


def without_numbers(flow: Flow) -> Flow:
    """As of a host that does not count its packets (RFC 6864, section 4.1)."""
    sent = tuple(replace(one, identity=np.zeros_like(one.identity)) for one in flow.connection.sent)
    return Flow(replace(flow.connection, sent=(sent[0], sent[1])), flow.sender, flow.mss)


def sent_again(made: Run) -> npt.NDArray[np.bool_]:
    """Of every packet of data that arrived, whether its bytes had been sent before it was."""
    data = made.packets.filter(pl.col("kind") == "data")
    first = data.filter(pl.col("point") == "sender").group_by("seq").agg(first=pl.col("ts_val").min())
    arrived = data.filter(pl.col("point") == "receiver")
    joined = arrived.join(first, on="seq", how="left", maintain_order="left")
    return (joined["ts_val"] > joined["first"]).to_numpy()


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_said_of_a_path_that_reorders_is_true(seed: int, tmp_path: Path) -> None:
    made = run(drawn(seed), seed=seed)
    truth = sent_again(made)
    flow = at_receiver(made, tmp_path)
    for each in (flow, without_numbers(flow)):
        again = each.retransmissions
        assert again is not None
        if again.total is not None:
            assert np.count_nonzero((again.packets > 0) != truth) <= max(0.05 * truth.sum(), 1)
    assert flow.retransmissions is not None
    assert flow.retransmissions.total is not None


def test_a_count_that_nothing_tells_is_not_given(tmp_path: Path) -> None:
    jitter = {"spread": "120 ms", "reorder": True}
    loss = {"kind": "bernoulli", "probability": 0.01}
    made = run(line({"rate": "10 Mbit/s", "delay": "15 ms", "jitter": jitter, "loss": loss}))
    numbers = identities(made.packets)
    path = tmp_path / "line.pcapng"
    path.write_bytes(without_identification(pcapng(made, ["receiver"])))
    assert numbers.n_unique() > 1_000
    measured = read_run(path)
    assert measured.flows["retransmitted_packets"][0] is None
    assert any("were retransmitted or overtaken" in remark for remark in measured.meta.remarks)


def without_identification(content: bytes) -> bytes:
    """The same capture with 0 in the place of every identification of IPv4."""
    out, at = bytearray(content), content.find(b"\x08\x00\x45")
    while at >= 0:
        out[at + 6 : at + 8] = b"\0\0"
        at = content.find(b"\x08\x00\x45", at + 1)
    return bytes(out)


def test_without_reordering_every_hole_was_a_loss(tmp_path: Path) -> None:
    loss, queue = {"kind": "bernoulli", "probability": 0.01}, {"kind": "drop_tail", "packets": 25}
    made = run(line({"rate": "10 Mbit/s", "delay": "15 ms", "loss": loss, "queue": queue}))
    flow = without_numbers(at_receiver(made, tmp_path))
    assert flow.retransmissions is not None
    assert flow.retransmissions.total == sent_again(made).sum() > 10


def test_packets_are_numbered_as_their_sender_counts_them(tmp_path: Path) -> None:
    made = run(line({"rate": "10 Mbit/s", "delay": "15 ms"}))
    packets = made.packets.with_columns(identities(made.packets).alias("identity"))
    sent = packets.filter(pl.col("point") == "sender", pl.col("source") == "sender")
    assert sent["identity"].to_list() == [n % 2**16 for n in range(1, sent.height + 1)]
    stamped = packets.with_columns(ts_val=pl.lit(None, dtype=pl.Int64))
    assert set(identities(stamped)) == {0}


def probed(waits_s: list[float], step: int) -> list[Record]:
    """Data to a receiver that closes its window, and probes of it after waits, captured at the receiver.

    The sender's host numbers the packets of all its connections: `step` for each segment while data flow, and
    5,000 in a second while the window is closed.
    """
    said: list[tuple[float, Tcp, int | None]] = [
        (0.0, Tcp(1000, 0, SYN, options=opening(scale=None)), None),
        (0.05, Tcp(5000, 1001, SYN | ACK, options=opening(scale=None)), 100),
        (0.0501, Tcp(1001, 5001), None),
    ]
    time_s, seq, number = 0.1, 5001, 200
    for n in range(60):
        said.append((time_s, Tcp(seq, 1001, payload=1000), number))
        seq, number, window = seq + 1000, number + step, 64_000 - max(0, n - 30) * 2_300
        said.append((time_s + 1e-4, Tcp(1001, seq, window=max(window, 0)), None))
        time_s += 0.002
    for wait_s in waits_s:
        time_s, number = time_s + wait_s, number + int(5_000 * wait_s)
        said.append((time_s, Tcp(seq, 1001, payload=1000), number))
        said.append((time_s + 1e-4, Tcp(1001, seq, window=0), None))
    said.append((time_s + 0.1, Tcp(1001, seq, window=64_000), None))
    time_s, number = time_s + 0.15, number + 750
    for _ in range(20):
        said.append((time_s, Tcp(seq, 1001, payload=1000), number))
        seq, number = seq + 1000, number + step
        said.append((time_s + 1e-4, Tcp(1001, seq, window=64_000), None))
        time_s += 0.002
    return [
        record(
            at_s,
            ethernet(
                ip4(one) if back is None else ip4(swapped(one), (SERVER, CLIENT), identity=back % 2**16)
            ),
            one.payload,
        )
        for at_s, one, back in said
    ]


@pytest.mark.parametrize("step", [3, 1], ids=["others send, too", "others send in the pause"])
def test_a_counter_of_the_whole_host_may_wrap_in_a_pause(tmp_path: Path, step: int) -> None:
    path = written(tmp_path, pcap(probed([0.25 * 2**n for n in range(8)], step)))
    (flow,), _ = flows_of(read(path).connections)
    assert flow.retransmissions is not None
    assert flow.retransmissions.total == 8
    assert not flow.retransmissions.is_late.any()
