"""A contrast: two sides of one metric, a value per seed each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.metrics.measure import Better
from fullpipe.analysis.statistics import Paired, paired
from fullpipe.validation.compare.finding import NO_SUBJECT, LeftOut, Subject


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sides of one metric. Where seeds are paired, both have the same seeds in the same order."""

    reference: Sequence[float]
    other: Sequence[float]
    margin: float
    """The difference that does not matter, in the unit of the values."""
    better: Better
    seeds_change_nothing: bool = False
    """Whether all runs of both sides are alike, so that there is one run of each, however many seeds."""
    left_out: LeftOut | None = None
    """Unfinished transfers of completion times; None of all else."""
    subject: Subject = NO_SUBJECT
    sides: tuple[str, str] = ("reference", "other")
    labels: tuple[str, str] = ("", "")
    """Names of the group or link on either side."""
    stated: Margin = field(default_factory=Margin)
    """The margin as a share, an amount, or both."""

    @property
    def pairs(self) -> Paired | None:
        """Statistics of the paired differences; None of a single seed."""
        return paired(self.reference, self.other) if len(self.reference) > 1 else None

    @property
    def difference(self) -> float:
        """Mean of the other side minus mean of the reference."""
        return sum(self.other) / len(self.other) - sum(self.reference) / len(self.reference)

    def is_biased(self, *, is_alike: bool) -> bool:
        """Whether unfinished transfers may explain that one side is faster, or that both are alike.

        Those that finish are the faster ones, so that the p-th percentile of them is one of rank p (1 - u) of
        all where a share u is left out. Where the shares are the same, ranks are, too; else the side that has
        left more out seems faster than it is. A side that is faster though it has left less out is faster.
        Source: Lachin 1999, "Worst-rank score analysis with informatively missing observations in clinical
        trials".
        """
        more = self.left_out.more if self.left_out else 0.0
        return bool(more) and (is_alike or (more > 0) == (self.difference < 0))
