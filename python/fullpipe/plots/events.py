"""Marks of events: a line through all panels, and words above the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from fullpipe.analysis.over_time import Tables
from fullpipe.plots.style import figure_of

_POINTS_PER_LETTER = 3.6
_POINTS = 6
"""Size of the words."""


def mark_events(axes: Sequence[Axes], runs: Mapping[str, Tables]) -> None:
    """Mark the events of runs within the panels. Words that would lie upon others before are left out."""
    found: dict[float, dict[str, None]] = {}
    for tables in runs.values():
        events = tables.get("events")
        for time_s, event in events.iter_rows() if events is not None else ():
            found.setdefault(time_s, {})[event] = None
    begin, end = axes[0].get_xlim()
    width = 72 * figure_of(axes[0]).get_figwidth()
    taken = 0.0
    for time_s, words in sorted(found.items()):
        if not begin <= time_s <= end:
            continue
        for place in axes:
            place.vlines(time_s, 0, 1, "0.3", ":", linewidth=0.8, transform=place.get_xaxis_transform())
        text, at = ", ".join(words), width * (time_s - begin) / (end - begin)
        half = _POINTS_PER_LETTER * len(text) / 2
        if at - half >= taken:
            axes[0].annotate(
                text, (time_s, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                ha="center", va="bottom", fontsize=_POINTS, color="0.3", annotation_clip=False,
            )  # fmt: skip
            taken = at + half
