"""What is asked for: a metric, of all flows or of a group of them, as in "rtt_mean of ping"."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from fullpipe.analysis.bounds import bounds_of
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Bounds
from fullpipe.analysis.shown import axis_shown
from fullpipe.errors import UnknownNameError


class Subject(NamedTuple):
    """A metric, and the group of flows or link that it is of, if that was said."""

    metric: str
    of: str | None

    @classmethod
    def read(cls, text: str, of: str | None = None) -> Subject:
        """From "rtt_mean of ping", or a name alone, which is of `of`.

        Raises:
            UnknownNameError: If there is no such metric.
        """
        metric, _, own = (part.strip() for part in text.partition(" of "))
        if metric not in BY_NAME:
            raise UnknownNameError("metric", metric, BY_NAME)
        return cls(metric, own or of)

    @property
    def called(self) -> str:
        """The metric, and of what it is."""
        return f"{self.metric} of {self.of}" if self.of else self.metric

    @property
    def scale(self) -> float:
        """What values are multiplied with to be shown."""
        return axis_shown(self.metric, in_percent=False)[0]

    @property
    def bounds(self) -> Bounds:
        """The least and the most that it can be, as it is shown."""
        least, most = bounds_of(self.metric)
        return least * self.scale, most * self.scale

    @property
    def label(self) -> str:
        """Of an axis."""
        return axis_shown(self.metric, self.of or "", in_percent=False)[1]


def groups_asked(subjects: Iterable[Subject]) -> dict[str, list[str] | None]:
    """Every metric that is asked for once, with the groups or links that it is asked of; None of all."""
    found: dict[str, list[str] | None] = {}
    for metric, of in subjects:
        known = found.get(metric, [])
        found[metric] = None if of is None or known is None else [*dict.fromkeys([*known, of])]
    return found


def check_groups(subjects: Iterable[Subject], known: Collection[str]) -> None:
    """Raise UnknownNameError if something is asked of a group that there is not."""
    for _, of in subjects:
        if of is not None and of not in known:
            raise UnknownNameError("group of flows", of, known)
