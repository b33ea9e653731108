"""The report of a study in parts, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullpipe.studies.text import Aligned, fitted, written


@dataclass(frozen=True, slots=True)
class Told:
    """The report of a study."""

    parts: Sequence[str | Aligned]
    """All of it, for a terminal."""
    title: str
    how: str
    """A sentence on whose numbers are compared with which."""
    verdicts: Sequence[Sequence[str]]
    """A row per printed number or claim, below their heads."""
    tally: Mapping[str, int]
    """Count of each verdict, the best first."""
    causes: Sequence[tuple[str, int]]
    """Why what is not reproduced is not, the most frequent first."""
    counts: Sequence[str]
    """The same in sentences, under every reading."""
    sections: Sequence[str | Aligned]
    """Other parts of the study: prose, and tables."""
    rules: str
    setup: Sequence[tuple[str, str, str]]
    """Printed set-up beside the one used, below their heads."""
    seeds: int

    @property
    def text(self) -> str:
        """All of it, tables as wide as they are."""
        return written(self.parts)

    def fitted(self, columns: int) -> str:
        """All of it, for a terminal of so many columns."""
        return fitted(self.parts, columns)
