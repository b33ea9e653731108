"""Two flows that share a queue, against theory; see docs/explanation/two-flows.md."""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import Any

import pytest

import fullpipe
from fullpipe import Scenario
from fullpipe.analysis.expected import bbr_share


def shares(scenario: Scenario, values: dict[str, Any], seed: int = 1) -> list[float]:
    """Shares of the goodput, flow by flow."""
    run = fullpipe.run(scenario.with_values({"record.interval": "off", **values}), seed=seed)
    rates = run.flows["goodput_bps"].to_list()
    return [rate / sum(rates) for rate in rates]


def buffer(bdp: float) -> dict[str, str]:
    return {"topology.bottleneck.queue.size": f"{bdp} bdp"}


def mean_share(scenario: Scenario, values: dict[str, Any]) -> float:
    """Of the second flow, over three moments at which it starts: one run is one draw."""
    return fmean(shares(scenario, values, seed)[1] for seed in (1, 2, 3))


@cache
def bbr_against_cubic(bdp: float) -> float:
    scenario = Scenario.named("cubic-vs-bbr1")
    return mean_share(scenario, {"duration": "180 s", "warmup": "60 s", **buffer(bdp)})


def test_wares_model_by_hand() -> None:
    """4 BDP of 50 Mbit/s and 40 ms are 660.5 packets: p = 1/2 - 1/8 - 4 / 660.5 = 0.36894; a ProbeRTT takes
    0.16 + 0.2 + 0.04 = 0.4 s of 10."""
    assert bbr_share(4, 50e6, 0.04) == pytest.approx((1 - 0.36894) * 0.96, abs=1e-5)


def test_wares_model_leaves_nothing_to_others_behind_a_shallow_buffer() -> None:
    assert bbr_share(1, 50e6, 0.04) == pytest.approx(1 - (0.04 + 0.2 + 0.04) / 10)


def test_wares_model_gives_half_behind_a_deep_buffer_but_for_probing() -> None:
    assert bbr_share(50, 1e9, 0.02) == pytest.approx((1 / 2 + 1 / 100) * (1 - 1.22 / 10), abs=1e-3)


def test_wares_model_wants_a_path() -> None:
    with pytest.raises(ValueError, match="above zero"):
        bbr_share(0, 50e6, 0.04)


def test_bbr_takes_most_of_a_shallow_buffer() -> None:
    """The model says 0.97; Linux 7.2 in the same setting has 0.888."""
    assert bbr_against_cubic(1) == pytest.approx(0.888, abs=0.05)


def test_bbr_takes_about_half_of_a_deep_buffer() -> None:
    """The model says 0.61, for a buffer that is always full; Linux 7.2 in the same setting has 0.487."""
    assert bbr_against_cubic(4) == pytest.approx(0.487, abs=0.05)


@pytest.mark.parametrize("bdp", [2, 4, 8])
def test_bbr_stays_below_the_model_and_within_a_quarter_of_the_link(bdp: float) -> None:
    """The model has the queue always full; a sawtooth leaves BBR a smaller cap."""
    model = bbr_share(bdp, 50e6, 0.04)
    assert model - 0.25 < bbr_against_cubic(bdp) < model


@pytest.mark.parametrize("bdp", [1, 2, 10])
def test_the_longer_of_two_bbr_flows_starves_the_shorter(bdp: float) -> None:
    """Ma et al. (2017) measured 6.3 against 87.3 Mbit/s behind a deep buffer: 0.067. Linux 7.2 has 0.112."""
    short, _ = shares(Scenario.named("bbr1-rtt-fairness"), {"duration": "60 s", **buffer(bdp)})
    assert short == pytest.approx(0.067, abs=0.05)


def test_two_bbr_flows_share_a_shallow_buffer() -> None:
    short, _ = shares(Scenario.named("bbr1-rtt-fairness"), {"duration": "60 s", **buffer(0.2)})
    assert short == pytest.approx(0.5, abs=0.1)


@cache
def second_share(first: str, second: str, rtt_ms: float) -> float:
    """Share of the second flow; the first has 25 ms, and a threshold of 2.4 ms marks both."""
    values = {
        "flows.0.cca": first,
        "flows.1.cca": second,
        "flows.1.access.delay": f"{(rtt_ms - 1) / 4} ms",
    }
    return mean_share(Scenario.named("dctcp-prague"), values)


@pytest.mark.parametrize(("first", "second"), [("dctcp", "dctcp"), ("prague", "prague"), ("dctcp", "prague")])
def test_equal_flows_share_evenly_through_a_threshold(first: str, second: str) -> None:
    assert second_share(first, second, 25) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(("rtt_ms", "linux"), [(5, 0.869), (25, 0.505), (50, 0.097)])
def test_dctcp_favours_short_paths_as_linux_does(rtt_ms: float, linux: float) -> None:
    assert second_share("dctcp", "dctcp", rtt_ms) == pytest.approx(linux, abs=0.1)


@pytest.mark.parametrize(("rtt_ms", "linux"), [(5, 0.564), (50, 0.213)])
def test_prague_shares_across_rtts_as_its_kernel_does(rtt_ms: float, linux: float) -> None:
    """Version 0.6 in Linux 7.2: the mean of three starts at 5 ms, one start at 50 ms."""
    assert second_share("prague", "prague", rtt_ms) == pytest.approx(linux, abs=0.03)


@pytest.mark.parametrize(("rtt_ms", "margin"), [(5, 0.1), (50, 0.0)])
def test_prague_depends_less_on_the_rtt_than_dctcp(rtt_ms: float, margin: float) -> None:
    """At 50 ms the unevenness of the two is 0.12 apart in kernels, and 0.10 here."""
    unevenness = {cca: abs(second_share(cca, cca, rtt_ms) - 0.5) for cca in ("dctcp", "prague")}
    assert unevenness["prague"] < unevenness["dctcp"] - margin
