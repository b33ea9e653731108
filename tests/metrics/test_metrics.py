"""Metrics on tables small enough to work out by hand."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import metrics

FLOWS = pl.DataFrame(
    {
        "flow": ["a", "b", "c", "d"],
        "goodput_bps": [4e6, 2e6, 2e6, 0.5e6],
        "sent_packets": [100, 50, 50, 0],
        "retransmitted_packets": [10, 0, 0, 0],
    }
)


def test_jain_of_equal_rates_is_one() -> None:
    assert metrics.jain([3.0, 3.0]) == 1.0


def test_jain_of_one_that_has_everything_is_one_over_n() -> None:
    assert metrics.jain([1.0, 0.0, 0.0, 0.0]) == 0.25


def test_jain_by_hand() -> None:
    assert metrics.jain([4.0, 2.0, 2.0, None]) == pytest.approx(64 / (3 * 24))


@pytest.mark.parametrize("rates", [[], [0.0, 0.0], [None]])
def test_jain_of_nothing_is_unknown(rates: list[float | None]) -> None:
    assert metrics.jain(rates) is None


@given(st.lists(st.floats(1, 1e12), min_size=1))
def test_jain_lies_between_one_over_n_and_one(rates: list[float]) -> None:
    fairness = metrics.jain(rates)
    assert fairness is not None
    assert 1 / len(rates) - 1e-9 <= fairness <= 1 + 1e-9


def test_starved_flows_are_below_a_megabit_per_second() -> None:
    assert metrics.starved_flows(FLOWS) == 1


def test_starved_flows_are_strictly_below_the_threshold() -> None:
    assert metrics.starved_flows(FLOWS, below_bps=2e6) == 1


def test_total_goodput() -> None:
    assert metrics.total_goodput_bps(FLOWS) == 8.5e6


def test_mean_goodput() -> None:
    assert metrics.mean_goodput_bps(FLOWS) == 2.125e6


@pytest.mark.parametrize(("ddof", "expected"), [(1, 2.0), (0, 1.632993)])
def test_standard_deviation(ddof: int, expected: float) -> None:
    flows = pl.DataFrame({"goodput_bps": [2.0, 4.0, 6.0]})
    assert metrics.standard_deviation_bps(flows, ddof) == pytest.approx(expected)


def test_retransmission_rate_is_of_all_packets_together() -> None:
    assert metrics.retransmission_rate(FLOWS) == 0.05


def test_retransmission_rate_of_nothing_is_unknown() -> None:
    assert metrics.retransmission_rate(FLOWS.filter(pl.col("flow") == "d")) is None


def test_utilisation_of_a_link() -> None:
    assert metrics.utilisation(pl.DataFrame({"link": ["bottleneck"], "utilisation": [0.5]})) == 0.5


def test_utilisation_of_an_unknown_link_is_an_error() -> None:
    with pytest.raises(KeyError, match="other"):
        metrics.utilisation(pl.DataFrame({"link": ["bottleneck"], "utilisation": [0.5]}), "other")


def test_percentiles_over_time_leave_out_the_warmup() -> None:
    series = pl.DataFrame(
        {"time_s": [1.0, 2.0, 3.0, 4.0], "flow": ["a"] * 4, "goodput_bps": [100.0, 1.0, 2.0, 3.0]}
    )
    found = metrics.throughput_percentiles_bps(series, (50, 100), warmup_s=1.0)
    assert found.rows(named=True) == [{"flow": "a", "p50_bps": 2.0, "p100_bps": 3.0}]
