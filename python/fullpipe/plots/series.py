"""Series over time: looks of lines, the lines, marked events, and the overview of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import fill, wrap
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import QUANTITIES, Quantity, Tables, flow_labels, presented, samples
from fullpipe.palette import Look, looks
from fullpipe.plots.charts import column_of, label_once
from fullpipe.plots.style import (
    HALO,
    LEGEND_UP_TO,
    REFERENCE,
    SMALL,
    asked_window_s,
    figure_of,
    in_house_style,
    inches_across,
    is_narrow,
    legend_columns,
    new_figure,
    note_below,
    shared_legend,
    time_ends,
    within,
)
from fullpipe.runs import Run

# Names and looks of the lines of flows and links, for one run or several runs.


Actor = tuple[str, str]
"""The label of a run, and the name of a flow or a link of the run."""


def line_names(actors: Iterable[Actor]) -> dict[Actor, str]:
    """Return the name of every line: the name of the flow or link. If several runs share the name, the label
    of the run precedes it.

    >>> line_names([("5 ms", "cubic-1"), ("9 ms", "cubic-1"), ("9 ms", "bbr3-1")])[("9 ms", "bbr3-1")]
    'bbr3-1'
    """
    pairs = list(dict.fromkeys(actors))
    names = [name for _, name in pairs]
    return {(run, name): name if names.count(name) == 1 else f"{run}: {name}" for run, name in pairs}


def algorithms(runs: Mapping[str, Tables]) -> dict[str, str]:
    """The algorithm of every flow, by the name of the flow and by every possible name of its line."""
    found: dict[str, str] = {}
    for run, tables in runs.items():
        flows = tables.get("flows")
        if flows is not None:
            for name, cca in flows.select("flow", "cca").drop_nulls().iter_rows():
                found |= {name: cca, f"{run}: {name}": cca}
    return found


def flow_looks(tables: Tables, flows: Sequence[str]) -> dict[str, Look]:
    """The look of flows of one run, which does not depend on the flows that a figure draws."""
    of = algorithms({"": tables})
    every = [name for name in of if not name.startswith(": ")]
    return looks(list(dict.fromkeys([*every, *flows])), of)


def with_algorithm(name: str, of: Mapping[str, str]) -> str:
    """Return the name of a flow or line, followed by its algorithm unless the name contains it.

    >>> with_algorithm("mine", {"mine": "bbr3"}), with_algorithm("bbr3-1", {"bbr3-1": "bbr3"})
    ('mine (bbr3)', 'bbr3-1')
    """
    kind = of.get(name, "")
    return name if kind.lower() in name.lower() else f"{name} ({kind})"


def restyle(
    axes: Sequence[Axes], of: Mapping[str, str] | None = None, group: Callable[[str], str] = str
) -> dict[str, Any]:
    """Give lines of the same label the same look in all axes, and return one line per label.

    Args:
        axes: Axes whose lines have labels.
        of: The algorithm of each label, which determines its colour.
        group: Maps labels to groups, such as all flows of a run; the lines of a group have one look.
    """
    entries: dict[str, Any] = {}
    lines = [line for place in axes for line in place.lines]
    labels = {line: group(str(line.get_label())) for line in lines}
    links = {label: "" for label in labels.values() if ": " in label}  # flows are in `of`
    found = looks(list(dict.fromkeys(labels.values())), links | dict(of or {}))
    for line, label in labels.items():
        entries.setdefault(label, line)
        line.set(**found[label].line)
    return entries


# Quantities over time, for one run or for several runs in the same axes.


_LONGER = 1.5
"""Smallest length of a gap, in multiples of the median time between samples."""
_ABOVE_THE_AXIS = 2.6
"""Layer of lines: in front of the axis, so that the line of a flow with goodput 0 stays visible."""


def _parted(times_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the known samples, with a missing sample in every gap. If a flow is measured less often than
    samples are taken, such as a ping, missing samples between the measurements are not gaps."""
    known = np.isfinite(values)
    places = np.flatnonzero(known)
    if places.size < 2:
        return times_s, values
    between = np.diff(times_s[places])
    gaps = np.flatnonzero((np.diff(places) > 1) & (between > _LONGER * np.median(between))) + 1
    middles = (times_s[places[gaps - 1]] + times_s[places[gaps]]) / 2
    return np.insert(times_s[places], gaps, middles), np.insert(values[places], gaps, np.nan)


def _alone(values: np.ndarray) -> list[int]:
    """Indices of samples with a missing sample before and after: a line does not show such samples."""
    known = np.isfinite(np.concatenate([[np.nan], values, [np.nan]]))
    return [int(place) for place in np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:])]


@in_house_style
def time_series(
    axes: Axes,
    runs: Mapping[str, Tables],
    quantity: str,
    *,
    only: Sequence[str] | None = None,
    legend_up_to: int = 8,
) -> pl.DataFrame:
    """Draw a quantity of every run over time; `runs` maps a label to the tables of a run. A line has the name
    of its flow or link. If several runs share the name, the label of the run precedes it.

    `only` keeps the flows or links of these names. Missing samples leave gaps, and a sample between two gaps
    is a dot. Returns the columns run, actor, time_s, value, in the unit of the axis.

    If samples are closer than three base RTTs, goodput is drawn as a mean over three base RTTs, but at most
    over 1 s or a tenth of the run; `within_time` sets another window. The reason is head-of-line blocking:
    when a lost packet has been retransmitted, all bytes behind it are delivered in one batch, so that goodput
    exceeds the link rate in a short interval."""
    data, label = _shown_samples(runs, quantity, only)
    lines = _draw_lines(axes, data, label)
    if 1 < len(lines) <= legend_up_to:
        labels = [str(line.get_label()) for line in axes.lines]
        axes.legend(ncols=min(legend_columns(labels, inches_across(axes)), 4)).set_in_layout(False)
    return data


def _shown_samples(
    runs: Mapping[str, Tables], quantity: str, only: Sequence[str] | None
) -> tuple[pl.DataFrame, str]:
    """The samples of all runs within the time range, and the label of the axis. `within_time` sets the range
    and the window of means."""
    data, label = samples(runs, quantity, only, asked_window_s())
    return within(data), label


def _draw_lines(axes: Axes, data: pl.DataFrame, label: str) -> list[Any]:
    """Draw a line per run and flow or link, and return the lines."""
    drawn = data.partition_by("run", "actor", maintain_order=True)
    lines = []
    names = line_names((str(frame["run"][0]), str(frame["actor"][0])) for frame in drawn)
    for frame, name in zip(drawn, names.values(), strict=True):
        times_s, values = _parted(frame["time_s"].to_numpy(), frame["value"].to_numpy().astype(float))
        (line,) = axes.plot(times_s, values, label=name, zorder=_ABOVE_THE_AXIS)
        if alone := _alone(values):
            line.set(marker=".", markersize=3, markevery=alone)
        lines.append(line)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    if np.nanmin(data["value"].fill_null(float("nan")).to_numpy(), initial=0) >= 0:
        axes.set_ylim(bottom=0)
    return lines


# Marks of events: a line through all panels, and words above the first panel.


_PER_LETTER = 0.6
"""Width of a letter, as a share of the font size."""
_WARMUP = "warm-up"


def mark_events(axes: Sequence[Axes], runs: Mapping[str, Tables], warmup_s: float = 0.0) -> bool:
    """Mark the events of runs within the panels, and shade the warm-up. Labels that would overlap an earlier
    label are left out. Returns whether there is a mark."""
    found: dict[float, dict[str, None]] = {}
    for tables in runs.values():
        events = tables.get("events")
        for time_s, event in events.iter_rows() if events is not None else ():
            found.setdefault(time_s, {})[event] = None
    begin, end = axes[0].get_xlim()
    grid = axes[0].get_gridspec()
    width = 72 * figure_of(axes[0]).get_figwidth() / (grid.ncols if grid else 1)
    taken = 0.0
    if warmup_s > begin:
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
    return bool(warmup_s or found)


def _shade(axes: Sequence[Axes], warmup_s: float) -> float:
    """Shade the warm-up in all panels, and return the width of its label above the first panel, in points."""
    for place in axes:
        place.axvspan(0, warmup_s, color="0.5", alpha=0.1, linewidth=0)
    axes[0].annotate(
        _WARMUP, (0, 1), (0, 2), xycoords="axes fraction", textcoords="offset points",
        ha="left", va="bottom", fontsize=SMALL, color="0.3",
    )  # fmt: skip
    return _PER_LETTER * SMALL * len(_WARMUP)


# The overview of a run: goodput, RTT and the queue over time.


DEFAULT = ("goodput", "rtt", "cwnd", "queue")
_HALF = 0.5
_OVER = 1.02
"""Ratio of goodput to capacity above which a note explains the excess."""
_BURSTS = (
    "goodput exceeds the capacity when a retransmission fills a hole: all later data are delivered at once"
)
_Steps = tuple[tuple[float, float], ...]
_FAR_ABOVE = 3.0
"""A capacity above this multiple of the largest drawn value is not drawn, because it would flatten the
curves."""


@in_house_style
def overview(
    runs: Mapping[str, Tables],
    quantities: Sequence[str] = (),
    *,
    only: Sequence[str] | None = None,
    warmup_s: float = 0.0,
) -> tuple[Figure, pl.DataFrame]:
    """Draw a row of axes per quantity with all runs, and return the figure and the table of the drawn values.

    The default quantities are the sampled quantities of `DEFAULT`.

    One legend serves all rows: a flow or a link has the same look in each row. If a panel of several runs
    would have more than four lines, each run has its own panels, side by side. If there is no room for these
    panels, and too many lines to tell apart, all lines of a run have one look, and the legend names the runs.
    Links without any queueing are left out, and `only` keeps the flows of these names. The warm-up is shaded,
    and events, such as a reroute, are marked. Panels of rates also show the capacities of busy links in grey;
    a path with load in both directions has one named capacity for each direction.
    """
    quantities = quantities or _sampled(runs)
    panels = {
        quantity: _shown_samples(runs, quantity, _shown_actors(runs, quantity, only))
        for quantity in quantities
    }
    if (across := _runs_across(runs, panels)) > 1:
        return _run_by_run(runs, panels, across, warmup_s)
    figure, axes = new_figure(len(quantities), row_height=1.6)
    frames = []
    for place, (quantity, (data, label)) in zip(axes, panels.items(), strict=True):
        _draw_lines(place, data, label)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
    end = last_sample_s(frames)
    for place in axes:
        place.set_xlim(*time_ends(end))
        place.label_outer()
    of = algorithms(runs)
    flow_of = _flow_of_links(frames) if len(runs) > 1 else {}
    entries = restyle(axes, of, lambda name: flow_of.get(name, name))
    if len(entries) > LEGEND_UP_TO and len(runs) > 1:
        owners = {name: run for (run, _), name in _names_of(frames).items()}
        entries = restyle(axes, group=owners.__getitem__)
    if any(len(place.lines) > 1 for place in axes):
        shared_legend(figure, {with_algorithm(name, of): line for name, line in entries.items()})
    for place, quantity in zip(axes, panels, strict=True):
        if QUANTITIES[quantity].label.endswith("(Mbit/s)"):
            _draw_capacity(place, runs)
    mark_events(axes, runs, warmup_s)
    figure.align_ylabels(axes)
    _note_bursts(figure, frames, runs)
    return figure, pl.concat(frames)


def _note_bursts(figure: Figure, frames: Sequence[pl.DataFrame], runs: Mapping[str, Tables]) -> None:
    """Write a line below the figure if the goodput of a flow exceeds all capacities."""
    steps = [step for tables in runs.values() for step in _capacities(tables).values()]
    most = max((rate for step in steps for _, rate in step), default=math.inf)
    goodput = [frame["value"].max() for frame in frames if frame["quantity"][0] == "goodput"]
    if any(isinstance(value, float) and value > _OVER * most for value in goodput):
        note_below(figure, [_BURSTS])


def _shown_actors(runs: Mapping[str, Tables], quantity: str, only: Sequence[str] | None) -> list[str] | None:
    """The flows or links of a quantity to draw; None for all."""
    of_links = quantity in QUANTITIES and QUANTITIES[quantity].table == "links"
    return _busy_links(runs) if of_links else None if only is None else list(only)


def last_sample_s(frames: Sequence[pl.DataFrame]) -> float:
    """The time of the last sample."""
    return max(float(frame["time_s"].to_numpy().max()) for frame in frames)


def _names_of(frames: Sequence[pl.DataFrame]) -> dict[Actor, str]:
    """The names of the lines of all panels, by run and flow or link."""
    named: dict[Actor, str] = {}
    for frame in frames:
        named |= line_names(frame.select("run", "actor").unique(maintain_order=True).iter_rows())
    return named


def _flow_of_links(frames: Sequence[pl.DataFrame]) -> dict[str, str]:
    """For each link, the line of the flow of the same run, so that both have one look; empty unless every run
    has one flow and one link."""
    named, of_run = _names_of(frames), dict[str, tuple[set[str], set[str]]]()
    for frame in frames:
        are_links = QUANTITIES[str(frame["quantity"][0])].table == "links"
        for actor in frame.select("run", "actor").unique(maintain_order=True).iter_rows():
            of_run.setdefault(actor[0], (set(), set()))[are_links].add(named[actor])
    if any(len(flows) != 1 or len(links) != 1 for flows, links in of_run.values()):
        return {}
    return {link: flow for (flow,), (link,) in of_run.values()}


# Runs side by side, each with its own panels.


_LINES_UP_TO = 4
"""Maximum number of lines of several runs in one panel."""
_MOST_ACROSS, _MOST_ACROSS_NARROW = 4, 2
"""Maximum number of runs side by side."""
_ROOM, _ROW, _LEAST_ROW = 8.0, 1.6, 0.9
"""Height of all rows on a page, and usual and least height of a row, in inches."""
_LETTERS, _TITLE_LETTERS = 12, 14
"""Maximum number of letters in a line: of an axis label, per inch of row height; of the name of a run, per
inch of column width."""
_PAD = 14
"""Distance in points of the name of a run from its panels, if there are labels of events between them."""


_Panels = Mapping[str, tuple[pl.DataFrame, str]]
"""The samples and the label of the axis of each quantity."""


def _runs_across(runs: Mapping[str, Tables], panels: _Panels) -> int:
    """The number of runs side by side; 1 if all runs are drawn in the same panels."""
    if len(runs) == 1:
        return 1
    lines = max(data.select("run", "actor").n_unique() for data, _ in panels.values())
    blocks = -(-len(runs) // (_MOST_ACROSS_NARROW if is_narrow() else _MOST_ACROSS))
    fits = _LEAST_ROW * blocks * len(panels) <= _ROOM
    return -(-len(runs) // blocks) if lines > _LINES_UP_TO and fits else 1


def _run_by_run(
    runs: Mapping[str, Tables], panels: _Panels, across: int, warmup_s: float
) -> tuple[Figure, pl.DataFrame]:
    """Draw the panels of every run in a column. All panels of a quantity have the same axes. The panel of a
    run without samples of a quantity is empty."""
    blocks = -(-len(runs) // across)
    rows = blocks * len(panels)
    height = min(_ROW, _ROOM / rows)
    figure, places = new_figure(rows, across, row_height=height, stacks=False)
    columns: dict[str, list[Axes]] = {}
    frames, of = [], dict[str, str]()
    for number, (run, tables) in enumerate(runs.items()):
        first = number // across * len(panels) * across + number % across
        columns[run] = places[first : first + len(panels) * across : across]
        own = algorithms({run: tables})
        for place, (quantity, (every, label)) in zip(columns[run], panels.items(), strict=True):
            data = every.filter(run=run)
            frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
            for line in _draw_lines(place, data, label):
                name = str(line.get_label())
                line.set_label(with_algorithm(name, own))
                of |= {with_algorithm(name, own): own[name]} if name in own else {}
    used = [place for column in columns.values() for place in column]
    for place in set(places) - {*used}:
        place.set_axis_off()
    frames = [frame for frame in frames if not frame.is_empty()]
    end, entries = last_sample_s(frames), restyle(used, of)
    for row in zip(*columns.values(), strict=True):
        top = max(place.get_ylim()[1] for place in row if place.lines)
        for place in row:
            place.set_xlim(*time_ends(end))
            place.set_ylim(top=top)
            place.tick_params(axis="y", labelleft=not column_of(place))
    shared_legend(figure, entries)
    for run, column in columns.items():
        for place, quantity in zip(column, panels, strict=True):
            if QUANTITIES[quantity].label.endswith("(Mbit/s)"):
                _draw_capacity(place, {run: runs[run]})
        has_marks = mark_events(column, {run: runs[run]}, warmup_s)
        letters = int(_TITLE_LETTERS * figure.get_figwidth() / across)
        column[0].set_title(fill(run, letters), pad=_PAD if has_marks else None)
    for column in columns.values():
        for place, (_, label) in zip(column, panels.values(), strict=True):
            lines = [part for line in label.split("\n") for part in wrap(line, int(_LETTERS * height))]
            place.set_ylabel("" if column_of(place) else "\n".join(lines))
    label_once(used)
    figure.align_ylabels(used)
    _note_bursts(figure, frames, runs)
    return figure, pl.concat(frames)


def _sampled(runs: Mapping[str, Tables]) -> tuple[str, ...]:
    """The quantities with values in any run; all quantities if no run has values."""
    found = tuple(
        name for name in DEFAULT if any(_has_values(tables, QUANTITIES[name]) for tables in runs.values())
    )
    return found or DEFAULT


def _has_values(tables: Tables, quantity: Quantity) -> bool:
    table = tables.get(quantity.table)
    return table is not None and not table[quantity.column].is_null().all()


def _draw_capacity(axes: Axes, runs: Mapping[str, Tables]) -> None:
    """Draw each capacity of a busy link once; skip capacities far above the drawn values."""
    (begin, end), top = axes.get_xlim(), axes.get_ylim()[1]
    links = [(run, link, step) for run, tables in runs.items() for link, step in _capacities(tables).items()]
    are_several, is_of_all = (len({each[n] for each in links}) > 1 for n in (1, 2))
    names: dict[_Steps, dict[str, None]] = {}
    for run, link, step in links:
        whose = [link] if are_several else [run] if len(runs) > 1 and is_of_all else []
        names.setdefault(step, {})[" of ".join(["capacity", *whose])] = None
    for step in sorted(names):
        if max(rate for _, rate in step) <= _FAR_ABOVE * top:
            times, rates = [time for time, _ in step] + [end], [rate for _, rate in step] + [step[-1][1]]
            axes.step(times, rates, where="post", **REFERENCE)
            look: Any = {"fontsize": SMALL, "color": "0.35", "ha": "right", "va": "bottom", "bbox": HALO}
            axes.annotate(", ".join(names[step]), (end, rates[-1]), **look)
            top = max(top, 1.08 * max(rates))
    axes.set_xlim(begin, end)
    axes.set_ylim(top=top)


def _capacities(tables: Tables) -> dict[str, _Steps]:
    """Rates of busy links over time, in Mbit/s and s: the link with the highest utilisation, and links with
    at least half of this utilisation."""
    links, conditions = tables.get("links"), tables.get("conditions")
    if links is None or conditions is None or links.is_empty():
        return {}
    means = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    busy = means.filter(pl.col("utilisation") >= _HALF * pl.col("utilisation").max())["link"].to_list()
    known = conditions.drop_nulls("rate_bps").filter(pl.col("link").is_in(busy))
    return {
        str(part["link"][0]): tuple(zip(part["time_s"], part["rate_bps"] * 1e-6, strict=True))
        for part in known.partition_by("link", maintain_order=True)
    }


def plot_run(run: Run, *quantities: str, only: Sequence[str] | None = None) -> Figure:
    """The overview of one run; `Run.plot` documents the arguments."""
    labels = flow_labels(run)
    wanted = None if only is None else [labels.get(name, name) for name in only]
    warmup_s = run.scenario.warmup_s
    return overview({run.name: presented(run)}, quantities, only=wanted, warmup_s=warmup_s)[0]


def _busy_links(runs: Mapping[str, Tables]) -> list[str] | None:
    busy: dict[str, None] = {}
    for tables in runs.values():
        links = tables.get("links")
        if links is not None and not links.is_empty():
            busy.update(dict.fromkeys(links.filter(pl.col("backlog_packets") > 0)["link"].to_list()))
    return list(busy) or None
