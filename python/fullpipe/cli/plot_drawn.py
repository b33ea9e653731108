"""`fullpipe plot --kind`: draws figures over many runs, a panel per metric and value of the panel path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from textwrap import fill
from typing import Any, Literal, NamedTuple

import polars as pl
import typer
from matplotlib.colors import LogNorm

from fullpipe import plots
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Better, Bounds
from fullpipe.analysis.over_seeds import FEW
from fullpipe.analysis.points import is_geometric
from fullpipe.cli.plot_axes import (
    MUCH,
    NO_FACTORS,
    ROOM,
    Axis,
    Ends,
    Factor,
    Factors,
    are_readable_on_one_axis,
    as_axis,
    begin_at_0,
    is_automatic,
    is_log,
    least_delay,
    make_log,
    rank,
    set_ends,
    share_delays,
    share_horizontal,
    tick_at_values,
    with_better,
)
from fullpipe.palette import Look, is_algorithm, look_of
from fullpipe.plots import charts, spread
from fullpipe.plots.charts import Marks, label_once
from fullpipe.plots.style import figure_of, is_narrow, legend_entries, note_below

_MOST_ACROSS = 3
"""Maximum number of panels side by side. A figure of column width has one panel per row."""
_HEIGHT, _LEAST_HEIGHT = 2.2, 1.1
"""Usual and least height of a row of panels, in inches. Rows are lower if a page has no room for them."""
_PAGE, _MODERATE, _AROUND = 660 / 72, 7.2, 1.1
"""Height of the text on a page, height above which rows of panels become lower, and height of the legend and
the lines below the panels, in inches."""
_LABEL = 28
"""Maximum length of a line of an axis label, in characters."""
_LETTERS, _LEAST_LETTERS = 16, 12
"""Letters of a line of a vertical label per inch of its axis, and the least length of a line."""
_ABOUT_LETTERS = "; means{where} that share a letter are not shown to differ (Games-Howell, 5 %)"
_LETTERS_UP_TO = 4
"""Maximum number of letters beside one mean in a figure; means that share a letter are not shown to differ.
If a mean has more, letters are only in the table."""
_LETTERS_ELSEWHERE = (
    "; letters of means{where} that are not shown to differ (Games-Howell, 5 %) are in the CSV file"
)
_FOR_LETTERS = 0.12
"""Room for letters above means, as a share of the axis."""
_STEPS = 25
"""An axis that spans fewer steps of the resolution of percentiles shows the steps."""


class Kind(StrEnum):
    """Kinds of figures. LINES to MEANS draw many runs; ALL_SCALED to RATES draw one run."""

    LINES = "lines"
    HEATMAP = "heatmap"
    DELAY = "delay"
    CDF = "cdf"
    BOX = "box"
    ECDF = "ecdf"
    VIOLIN = "violin"
    MEANS = "means"
    ALL_SCALED = "all_scaled"
    AIRTIME = "airtime"
    AGGREGATES = "aggregates"
    CHANNEL = "channel"
    WAITS = "waits"
    ONE_WAY = "one-way"
    CLUMPS = "clumps"
    PAUSES = "pauses"
    HANDOVER = "handover"
    SEQUENCE = "sequence"
    PHASE = "phase"
    RATES = "rates"


OF_SHARES = (Kind.CDF, Kind.ECDF)
"""Kinds with the values of the metric on the horizontal axis."""


_FROM_0 = (Kind.LINES, Kind.BOX, Kind.VIOLIN, Kind.MEANS, Kind.DELAY)
"""Kinds whose linear axes of metrics begin at 0, or at their larger bound. `--ylim` changes the ends."""


class Log(StrEnum):
    """Logarithmic axes."""

    X = "x"
    Y = "y"
    NONE = "none"


@dataclass(frozen=True)
class Chart:
    """A figure over many runs: its kind, width, factors and labels."""

    kind: Kind
    width: str
    factors: Factors = NO_FACTORS
    looks: Mapping[str, Look] = field(default_factory=dict)
    """Colour and dashes of every value of the colour factor."""
    x_label: str | None = None
    """Label of the horizontal axis, instead of its default label."""
    y_label: str | None = None
    log: Sequence[str] | None = None
    """Logarithmic axes. All other axes are logarithmic for geometric sweeps and for values that span a wide
    range, unless "none" is among the names."""
    x_ends: Ends | None = None
    """Ends of the horizontal axis in its unit, instead of its default ends."""
    y_ends: Ends | None = None
    notes: Sequence[str] = ()
    """Lines below the figure, after the number of runs."""


class Part(NamedTuple):
    """A metric to draw: the label of its axis, its name in the table, and a row per run."""

    label: str
    name: str
    rows: pl.DataFrame
    left_out: str = ""
    """Note with the number of transfers whose completion time is unknown; or empty."""
    neutral: float | None = None
    """Value at the middle of the colour scale of a heat map, such as the value of "no change"."""
    bounds: Bounds = NO_LESS_THAN_0
    """Bounds of the metric, at which intervals and ellipses are truncated."""
    x_bounds: Bounds = NO_LESS_THAN_0
    """Bounds of the delay on the horizontal axis, at which ellipses are truncated."""
    decimals: Callable[[float, float], int] | None = None
    """Function that returns the number of decimals for numbers between two ends, in a heat map."""
    better: Better = ""
    """Better direction of the metric on the vertical axis, for the axis label; empty to leave it out."""
    x_better: Better = ""
    """Better direction of the metric on the horizontal axis, for the axis label; empty to leave it out."""
    samples: str = ""
    """Name of the samples, such as "transfers", if rows are samples of runs, not runs."""
    resolution: float = 0.0
    """Relative resolution of the values, as in `resolution_of`."""


class _Panel(NamedTuple):
    """One panel of the figure."""

    part: Part
    title: str
    rows: pl.DataFrame
    between: tuple[float, float]
    """The smallest and the largest mean of the metric over all panels."""

    @property
    def is_shared(self) -> bool:
        """Whether all panels of the metric share the axis of its values."""
        return are_readable_on_one_axis(self.part.rows)

    @property
    def along(self) -> pl.Series:
        """The values on the axis that the panel shares, or on its own axis."""
        return (self.part.rows if self.is_shared else self.rows)["value"]


@plots.in_house_style
def drawn(parts: Sequence[Part], chart: Chart) -> tuple[Any, pl.DataFrame]:
    """Draw the figure; return it with the table of its values, which has the columns panel and metric."""
    along = [_along(part.rows, chart) for part in parts]
    factors = along[0][1]
    panels = [
        panel
        for part, (rows, _) in zip(parts, along, strict=True)
        for panel in _panels(part._replace(rows=rows), chart)
    ]
    figure, places = _figure(len(parts), panels, chart)
    used, entries = places[: len(panels)], dict[str, Any]()
    marks = Marks(chart.looks, factors.colour.words, factors.x.words, factors.y.words)
    tables, images = [], dict[str, tuple[Any, Part, list[Any]]]()
    for place, panel in zip(used, panels, strict=True):
        data, image = _draw(place, panel, chart, _of_panel(marks, panel, factors.x))
        is_last = place is used[-1] or place.get_subplotspec().is_last_col()
        _draw_fair_share(place, panel, chart.kind, label=is_last)
        tables.append(data.with_columns(panel=pl.lit(panel.rows["panel"][0]), metric=pl.lit(panel.part.name)))
        place.set_title(panel.title)
        entries |= {name: handle for name, handle in legend_entries(place).items() if name}
        if image is not None:
            images.setdefault(panel.part.name, (image, panel.part, []))[2].append(place)
    for image, part, places_of in images.values():  # panels of a metric share one colour scale
        figure.colorbar(image, ax=places_of, label=fill(_told_of(image, part), _LABEL))
    for place, panel in zip(used, panels, strict=True):  # after all panels are drawn, as panels share axes
        _label(place, chart, panel.part, factors, is_shared=len(panels) > len(parts))
    _scale(used, panels, chart, factors.x, tables)
    if chart.kind == Kind.DELAY:
        share_delays(used, [least_delay(panel.rows) for panel in panels], parts[0].x_better != "higher")
        for place, panel in zip(used, panels, strict=True):
            spread.capacity_line(place, panel.rows)
    elif chart.kind == Kind.LINES and len(panels) > len(parts) == 1:
        share_horizontal(used)
    elif chart.kind in OF_SHARES:
        for own in _by_metric(used, panels):
            share_horizontal([place for place, panel in own if panel.is_shared])
    set_ends(used, "x", chart.x_ends)
    set_ends(used, "y", chart.y_ends)
    label_once(used)
    if max(map(_longest, tables)) > _LETTERS_UP_TO:
        for place in used:
            for words in [*place.texts]:
                words.remove()
    for place in places[len(panels) :]:
        place.set_axis_off()
    table = pl.concat(tables, how="vertical_relaxed")  # a column may be null in one panel
    below = [
        _told(table, chart.kind, parts[0].samples),
        _told_of_scales(used, panels, chart.kind),
        _told_of_resolution(used, panels) if chart.kind in OF_SHARES else "",
        *dict.fromkeys(part.left_out for part in parts),
        *chart.notes,
    ]
    note_below(figure, below)
    plots.shared_legend(figure, entries, factors.colour.name, least=1 if chart.kind in OF_SHARES else 2)
    return figure, table


def _panels(part: Part, chart: Chart) -> Iterator[_Panel]:
    """A panel per value of the panel factor."""
    rows = part.rows.sort(rank(part.rows["panel"]), rank(part.rows["colour"]), maintain_order=True)
    means = charts.summarised(rows, ["panel", "y", "x"])["mean"]
    low, high = pl.select(low=means.min(), high=means.max()).row(0)
    for each in rows.partition_by("panel", maintain_order=True):
        yield _Panel(part, chart.factors.panel.titled(str(each["panel"][0])), each, (low, high))


def _figure(metrics: int, drawn: Sequence[_Panel], chart: Chart) -> tuple[Any, list[Any]]:
    """An empty figure: a row of panels per metric if several metrics have several panels.

    Otherwise, up to `_MOST_ACROSS` panels are side by side.
    """
    panels, width = len(drawn), chart.width
    most = 2 if panels == 4 else _MOST_ACROSS
    across = panels // metrics if 1 < metrics < panels else min(panels, most)
    shared: bool | Literal["row"] = "row" if 1 < metrics < panels else metrics == 1 and panels > 1
    if chart.kind == Kind.DELAY and not _have_room(drawn):
        shared = False
    if is_narrow(width):
        across = 1
    rows = -(-panels // across)
    height = min(_HEIGHT, max(_LEAST_HEIGHT, (_MODERATE - _AROUND) / rows))
    if height * rows > _PAGE - _AROUND:
        wider = "choose fewer values with --where" if across > 1 else "use --width page, or --where"
        raise typer.BadParameter(f"{panels} panels do not fit a page at this width; {wider}")
    return plots.new_figure(rows, across, width=width, row_height=height, share_y=shared)


def _have_room(panels: Sequence[_Panel]) -> bool:
    """Whether the ellipses stay readable if all panels of a metric share one throughput axis."""
    tops: dict[str, list[float]] = {}
    for panel in panels:
        tops.setdefault(panel.part.name, []).append(float(panel.rows["value"].to_numpy().max()))
    return all(max(each) <= MUCH * min(each) for each in tops.values())


def _draw(place: Any, panel: _Panel, chart: Chart, marks: Marks) -> tuple[pl.DataFrame, Any]:
    kind, part, bounds = chart.kind, panel.part, panel.part.bounds
    if kind == Kind.HEATMAP:
        return charts.heat_map(place, panel.rows, panel.between, part.neutral, bounds, marks, part.decimals)
    # On a logarithmic axis, error bars replace confidence bands, as a band down to 0 would fill the axis.
    is_bars = kind == Kind.LINES and is_log("y", panel.rows["value"], chart.log)
    draw: Mapping[Kind, Callable[..., pl.DataFrame]] = {
        Kind.LINES: partial(charts.lines_with_bands, bounds=bounds, bars=is_bars),
        Kind.MEANS: partial(spread.means_with_letters, bounds=bounds),
        Kind.DELAY: partial(spread.throughput_and_delay, bounds=bounds, x_bounds=part.x_bounds),
        Kind.CDF: partial(spread.cumulative_shares, of=part.samples or "runs"),
        Kind.ECDF: partial(spread.cumulative_bands, every=panel.along),
    }
    draws = draw.get(kind, partial(spread.distributions, violins=kind == Kind.VIOLIN))
    return draws(place, panel.rows, marks=marks), None


def _draw_fair_share(place: Any, panel: _Panel, kind: Kind, *, label: bool) -> None:
    """Draw the fair share of a metric of shares, if it has one."""
    if kind != Kind.HEATMAP:
        are_names = kind != Kind.LINES or not panel.rows["x"].dtype.is_numeric()
        is_upright = kind in OF_SHARES
        charts.fair_share_line(place, panel.rows, are_names=are_names, is_upright=is_upright, label=label)


def _of_panel(marks: Marks, panel: _Panel, x: Factor) -> Marks:
    """The marks of a panel. If a panel has one algorithm, which is its title, all marks have its look.

    Groups of flows along x may have other algorithms, and keep their own looks.
    """
    value = str(panel.rows["panel"][0])
    are_groups = not x.name and not panel.rows["x"].dtype.is_numeric() and panel.rows["x"].n_unique() > 1
    are_plain = not marks.looks and is_algorithm(value) and not are_groups
    return marks._replace(looks={"": look_of(value, 0)}) if are_plain else marks


def _told(data: pl.DataFrame, kind: Kind, samples: str = "") -> str:
    """The line below the figure: the runs per mark, and the meaning of intervals, boxes or ellipses."""
    if kind == Kind.CDF:
        data = data.group_by("panel", "metric", "colour").agg(runs=pl.len())
    if "runs" not in data.columns:
        return ""
    counts = [int(count) for count in data["runs"]]
    least, most = min(counts), max(counts)
    count = f"{most}" if least == most else f"{least} to {most}"
    runs = f"{count} run{'' if most == 1 else 's'}"
    if samples:
        count = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        return f"{count} {samples} per line, all runs together; share with at most the value"
    if kind == Kind.BOX:
        points = "points: runs; line: median"
        boxes = "boxes of quartiles and median, whiskers to minimum and maximum"
        few = f"; up to {FEW} runs are points with their median" if least <= FEW else ""
        marks = "; markers at medians" if most > FEW and data["colour"].n_unique() > 1 else ""
        return f"{runs} each; {points if most <= FEW else boxes + few}{marks}"
    if kind == Kind.VIOLIN:
        dots = "dots: runs; " if least <= spread.POINTS_UP_TO else ""
        is_many = most > spread.POINTS_UP_TO
        marks = " and markers" if is_many and data["colour"].n_unique() > 1 else ""
        lines = "lines: minimum to maximum; " * is_many
        few = f"; up to {FEW} runs are points" if least <= FEW < most else ""
        width = "width: density of runs" if most > FEW else "violins need more runs"
        return f"{runs} each; {dots}black bars{marks}: medians; {lines}{width}{few}"
    if kind == Kind.CDF:
        return f"{runs} each; share of runs with at most the value"
    if kind == Kind.ECDF:
        bands = "95 % bands for the whole function (Dvoretzky, Kiefer and Wolfowitz)"
        if data["colour"].n_unique() > charts.BANDS_UP_TO:
            return f"{runs} each; 95 % bands of more than {charts.BANDS_UP_TO} lines are only in the CSV file"
        few = "" if least >= spread.BANDS_FROM else f"; no 95 % bands below {spread.BANDS_FROM} runs"
        return f"{runs} each" + f"; {bands}" * (most >= spread.BANDS_FROM) + few
    around = {
        Kind.LINES: ", 95 % confidence intervals",
        Kind.MEANS: f", 95 % confidence intervals{_about_letters(data)}",
        Kind.DELAY: "; ellipses of one standard deviation",
    }
    return f"means of {runs}{around.get(kind, '')}" if most != 1 else "one run each"


def _longest(data: pl.DataFrame) -> int:
    """The largest number of letters of a mean."""
    return max(map(len, data["letters"])) if "letters" in data.columns else 0


def _about_letters(data: pl.DataFrame) -> str:
    """The meaning of the letters beside means. If there are too many letters for the panels, the text says
    where they are; without letters, it is empty."""
    longest = _longest(data)
    if not longest:
        return ""
    where = " within a panel" if data.select("panel", "metric").n_unique() > 1 else ""
    return (_ABOUT_LETTERS if longest <= _LETTERS_UP_TO else _LETTERS_ELSEWHERE).format(where=where)


def _label(place: Any, chart: Chart, part: Part, factors: Factors, *, is_shared: bool) -> None:
    is_named = not is_shared or place.get_subplotspec().is_first_col()
    letters = _LABEL if is_shared else _letters_up(place)
    if chart.kind in OF_SHARES:
        place.set_xlabel(part.label if chart.x_label is None else chart.x_label)
        beside = place.get_ylabel() if chart.y_label is None else chart.y_label
        place.set_ylabel(beside if is_named else "")
        if (part.rows["value"] == 0).all():
            begin_at_0(place, "x")
        return
    below = with_better(factors.x.label if chart.x_label is None else chart.x_label, bool(part.x_better))
    place.set_xlabel(fill(below, 2 * _LABEL))
    own = factors.y.label if chart.kind == Kind.HEATMAP else part.label
    beside = with_better(own if chart.y_label is None else chart.y_label, part.better == "higher")
    place.set_ylabel(fill(beside, letters) if is_named else "")
    (low, high), least = place.get_ylim(), max(part.bounds[0], 0)
    if chart.kind in _FROM_0 and low > least:
        room = _FOR_LETTERS if chart.kind == Kind.MEANS else ROOM
        place.set_ylim(least, high + room * (high - least))
    elif chart.kind in _FROM_0 and low < 0 and _drawn(place)[0] > ROOM / 2 * high:
        place.set_ylim(bottom=0)
    elif chart.kind in _FROM_0 and _drawn(place) == (0, 0):
        begin_at_0(place, "y")


def _drawn(place: Any) -> tuple[float, float]:
    """The least and the largest value of the panels that share the vertical axis with a panel."""
    every = [each.dataLim for each in place.get_shared_y_axes().get_siblings(place)]
    return min(float(each.y0) for each in every), max(float(each.y1) for each in every)


def _letters_up(place: Any) -> int:
    """The maximum number of letters in a line beside axes, before the figure is laid out."""
    inches = place.get_window_extent().height / figure_of(place).dpi
    return min(_LABEL, max(_LEAST_LETTERS, int(_LETTERS * inches)))


def _told_of_scales(places: Sequence[Any], panels: Sequence[_Panel], kind: Kind) -> str:
    """A line if panels of throughput over delay, or of shares of values, have different axes; or empty."""
    groups: Any = [zip(places, panels, strict=True)] if kind == Kind.DELAY else _by_metric(places, panels)
    ends = [{(*place.get_xlim(), *place.get_ylim()) for place, _ in group} for group in groups]
    return "scales of panels differ" * (kind in (Kind.DELAY, *OF_SHARES) and max(map(len, ends)) > 1)


def _by_metric(places: Sequence[Any], panels: Sequence[_Panel]) -> Iterator[list[tuple[Any, _Panel]]]:
    """The panels of each metric, with their axes."""
    both = list(zip(places, panels, strict=True))
    for name in dict.fromkeys(panel.part.name for panel in panels):
        yield [each for each in both if each[1].part.name == name]


def _told_of_resolution(places: Sequence[Any], panels: Sequence[_Panel]) -> str:
    """A line on the resolution of percentiles if an axis of such values is so short that steps are visible;
    or empty."""
    for place, panel in zip(places, panels, strict=True):
        low, high = place.get_xlim()
        if high - low < _STEPS * panel.part.resolution * high:
            return f"percentiles have a resolution of {100 * panel.part.resolution:g} %"
    return ""


def _told_of(image: Any, part: Part) -> str:
    """The label of a colour bar, with the value at its middle, or "log scale"."""
    if isinstance(image.norm, LogNorm):
        return f"{part.label}, log scale"
    return part.label if part.neutral is None else f"{part.label} (centred at {part.neutral:.3g})"


def _scale(
    places: Sequence[Any],
    panels: Sequence[_Panel],
    chart: Chart,
    factor: Factor,
    tables: Sequence[pl.DataFrame],
) -> None:
    """Make axes logarithmic, add "(log scale)" to their labels, and set ticks at swept values.

    By default, axes of geometric sweeps and axes whose values span a wide range are logarithmic, unless an
    interval of `tables`, the drawn values, reaches 0.
    """
    if chart.kind == Kind.HEATMAP:
        return
    for place, panel, data in zip(places, panels, tables, strict=True):
        values: Axis = "x" if chart.kind in OF_SHARES else "y"
        known = panel.along if chart.kind in OF_SHARES else panel.rows["value"]
        is_it = is_log(values, known, chart.log)
        if is_it and not (is_automatic(values, chart.log) and _reaches_0(data, chart)):
            make_log(place, values, known)
        if chart.kind == Kind.DELAY and is_log("x", panel.rows["x"], chart.log):
            make_log(place, "x", panel.rows["x"])
        if chart.kind == Kind.LINES:
            _scale_sweep(place, panel.rows["x"], chart, factor)
    given = {"x": chart.x_label, "y": chart.y_label}
    is_shared = len({panel.part.name for panel in panels}) < len(panels)
    for place in places:  # panels that share an axis have the same scale
        for axis in "xy":
            label = getattr(place, f"get_{axis}label")()
            if label and given[axis] is None and getattr(place, f"get_{axis}scale")() == "log":
                if axis == "y":
                    letters = _LABEL if is_shared else _letters_up(place)
                    place.set_ylabel(fill(f"{' '.join(label.split())}, log scale", letters))
                    continue
                between = "\n" if len(label) > _LABEL and len(places) > 1 else " "
                place.set_xlabel(f"{label},{between}log scale")


def _reaches_0(data: pl.DataFrame, chart: Chart) -> bool:
    """Whether an interval around a mean reaches 0, which a logarithmic axis does not have."""
    return chart.kind in (Kind.LINES, Kind.MEANS) and bool((data["low"] <= 0).any())


def _scale_sweep(place: Any, values: pl.Series, chart: Chart, factor: Factor) -> None:
    """Set the scale and the ticks of a horizontal axis whose values are swept."""
    is_it = is_log("x", values, chart.log)  # raises for names if --log names the axis
    if not values.dtype.is_numeric():
        return
    if is_it or (is_automatic("x", chart.log) and is_geometric(values.unique().sort().to_list())):
        make_log(place, "x", values)
    tick_at_values(place, values, factor)


def _along(rows: pl.DataFrame, chart: Chart) -> tuple[pl.DataFrame, Factors]:
    """Rows in which values with units are numbers, and the factors with the units of these numbers."""
    factors = chart.factors
    if chart.kind == Kind.DELAY:
        return rows, factors
    rows, x = as_axis(rows, "x", factors.x)
    rows, y = as_axis(rows, "y", factors.y)
    return rows, factors._replace(x=x, y=y)
