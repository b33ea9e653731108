"""Claims of studies, run as the study has them and with the setting that is said to turn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullpipe import studies
from fullpipe.studies import sologon2025
from fullpipe.studies.verdicts import Cause

EXPLAINED = {
    "kato2025": ("Fig. 4: the slow flow", "Table II, 100: standard deviation", "Fig. 2, 100: starved flows"),
    "sologon2025": (
        "4.1: CUBIC, faster route",
        "Fig. 11: CUBIC, 5 s, longer flows",
        "4.1: BBRv3 and CUBIC",
    ),
    "gniaz2025": (
        "Figs. 6, 8: first 2 s",
        "S2: the drop to 5 Mbit/s",
        "S2: after the drop",
        "Table 7: CUBIC, lost",
    ),
    "adbbr2025": ("5.3.2: at 30 s, Ad-BBR", "5.5: one flow", "5.2: BBRv1, throughput"),
}
SEEDS = {"kato2025": 2, "sologon2025": 2}
"""Seeds of studies whose first claim is judged by its interval; other studies have their own number."""
ROUTES_S = 45
"""Four changes of the route; the study goes on as before."""


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLAINED)
def test_the_setting_that_is_named_turns_the_verdict(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sologon2025, "QUICK_S", ROUTES_S)
    for place, claim in enumerate(EXPLAINED[name]):
        seeds = 1 if place else SEEDS.get(name)
        found = studies.explain(name, claim, seeds=seeds, out=tmp_path, workers=2, quick=True)
        assert found.turns, found.text()
        assert found.claim.why not in (None, Cause.UNKNOWN)
        assert "The setting turns the verdict." in found.text().splitlines()
