"""What the studies transcribe, against the list of collected values."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from fullpipe.studies import adbbr2025, ahsan2025, gniaz2025, kato2025, sologon2025
from fullpipe.studies.claims import UNMEASURED, Claim
from fullpipe.studies.study import Transcription

COLLECTED = Path(__file__).parents[3] / "shared" / "papers" / "paper_results.json"
STUDIES = {
    "kato2025": (kato2025.transcription, "000", set(range(1, 53))),
    "gniaz2025": (gniaz2025.transcription, "001", set(range(53, 123))),
    "sologon2025": (sologon2025.transcription, "002", set(range(123, 171))),
    "ahsan2025": (ahsan2025.transcription, "003", set(range(171, 518))),
    "adbbr2025": (adbbr2025.transcription, "004", set(range(775, 823))),
}


@pytest.fixture(params=STUDIES)
def study(request: pytest.FixtureRequest) -> tuple[Transcription, str, set[int]]:
    """The transcription, the number of the paper in the collected list, and that of its entries there."""
    transcription, number, listed = STUDIES[request.param]
    return transcription(), number, listed


def test_every_number_of_the_collected_list_is_there(study: tuple[Transcription, str, set[int]]) -> None:
    source, _, listed = study
    entries = [e for claim in source.claims for e in claim.entries]
    entries += [e for row in source.setup for e in row["entries"]]
    assert set(entries) == listed


@pytest.mark.skipif(not COLLECTED.exists(), reason="the collected list of printed values is not at hand")
def test_the_collected_list_has_no_more(study: tuple[Transcription, str, set[int]]) -> None:
    _, number, listed = study
    rows = json.loads(COLLECTED.read_text(encoding="utf-8"))
    printed = [row for row in rows if row["kind"] != "derived_from_public_data"]
    assert {int(row["id"].split(":")[1]) for row in printed if row["paper"].startswith(number)} == listed


def test_ids_are_unique_and_numbers_have_a_range(study: tuple[Transcription, str, set[int]]) -> None:
    claims = study[0].claims
    assert len({claim.id for claim in claims}) == len(claims)
    assert all(claim.between for claim in claims if claim.kind in ("change", "between"))


def test_what_cannot_be_tested_says_why(study: tuple[Transcription, str, set[int]]) -> None:
    assert all(claim.why for claim in study[0].claims if claim.kind == "untestable")


def test_an_index_that_is_printed_as_a_number_has_a_ceiling(
    study: tuple[Transcription, str, set[int]],
) -> None:
    for claim in study[0].claims:
        if claim.kind == "between" and claim.quantity.startswith("jain") and not claim.uncounted:
            assert claim.ceiling == 1, claim.id


def compared(claim: Claim) -> set[str]:
    """What a claim holds against what, one for every condition that it names."""
    what = (claim.experiment, claim.quantity, claim.kind, claim.what, claim.lower, claim.mean_over)
    points = [dict(zip(claim.each, values, strict=True)) for values in product(*claim.each.values())]
    return {repr((what, sorted({**claim.where, **point}.items()))) for point in points}


def test_no_claim_that_counts_is_a_part_of_another(study: tuple[Transcription, str, set[int]]) -> None:
    counted = [c for c in study[0].claims if not c.uncounted and c.kind not in UNMEASURED]
    each = [(claim, compared(claim)) for claim in counted]
    for claim, mine in each:
        holders = [other.id for other, theirs in each if other is not claim and mine <= theirs]
        assert not holders, f"{claim.id}: part of {holders[0]}"
