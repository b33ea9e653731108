"""Marks of events: a line through all panels, and words above the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from fullpipe.analysis.over_time import Tables
from fullpipe.plots.style import SMALL, figure_of

_PER_LETTER = 0.6
"""Width of a letter, in sizes of letters."""
_WARMUP = "warm-up"


def mark_events(axes: Sequence[Axes], runs: Mapping[str, Tables], warmup_s: float = 0.0) -> None:
    """Mark the events of runs within the panels, and shade the warm-up. Words that would lie upon others
    before are left out."""
    found: dict[float, dict[str, None]] = {}
    for tables in runs.values():
        events = tables.get("events")
        for time_s, event in events.iter_rows() if events is not None else ():
            found.setdefault(time_s, {})[event] = None
    begin, end = axes[0].get_xlim()
    width = 72 * figure_of(axes[0]).get_figwidth()
    taken = 0.0
    if warmup_s:
        taken = _shade(axes, warmup_s)
    for time_s, words in sorted(found.items()):
        if not begin <= time_s <= end:
            continue
        for place in axes:
            place.vlines(time_s, 0, 1, "0.3", ":", linewidth=0.8, transform=place.get_xaxis_transform())
        text, at = ", ".join(words), width * (time_s - begin) / (end - begin)
        half = _PER_LETTER * SMALL * len(text) / 2
        if at - half >= taken:
            axes[0].annotate(
                text, (time_s, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                ha="center", va="bottom", fontsize=SMALL, color="0.3", annotation_clip=False,
            )  # fmt: skip
            taken = at + half


def _shade(axes: Sequence[Axes], warmup_s: float) -> float:
    """Shade the warm-up in all panels; the width of its name above the first, in points."""
    for place in axes:
        place.axvspan(0, warmup_s, color="0.5", alpha=0.1, linewidth=0)
    axes[0].annotate(
        _WARMUP, (0, 1), (0, 2), xycoords="axes fraction", textcoords="offset points",
        ha="left", va="bottom", fontsize=SMALL, color="0.3",
    )  # fmt: skip
    return _PER_LETTER * SMALL * len(_WARMUP)
