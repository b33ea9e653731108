"""The report of a study in parts, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullpipe.studies.text import Aligned, fitted, written


@dataclass(frozen=True, slots=True)
class Told:
    """The report of a study."""

    parts: Sequence[str | Aligned]
    """The whole report for a terminal."""
    title: str
    how: str
    """Sentence on the numbers that are compared."""
    verdicts: Sequence[Sequence[str]]
    """A row per printed number or claim, after the heads."""
    tally: Mapping[str, int]
    """Count of each verdict, the best first."""
    causes: Sequence[tuple[str, int]]
    """Causes of claims that are not reproduced with their counts, the most frequent first."""
    counts: Sequence[str]
    """Sentences with the counts of verdicts and causes under every reading."""
    sections: Sequence[str | Aligned]
    """Further sections of the study: prose and tables."""
    rules: str
    setup: Sequence[tuple[str, str, str]]
    """Printed set-up beside the one used, after the heads."""
    seeds: int

    @property
    def text(self) -> str:
        """The whole report, with tables at their full width."""
        return written(self.parts)

    def fitted(self, columns: int) -> str:
        """Return the whole report for a terminal with this number of columns."""
        return fitted(self.parts, columns)
