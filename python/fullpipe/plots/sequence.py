"""The packets of a connection as its sender sees them: sequence numbers over time, as tcptrace draws them."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import Tables
from fullpipe.analysis.segments import round_trip_s, segments
from fullpipe.palette import COLOURS
from fullpipe.plots.style import MANY_MARKS, in_house_style, is_narrow, new_figure, shared_legend

LOOKS = {"data": COLOURS[0], "sent again": COLOURS[1], "SACK": COLOURS[3], "ACK": COLOURS[6]}
"""Colours of what is drawn, in the order of the legend."""
WORDS = {"sent again": "retransmitted"}
"""Labels of the legend, where the table has another word."""
_ENLARGED = "enlarged"
"""Label of the part that the second panel shows."""
_MARK = "^"
"""Marker of retransmissions, which are too few and too short to be seen as lines."""
BEFORE, AFTER = 1.5, 3.5
"""Round trips that are shown on either side of a retransmission."""


@in_house_style
def sequence(
    tables: Tables, at_s: float | None = None, flow: str | None = None
) -> tuple[Figure, pl.DataFrame]:
    """Data, retransmissions, ACKs and SACK blocks at the sender of a connection: all of it, and the round
    trips around its first retransmission, or around a time. Without retransmissions that is the middle.

    It is the connection with most data, of the flow if one is named.

    Returns:
        The figure, and its table: time_s, what, from_byte, to_byte (which are the same for an ACK).

    Raises:
        ValueError: If no data were captured at the sender, or none were sent around that time.
    """
    found = segments(tables["packets"], flow)
    sent = found.filter(pl.col("what").is_in(["data", "sent again"]))
    again = sent.filter(pl.col("what") == "sent again")["time_s"]
    middle_s = float(sent["time_s"][sent.height // 2])
    around_s = at_s if at_s is not None else float(again[0]) if len(again) else middle_s
    trip_s = round_trip_s(found) or float(found["time_s"][-1]) or 1.0
    begin_s, end_s = around_s - BEFORE * trip_s, around_s + AFTER * trip_s
    near = found.filter(pl.col("time_s").is_between(begin_s, end_s))
    if near.filter(pl.col("what").is_in(["data", "sent again"])).is_empty():
        raise ValueError(f"no data were sent around {around_s:g} s; choose another time")
    figure, (whole, part) = new_figure(1, 2, row_height=3.0)
    entries = _draw(whole, found) | _draw(part, near)
    entries[_ENLARGED] = whole.axvspan(begin_s, end_s, color="0.5", alpha=0.2, linewidth=0)
    part.set_xlim(begin_s, end_s)
    whole.set(ylabel="sequence number (kB)", xlabel="time (s)")
    part.set(ylabel=whole.get_ylabel() if is_narrow() else "", xlabel="time (s)")
    shown = [what for what in (*LOOKS, _ENLARGED) if what in entries]
    shared_legend(figure, {WORDS.get(what, what): entries[what] for what in shown})
    return figure, found


def _draw(axes: Axes, found: pl.DataFrame) -> dict[str, object]:
    """Draw rows of `segments`; what stands for each kind in a legend."""
    entries: dict[str, object] = {}
    for what, colour in LOOKS.items():
        rows = found.filter(pl.col("what") == what)
        if rows.is_empty():
            continue
        times_s, to_kb = rows["time_s"].to_numpy(), rows["to_byte"].to_numpy() / 1e3
        dense = rows.height > MANY_MARKS
        if what == "ACK":
            (entries[what],) = axes.plot(
                times_s, to_kb, drawstyle="steps-post", color=colour, linewidth=0.6, rasterized=dense
            )
        elif what == "sent again":
            (entries[what],) = axes.plot(
                times_s, to_kb, _MARK, ms=3, color=colour, zorder=3, rasterized=dense
            )
        else:
            from_kb = rows["from_byte"].to_numpy() / 1e3
            lines = axes.vlines(
                times_s[:1], from_kb[:1], to_kb[:1], color=colour, label=what, rasterized=dense
            )
            # As vlines sets them, without a masked array for each.
            lines.set_segments(list(np.stack([times_s, from_kb, times_s, to_kb], axis=1).reshape(-1, 2, 2)))
            axes.update_datalim([(times_s.min(), from_kb.min()), (times_s.max(), to_kb.max())])
            entries[what] = lines
    return entries
