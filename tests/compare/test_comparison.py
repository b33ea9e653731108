"""Runs of several engines side by side."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.validation.compare import Margin, compare, overlay

SCENARIO = Scenario(
    name="two groups",
    duration="5 s",
    topology={"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
    flows=[{"cca": "cubic", "count": 2, "start_jitter": "100 ms"}, {"cca": "bbr1", "start_jitter": "100 ms"}],
)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [fullpipe.run(SCENARIO, seed=seed) for seed in (1, 2, 3)]


def altered(run: Run, table: str, **columns: pl.Expr) -> Run:
    """The run with other columns in a table."""
    tables: Mapping[str, pl.DataFrame] = {
        name: frame.with_columns(**columns) if name == table else frame for name, frame in run.tables.items()
    }
    return replace(run, tables=tables)


def declaring(run: Run, **of_meta: object) -> Run:
    """The run with another account of itself."""
    return replace(run, meta=run.meta.model_copy(update=of_meta))


def test_equal_runs_differ_in_nothing(runs: list[Run]) -> None:
    found = compare({"native": runs, "other": runs}, "native")
    assert all(row.judgements["other"].difference == 0 for row in found.rows)
    assert "different" not in {row.judgements["other"].verdict for row in found.rows}
    assert found.notes == ()


def test_equal_runs_are_equivalent_where_seeds_vary_less_than_the_margin(runs: list[Run]) -> None:
    found = compare({"native": runs, "other": runs}, "native")
    (row,) = [row for row in found.rows if (row.of, row.metric) == (ALL, "goodput")]
    assert row.judgements["other"].verdict == "equivalent"


def test_values_are_of_groups_all_flows_and_links(runs: list[Run]) -> None:
    found = compare({"native": runs, "other": runs}, "native")
    assert {row.of for row in found.rows} == {"cubic", "bbr1-1", ALL, "bottleneck"}


def test_a_faster_engine_is_different_by_what_it_is_faster(runs: list[Run]) -> None:
    faster = [altered(run, "flows", goodput_bps=pl.col("goodput_bps") * 1.5) for run in runs]
    found = compare({"native": runs, "other": faster}, "native")
    (row,) = [row for row in found.rows if (row.of, row.metric) == (ALL, "goodput")]
    assert row.judgements["other"].verdict == "different"
    assert row.judgements["other"].difference == pytest.approx(row.mean("native") / 2)


def test_another_margin_changes_the_verdict(runs: list[Run]) -> None:
    faster = [altered(run, "flows", goodput_bps=pl.col("goodput_bps") * 1.5) for run in runs]
    found = compare({"native": runs, "other": faster}, "native", {"goodput": Margin(0.9)})
    (row,) = [row for row in found.rows if (row.of, row.metric) == (ALL, "goodput")]
    assert row.judgements["other"].verdict == "equivalent"


def test_what_an_engine_does_not_measure_is_left_out_with_a_note(runs: list[Run]) -> None:
    null = [altered(run, "links_summary", sojourn_p95_s=pl.lit(None, pl.Float64)) for run in runs]
    blind = [declaring(run, not_measured=("links_summary.sojourn_p95_s",)) for run in null]
    found = compare({"native": runs, "blind": blind, "third": runs}, "native")
    (row,) = [row for row in found.rows if row.metric == "sojourn_p95"]
    assert set(row.judgements) == {"third"}
    assert [str(note) for note in found.notes] == [
        "blind: sojourn_p95 of bottleneck is left out, as it is not measured"
    ]


def test_what_only_some_runs_have_is_left_out_with_a_note(runs: list[Run]) -> None:
    once = [*runs[:2], altered(runs[2], "flows", rtt_mean_s=pl.lit(None, pl.Float64))]
    found = compare({"native": runs, "other": once}, "native")
    assert not [row for row in found.rows if row.metric == "rtt_mean"]
    (note,) = [str(note) for note in found.notes if note.metric == "rtt_mean"]
    assert "2 of 3 runs" in note


def test_flows_that_never_converge_are_not_called_unmeasured() -> None:
    run = fullpipe.run(SCENARIO.with_values({"duration": "12 s"}))
    fair = altered(run, "series", goodput_bps=pl.lit(3e6))
    unfair = altered(run, "series", goodput_bps=pl.when(pl.col("flow") == "bbr1-1").then(9e6).otherwise(5e5))
    found = compare({"native": [fair], "other": [unfair]}, "native")
    (note,) = [note for note in found.notes if note.metric == "convergence"]
    assert note.endswith(" is left out, as all its bulk flows converge in 0 of 1 runs")


SMOOTHED = {f"flows.rtt_{what}_s": "its RTT samples are smoothed" for what in ("mean", "p50", "p95", "p99")}


def test_smoothed_samples_are_not_held_against_others(runs: list[Run]) -> None:
    smooth = [declaring(run, otherwise=SMOOTHED) for run in runs]
    found = compare({"native": runs, "kernel": smooth, "other": runs}, "native")
    left_out = {"rtt_mean", "rtt_p95", "rtt_inflation", "power"}
    assert {row.metric for row in found.rows if "kernel" not in row.judgements} == left_out
    assert {row.metric for row in found.rows if "other" not in row.judgements} == set()
    of = f"cubic, bbr1-1, {ALL}"
    assert f"kernel: rtt_mean of {of} is left out, as its RTT samples are smoothed" in map(str, found.notes)


def test_smoothed_samples_of_the_reference_leave_out_the_others(runs: list[Run]) -> None:
    smooth = [declaring(run, otherwise=SMOOTHED) for run in runs]
    found = compare({"native": runs, "kernel": smooth}, "kernel")
    assert "rtt_p95" not in {row.metric for row in found.rows}
    assert {"srtt_mean", "srtt_p95"} <= {row.metric for row in found.rows}
    (note,) = [str(note) for note in found.notes if note.metric == "rtt_p95"]
    assert note.startswith("native: rtt_p95 of ")
    assert note.endswith("is left out, because of kernel: its RTT samples are smoothed")


def test_smoothed_samples_are_held_against_smoothed_ones(runs: list[Run]) -> None:
    smooth = [declaring(run, otherwise=SMOOTHED) for run in runs]
    found = compare({"one": smooth, "another": smooth}, "one")
    assert {"rtt_mean", "rtt_p95"} <= {row.metric for row in found.rows}
    assert found.notes == ()


def test_a_ping_has_no_smoothed_samples() -> None:
    ping = {"name": "ping", "workload": {"kind": "ping", "interval": "100 ms"}}
    run = fullpipe.run(SCENARIO.with_values({"flows": [{"cca": "cubic"}, ping]}))
    found = compare({"native": [run], "kernel": [declaring(run, otherwise=SMOOTHED)]}, "native")
    assert [row.of for row in found.rows if row.metric == "rtt_p95"] == ["ping"]


def test_without_a_second_engine_there_is_nothing_to_compare(runs: list[Run]) -> None:
    with pytest.raises(ValueError, match="two engines"):
        compare({"native": runs}, "native")


def test_series_lie_on_one_axis_whatever_the_interval(runs: list[Run]) -> None:
    finer = [fullpipe.run(SCENARIO.with_values({"record.interval": "10 ms"}), seed=seed) for seed in (1, 2)]
    data = overlay({"native": runs, "finer": finer})
    assert data.columns == ["engine", "of", "quantity", "time_s", "mean", "low", "high"]
    assert set(data["quantity"]) == {"goodput", "rtt"}
    assert (data["low"] <= data["mean"] + 1e-6).all()
    assert (data["mean"] <= data["high"] + 1e-6).all()
    means = data.filter(pl.col("quantity") == "goodput").group_by("engine", "of").agg(pl.col("mean").mean())
    rates = {(engine, of): rate for engine, of, rate in means.iter_rows()}
    assert rates["native", "bbr1-1"] == pytest.approx(rates["finer", "bbr1-1"], rel=0.2)


def test_without_samples_there_is_no_series(runs: list[Run]) -> None:
    silent = [replace(run, tables={**run.tables, "series": run.series.clear()}) for run in runs]
    assert overlay({"native": silent}).is_empty()


def test_a_series_that_an_engine_does_not_sample_is_no_line_at_zero(runs: list[Run]) -> None:
    blind = [altered(run, "series", goodput_bps=pl.lit(None, pl.Float64)) for run in runs]
    assert set(overlay({"blind": blind})["quantity"]) == {"rtt"}
