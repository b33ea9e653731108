"""What a study says, in parts: for a terminal as text, and for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """The report of a study."""

    text: str
    """All of it, for a terminal."""
    title: str
    how: str
    """Whose numbers are held against which."""
    verdicts: Sequence[Sequence[str]]
    """A row per printed number or claim, below their heads."""
    tally: Mapping[str, int]
    """How often each verdict was given, the best first."""
    causes: Sequence[tuple[str, int]]
    """Why what is not reproduced is not, the most frequent first."""
    counts: Sequence[str]
    """The same in sentences, under every reading."""
    sections: Sequence[str]
    """What the study has besides: prose, and tables as text."""
    rules: str
    setup: Sequence[tuple[str, str, str]]
    """What is printed of the set-up, and what was used, below their heads."""
    seeds: int
