"""Figures of captured packets: sequence numbers, clumps of ACKs, pauses, one-way delays and handovers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from fullpipe.analysis.over_time import Tables
from fullpipe.analysis.packets import (
    acks,
    connections_with_data,
    delays,
    flow_of_segments,
    round_trip_s,
    segments,
)
from fullpipe.palette import COLOURS
from fullpipe.plots.links import mark_events
from fullpipe.plots.series import algorithms, flow_looks, with_algorithm
from fullpipe.plots.style import (
    MANY_MARKS,
    in_house_style,
    is_narrow,
    legend_entries,
    new_figure,
    note_below,
    shared_legend,
)

# Clumps of ACKs at the sender: the number of ACKs that arrive together, and the time between clumps.


_ABOUT_CLUMPS = "clump: ACKs that arrive less than 0.1 ms apart"
APART_S = 100e-6
"""ACKs that arrive at shorter intervals are one clump. The value is below the shortest slot of a radio."""


@in_house_style
def clumps(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Draw the share of ACKs by the size of their clump, and the times between clumps, for every flow.

    Returns:
        The figure, and its table: flow, time_s (of the first ACK), acks, after_ms (since the preceding
        clump).

    Raises:
        ValueError: If no ACKs were captured at the sender.
    """
    found = in_clumps(acks(tables["packets"]))
    flows = found["flow"].unique(maintain_order=True).to_list()
    figure, (sizes, times) = new_figure(1, 2, row_height=2.4)
    most = max(1, int(found["acks"].to_numpy().max() - 1).bit_length())
    width, styles = 0.8 / len(flows), flow_looks(tables, flows)
    for i, flow in enumerate(flows):
        rows = found.filter(pl.col("flow") == flow)
        counts = rows["acks"].to_numpy()
        bins = np.ceil(np.log2(counts)).astype(int)
        shares = np.bincount(bins, weights=counts, minlength=most + 1) / counts.sum()
        at = np.arange(most + 1) + (i - (len(flows) - 1) / 2) * width
        sizes.bar(at, shares, width, label=flow, **styles[flow].area)
        after = rows["after_ms"].drop_nulls().sort().to_numpy()
        share = np.arange(1, len(after) + 1) / max(1, len(after))
        times.plot(after, share, drawstyle="steps-post", **styles[flow].line)
    sizes.set_xticks(range(most + 1), [str(2**n) for n in range(most + 1)])
    sizes.set(xlabel="ACKs of a clump, up to", ylabel="share of ACKs", ylim=(0, 1))
    times.set(xlabel="time from clump to clump (ms), log scale", ylabel="share of clumps", ylim=(0, 1.02))
    times.set_xscale("log")
    times.xaxis.set_major_formatter("{x:g}")
    times.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    times.xaxis.set_minor_locator(NullLocator())
    entries, of = legend_entries(sizes), algorithms({"": tables})
    named = {with_algorithm(flow, of): entry for flow, entry in entries.items()}
    if len(named) == 1:
        sizes.set_title(next(iter(named)))
    shared_legend(figure, named)
    note_below(figure, [_ABOUT_CLUMPS])
    return figure, found


def in_clumps(times: pl.DataFrame) -> pl.DataFrame:
    """Clumps of ACKs that arrive less than `APART_S` after one another.

    Args:
        times: flow, time_s.

    Returns:
        flow, time_s (of the first ACK), acks, after_ms (since the first ACK of the preceding clump; null for
        the first clump).
    """
    begins = (pl.col("time_s").diff() >= APART_S).fill_null(value=True).over("flow")
    numbered = times.with_columns(clump=begins.cum_sum().over("flow"))
    found = numbered.group_by("flow", "clump", maintain_order=True).agg(
        pl.col("time_s").first(), acks=pl.len()
    )
    return found.drop("clump").with_columns(after_ms=pl.col("time_s").diff().over("flow") * 1e3)


# Arrival of data: the distribution of pauses between deliveries, and an example over time. Slots and
# retransmissions of a radio link cause such pauses.


TOGETHER_S = 1e-6
"""Packets that arrive at shorter intervals are one delivery."""
SHOWN = 0.999
"""Share of pauses that is always drawn. A note has the number of longer pauses that are not drawn."""
_LONGER = 10
"""Largest ratio of the longest pause to the quantile `SHOWN` at which all pauses are drawn."""
RARE = 0.99
"""Quantile of the pause that the second panel shows."""
BINS = 100


@in_house_style
def pauses(tables: Tables, flow: str | None = None) -> tuple[Figure, pl.DataFrame]:
    """Draw the pauses between deliveries of a flow: the distribution of the pauses, and the deliveries around
    one of the longer pauses, in which a late block of data delayed the blocks behind it.

    The default flow is the one with the most packets. The title names the flow.

    Returns:
        The figure, and its table: time_s (of a delivery), bytes (of the delivery), pause_ms (before the
        delivery).

    Raises:
        ValueError: If packets were not captured at both ends, or the flow has less than three deliveries.
    """
    arrived = delays(tables["packets"])
    if flow is not None and flow not in arrived["flow"]:
        raise ValueError(f"no packets of {flow} arrived")
    count = arrived["flow"].n_unique() if flow is None else 1
    drawn = busiest(arrived) if flow is None else flow
    found = deliveries(arrived.filter(flow=drawn))
    waits = found["pause_ms"].drop_nulls().to_numpy()
    if len(waits) < 2:
        raise ValueError("no flow has three deliveries or more, which are needed for two pauses")
    figure, (often, around) = new_figure(1, 2, row_height=2.4)
    edge = max(float(np.quantile(waits, SHOWN)), float(np.median(waits)))
    look = flow_looks(tables, [drawn])[drawn]
    longest = float(waits.max())
    is_whole = longest <= _LONGER * edge  # then the longest pauses are visible, too
    bins = np.arange(0, (longest if is_whole else edge) + edge / BINS, edge / BINS)
    often.hist(waits[waits <= bins[-1]], bins=list(bins), color=look.color, log=True)
    named = with_algorithm(drawn, algorithms({"": tables}))
    named += f", most packets of {count} flows" if count > 1 else ""
    beyond = int((waits > bins[-1]).sum())
    often.set(xlabel="pause before a delivery (ms)", ylabel="deliveries", title=named)
    often.set_xlim(left=0)
    often.yaxis.set_major_formatter("{x:g}")  # exponents would have too small letters
    at = _example(found, float(np.quantile(waits, RARE)))
    pause_s = found["pause_ms"][at] / 1e3
    begin_s, end_s = found["time_s"][at] - 3 * pause_s, found["time_s"][at] + 2 * pause_s
    rows = found.filter(pl.col("time_s").is_between(begin_s, end_s))
    came = rows["bytes"].cum_sum().to_numpy() / 1e3
    after_ms = (rows["time_s"].to_numpy() - begin_s) * 1e3
    around.plot(after_ms, came, drawstyle="steps-post", color=look.color)
    around.set(xlabel=f"time after {begin_s:.3f} s (ms)", ylabel="delivered (kB)")
    around.set_xlim(0, 5 * pause_s * 1e3)
    around.set_ylim(bottom=0)
    around.set_title("around one of the longest 1 %")
    if beyond:
        note_below(figure, [f"longer pauses are not shown: {beyond}, up to {longest:.3g} ms"])
    return figure, found


def deliveries(found: pl.DataFrame) -> pl.DataFrame:
    """Deliveries to the flow with the most packets: time_s, bytes, pause_ms (null for the first)."""
    mine = found.filter(flow=busiest(found)).sort("arrived_s")
    begins = (pl.col("arrived_s").diff() >= TOGETHER_S).fill_null(value=True)
    numbered = mine.with_columns(delivery=begins.cum_sum())
    once = numbered.group_by("delivery", maintain_order=True).agg(
        time_s=pl.col("arrived_s").first(), bytes=pl.col("bytes").sum()
    )
    return once.drop("delivery").with_columns(pause_ms=pl.col("time_s").diff() * 1e3)


def busiest(found: pl.DataFrame) -> str:
    """Name of the flow with the most packets."""
    counts = found.group_by("flow", maintain_order=True).len()
    return str(counts.filter(pl.col("len") == pl.col("len").max())["flow"][0])


def _example(found: pl.DataFrame, at_least_ms: float) -> int:
    """Return the index of the first pause of at least this length in the second half of the run; if there is
    none, of the last such pause in the run."""
    middle_s = (found["time_s"][0] + found["time_s"][-1]) / 2
    numbered = found.with_row_index().filter(pl.col("pause_ms") >= at_least_ms)
    late = numbered.filter(pl.col("time_s") > middle_s)
    return int(late["index"][0] if late.height else numbered["index"][-1])


# Distribution of one-way delays: the share of packets with at most a given delay, and the share with a longer
# delay.


@in_house_style
def one_way(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """One-way delays of all data, a line per flow. The first panel has the share of packets with at most this
    delay, on a linear axis. The second panel has the share with a longer delay, on a logarithmic axis, so
    that every link-layer retransmission of a cell appears as a bend.

    Returns:
        The figure, and its table: flow, delay_ms, share (of packets with at most this delay).

    Raises:
        ValueError: If packets were not captured at both ends.
    """
    found = delays(tables["packets"])
    figure, (came, late) = new_figure(1, 2, row_height=2.4)
    frames = []
    styles = flow_looks(tables, found["flow"].unique(maintain_order=True).to_list())
    for (flow,), rows in found.group_by("flow", maintain_order=True):
        name = str(flow)
        look = {"drawstyle": "steps-post", "label": name, **styles[name].line}
        ranked = rows["delay_s"].sort().to_numpy() * 1e3
        shares = np.arange(1, len(ranked) + 1) / len(ranked)
        came.plot(ranked, shares, **look)
        late.plot(ranked[:-1], 1 - shares[:-1], **look)
        frames.append(pl.DataFrame({"flow": [name] * len(ranked), "delay_ms": ranked, "share": shares}))
    came.set(xlabel="one-way delay (ms)", ylabel="share of packets", ylim=(0, 1.02))
    late.set(xlabel="one-way delay (ms)", ylabel="share that took longer, log scale", yscale="log")
    late.yaxis.set_major_formatter(_decimal)  # exponents would have too small letters
    late.yaxis.set_minor_locator(NullLocator())
    for place in (came, late):
        place.set_xlim(left=0)
    shared_legend(figure, legend_entries(came))
    return figure, pl.concat(frames)


def _decimal(value: float, _: float) -> str:
    """A number without an exponent."""
    return np.format_float_positional(value, precision=12, trim="-")


# The longest time without a delivery, as in a handover: delays and data in flight around this time.


_PAUSES_BEFORE, _PAUSES_AFTER = 2, 8
"""Time that is shown before and after the pause, in lengths of the pause."""


@in_house_style
def handover(tables: Tables, at_s: float | None = None) -> tuple[Figure, pl.DataFrame]:
    """One-way delay by send time, and bytes that were sent but not yet received, for all flows. The time
    range is around the longest pause of the flow with the most packets, or around its pause at `at_s`.
    Events, such as a hand-over, are marked.

    Returns:
        The figure, and its table: quantity, flow, time_s, value (ms; kB).

    Raises:
        ValueError: If packets were not captured at both ends, or no packet arrived at `at_s` or later.
    """
    found = delays(tables["packets"])
    pauses = deliveries(found)
    if at_s is not None:
        pauses = pauses.filter(pl.col("time_s") >= at_s).head(1)
    if pauses.is_empty():
        raise ValueError(f"no packet arrived at {at_s:g} s or later; choose an earlier time")
    longest = pauses.sort("pause_ms", nulls_last=True, descending=True)
    pause_s, end_s = (longest["pause_ms"][0] or 0.0) / 1e3, longest["time_s"][0]
    window = (end_s - (1 + _PAUSES_BEFORE) * pause_s, end_s + _PAUSES_AFTER * pause_s)
    figure, (took, waiting) = new_figure(2, row_height=1.8)
    frames = []
    styles = flow_looks(tables, found["flow"].unique(maintain_order=True).to_list())
    for (flow,), rows in found.group_by("flow", maintain_order=True):
        name, look = str(flow), styles[str(flow)]
        late = rows.sort("sent_s").filter(pl.col("sent_s").is_between(*window))
        sent_s, delay_ms = late["sent_s"], late["delay_s"] * 1e3
        point = {"markersize": 2.5, "linestyle": "none", "rasterized": True, **look.point}
        took.plot(sent_s.to_numpy(), delay_ms.to_numpy(), label=name, **point)
        frames.append(_rows("delay_ms", name, sent_s, delay_ms))
        times_s, under_way = on_the_way(rows)
        inside = (times_s >= window[0]) & (times_s <= window[1])
        inside_s, size_kb = times_s[inside], under_way[inside] / 1e3
        waiting.plot(inside_s, size_kb, drawstyle="steps-post", **look.line)
        frames.append(_rows("on_the_way_kb", name, pl.Series(inside_s), pl.Series(size_kb)))
    took.set(ylabel="one-way delay (ms)\nby send time", ylim=(0, None))
    waiting.set(ylabel="in transit (kB)", xlabel="time (s)", ylim=(0, None))
    for place in (took, waiting):
        place.set_xlim(*window)
        pause = place.axvspan(end_s - pause_s, end_s, color="0.5", alpha=0.2, linewidth=0)
        place.label_outer()
    entries = legend_entries(took)
    told = "longest pause" if at_s is None else "pause"
    told += f" of {busiest(found)}" if len(entries) > 1 else ""
    shared_legend(figure, {**entries, told: pause})
    mark_events((took, waiting), {"": tables})
    return figure, pl.concat(frames)


def on_the_way(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the times at which a packet left or arrived, and the bytes in flight from each time on. Lost
    packets do not count."""
    times_s = np.concatenate([rows["sent_s"].to_numpy(), rows["arrived_s"].to_numpy()])
    sizes = rows["bytes"].to_numpy().astype(float)
    order = np.argsort(times_s, kind="stable")
    return times_s[order], np.cumsum(np.concatenate([sizes, -sizes])[order])


def _rows(quantity: str, flow: str, time_s: pl.Series, value: pl.Series) -> pl.DataFrame:
    size = len(time_s)
    return pl.DataFrame(
        {"quantity": [quantity] * size, "flow": [flow] * size, "time_s": time_s, "value": value}
    )


# Packets of a connection at its sender: sequence numbers over time, as tcptrace draws them.


LOOKS = {"data": COLOURS[0], "sent again": COLOURS[1], "SACK": COLOURS[3], "ACK": COLOURS[6]}
"""Colours of the kinds of segments, in the order of the legend."""
WORDS = {"sent again": "retransmitted"}
"""Labels of the legend that differ from the words of the table."""
_ENLARGED = "enlarged"
"""Label of the part that the second panel shows."""
_MARK = "^"
"""Marker of retransmissions, which are too few and too short to be visible as lines."""
_TRIPS_BEFORE, _TRIPS_AFTER = 1.5, 3.5
"""Round trips that are shown on either side of a retransmission."""


@in_house_style
def sequence(
    tables: Tables, at_s: float | None = None, flow: str | None = None
) -> tuple[Figure, pl.DataFrame]:
    """Data, retransmissions, ACKs and SACK blocks at the sender of a connection: the whole connection, and
    the round trips around a time. The default time is the first retransmission, or the middle of the data
    without retransmissions.

    The drawn connection is the one with the most data; if a flow is named, only its connections count. The
    title names its flow, and the number of connections if there are several.

    Returns:
        The figure, and its table: time_s, what, from_byte, to_byte (equal to from_byte for an ACK).

    Raises:
        ValueError: If no data were captured at the sender, or no data were sent around that time.
    """
    found = segments(tables["packets"], flow)
    sent = found.filter(pl.col("what").is_in(["data", "sent again"]))
    again = sent.filter(pl.col("what") == "sent again")["time_s"]
    middle_s = float(sent["time_s"][sent.height // 2])
    around_s = at_s if at_s is not None else float(again[0]) if len(again) else middle_s
    trip_s = round_trip_s(found) or float(found["time_s"][-1]) or 1.0
    begin_s, end_s = around_s - _TRIPS_BEFORE * trip_s, around_s + _TRIPS_AFTER * trip_s
    near = found.filter(pl.col("time_s").is_between(begin_s, end_s))
    if near.filter(pl.col("what").is_in(["data", "sent again"])).is_empty():
        raise ValueError(f"no data were sent around {around_s:g} s; choose another time")
    figure, (whole, part) = new_figure(1, 2, row_height=3.0)
    is_long = float(found["to_byte"].to_numpy().max()) >= _MEGABYTE
    scale, unit = (1e-6, "MB") if is_long else (1e-3, "kB")
    entries = _draw(whole, found, scale) | _draw(part, near, scale)
    entries[_ENLARGED] = whole.axvspan(begin_s, end_s, color="0.5", alpha=0.2, linewidth=0)
    part.set_xlim(begin_s, end_s)
    count = connections_with_data(tables["packets"], flow)
    named = with_algorithm(flow_of_segments(tables["packets"], flow), algorithms({"": tables}))
    named += f", most data of {count} connections" if count > 1 else ""
    whole.set(ylabel=f"sequence number ({unit})", xlabel="time (s)", title=named)
    part.set(ylabel=whole.get_ylabel() if is_narrow() else "", xlabel="time (s)")
    shown = [what for what in (*LOOKS, _ENLARGED) if what in entries]
    for place in (whole, part):
        place.set_ylim(bottom=max(0, place.get_ylim()[0]))
    whole.set_xlim(left=0)
    shared_legend(figure, {WORDS.get(what, what): entries[what] for what in shown})
    return figure, found


_MEGABYTE = 1_000_000
"""Bytes from which the axis of sequence numbers is in MB."""


def _draw(axes: Axes, found: pl.DataFrame, scale: float) -> dict[str, object]:
    """Draw rows of `segments`, and return the legend entry of each kind. `scale` is the unit per byte."""
    entries: dict[str, object] = {}
    for what, colour in LOOKS.items():
        rows = found.filter(pl.col("what") == what)
        if rows.is_empty():
            continue
        times_s, ends = rows["time_s"].to_numpy(), rows["to_byte"].to_numpy() * scale
        dense = rows.height > MANY_MARKS
        if what == "ACK":
            (entries[what],) = axes.plot(
                times_s, ends, drawstyle="steps-post", color=colour, linewidth=0.6, rasterized=dense
            )
        elif what == "sent again":
            (entries[what],) = axes.plot(times_s, ends, _MARK, ms=3, color=colour, zorder=3, rasterized=dense)
        else:
            begins = rows["from_byte"].to_numpy() * scale
            lines = axes.vlines(times_s[:1], begins[:1], ends[:1], color=colour, label=what, rasterized=dense)
            # The same segments as vlines makes, but without a masked array for each, which would be slow.
            lines.set_segments(list(np.stack([times_s, begins, times_s, ends], axis=1).reshape(-1, 2, 2)))
            axes.update_datalim([(times_s.min(), begins.min()), (times_s.max(), ends.max())])
            entries[what] = lines
    return entries


# Figures of packets that were captured at the endpoints of a run.


PACKET_FIGURES: Mapping[str, Callable[..., tuple[Figure, pl.DataFrame]]] = {
    "one-way": one_way,
    "clumps": clumps,
    "pauses": pauses,
    "handover": handover,
    "sequence": sequence,
}
"""Figures of the captured packets of one run, by the names of `fullpipe plot --kind`."""
