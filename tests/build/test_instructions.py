"""Stored counts of instructions, and what the check of them says."""

import json

import pytest

from benches.instructions import MARGIN, PROFILES, SCENARIOS, STORED, planned, slower


@pytest.mark.parametrize("profile", PROFILES)
def test_every_scenario_is_stored_and_nothing_else(profile: str) -> None:
    assert list(json.loads(STORED.read_text())["per_packet"][profile]) == list(SCENARIOS)


def test_both_profiles_are_stored_and_nothing_else() -> None:
    assert tuple(json.loads(STORED.read_text())["per_packet"]) == PROFILES


@pytest.mark.parametrize(("now", "dearer"), [(1029, []), (1031, ["one"]), (900, [])])
def test_more_than_the_margin_above_is_dearer(now: int, dearer: list[str]) -> None:
    assert MARGIN == 0.03
    assert slower({"one": now}, {"one": 1000}) == dearer


def test_what_is_not_stored_is_dearer() -> None:
    assert slower({"new": 1}, {}) == ["new"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_plans_of_counted_scenarios_take_no_samples_but_where_they_are_counted(name: str) -> None:
    interval_ns = json.loads(planned(*SCENARIOS[name]))["record"]["interval_ns"]
    assert interval_ns == (10_000_000 if "samples" in name else None)
