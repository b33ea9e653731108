"""`fullpipe plot --kind`: a figure over many runs, with a panel per metric and value of a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from textwrap import fill
from typing import Any, Literal, NamedTuple

import polars as pl
import typer
from matplotlib.colors import LogNorm
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from fullpipe import plots
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.plots import charts
from fullpipe.plots.style import Width
from fullpipe.scenario.quantities import as_numbers

_MOST_ACROSS = 3
"""Panels side by side; in a column of a paper one."""
_LETTERS: dict[Width, int] = {"column": 70, "page": 150}
"""Of a line below the figure."""
_LABEL = 28
"""Letters of a line beside an axis."""
_ABOUT_LETTERS = "; means that share a letter do not differ (Games-Howell, 5 %)"
_ROOM = 0.04
"""For marks at the end of an axis, as a share of its length."""


class Kind(StrEnum):
    """What is drawn: over many runs; of one run as Flent does; the rest, of its cell, packets or flows."""

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
"""Kinds along whose lower axis the values are."""
_OF_NAMES = (Kind.BOX, Kind.VIOLIN, Kind.MEANS)
"""Kinds that have one place after the other along it."""


class Log(StrEnum):
    """Which axes are logarithmic."""

    X = "x"
    Y = "y"
    NONE = "none"


class Words(NamedTuple):
    """What the paths along the axes and of the panels are called."""

    x: str
    y: str
    panel: str


@dataclass(frozen=True)
class Chart:
    """How it is drawn."""

    kind: Kind
    width: Width
    words: Words
    x_label: str | None = None
    """Instead of what the axis would be called by itself."""
    y_label: str | None = None
    log: Sequence[str] | None = None
    """The logarithmic axes; None: those of which the values of a panel span much."""
    notes: Sequence[str] = ()
    """What stands below the figure, besides how many runs it is of."""


class Part(NamedTuple):
    """A metric: what its axis and its column are called, and the rows of runs to draw."""

    label: str
    name: str
    rows: pl.DataFrame
    left_out: str = ""
    """Of completion times: how many there are of which nothing is known."""
    neutral: float | None = None
    """Of a heat map: the value that is neither much nor little."""
    bounds: Bounds = NO_LESS_THAN_0
    """At which intervals and ellipses end."""
    x_bounds: Bounds = NO_LESS_THAN_0
    """Of the delay: at which ellipses end."""


class _Panel(NamedTuple):
    """What stands in one place of the figure."""

    part: Part
    title: str
    rows: pl.DataFrame
    between: tuple[float, float]
    """The least and the largest mean of its metric."""


@plots.in_house_style
def drawn(parts: Sequence[Part], chart: Chart) -> tuple[Any, pl.DataFrame]:
    """The figure and the table of what it shows, with a column for the metric."""
    along = [_along(part.rows, chart) for part in parts]
    panels = [
        panel
        for part, (rows, _) in zip(parts, along, strict=True)
        for panel in _panels(part._replace(rows=rows), chart)
    ]
    figure, places = _figure(len(parts), len(panels), chart.width)
    used, entries = places[: len(panels)], dict[str, Any]()
    tables = []
    for place, panel in zip(used, panels, strict=True):
        data, image = _draw(place, panel, chart.kind)
        told = {"panel": pl.lit(panel.rows["panel"][0]), "metric": pl.lit(panel.part.name)}
        tables.append(data.with_columns(**told))
        place.set_title(panel.title)
        handles, names = place.get_legend_handles_labels()
        entries |= {name: handle for name, handle in zip(names, handles, strict=True) if name}
        if image is not None:
            figure.colorbar(image, ax=place, label=fill(_told_of(image, panel.part), _LABEL))
    for place, panel in zip(used, panels, strict=True):  # once all have drawn: panels share their axes
        _label(place, chart, panel.part.label, along[0][1], is_shared=len(panels) > len(parts))
    _scale(used, panels, chart)
    if chart.kind == Kind.DELAY:
        _share_delays(used)
    for place in places[len(panels) :]:
        place.set_axis_off()
    table = pl.concat(tables, how="vertical_relaxed")  # a column may be null in one panel
    below = [_told(table, chart.kind), *dict.fromkeys(part.left_out for part in parts), *chart.notes]
    figure.supxlabel(
        "\n".join(fill(line, _LETTERS[chart.width]) for line in below if line), fontsize=6, color="0.4"
    )
    plots.shared_legend(figure, entries)
    return figure, table


def _share_delays(places: Sequence[Any]) -> None:
    """One axis of delays for all panels, with room for marks at its ends; it grows to the left."""
    ends = [end for place in places for end in place.get_xlim()]
    low, high = min(ends), max(ends)
    if any(place.get_xscale() == "log" for place in places):
        factor = (high / low) ** _ROOM
        left, right = high * factor, low / factor
    else:
        room = _ROOM * (high - low)
        left, right = high + room, max(0, low) - room
    for place in places:
        place.set_xlim(left, right)


def _panels(part: Part, chart: Chart) -> Iterator[_Panel]:
    """A panel per value of the path that panels are of."""
    rows = part.rows.sort(_rank(part.rows["panel"]), _rank(part.rows["colour"]), maintain_order=True)
    means = charts.summarised(rows, ["panel", "y", "x"])["mean"]
    low, high = pl.select(low=means.min(), high=means.max()).row(0)
    for each in rows.partition_by("panel", maintain_order=True):
        title = f"{chart.words.panel} {each['panel'][0]}".strip()
        yield _Panel(part, title, each, (low, high))


def _figure(metrics: int, panels: int, width: Width) -> tuple[Any, list[Any]]:
    """A row per metric if each has several panels; else as many side by side as there is room for."""
    most = 1 if width == "column" else _MOST_ACROSS
    across = panels // metrics if 1 < metrics < panels else min(panels, most)
    shared: bool | Literal["row"] = "row" if 1 < metrics < panels else metrics == 1 and panels > 1
    return plots.new_figure(-(-panels // across), across, width=width, share_y=shared)


def _draw(place: Any, panel: _Panel, kind: Kind) -> tuple[pl.DataFrame, Any]:
    if kind == Kind.HEATMAP:
        return charts.heat_map(place, panel.rows, panel.between, panel.part.neutral, panel.part.bounds)
    bounds = panel.part.bounds
    draw: Mapping[Kind, Callable[[Any, pl.DataFrame], pl.DataFrame]] = {
        Kind.LINES: partial(charts.lines_with_bands, bounds=bounds),
        Kind.MEANS: partial(charts.means_with_letters, bounds=bounds),
        Kind.DELAY: partial(charts.throughput_and_delay, bounds=bounds, x_bounds=panel.part.x_bounds),
        Kind.CDF: charts.cumulative_shares,
        Kind.ECDF: charts.cumulative_bands,
    }
    if kind in draw:
        return draw[kind](place, panel.rows), None
    return charts.distributions(place, panel.rows, violins=kind == Kind.VIOLIN), None


def _told(data: pl.DataFrame, kind: Kind) -> str:
    """How many runs a mark is of, and what is around it."""
    if "runs" not in data.columns:
        return ""
    counts = [int(count) for count in data["runs"]]
    least, most = min(counts), max(counts)
    count = f"{most}" if least == most else f"{least} to {most}"
    runs = f"{count} run{'' if most == 1 else 's'}"
    if kind in (Kind.BOX, Kind.VIOLIN):
        return f"{runs} each"
    if kind == Kind.ECDF:
        return f"{runs} each; bands hold the whole function with 95 % (Dvoretzky, Kiefer and Wolfowitz)"
    around = {
        Kind.LINES: ", 95 % intervals",
        Kind.MEANS: f", 95 % intervals{_ABOUT_LETTERS if _has_letters(data) else ''}",
        Kind.DELAY: ", ellipses of one standard deviation, clipped at what is possible",
    }
    return f"means of {runs}{around.get(kind, '')}" if most != 1 else "one run each"


def _has_letters(data: pl.DataFrame) -> bool:
    return "letters" in data.columns and bool((data["letters"] != "").any())


def _label(place: Any, chart: Chart, label: str, along: Words, *, is_shared: bool) -> None:
    if chart.kind in OF_SHARES:
        place.set_xlabel(label if chart.x_label is None else chart.x_label)
        if chart.y_label is not None:
            place.set_ylabel(chart.y_label)
        return
    place.set_xlabel(fill(along.x, 2 * _LABEL) if chart.x_label is None else chart.x_label)
    own = along.y if chart.kind == Kind.HEATMAP else label
    place.set_ylabel(fill(own, _LABEL) if chart.y_label is None else chart.y_label)
    if is_shared and not place.get_subplotspec().is_first_col():
        place.set_ylabel("")
    low, high = place.get_ylim()
    if chart.kind in (Kind.LINES, Kind.BOX, Kind.VIOLIN) and low > 0:
        place.set_ylim(0, high + _ROOM * high)


def _told_of(image: Any, part: Part) -> str:
    """Of a colour bar: what it is of, and what its middle or its steps are."""
    if isinstance(image.norm, LogNorm):
        return f"{part.label} (log scale)"
    return part.label if part.neutral is None else f"{part.label} (centred at {part.neutral:.3g})"


def _scale(places: Sequence[Any], panels: Sequence[_Panel], chart: Chart) -> None:
    """Make axes logarithmic that shall be, or of which the values of a panel span much, and say so."""
    if chart.kind == Kind.HEATMAP:
        return
    for place, panel in zip(places, panels, strict=True):
        values = "x" if chart.kind in OF_SHARES else "y"
        along = "" if chart.kind in (*OF_SHARES, *_OF_NAMES) else "x"
        wanted = {values: panel.rows["value"], along: panel.rows["x"]}
        for axis, column in wanted.items():
            if axis and _is_log(axis, column, chart.log):
                _make_log(place, axis, column)
    for place in places:  # a scale is that of all panels that share an axis
        for axis in "xy":
            label = getattr(place, f"get_{axis}label")()
            if label and getattr(place, f"get_{axis}scale")() == "log":
                getattr(place, f"set_{axis}label")(f"{label} (log scale)")


def _make_log(place: Any, axis: str, values: pl.Series) -> None:
    """Make an axis logarithmic, as long as what is drawn, with ticks within a decade where that is all."""
    ends = [(end, end) for end in (values.min(), values.max())]
    place.update_datalim(ends, updatex=axis == "x", updatey=axis == "y")  # violins do not say it
    getattr(place, f"set_{axis}scale")("log")
    place.autoscale(axis=axis)
    low, high = getattr(place, f"get_{axis}lim")()
    along = getattr(place, f"{axis}axis")
    along.set_major_locator(LogLocator(subs=(1, 2, 5)) if high >= 10 * low else MaxNLocator(5))
    along.set_minor_locator(NullLocator())
    along.set_major_formatter("{x:g}")


def _is_log(axis: str, values: pl.Series, log: Sequence[str] | None) -> bool:
    if not values.dtype.is_numeric():
        if log and axis in log:
            raise typer.BadParameter(f"--log {axis}: there are names along it; leave it out")
        return False
    if log is None:
        return charts.spans_much(values)
    if axis in log and (values <= 0).any():
        raise typer.BadParameter(f"--log {axis}: some values are 0 or below; leave it out")
    return axis in log


def _along(rows: pl.DataFrame, chart: Chart) -> tuple[pl.DataFrame, Words]:
    """Rows with numbers along axes of quantities, and what the axes are called then."""
    words = chart.words
    if chart.kind == Kind.DELAY:
        return rows, words
    rows, x = _as_axis(rows, "x", words.x)
    rows, y = _as_axis(rows, "y", words.y)
    return rows, words._replace(x=x, y=y)


def _as_axis(rows: pl.DataFrame, column: str, label: str) -> tuple[pl.DataFrame, str]:
    """An axis as numbers in one unit, in their order; what is no number stays as it is, in its own order."""
    distinct = rows[column].unique(maintain_order=True).to_list()
    found = as_numbers(distinct)
    if found is None:
        return rows.sort(column, maintain_order=True), label
    numbers, unit = found
    by_value = dict(zip(distinct, numbers, strict=True))
    made = rows.with_columns(
        pl.col(column).replace_strict(by_value, return_dtype=pl.Float64).alias(column)
    ).sort(column, maintain_order=True)
    unit = "BDP" if unit == "bdp" else unit
    return made, f"{label}, {unit}" if unit else label


def _rank(names: pl.Series) -> pl.Series:
    """The place of every name: by size if all are quantities, else in the order of the enumeration."""
    distinct = names.unique().sort().to_list()
    found = as_numbers(distinct)
    places = found[0] if found else list(map(float, range(len(distinct))))
    by_name = dict(zip(distinct, places, strict=True))
    return names.cast(pl.String).replace_strict(by_name, return_dtype=pl.Float64)
