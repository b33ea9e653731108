"""How fast flows find their share, fill what became free, and recover."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import metrics


def series(rates: dict[str, list[float]], step_s: float = 1.0) -> pl.DataFrame:
    rows = [
        (step_s * (n + 1), flow, rate) for flow, of_flow in rates.items() for n, rate in enumerate(of_flow)
    ]
    return pl.DataFrame(rows, schema=["time_s", "flow", "goodput_bps"], orient="row")


def flows(**starts: float) -> pl.DataFrame:
    return pl.DataFrame({"flow": list(starts), "start_s": list(starts.values())}).with_columns(end_s=100.0)


def settled(values: list[float], hold_s: float = 2.0) -> float | None:
    times = [float(n + 1) for n in range(len(values))]
    return metrics.settling_time_s(times, values, since_s=0.0, target=10.0, tolerance=0.1, hold_s=hold_s)


def test_settling_is_the_first_sample_that_holds() -> None:
    assert settled([0.0, 9.0, 20.0, 11.0, 10.0, 9.5]) == 4.0


def test_what_does_not_hold_to_the_end_has_not_settled() -> None:
    assert settled([0.0, 0.0, 0.0, 10.0, 10.0]) is None


def test_what_is_left_afterwards_had_settled() -> None:
    assert settled([10.0, 10.0, 10.0, 0.0]) == 1.0


@given(st.lists(st.floats(0, 20), max_size=40))
def test_to_hold_longer_takes_no_less_time(values: list[float]) -> None:
    short, long = settled(values, 1.0), settled(values, 4.0)
    assert long is None or (short is not None and short <= long)


def test_convergence_counts_from_the_start_of_the_flow() -> None:
    rates = {"a": [10.0, 10.0, 9.0, 6.0, *[5.0] * 6], "b": [0.0, 0.0, 1.0, 4.0, *[5.0] * 6]}
    # The second flow begins at 2 s and has 4 of 10 in the window that ends at 4 s: within 25 % of 5.
    assert metrics.convergence_time_s(series(rates), flows(a=0, b=2), "b") == 2.0


def test_convergence_to_a_given_share() -> None:
    rates = {"a": [1.0, 2.0, 3.0, *[4.0] * 7]}
    assert metrics.convergence_time_s(series(rates), flows(a=0), "a", share_bps=4.0, hold_s=3.0) == 3.0
    assert metrics.convergence_time_s(series(rates), flows(a=0), "a", share_bps=8.0, hold_s=3.0) is None


def test_convergence_of_an_unknown_flow_is_an_error() -> None:
    with pytest.raises(KeyError):
        metrics.convergence_time_s(series({"a": [1.0]}), flows(a=0), "other")


def test_freed_bandwidth_is_filled_by_all_flows_together() -> None:
    rates = {"a": [1.0, 1.0, 2.0, 4.0], "b": [0.0, 1.0, 2.0, 5.0]}
    assert metrics.time_to_fill_s(series(rates), 10.0, at_s=1.0) == 3.0
    assert metrics.time_to_fill_s(series(rates), 10.0, at_s=1.0, until_s=3.0) is None


def test_time_to_fill_takes_means_over_the_window() -> None:
    rates = {"a": [0.0, 0.0, 10.0, 0.0, 10.0, 10.0]}
    assert metrics.time_to_fill_s(series(rates, 0.5), 10.0, at_s=0.0) == 3.0


def test_recovery_counts_from_the_step() -> None:
    rates = {"a": [10.0, 10.0, 2.0, 4.0, 5.0, 5.0], "b": [0.0] * 6}
    found = metrics.recovery_time_s(series(rates), "a", at_s=2.0, target_bps=5.0)
    assert found == 3.0


def test_no_recovery_before_the_next_step() -> None:
    rates = {"a": [10.0, 10.0, 2.0, 4.0, 5.0, 5.0]}
    assert metrics.recovery_time_s(series(rates), "a", at_s=2.0, target_bps=5.0, until_s=4.0) is None
