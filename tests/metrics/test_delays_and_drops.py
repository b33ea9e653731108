"""One-way delay, queueing delay, delay in order, and what was dropped, of TCP flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Run, Scenario, metrics
from fullpipe.cli import app
from fullpipe.validation.over import HEADLINES, compare_over

CUBIC = {"name": "tcp", "cca": "cubic"}
PING = {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}}
PAYLOAD_BITS, HEADERS_BITS = 8 * 1448, 8 * 66
SEND_S = (PAYLOAD_BITS + HEADERS_BITS) / 5e6
BUFFER = "topology.bottleneck.queue.packets"


def scenario(*flows: dict[str, Any], link: dict[str, Any] | None = None, **more: Any) -> Scenario:
    bottleneck = {"rate": "5 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 20}}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck | (link or {})}
    values = {"name": "delays", "duration": "3 s", "topology": topology, "flows": flows or (CUBIC,)}
    return Scenario(**(values | more))


def value(run: Run, metric: str, of: str = "tcp") -> float | None:
    found = metrics.measured(run, metrics=[metric])
    rows: dict[str, float | None] = dict(found.select("of", "value").iter_rows())
    return rows[of]


def test_one_way_delay_is_that_of_the_path_and_of_its_queue() -> None:
    run = fullpipe.run(scenario())
    least, mean_s, most = (run.flows[f"owd_{which}_s"][0] for which in ("min", "mean", "p99"))
    assert least == pytest.approx(0.010 + SEND_S, abs=2e-4)
    assert most == pytest.approx(0.010 + 21 * SEND_S, abs=SEND_S)
    assert least < mean_s < most
    assert value(run, "owd_mean") == mean_s


def test_queueing_delay_is_above_that_of_the_empty_path() -> None:
    run = fullpipe.run(scenario())
    row, empty_s = run.flows.row(0, named=True), 0.010 + SEND_S
    assert value(run, "queueing_mean") == pytest.approx(row["owd_mean_s"] - empty_s)
    assert value(run, "queueing_p95") == pytest.approx(row["owd_p95_s"] - empty_s)


def test_a_queue_that_is_never_empty_counts_as_a_wait() -> None:
    flood = {"name": "flood", "workload": {"kind": "udp", "rate": "6 Mbit/s"}}
    run = fullpipe.run(scenario(flood, warmup="1 s"))
    (wait_s,) = run.links_summary.filter(link="bottleneck")["sojourn_mean_s"]
    assert run.flows["owd_min_s"][0] > 0.04
    assert value(run, "queueing_mean", "flood") == pytest.approx(wait_s, rel=0.01)


@pytest.mark.parametrize(
    ("link", "is_known"),
    [
        ({"queue": {"kind": "cake", "bandwidth_bps": 2_000_000}}, True),
        ({"changes": [{"at": "1 s", "rate": "2 Mbit/s"}]}, True),
        ({"changes": [{"at": "1 s", "delay": "20 ms"}]}, False),
        ({"jitter": {"spread": "5 ms"}}, False),
        ({"reordering": {"every": 50, "extra": "10 ms"}}, False),
    ],
)
def test_a_path_of_one_delay_has_a_queueing_delay(link: dict[str, Any], is_known: bool) -> None:
    run = fullpipe.run(scenario(link=link))
    assert (value(run, "queueing_mean") is not None) is is_known


def test_an_empty_path_of_several_links_adds_no_wait() -> None:
    def link(source: str, target: str, rate: str, delay: str) -> dict[str, Any]:
        return {"from": source, "to": target, "duplex": True, "rate": rate, "delay": delay}

    links = [link("a", "b", "10 Mbit/s", "7 ms"), link("b", "c", "3 Mbit/s", "1 ms")]
    topology = {"kind": "graph", "nodes": ["a", "b", "c"], "links": links}
    slow = {"name": "udp", "workload": {"kind": "udp", "rate": "100 kbit/s"}, "from": "a", "to": "c"}
    run = fullpipe.run(scenario(slow, topology=topology))
    assert value(run, "queueing_mean", "udp") == pytest.approx(0.0, abs=2e-6)


def test_delays_of_all_flows_are_of_datagrams_where_there_are_any() -> None:
    run = fullpipe.run(scenario(CUBIC, PING))
    for metric in ("owd_mean", "owd_p95", "queueing_mean", "queueing_p95"):
        assert value(run, metric, "all flows") == value(run, metric, "ping"), metric
    assert value(run, "owd_mean") != value(run, "owd_mean", "ping")
    both = fullpipe.run(scenario(CUBIC, {**CUBIC, "name": "other"}))
    delays = (value(both, "owd_mean", of) for of in ("tcp", "other"))
    assert value(both, "owd_mean", "all flows") == pytest.approx(sum(filter(None, delays)) / 2)


def test_delay_in_order_is_known_if_it_is_recorded() -> None:
    assert value(fullpipe.run(scenario()), "in_order_mean") is None
    run = fullpipe.run(scenario(record={"in_order": True}))
    row = run.flows.row(0, named=True)
    assert row["in_order_mean_s"] > row["owd_mean_s"]  # what follows a dropped packet waits for it
    assert value(run, "in_order_mean") == row["in_order_mean_s"]
    assert value(run, "in_order_p95") == row["in_order_p95_s"]


def test_recording_delays_in_order_moves_nothing_and_is_part_of_the_digest() -> None:
    plain, recorded = scenario(), scenario(record={"in_order": True})
    names = [name for name in fullpipe.run(plain).flows.columns if not name.startswith("in_order")]
    assert fullpipe.run(plain).flows.select(names).equals(fullpipe.run(recorded).flows.select(names))
    assert plain.digest == scenario(record={"in_order": False}).digest != recorded.digest


def test_dropped_packets_are_those_that_the_link_dropped() -> None:
    run = fullpipe.run(scenario({**CUBIC, "size": "1500 kB"}))
    (dropped,) = run.links_summary.filter(link="bottleneck")["dropped_packets"]
    assert value(run, "dropped_packets") == dropped > 0
    assert value(run, "dropped_share") == dropped / run.flows["sent_packets"][0]


def test_late_packets_are_retransmitted_and_not_dropped() -> None:
    link = {"reordering": {"every": 50, "extra": "30 ms"}, "queue": {"kind": "drop_tail", "packets": 10_000}}
    flow = {**CUBIC, "cca": "reno", "tcp": {"loss_detection": "dupack"}}
    run = fullpipe.run(scenario(flow, link=link))
    assert (value(run, "loss_rate") or 0) > 0
    assert (value(run, "retransmitted") or 0) >= 10
    assert value(run, "dropped_packets") == 0


def test_dropped_datagrams_are_lost_once_a_later_one_has_arrived() -> None:
    flow = {"name": "udp", "workload": {"kind": "udp", "rate": "6 Mbit/s"}}
    run = fullpipe.run(scenario(flow))
    (dropped,) = run.links_summary.filter(link="bottleneck")["dropped_packets"]
    assert value(run, "dropped_packets", "udp") == dropped >= run.flows["lost_packets"][0] > 0
    assert value(run, "dropped_share", "udp") == dropped / run.flows["sent_packets"][0]


def printed(tmp_path: Path, *words: str, of: Scenario) -> str:
    path = tmp_path / "delays.toml"
    path.write_text(of.to_toml(), encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(path), *words, "--out", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    return result.output


def test_tables_show_one_loss_and_delays_only_of_datagrams(tmp_path: Path) -> None:
    swept = {"sweep": {BUFFER: [10, 20]}}
    shown = printed(tmp_path, of=scenario(**swept))
    assert "dropped_share" in shown
    assert "retransmission_rate" not in shown
    assert "owd" not in shown
    assert "owd_p95" in printed(tmp_path, of=scenario(CUBIC, PING, **swept))
    assert "retransmission_rate" in printed(tmp_path, "--format", "csv", of=scenario(**swept))


def test_a_delay_that_was_not_recorded_is_a_dash_and_a_line_that_says_how(tmp_path: Path) -> None:
    shown = printed(tmp_path, "--seeds", "2", "--metric", "in_order_mean", of=scenario())
    assert "note: no run has a value of in_order_mean" in shown
    assert "record.in_order = true" in shown


def test_comparisons_have_one_way_delays_of_datagrams_or_as_asked() -> None:
    over = {BUFFER: [10, 20]}

    def compared(*flows: dict[str, Any], **more: Any) -> set[str]:
        (found,) = compare_over(scenario(*flows, **more.pop("values", {})), over, [1, 2], **more)
        return {row.metric for row in found.rows}

    jitter = {"start_jitter": "100 ms"}
    assert "owd_mean" not in compared({**CUBIC, **jitter})
    assert "owd_mean" in compared({**CUBIC, **jitter}, PING)
    assert compared({**CUBIC, **jitter}, metrics=["owd_mean"]) == {"owd_mean"}
    assert {"owd_mean", "dropped_share", "loss_rate"} <= set(HEADLINES)
