"""Completion times and slowdowns by hand."""

import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario, metrics

TRANSFERS = pl.DataFrame(
    {
        "flow": ["a", "a", "a", "b"],
        "number": [1, 2, 3, 1],
        "bytes": [1448, 14_480, 14_480, 1448],
        "fct_s": [0.1, 0.3, None, 0.5],
        "ideal_s": [0.05, 0.1, 0.1, 0.05],
    }
)


def test_completions_are_counted_and_what_did_not_finish_is_left_out() -> None:
    (row,) = metrics.completion_percentiles_s(TRANSFERS, (50,)).rows(named=True)
    assert row == {"finished": 3, "unfinished": 1, "mean_s": pytest.approx(0.3), "p50_s": 0.3}


def test_completions_by_flow() -> None:
    found = metrics.completion_percentiles_s(TRANSFERS, (100,), by="flow")
    assert found.select("flow", "p100_s").rows() == [("a", 0.3), ("b", 0.5)]


def test_slowdown_is_over_the_ideal_of_what_finished() -> None:
    assert metrics.slowdowns(TRANSFERS)["slowdown"].to_list() == pytest.approx([2, 3, 10])


def test_a_lone_transfer_on_an_empty_path_is_slower_than_ideal_by_slow_start_only() -> None:
    values = {"duration": "10 s", "flows.0.size": "1 MB"}
    run = fullpipe.run(Scenario.named("single-cubic").with_values(values))
    (slowdown,) = metrics.slowdowns(run.tables["transfers"])["slowdown"]
    assert 1 < slowdown < 3
