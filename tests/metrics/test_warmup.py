"""One number everywhere: what a run shows, what is measured of it and its summary leave out the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Run, Scenario, metrics
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.cli import app

# The long flow begins shortly before the end of the warm-up, so that what came before it was faster.
TOML = """
name = "mixed"
duration = "16 s"
warmup = "8 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "drop_tail", packets = 200 } }

[[flows]]
name = "long"
cca = "cubic"
start = "6 s"

[[flows]]
name = "reader"
cca = "cubic"
workload = { kind = "web", objects = [3, 8], think = { kind = "exponential", mean = "1 s" } }

[[flows]]
name = "viewer"
cca = "cubic"
workload = { kind = "video", bitrates = ["1 Mbit/s"], chunk = "1 s", buffer = "4 s", startup = "1 s" }

[[flows]]
name = "arrivals"
cca = "reno"
workload = { kind = "poisson", interval = "300 ms", sizes = "20 kB" }

[[flows]]
name = "call"
workload = { kind = "voip" }

[[flows]]
name = "ping"
workload = { kind = "ping", interval = "200 ms" }
"""
FLOWS = ("long", "reader", "viewer", "arrivals", "call", "ping")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return fullpipe.run(Scenario.from_toml(TOML), out=tmp_path_factory.mktemp("runs"))


@pytest.fixture
def show(tmp_path: Path) -> Callable[[str], str]:
    """What `fullpipe run` says of a scenario."""
    path = tmp_path / "it.toml"

    def text(toml: str) -> str:
        path.write_text(toml, encoding="utf-8")
        return CliRunner().invoke(app, ["run", str(path), "--no-store"]).output

    return text


@pytest.fixture(scope="module")
def measured(run: Run) -> dict[tuple[str, str], float | None]:
    return {(row["of"], row["metric"]): row["value"] for row in metrics.measured(run).to_dicts()}


def named(numbers: dict[str, Any]) -> dict[str, Any]:
    """Numbers without the units in their names."""
    units = ("_bps", "_packets", "_s")
    return {
        next((key.removesuffix(u) for u in units if key.endswith(u)), key): v for key, v in numbers.items()
    }


def shared(
    of: str, numbers: dict[str, Any], measured: dict[tuple[str, str], Any]
) -> dict[str, tuple[Any, Any]]:
    """What both have, by name."""
    return {key: (v, measured[of, key]) for key, v in named(numbers).items() if (of, key) in measured}


@pytest.mark.parametrize("flow", FLOWS)
def test_the_summary_and_metrics_agree_of_flows(
    flow: str, run: Run, measured: dict[tuple[str, str], float | None]
) -> None:
    (own,) = [row for row in run.summary()["flows"] if row["flow"] == flow]
    found = shared(flow, own, measured)
    assert {"goodput", "wire", "retransmitted", "rtt_min", "rtt_mean", "rtt_p95", "owd_p95", "jitter"} <= set(
        found
    )
    assert "call_score" in found
    assert [key for key, (ours, theirs) in found.items() if ours != theirs] == []


def test_the_summary_and_metrics_agree_of_links(
    run: Run, measured: dict[tuple[str, str], float | None]
) -> None:
    (own,) = [row for row in run.summary()["links"] if row["link"] == "bottleneck"]
    found = shared("bottleneck", own, measured)
    assert set(found) == {"dropped", "marked", "utilisation", "sojourn_mean", "sojourn_p95"}
    assert [key for key, (ours, theirs) in found.items() if ours != theirs] == []


def test_the_summary_and_metrics_agree_of_totals(
    run: Run, measured: dict[tuple[str, str], float | None]
) -> None:
    summary = run.summary()
    assert summary["totals"]["goodput_bps"] == measured[ALL, "goodput"]
    assert summary["totals"]["jain"] == measured[ALL, "jain"]
    assert summary["totals"]["bulk_flows"] == measured[ALL, "bulk"]
    assert summary["transfers"]["p50_s"] == measured[ALL, "fct_p50"]
    assert summary["transfers"]["p95_s"] == measured[ALL, "fct_p95"]


def test_transfers_of_the_warm_up_would_make_a_difference(
    run: Run, measured: dict[tuple[str, str], float | None]
) -> None:
    every = metrics.completion_percentiles_s(run.transfers)["p50_s"][0]
    assert every < 0.8 * (measured[ALL, "fct_p50"] or 0)
    assert metrics.measured_transfers(run)["start_s"].min() >= 8


@pytest.mark.parametrize("flow", ["reader", "viewer", "arrivals"])
def test_a_run_shows_the_completion_times_that_are_measured(
    flow: str, show: Callable[[str], str], measured: dict[tuple[str, str], float | None]
) -> None:
    text = show(TOML)
    table = text[text.index("\ntransfers") :].partition("\nvideo")[0]
    lines = [line.split() for line in table.splitlines()]
    (cells,) = [cells for cells in lines if cells[:1] == [flow] and len(cells) == 8]
    assert cells[5:7] == [f"{1e3 * (measured[flow, key] or 0):,.2f}" for key in ("fct_p50", "fct_p95")]


def test_slowdowns_are_of_the_same_transfers(run: Run, measured: dict[tuple[str, str], float | None]) -> None:
    late = run.transfers.filter(run.transfers["start_s"] >= 8)
    assert measured[ALL, "slowdown"] == metrics.slowdowns(late)["slowdown"].median()


def test_samples_of_the_warm_up_are_left_out(run: Run, measured: dict[tuple[str, str], float | None]) -> None:
    late = run.series.filter((run.series["flow"] == "reader") & (run.series["time_s"] > 8))["srtt_s"]
    assert measured["reader", "srtt_mean"] == pytest.approx(late.mean())
    assert measured["reader", "srtt_p95"] == pytest.approx(late.quantile(0.95, "linear"))


def test_what_includes_the_warm_up_says_so(run: Run, show: Callable[[str], str]) -> None:
    text = show(TOML)
    assert "16 s without the first 8 s (warm-up)" in text
    heading = text[text.index("\nvideo (") + 1 :].splitlines()
    assert [line[:13].strip() for line in heading[:2]] == ["video (with", "the warm-up)"]
    assert f"{run.meta.data_packets:,} data packets (warm-up included)" in text


def test_without_a_warm_up_nothing_is_said_of_it(show: Callable[[str], str]) -> None:
    text = show(TOML.replace('"8 s"', '"0 s"'))
    assert "warm-up" not in text


def test_metrics_say_how_much_is_left_out(run: Run) -> None:
    assert (
        "mixed, after 8 s of warm-up, seed 1" in CliRunner().invoke(app, ["metrics", str(run.folder)]).output
    )
