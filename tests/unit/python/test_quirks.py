"""The behaviours of ns-3, and one of Google's kernel, that a transport may be given."""

from __future__ import annotations

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native.plan import plan

LINUX = {
    "rate_sample": "linux",
    "invalid_rate_samples": "discarded",
    "rescue_retransmit": "none",
    "full_send_buffer": "app_limited",
}
OTHERS = {"idle_application": "app_limited", "prr": "rfc9937", "lost_in_flight": "counted"}
"""As Linux has them, which are no part of the ablation of ns-3 3.40."""
SHIFTED = {"idle_application": "network_limited", "prr": "ns3", "lost_in_flight": "shifted"}
NS3 = {
    "rate_sample": "ns3_3.40",
    "invalid_rate_samples": "repeated",
    "rescue_retransmit": "unbounded",
    "full_send_buffer": "network_limited",
}


def with_quirks(values: dict[str, str]) -> Scenario:
    return Scenario.named("single-bbr1").with_values({f"tcp.{name}": value for name, value in values.items()})


def test_left_out_all_of_them_are_linuxs() -> None:
    [flow] = plan(Scenario.named("single-bbr1"))["flows"]
    assert not {*LINUX, *OTHERS} & flow["tcp"].keys()


def test_the_plan_has_what_the_scenario_says() -> None:
    [flow] = plan(with_quirks({**NS3, **SHIFTED}))["flows"]
    assert flow["tcp"] == {**NS3, **SHIFTED}


def test_they_survive_toml() -> None:
    assert Scenario.from_toml(with_quirks(NS3).to_toml()) == with_quirks(NS3)


@pytest.mark.parametrize(("name", "value"), [*LINUX.items(), *OTHERS.items()])
def test_a_value_that_does_not_exist_is_refused_with_those_that_do(name: str, value: str) -> None:
    with pytest.raises(ScenarioError, match=f"tcp.{name}.*{value}"):
        with_quirks({name: "something"})


def test_the_ablation_spans_every_combination() -> None:
    points = Scenario.named("kato2025-ablation").points()
    assert len(points) == 16
    assert {f"tcp.{name}": value for name, value in LINUX.items()} in points
    assert {f"tcp.{name}": value for name, value in NS3.items()} in points
