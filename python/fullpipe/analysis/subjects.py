"""Subjects of figures and tables: a metric of all flows, of a group or of a link ("rtt_mean of ping")."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from fullpipe.analysis.bounds import bounds_of
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Bounds
from fullpipe.analysis.shown import axis_shown
from fullpipe.errors import UnknownNameError


class Subject(NamedTuple):
    """A metric, with its group of flows or link if one is given."""

    metric: str
    of: str | None

    @classmethod
    def read(cls, text: str, of: str | None = None) -> Subject:
        """Read "rtt_mean of ping", or the name of a metric, whose group is then `of`.

        Raises:
            UnknownNameError: If there is no such metric.
        """
        metric, _, own = (part.strip() for part in text.partition(" of "))
        if metric not in BY_NAME:
            raise UnknownNameError("metric", metric, BY_NAME)
        return cls(metric, own or of)

    @property
    def called(self) -> str:
        """The metric with its group or link, as `read` takes it."""
        return f"{self.metric} of {self.of}" if self.of else self.metric

    @property
    def scale(self) -> float:
        """Factor from values to numbers on an axis."""
        return axis_shown(self.metric, in_percent=False)[0]

    @property
    def bounds(self) -> Bounds:
        """Smallest and largest possible number on an axis."""
        least, most = bounds_of(self.metric)
        return least * self.scale, most * self.scale

    @property
    def label(self) -> str:
        """Label of an axis."""
        return axis_shown(self.metric, self.of or "", in_percent=False)[1]


def groups_asked(subjects: Iterable[Subject]) -> dict[str, list[str] | None]:
    """Return the requested groups or links of every metric; None if one subject names no group."""
    found: dict[str, list[str] | None] = {}
    for metric, of in subjects:
        known = found.get(metric, [])
        found[metric] = None if of is None or known is None else [*dict.fromkeys([*known, of])]
    return found


def check_groups(subjects: Iterable[Subject], known: Collection[str]) -> None:
    """Raise UnknownNameError if a subject names an unknown group."""
    for _, of in subjects:
        if of is not None and of not in known:
            raise UnknownNameError("group of flows", of, known)
