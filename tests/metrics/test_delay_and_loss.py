"""Delay, loss and what one flow costs another."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import metrics

LINKS = pl.DataFrame(
    {
        "link": ["bottleneck", "idle"],
        "dropped_packets": [5, 0],
        "forwarded_packets": [95, 0],
        "sojourn_mean_s": [0.01, None],
        "sojourn_p95_s": [0.03, None],
    }
)
FLOWS = pl.DataFrame(
    {
        "flow": ["a", "b"],
        "sent_packets": [80, 20],
        "lost_packets": [4, 6],
        "marked_packets": [25, 0],
        "rtt_min_s": [0.04, 0.02],
        "rtt_p95_s": [0.06, 0.06],
    }
)


def test_loss_and_marking_rates_are_of_all_packets_together() -> None:
    assert metrics.loss_rate(FLOWS) == 0.1
    assert metrics.marking_rate(FLOWS) == 0.25


def test_a_rate_that_an_engine_does_not_measure_is_unknown() -> None:
    assert metrics.loss_rate(FLOWS.with_columns(lost_packets=pl.lit(None, pl.Int64))) is None


def test_drop_rate_is_of_all_that_came() -> None:
    assert metrics.drop_rate(LINKS) == 0.05
    assert metrics.drop_rate(LINKS, "idle") is None


@pytest.mark.parametrize("metric", [metrics.drop_rate, metrics.queue_sojourn_s])
def test_an_unknown_link_is_an_error(metric: object) -> None:
    with pytest.raises(KeyError, match="other"):
        metric(LINKS, "other")  # type: ignore[operator]


def test_sojourn_is_of_the_link() -> None:
    assert metrics.queue_sojourn_s(LINKS) == (0.01, 0.03)
    assert metrics.queue_sojourn_s(LINKS, "idle") is None


def test_inflation_is_over_the_base() -> None:
    assert metrics.rtt_inflation(FLOWS) == pytest.approx((1.5 + 3) / 2)
    assert metrics.rtt_inflation(FLOWS, base_s=0.02) == pytest.approx(3)


def test_rtt_percentiles_over_time_leave_out_the_warmup() -> None:
    series = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "flow": ["a"] * 3, "srtt_s": [9.0, 0.1, 0.3]})
    assert metrics.rtt_percentiles_s(series, (50,), warmup_s=1.0).rows() == [("a", pytest.approx(0.2))]


def test_power_is_throughput_over_delay() -> None:
    assert metrics.power(10e6, 0.04) == 250e6
    with pytest.raises(ValueError, match="above zero"):
        metrics.power(1, 0)


def test_a_full_link_without_a_queue_has_all_the_power() -> None:
    assert metrics.normalised_power(10e6, 0.04, rate_bps=10e6, base_s=0.04) == 1


@given(st.floats(1, 1e9), st.floats(1, 100))
def test_a_full_link_loses_power_as_its_queue_grows(rate: float, times: float) -> None:
    found = metrics.normalised_power(rate, 0.04 * times, rate_bps=rate, base_s=0.04)
    assert found == pytest.approx(1 / times)


def test_harm_by_hand() -> None:
    assert metrics.harm(10, 4) == 0.6
    assert metrics.harm(20, 80, more_is_better=False) == 0.75


def test_harm_of_nothing_is_unknown() -> None:
    assert metrics.harm(0, 1) is None


@given(st.floats(0.01, 1e9), st.floats(0.01, 1e9))
def test_harm_is_at_most_one_and_has_the_sign_of_what_is_lost(alone: float, together: float) -> None:
    more, less = metrics.harm(alone, together), metrics.harm(alone, together, more_is_better=False)
    assert more is not None
    assert less is not None
    assert max(more, less) <= 1
    assert (more > 0) == (together < alone) == (less < 0)


def test_throughput_ratio_is_per_flow() -> None:
    assert metrics.throughput_ratio([6.0], [2.0, 4.0]) == 2.0
    assert metrics.throughput_ratio([6.0], [0.0]) is None
    assert metrics.throughput_ratio([], [1.0]) is None


def test_jain_over_time_counts_flows_only_while_they_are_there() -> None:
    flows = pl.DataFrame({"flow": ["a", "b"], "start_s": [0.0, 2.02], "end_s": [4.0, 3.9]})
    rows = [(t, f, 3.0 if f == "a" else 1.0) for t in (1.0, 2.0, 3.0, 4.0) for f in ("a", "b")]
    series = pl.DataFrame(rows, schema=["time_s", "flow", "goodput_bps"], orient="row")
    assert metrics.jain_over_time(series, flows)["jain"].to_list() == [1.0] * 4
    # With slack, both are there from 2 to 3 s: 4^2 / (2 * 10).
    loose = metrics.jain_over_time(series, flows, slack_s=0.1)
    assert loose["jain"].to_list() == [1.0, 1.0, pytest.approx(0.8), 1.0]
