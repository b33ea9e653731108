"""Series over time: looks of lines, the lines, marked events, and the overview of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import fill, wrap
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_seeds import in_groups, over_instants, told_of_runs
from fullpipe.analysis.over_time import (
    QUANTITIES,
    Quantity,
    Tables,
    flow_labels,
    goodput_window_s,
    presented,
    samples,
)
from fullpipe.palette import Look, looks
from fullpipe.plots.charts import column_of, label_once
from fullpipe.plots.links import draw_capacities, mark_events, note_bursts
from fullpipe.plots.style import (
    LEGEND_UP_TO,
    asked_window_s,
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
from fullpipe.scenario.labels import algorithm_title, in_print

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
    """Return the name of a flow or line in a legend, followed by its algorithm unless the name contains it.

    >>> with_algorithm("mine", {"mine": "bbr3"}), with_algorithm("bbr3-1", {"bbr3-1": "bbr3"})
    ('mine (BBRv3)', 'BBRv3-1')
    """
    kind = of.get(name, "")
    named, title = in_print(name, [kind]), algorithm_title(kind)
    is_named = kind.lower() in name.lower() or title.lower() in name.lower()
    return named if is_named else f"{named} ({title})"


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


_DOT = "."
"""Marker of a sample without neighbours."""
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


def dots_of(places: Iterable[Axes]) -> list[str]:
    """The line below a figure that explains dots; empty if there are none."""
    are_there = any(line.get_marker() == _DOT for place in places for line in place.lines)
    return ["dots: single samples between missing samples"] if are_there else []


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
    data, label = _shown_samples(runs, quantity, only, asked_window_s())
    lines = _draw_lines(axes, data, label)
    if 1 < len(lines) <= legend_up_to:
        labels = [str(line.get_label()) for line in axes.lines]
        axes.legend(ncols=min(legend_columns(labels, inches_across(axes)), 4)).set_in_layout(False)
    return data


def _shown_samples(
    runs: Mapping[str, Tables], quantity: str, only: Sequence[str] | None, window_s: float | None
) -> tuple[pl.DataFrame, str]:
    """The samples of all runs within the time range of `within_time`, and the label of the axis."""
    data, label = samples(runs, quantity, only, window_s)
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
            line.set(marker=_DOT, markersize=3, markevery=alone)
        lines.append(line)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    if np.nanmin(data["value"].fill_null(float("nan")).to_numpy(), initial=0) >= 0:
        axes.set_ylim(bottom=0)
    return lines


# The overview of a run: goodput, RTT and the queue over time.


DEFAULT = ("goodput", "rtt", "cwnd", "queue")
_Panels = Mapping[str, tuple[pl.DataFrame, str]]
"""The samples and the label of the axis of each quantity."""
_OF_QUEUES = ("queue", "sojourn")
_SHORT = 0.1
"""Share of the longest queue below which a queue is not drawn."""


@in_house_style
def overview(
    runs: Mapping[str, Tables],
    quantities: Sequence[str] = (),
    *,
    only: Sequence[str] | None = None,
    warmup_s: float = 0.0,
    means_of: Mapping[str, str] | None = None,
) -> tuple[Figure, pl.DataFrame]:
    """Draw a row of axes per quantity with all runs, and return the figure and the table of the drawn values.

    The default quantities are the sampled quantities of `DEFAULT`.

    One legend serves all rows: a flow or a link has the same look in each row. If a panel of several runs
    would have more than four lines, each run has its own panels, side by side. If there is no room for these
    panels, and too many lines to tell apart, all lines of a run have one look, and the legend names the runs.
    Links without any queueing are left out, and so are queues that stay far below the longest queue. `only`
    keeps the flows of these names. The warm-up is shaded, and events, such as a reroute, are marked. Panels
    of rates also show the capacities of busy links in grey, as lines or, if they are recorded, as areas.

    `means_of` maps the label of a run to the label of its group. Every group is then drawn as the mean over
    its runs at every instant, with a band for Student's 95 % interval.
    """
    is_default = not quantities
    quantities = quantities or _sampled(runs)
    notes = list[str]()
    shown = runs if means_of is None else in_groups(runs, means_of)
    window_s = goodput_window_s(runs, asked_window_s(), over_runs=means_of is not None)
    panels = {
        quantity: _shown_samples(
            runs, quantity, _shown_actors(shown, quantity, only, notes, is_default=is_default), window_s
        )
        for quantity in quantities
    }
    if means_of is not None:
        panels = {name: (over_instants(data, means_of), label) for name, (data, label) in panels.items()}
        notes.append(_told_of_means(means_of))
    runs = shown
    across, blocks = _runs_across(runs, panels)
    if across > 1 or blocks > 1:
        if across == 1 and is_default:
            fitting = max(1, int(_ROOM / _LEAST_ROW / blocks))
            left = [*panels][fitting:]
            panels = dict(list(panels.items())[:fitting])
            notes += [f"not drawn for lack of room: {', '.join(left)}"] if left else []
        figure, frames = _run_by_run(runs, panels, across, warmup_s, window_s)
    else:
        figure, frames = _in_shared_panels(runs, panels, warmup_s, window_s)
    data = pl.concat(frames)
    note_bursts(figure, data.filter(quantity="goodput"), runs, window_s)
    note_below(figure, [*notes, *dots_of(figure.axes)])
    return figure, data


def _in_shared_panels(
    runs: Mapping[str, Tables], panels: _Panels, warmup_s: float, window_s: float
) -> tuple[Figure, list[pl.DataFrame]]:
    """Draw all runs in the panels of their quantities."""
    figure, axes = new_figure(len(panels), row_height=1.6)
    frames, lines = [], list[list[Any]]()
    for place, (quantity, (data, label)) in zip(axes, panels.items(), strict=True):
        lines.append(_draw_lines(place, data, label))
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
    named = {with_algorithm(name, of): line for name, line in entries.items()}
    grey = dict[str, Any]()
    for place, quantity, frame, own in zip(axes, panels, frames, lines, strict=True):
        _draw_bands(place, frame, own)
        grey |= _capacities_beside(place, quantity, runs, window_s)
    if grey or any(len(own) > 1 for own in lines):
        shared_legend(figure, named | grey)
    mark_events(axes, runs, warmup_s)
    figure.align_ylabels(axes)
    return figure, frames


def _capacities_beside(
    place: Axes, quantity: str, runs: Mapping[str, Tables], window_s: float
) -> dict[str, Any]:
    """Draw capacities in a panel of rates, and return their legend entries."""
    if not QUANTITIES[quantity].label.endswith("(Mbit/s)"):
        return {}
    return draw_capacities(place, runs, window_s if quantity == "goodput" else 0.0)


def _shown_actors(
    runs: Mapping[str, Tables],
    quantity: str,
    only: Sequence[str] | None,
    notes: list[str],
    *,
    is_default: bool,
) -> list[str] | None:
    """The flows or links of a quantity to draw; None for all. Queues below a tenth of the longest queue are
    left out. By default, many runs have only the longest queue. A line in `notes` says what is left out."""
    what = QUANTITIES.get(quantity)
    if what is None or what.table != "links":
        return None if only is None else list(only)
    busy = _busy_links(runs)
    if busy is None or quantity not in _OF_QUEUES:
        return busy
    tables = [tables["links"] for tables in runs.values() if "links" in tables]
    most = pl.concat([table.select("link", value=pl.col(what.column) * what.scale) for table in tables])
    highest = dict(most.group_by("link").agg(pl.col("value").max()).drop_nulls().iter_rows())
    longest = max((highest.get(link, 0) for link in busy), default=0)
    short = [link for link in busy if highest.get(link, 0) < _SHORT * longest]
    unit = what.label.partition("(")[2].rstrip(")")
    notes += [f"not drawn: {quantity} of {link}, at most {highest.get(link, 0):.3g} {unit}" for link in short]
    left = [link for link in busy if link not in short]
    if is_default and len(runs) > 1 and len(left) > 1 and len(left) * len(runs) > _LINES_UP_TO:
        left = [max(left, key=lambda link: highest.get(link, 0))]
        notes.append(f"{quantity}: only of {left[0]}, the longest queue")
    return left


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


# Means over runs, such as those of several seeds, at every instant.


_BAND: Any = {"alpha": 0.2, "linewidth": 0.4}


def _told_of_means(means_of: Mapping[str, str]) -> str:
    """The line below a figure of means."""
    counts = Counter(means_of.values()).values()
    told = " to ".join(str(count) for count in dict.fromkeys([min(counts), max(counts)]))
    return f"lines: means over {told} runs; bands: 95 % confidence intervals of the means"


def _draw_bands(axes: Axes, data: pl.DataFrame, lines: Sequence[Any]) -> None:
    """Draw the intervals of means, if `data` has intervals, in the colours of their lines."""
    parts = data.partition_by("run", "actor", maintain_order=True) if "low" in data.columns else []
    for part, line in zip(parts, lines, strict=False):
        times_s, low, high = (part[end].to_numpy() for end in ("time_s", "low", "high"))
        axes.fill_between(times_s, low, high, color=line.get_color(), **_BAND)
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.05 * float(np.nanmax(high, initial=0))))


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


def _runs_across(runs: Mapping[str, Tables], panels: _Panels) -> tuple[int, int]:
    """The number of runs side by side, and of blocks of these; 1 and 1 if all runs are drawn in the same
    panels. In a narrow figure, three runs or more are drawn one below the other."""
    if len(runs) == 1:
        return 1, 1
    lines = max(data.select("run", "actor").n_unique() for data, _ in panels.values())
    most = _MOST_ACROSS if not is_narrow() else len(runs) if len(runs) <= _MOST_ACROSS_NARROW else 1
    blocks = -(-len(runs) // most)
    fits = _LEAST_ROW * blocks * (1 if most == 1 else len(panels)) <= _ROOM
    return (-(-len(runs) // blocks), blocks) if lines > _LINES_UP_TO and fits else (1, 1)


def _run_by_run(
    runs: Mapping[str, Tables], panels: _Panels, across: int, warmup_s: float, window_s: float
) -> tuple[Figure, list[pl.DataFrame]]:
    """Draw the panels of every run in a column. All panels of a quantity have the same axes. The panel of a
    run without samples of a quantity is empty."""
    blocks = -(-len(runs) // across)
    rows = blocks * len(panels)
    height = min(_ROW, _ROOM / rows)
    figure, places = new_figure(rows, across, row_height=height, stacks=False)
    columns: dict[str, list[Axes]] = {}
    frames, of, bands = [], dict[str, str](), list[tuple[Axes, pl.DataFrame, list[Any]]]()
    for number, (run, tables) in enumerate(runs.items()):
        first = number // across * len(panels) * across + number % across
        columns[run] = places[first : first + len(panels) * across : across]
        own = algorithms({run: tables})
        for place, (quantity, (every, label)) in zip(columns[run], panels.items(), strict=True):
            data = every.filter(run=run)
            frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
            lines = _draw_lines(place, data, label)
            bands.append((place, data, lines))
            for line in lines:
                name = str(line.get_label())
                line.set_label(with_algorithm(name, own))
                of |= {with_algorithm(name, own): own[name]} if name in own else {}
    used = [place for column in columns.values() for place in column]
    for place in set(places) - {*used}:
        place.set_axis_off()
    frames = [frame for frame in frames if not frame.is_empty()]
    end, entries = last_sample_s(frames), restyle(used, of)
    for band in bands:
        _draw_bands(*band)
    for row in zip(*columns.values(), strict=True):
        top = max(place.get_ylim()[1] for place in row if place.lines)
        for place in row:
            place.set_xlim(*time_ends(end))
            place.set_ylim(top=top)
            place.tick_params(axis="y", labelleft=not column_of(place))
    for run, column in columns.items():
        for place, quantity in zip(column, panels, strict=True):
            entries |= _capacities_beside(place, quantity, {run: runs[run]}, window_s)
    shared_legend(figure, entries)
    for run, column in columns.items():
        has_marks = mark_events(column, {run: runs[run]}, warmup_s)
        letters = int(_TITLE_LETTERS * figure.get_figwidth() / across)
        title = fill(in_print(run, algorithms({run: runs[run]}).values()), letters)
        column[0].set_title(title, pad=_PAD if has_marks else None)
    for column in columns.values():
        for place, (_, label) in zip(column, panels.values(), strict=True):
            rows_of_label = [row for part in label.split("\n") for row in wrap(part, int(_LETTERS * height))]
            place.set_ylabel("" if column_of(place) else "\n".join(rows_of_label))
    label_once(used)
    figure.align_ylabels(used)
    return figure, frames


def _sampled(runs: Mapping[str, Tables]) -> tuple[str, ...]:
    """The quantities with values in any run; all quantities if no run has values."""
    found = tuple(
        name for name in DEFAULT if any(_has_values(tables, QUANTITIES[name]) for tables in runs.values())
    )
    return found or DEFAULT


def _has_values(tables: Tables, quantity: Quantity) -> bool:
    table = tables.get(quantity.table)
    return table is not None and not table[quantity.column].is_null().all()


def plot_run(run: Run, *quantities: str, only: Sequence[str] | None = None) -> Figure:
    """The overview of one run; `Run.plot` documents the arguments."""
    labels = flow_labels(run)
    wanted = None if only is None else [labels.get(name, name) for name in only]
    warmup_s = run.scenario.warmup_s
    figure, _ = overview({run.name: presented(run)}, quantities, only=wanted, warmup_s=warmup_s)
    note_below(figure, [told_of_runs([run])])
    return figure


def _busy_links(runs: Mapping[str, Tables]) -> list[str] | None:
    busy: dict[str, None] = {}
    for tables in runs.values():
        links = tables.get("links")
        if links is not None and not links.is_empty():
            busy.update(dict.fromkeys(links.filter(pl.col("backlog_packets") > 0)["link"].to_list()))
    return list(busy) or None
