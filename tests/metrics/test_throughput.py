"""Rates over intervals and since the start, on samples small enough to work out by hand."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import metrics


def series(rates: list[float], flow: str = "a", step_s: float = 1.0) -> pl.DataFrame:
    rows = [(step_s * (n + 1), flow, rate) for n, rate in enumerate(rates)]
    return pl.DataFrame(rows, schema=["time_s", "flow", "goodput_bps"], orient="row")


def test_interval_goodput_is_the_mean_of_the_samples_in_it() -> None:
    found = metrics.interval_goodput(series([1.0, 3.0, 5.0, 7.0]), 2.0)
    assert found.select("time_s", "goodput_bps").rows() == [(2.0, 2.0), (4.0, 6.0)]


def test_cumulative_goodput_counts_from_the_start() -> None:
    found = metrics.cumulative_goodput(series([0.0, 2.0, 4.0, 0.0]), since_s=1.0)
    assert found["goodput_bps"].to_list() == [2.0, 3.0, 2.0]


def test_cumulative_goodput_keeps_flows_apart() -> None:
    both = pl.concat([series([2.0, 4.0]), series([10.0, 0.0], "b")])
    found = metrics.cumulative_goodput(both).sort("flow", "time_s")
    assert found["goodput_bps"].to_list() == [2.0, 3.0, 10.0, 5.0]


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50))
def test_cumulative_goodput_ends_with_the_mean(rates: list[float]) -> None:
    last = metrics.cumulative_goodput(series(rates))["goodput_bps"][-1]
    assert last == pytest.approx(sum(rates) / len(rates))


def test_wire_throughput_of_an_interval_counts_headers_and_repeats_but_no_acks() -> None:
    rows = [
        (100_000_000, "sender", "a", "data", 1514),
        (200_000_000, "sender", "a", "data", 1514),
        (200_000_000, "sender", "a", "ack", 66),
        (250_000_000, "receiver", "a", "data", 1514),
        (1_500_000_000, "sender", "a", "data", 1000),
    ]
    packets = pl.DataFrame(rows, schema=["time_ns", "point", "flow", "kind", "size"], orient="row")
    found = metrics.interval_wire_throughput(packets, 1.0)
    assert found.select("time_s", "wire_bps").rows() == [(1.0, 24_224.0), (2.0, 8_000.0)]


def test_wire_throughput_of_a_run_is_the_sum_over_flows() -> None:
    assert metrics.cumulative_wire_bps(pl.DataFrame({"wire_bps": [1e6, 2e6]})) == 3e6


def test_spans_leave_out_their_start_and_hold_their_end() -> None:
    assert metrics.between(series([1.0] * 4), 1, 3)["time_s"].to_list() == [2.0, 3.0]


def test_samples_without_a_second_time_have_no_spacing() -> None:
    assert metrics.spacing_s(series([1.0])) is None
