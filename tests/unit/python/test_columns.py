"""Counts in the columns of a run, and their ends, compared with captured packets and with shorter runs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.runs import TABLES

UNTIL_END, BEYOND_END = "after the warm-up, until end_s", "after the warm-up, also after end_s"
STOP_S, WARMUP_S = 0.171, 0.1
"""The flow stops when much of what was lost is still to be sent again."""
DROP_TAIL = {"kind": "drop_tail", "packets": 10}
MARKING = {"kind": "step", "mark_packets": 0}
BULK: dict[str, Any] = {"cca": "bbr2"}
MARKED: dict[str, Any] = {"cca": "dctcp", "tcp": {"ecn": True}}
REFUSED: dict[str, Any] = {
    "cca": "cubic",
    "workload": {"kind": "cbr", "rate": "30 Mbit/s", "when_full": "drop"},
    "tcp": {"send_buffer": "64 KiB"},
}
FLOWS = TABLES["flows"].columns


def made(flow: dict[str, Any], queue: dict[str, Any] | None = None, **more: Any) -> Run:
    bottleneck = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": queue or DROP_TAIL}
    described = {"name": "stops", "duration": "3 s", "warmup": f"{WARMUP_S} s"}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return fullpipe.run(
        Scenario(**{**described, "topology": topology, "flows": [{"name": "it", **flow}], **more})
    )


def row(run: Run) -> dict[str, Any]:
    return run.flows.row(0, named=True)


def of_span(span: str) -> list[str]:
    return [column.name for column in FLOWS if column.span == span]


def test_every_number_of_a_flow_says_of_which_time_it_is() -> None:
    unsaid = [column.name for column in FLOWS if not column.span]
    assert unsaid == ["flow", "cca", "protocol", "start_s", "end_s", "fct_s"]
    meanings = {column.name: column.meaning for column in FLOWS}
    assert meanings["sent_packets"].endswith("(after the warm-up, until end_s)")
    assert meanings["rtt_mean_s"].endswith("(after the warm-up, also after end_s)")


@pytest.mark.parametrize(
    ("flow", "queue", "counts"),
    [
        (
            BULK,
            DROP_TAIL,
            ("sent_packets", "retransmitted_packets", "lost_packets", "wire_bps", "limited_cwnd"),
        ),
        (MARKED, MARKING, ("marked_packets", "delivered_bytes", "goodput_bps")),
        (REFUSED, DROP_TAIL, ("refused_bytes",)),
    ],
    ids=["losses", "marks", "refusals"],
)
def test_counts_until_the_end_are_those_of_a_run_that_ends_there(
    flow: dict[str, Any], queue: dict[str, Any], counts: tuple[str, ...]
) -> None:
    stopped = row(made({**flow, "stop": f"{STOP_S} s"}, queue))
    ended = row(made(flow, queue, duration=f"{STOP_S} s"))
    assert stopped["end_s"] == STOP_S
    assert {name: stopped[name] for name in of_span(UNTIL_END)} == {
        name: ended[name] for name in of_span(UNTIL_END)
    }
    assert all(stopped[name] > 0 for name in counts)


@pytest.fixture(scope="module")
def captured() -> Run:
    return made({**BULK, "stop": f"{STOP_S} s"}, record={"packets": ["sender", "receiver"]})


def data(run: Run, point: str, *, until_end: bool) -> pl.DataFrame:
    """The data packets seen at a point, all of them or those of the time that the flow is measured over."""
    found = run.packets.filter((pl.col("point") == point) & (pl.col("kind") == "data"))
    time = pl.col("time_ns")
    return found.filter((time > WARMUP_S * 1e9) & (time <= STOP_S * 1e9)) if until_end else found


def test_packets_until_the_end_are_those_captured_until_then(captured: Run) -> None:
    own, packets = row(captured), data(captured, "sender", until_end=True)
    span_s = STOP_S - WARMUP_S
    assert own["sent_packets"] == packets.height
    assert own["wire_bps"] == pytest.approx(8 * packets["size"].sum() / span_s)
    again = data(captured, "sender", until_end=False).select(
        pl.col("time_ns"), again=~pl.col("seq").is_first_distinct()
    )
    measured = again.join(packets.select("time_ns").unique(), on="time_ns", how="semi")
    assert own["retransmitted_packets"] == measured["again"].sum()


def test_payload_until_the_end_is_what_had_arrived_in_order(captured: Run) -> None:
    def in_order(until_s: float) -> int:
        came = data(captured, "receiver", until_end=False).filter(pl.col("time_ns") <= until_s * 1e9)
        reached = 0
        for seq, length in came.select("seq", "len").sort("seq").iter_rows():
            reached = max(reached, seq + length) if seq <= reached else reached
        return reached

    own, delivered = row(captured), in_order(STOP_S) - in_order(WARMUP_S)
    assert own["delivered_bytes"] == delivered
    assert own["goodput_bps"] == pytest.approx(8 * delivered / (STOP_S - WARMUP_S))


def test_what_is_sent_after_a_stop_is_counted_by_links_and_the_run_only(captured: Run) -> None:
    whole = made({**BULK, "stop": f"{STOP_S} s"}, warmup="0 s", record={"packets": ["sender"]})
    every = data(whole, "sender", until_end=False).height
    assert every > row(whole)["sent_packets"]
    assert whole.meta.data_packets == every
    (link,) = whole.links_summary.filter(link="bottleneck").to_dicts()
    opened = whole.packets.filter(
        pl.col("kind").is_in(["syn", "handshake_ack"]) & (pl.col("point") == "sender")
    )
    assert link["forwarded_packets"] + link["dropped_packets"] == every + opened.height


def test_rtt_samples_after_the_end_are_measured() -> None:
    # It stops before the end of the warm-up, with packets on their way.
    own = row(made({**BULK, "stop": "95 ms"}))
    assert {own[name] for name in of_span(UNTIL_END)} <= {0, None}
    assert all(own[name] > 0 for name in of_span(BEYOND_END) if name.startswith("rtt_"))


def test_datagrams_that_arrive_after_the_end_are_measured() -> None:
    own = row(made({"workload": {"kind": "udp", "rate": "4 Mbit/s"}, "stop": f"{STOP_S} s"}))
    before = row(made({"workload": {"kind": "udp", "rate": "4 Mbit/s"}}, duration=f"{STOP_S} s"))
    assert own["sent_packets"] == before["sent_packets"]
    assert own["delivered_bytes"] > before["delivered_bytes"]
    # As many come in after the stop as were on their way at the end of the warm-up.
    assert own["delivered_bytes"] - before["delivered_bytes"] == pytest.approx(4e6 / 8 * 0.011, rel=0.25)


def test_a_lost_datagram_is_one_that_had_not_come_at_the_end_of_the_run() -> None:
    udp = {"workload": {"kind": "udp", "rate": "40 Mbit/s"}, "stop": f"{STOP_S} s"}
    run = made(udp, warmup="0 s", record={"packets": ["sender", "receiver"]})
    seen = {point: run.packets.filter(point=point)["seq"] for point in ("sender", "receiver")}
    assert row(run)["lost_packets"] == (seen["receiver"].max() or 0) + 1 - seen["receiver"].len() > 0


def test_a_workload_ends_with_its_last_transfer() -> None:
    poisson = {"cca": "cubic", "workload": {"kind": "poisson", "interval": "50 ms", "sizes": "300 kB"}}
    run = made({**poisson, "stop": f"{STOP_S} s"}, warmup="0 s")
    own = row(run)
    assert own["end_s"] == run.transfers["end_s"].max() > STOP_S
    assert own["sent_packets"] == run.transfers["sent_packets"].sum()


def test_a_completion_time_counts_from_a_start_in_the_warm_up() -> None:
    own = row(made({"cca": "cubic", "size": "1 MB"}))
    assert own["start_s"] == 0.0
    assert own["fct_s"] == own["end_s"] > WARMUP_S


def test_a_transfer_that_is_stopped_counts_what_is_sent_after_that() -> None:
    sized = {**BULK, "size": "100 MB", "stop": f"{STOP_S} s"}
    run = made(sized, record={"packets": ["sender"]})
    (transfer,) = run.transfers.to_dicts()
    assert transfer["end_s"] == STOP_S
    assert transfer["sent_packets"] == data(run, "sender", until_end=False).height


def test_timeouts_are_counted_while_nothing_comes_back() -> None:
    """RFC 6298, section 5.5: each wait is twice as long as the last, from at least 200 ms on Linux."""
    outage = [
        {"at": "1 s", "loss": {"kind": "bernoulli", "probability": 1.0}},
        {"at": "2.5 s", "loss": {"kind": "bernoulli", "probability": 0.0}},
    ]
    bottleneck = {"rate": "20 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 100}}
    clean = {"kind": "dumbbell", "bottleneck": bottleneck}
    broken = {"kind": "dumbbell", "bottleneck": {**bottleneck, "changes": outage}}
    counts = [row(made({"cca": "reno"}, topology=topology))["timeouts"] for topology in (clean, broken)]
    assert counts == [0, 3]
