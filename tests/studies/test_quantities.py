"""Bounds of what studies measure: no interval of their tables, texts and figures reaches beyond."""

from __future__ import annotations

from math import inf

import pytest

from fullpipe.statistics import t_interval
from fullpipe.studies import sologon2025
from fullpipe.studies.ahsan2025 import rerun
from fullpipe.studies.claim_checks import ClaimResult, Part
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import bounds_of, interval_of
from fullpipe.studies.verdicts import PartResult, Verdict


def measured(**values: list[float]) -> Measurements:
    """One experiment with one algorithm and setting."""
    where = (("pair", "one"), ("path", "a"), ("setting", "as stated"))
    return Measurements({("test", name, "BBRv3", where): found for name, found in values.items()})


@pytest.mark.parametrize(
    ("quantity", "bounds"),
    [
        ("jain", (0, 1)),
        ("jain_after_30", (0, 1)),
        ("goodput_mbps", (0, inf)),
        ("retransmitted_percent", (0, 100)),
        ("link_2", (0, 100)),
        ("drop_12", (-inf, 1)),
        ("share_change", (-1, 1)),
        ("growth_ms", (-inf, inf)),
    ],
)
def test_a_quantity_has_bounds(quantity: str, bounds: tuple[float, float]) -> None:
    assert bounds_of(quantity) == bounds


def test_the_interval_of_a_mean_is_truncated() -> None:
    assert (found := interval_of("short_share", [0.1, 0.9]))
    assert (found.low, found.high) == (0, 1)
    assert interval_of("short_share", [0.1]) is None


def test_a_difference_keeps_its_interval() -> None:
    values = [-3.0, 1.0, 2.0]
    assert interval_of("growth_ms", values) == t_interval(values)


def test_the_table_of_a_study_is_truncated() -> None:
    table = measured(jain=[0.5, 0.9], rtt_ms=[1.0, 90.0], lead_mbps=[-1.0, 1.0]).table()
    ends = {name: (low, high) for name, low, high in table.select("quantity", "low", "high").iter_rows()}
    assert ends["jain"] == (0, 1)
    assert ends["rtt_ms"][0] == 0
    assert ends["lead_mbps"][0] < -1


def test_cells_of_the_text_are_truncated() -> None:
    found = measured(jain=[0.5, 0.9], share=[0.1, 0.5])
    assert "0.7 [0, 1]" in str(sologon2025.settings_text(found, "test", {"jain": "Jain"}, "setting"))
    shown = rerun._shown(found, "test", "share", "BBRv3", {"pair": "one"})
    assert shown == "0.3 [0, 1]"


def result_of(claim: Claim, *ours: float) -> ClaimResult:
    part = Part({}, ours, PartResult(Verdict.REPRODUCED))
    return ClaimResult(claim, "", (part,), Verdict.REPRODUCED)


def claim(kind: str, quantity: str) -> Claim:
    return Claim("one", "says", kind, None, quantity=quantity)


def test_the_interval_beside_a_claim_is_truncated() -> None:
    assert result_of(claim("between", "jain"), 0.5, 0.9).ends == (0, 1)


def test_a_relative_change_may_be_negative() -> None:
    ends = result_of(claim("change", "jain"), -40.0, -20.0).ends
    assert ends
    assert ends[0] < -40
