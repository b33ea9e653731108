"""The printed report: every claim with our value and the verdict, and the set-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullpipe.papers import tables
from fullpipe.papers.claims import Judged
from fullpipe.papers.text import wrapped


def report(
    title: str, judged: Sequence[Judged], setup: Sequence[Mapping[str, Any]], runs: int, *, quick: bool
) -> str:
    """All of it."""
    how = wrapped(
        f"Every printed number and claim, with ours over {runs} seeds"
        + (" and its 95 % interval" if runs > 1 else "")
        + ". A claim about Ad-BBR is judged for every reading of its pseudo-code; the closest is marked *. "
        "Of claims in words, ours is how many of its comparisons hold."
        + (" This is the quick form: shorter runs than the study's." if quick else "")
    )
    parts = [
        title,
        how,
        tables.verdict_text(judged),
        tables.tallies(judged),
        tables.RULES,
        "The set-up, as printed and as used here:",
        tables.setup_text(setup),
    ]
    return "\n\n".join(parts)
