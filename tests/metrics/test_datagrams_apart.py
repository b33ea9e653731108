"""Pings, probes and calls beside connections: what is said of all flows together, and that it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Run, Scenario, metrics, sweeps
from fullpipe.analysis.metrics.groups import ALL, DOWNLOADS, TOTALS, UPLOADS
from fullpipe.cli import app
from fullpipe.cli.plot_drawn import Kind
from fullpipe.cli.plot_points import Chosen, figure_of
from fullpipe.report.content import Items
from fullpipe.report.runs.page import page_of
from fullpipe.validation.compare import compare
from fullpipe.validation.over import compared, sides_of

RTTS_S = {"a": 0.040, "b": 0.060, "up": 0.110, "ping": 0.020}
PING = {"name": "ping", "workload": {"kind": "ping", "interval": "100 ms"}}
CALL = {"name": "call", "workload": "voip"}
BULK = [{"name": "a", "cca": "cubic"}, {"name": "b", "cca": "reno"}]
UPLOAD = {"name": "up", "cca": "cubic", "upload": True}
RATE = "topology.bottleneck.rate"
SAID = "of connections alone, without datagrams such as pings and calls"


def scenario(flows: Sequence[dict[str, Any]], **more: Any) -> Scenario:
    bottleneck = {"rate": "5 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 20}}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    values = {"name": "beside", "duration": "2 s", "topology": topology, "flows": flows}
    return Scenario(**(values | more))


def with_known_values(flows: Sequence[dict[str, Any]]) -> Run:
    """A run whose flows have the RTTs above, 100 packets each, and 8 of every connection sent again."""
    run = fullpipe.run(scenario(flows))
    names = run.flows["flow"].to_list()
    rows = run.flows.with_columns(
        pl.lit(100).alias("sent_packets"),
        pl.Series("rtt_mean_s", [RTTS_S[name] for name in names]),
        pl.Series("retransmitted_packets", [0 if name == "ping" else 8 for name in names]),
        pl.Series("goodput_bps", [8e3 if name == "ping" else 1e6 for name in names]),
    )
    return replace(run, tables={**run.tables, "flows": rows.cast(run.flows.schema)})


def value(run: Run, of: str, metric: str) -> float | None:
    found = {(row["of"], row["metric"]): row["value"] for row in metrics.measured(run).to_dicts()}
    return found[of, metric]  # type: ignore[no-any-return]


def test_what_is_said_of_all_flows_is_said_of_connections() -> None:
    run = with_known_values([*BULK, PING])
    assert value(run, ALL, "rtt_mean") == pytest.approx((0.040 + 0.060) / 2)
    assert value(run, ALL, "retransmission_rate") == pytest.approx(16 / 200)
    assert value(run, ALL, "power") == pytest.approx(2e6 / 0.050)
    assert value(run, ALL, "goodput") == pytest.approx(2.008e6)  # a sum is of everything
    assert value(run, "ping", "rtt_mean") == pytest.approx(0.020)


def test_power_of_downloads_leaves_out_the_ping_that_is_one() -> None:
    run = with_known_values([*BULK, UPLOAD, PING])
    assert value(run, DOWNLOADS, "power") == pytest.approx(2e6 / 0.050)
    assert value(run, UPLOADS, "power") == pytest.approx(1e6 / 0.110)
    assert value(run, ALL, "rtt_mean") == pytest.approx((0.040 + 0.060 + 0.110) / 3)


def test_where_all_flows_are_datagrams_means_are_of_them() -> None:
    run = fullpipe.run(scenario([PING, {**PING, "name": "other"}]))
    assert value(run, ALL, "rtt_mean") == pytest.approx(run.flows["rtt_mean_s"].mean())


def test_what_connections_do_not_have_is_that_of_datagrams() -> None:
    run = fullpipe.run(scenario([*BULK, PING]))
    assert value(run, ALL, "owd_mean") == value(run, "ping", "owd_mean") is not None


def test_every_metric_that_leaves_out_datagrams_says_so() -> None:
    flagged = {measure.name for measure in metrics.MEASURES if measure.is_of_connections}
    says_so = {measure.name for measure in metrics.MEASURES if "of its connections alone" in measure.meaning}
    assert flagged == says_so
    assert {"rtt_mean", "rtt_p95", "srtt_mean", "retransmission_rate", "loss_rate", "power"} <= flagged


def printed(tmp_path: Path, *words: str, flows: Sequence[dict[str, Any]] = (*BULK, PING)) -> str:
    path = tmp_path / "beside.toml"
    path.write_text(scenario(flows).to_toml(), encoding="utf-8")
    result = CliRunner().invoke(app, [words[0], str(path), *words[1:], "--out", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    return result.output


def test_tables_over_runs_say_so(tmp_path: Path) -> None:
    told = f"{SAID}: rtt_mean, dropped_share of all flows"
    assert told in printed(tmp_path, "run", "--seeds", "2").splitlines()
    measured = CliRunner().invoke(app, ["metrics", *map(str, tmp_path.glob("runs/*/native-1"))])
    assert f"{SAID}: rtt_min, rtt_mean" in measured.output


@pytest.mark.parametrize("flows", [BULK, [PING, CALL]])
def test_flows_of_one_kind_need_no_word(tmp_path: Path, flows: list[dict[str, Any]]) -> None:
    assert SAID not in printed(tmp_path, "run", "--seeds", "2", flows=flows)


def runs(*rates: str) -> list[Run]:
    made = scenario([*BULK, PING], sweep={RATE: list(rates)})
    return sweeps.run(sweeps.jobs(made, [1, 2]))


def test_comparisons_say_so() -> None:
    sides = sides_of(scenario([*BULK, PING]), {RATE: ["5 Mbit/s", "10 Mbit/s"]}, [1, 2])
    made = sweeps.run([job for jobs in sides.values() for job in jobs])
    (found,) = compared(sides, made, ["rtt_mean", "goodput"], {})
    assert f"{SAID}: rtt_mean of all flows" in found.notes
    engines = compare({"one": made[:2], "other": made[2:]}, "one")
    assert [line for line in engines.remarks if line.startswith(SAID)]


def test_reports_and_figures_say_so() -> None:
    found = runs("5 Mbit/s", "10 Mbit/s")
    (notes,) = (section for section in page_of(found).parts[0].details if section.heading == "Notes")
    lines = [line for block in notes.blocks if isinstance(block, Items) for line in block.items]
    assert "all connections: all flows without datagrams such as pings and calls" in lines
    figure, _ = figure_of(found, Chosen(Kind.LINES, ["rtt_mean"]))
    assert f"{SAID}: mean RTT of all flows" in figure.get_supxlabel()
    figure, _ = figure_of(found, Chosen(Kind.LINES, ["rtt_mean"], of="ping"))
    assert SAID not in figure.get_supxlabel()


def test_totals_keep_their_names() -> None:
    assert TOTALS == ("all flows", "all downloads", "all uploads")
