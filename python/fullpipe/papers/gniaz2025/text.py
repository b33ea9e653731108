"""The printed report: the verdicts, and the set-up."""

from __future__ import annotations

from collections.abc import Sequence

from fullpipe.papers import tables
from fullpipe.papers.claims import Judged
from fullpipe.papers.text import wrapped
from fullpipe.papers.transcription import Transcription


def report(source: Transcription, judged: Sequence[Judged], runs: int) -> str:
    """All of it."""
    how = wrapped(
        f"Every printed number and claim, with ours over {runs} seeds"
        + (" and its 95 % interval" if runs > 1 else "")
        + " for every setting of what is open; the closest is marked *. Throughput counts the headers of IP "
        "and TCP, lost packets every drop. Of claims in words, ours is how many of its comparisons hold. "
        "Access is wired: Wi-Fi is not testable here."
    )
    parts = [
        source.title,
        how,
        tables.verdict_text(judged),
        tables.tallies(judged),
        tables.RULES,
        "The set-up, as printed or as coded, and as used here:",
        tables.setup_text(source.setup),
    ]
    return "\n\n".join(parts)
