"""`fullpipe plot --kind`: figures over many runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl
import typer

from fullpipe import plots
from fullpipe.analysis.metrics import LINK_MEASURES, MEASURES
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.points import path_called, points_of
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.shown import shown_in
from fullpipe.errors import NoRunError, UnknownNameError
from fullpipe.plots import charts
from fullpipe.plots.style import Width
from fullpipe.runs import Run, Store
from fullpipe.scenario.quantities import as_numbers

_UNITS = {measure.name: measure.unit for measure in (*MEASURES, *LINK_MEASURES)}
FLOWS = "flows"
"""What `--x`, `--colour` and `--panel` call the groups of flows."""


class Kind(StrEnum):
    """What is drawn over many runs."""

    LINES = "lines"
    HEATMAP = "heatmap"
    DELAY = "delay"
    CDF = "cdf"
    BOX = "box"
    VIOLIN = "violin"


@dataclass(frozen=True)
class Chosen:
    """What a user asks for."""

    kind: Kind
    metric: str | None
    x: str | None
    y: str | None
    colour: str | None
    panel: str | None
    of: str | None
    where: Sequence[str]
    width: Width


def runs_in(folders: Iterable[Path]) -> list[Path]:
    """The folders of runs: those that are given, and those in a folder of finished runs."""
    found: list[Path] = []
    for folder in folders:
        if (folder / "meta.json").exists():
            found.append(folder)
        else:
            found += [run.folder for run in Store(folder) if run.folder]
    if not found:
        raise NoRunError("no finished run there; give folders of runs, or one that --out named")
    return found


def figure_of(runs: Sequence[Run], chosen: Chosen) -> tuple[Any, pl.DataFrame]:
    """The figure and the table of what it shows.

    Raises:
        BadParameter: If what is asked for is not in the runs, or would mix runs of several points.
        UnknownNameError: If there is no such metric, path or group.
    """
    metric = chosen.metric or "goodput"
    delay = chosen.x or "rtt_mean" if chosen.kind == Kind.DELAY else None
    wanted = [metric, *([delay] if delay else [])]
    for name in wanted:
        if name not in _UNITS:
            raise UnknownNameError("metric", name, _UNITS)
    values = _filtered(values_of(zip(points_of(runs), runs, strict=True), wanted), chosen.where)
    axes = _Axes(values, chosen, metric)
    rows = axes.rows(metric, delay)
    return _drawn(rows, chosen, axes, metric, delay)


def _filtered(values: pl.DataFrame, where: Sequence[str]) -> pl.DataFrame:
    for text in where:
        word, equals, value = text.partition("=")
        path = path_called(word.strip(), paths_of(values))
        if not equals or path is None:
            raise UnknownNameError("path", word.strip(), paths_of(values))
        column = pl.col(path).cast(pl.String)
        values = values.filter(column == value.strip())
        if values.is_empty():
            raise typer.BadParameter(f"--where {text}: no run has this value")
    return values


class _Axes:
    """What is drawn along which axis: what was asked for, and for the rest what differs."""

    def __init__(self, values: pl.DataFrame, chosen: Chosen, metric: str) -> None:
        self.known = [path for path in paths_of(values) if values[path].n_unique() > 1]
        self.values = values
        self.x = self._called(chosen.x) if chosen.kind != Kind.DELAY else None
        self.y = self._called(chosen.y)
        self.colour, self.panel = self._called(chosen.colour), self._called(chosen.panel)
        self.of = chosen.of
        free = [path for path in self.known if path not in (self.x, self.y, self.colour, self.panel)]
        if self.x is None and chosen.kind not in (Kind.DELAY, Kind.CDF) and free:
            self.x = free.pop(0)
        if chosen.kind == Kind.HEATMAP:
            self.y = self.y or (free.pop(0) if free else None)
            if self.x is None or self.y is None:
                raise typer.BadParameter("a heat map takes two paths that differ: --x PATH --y PATH")
        elif self.colour is None:
            by_flows = metric == "share" and FLOWS not in (self.x, self.panel) and self.of is None
            self.colour = FLOWS if by_flows else free.pop(0) if free else None
        if free:
            names = ", ".join(free)
            how = f"use --panel, --colour or --x for it, or --where {free[0]}=VALUE"
            raise typer.BadParameter(f"runs differ in {names}, too: {how}")

    def _called(self, word: str | None) -> str | None:
        if word is None or word == FLOWS:
            return word
        path = path_called(word, self.known)
        if path is None:
            raise UnknownNameError("path", word, [*self.known, FLOWS])
        return path

    def rows(self, metric: str, delay: str | None) -> pl.DataFrame:
        """A row per run and group, with `x`, `y`, `colour`, `panel` and `value`."""
        keys = [*paths_of(self.values), "seed", "kind", "of"]
        table = self._of_groups(self.values.filter(pl.col("metric") == metric), metric)
        if delay:
            other = self.values.filter(pl.col("metric") == delay).select(
                *keys, pl.col("value").alias("delay")
            )
            table = table.join(other, on=keys, how="inner", nulls_equal=True, maintain_order="left")
            table = table.drop_nulls("delay")
        columns = {
            "x": pl.col("delay") if delay else self._column(self.x),
            "y": self._column(self.y),
            "colour": self._column(self.colour).cast(pl.String),
            "panel": self._column(self.panel).cast(pl.String),
        }
        return table.drop_nulls("value").select(**columns, value=pl.col("value"))

    def _of_groups(self, table: pl.DataFrame, metric: str) -> pl.DataFrame:
        groups = table["of"].unique(maintain_order=True).to_list()
        is_by_group = FLOWS in (self.x, self.y, self.colour, self.panel)
        if metric == "share" and self.of is None and not is_by_group and len(groups) > 1:
            names = ", ".join(name for name in groups if name != ALL)
            raise typer.BadParameter(f"the share of all flows is 1: give --of one of {names}")
        if self.of is not None:
            if self.of not in groups:
                raise UnknownNameError("group of flows", self.of, groups)
            return table.filter(pl.col("of") == self.of)
        if is_by_group:
            return table.filter(pl.col("of") != ALL) if len(groups) > 1 else table
        return table.filter(pl.col("of") == ALL) if ALL in groups else table.filter(pl.col("of") == groups[0])

    @staticmethod
    def _column(name: str | None) -> pl.Expr:
        return pl.lit("") if name is None else pl.col("of") if name == FLOWS else pl.col(name)


@plots.in_house_style
def _drawn(
    rows: pl.DataFrame, chosen: Chosen, axes: _Axes, metric: str, delay: str | None
) -> tuple[Any, pl.DataFrame]:
    if rows.is_empty():
        raise typer.BadParameter(f"no run has a value of {metric} for what is asked for")
    scale, label = shown_in(metric, _UNITS[metric])
    rows = rows.with_columns(pl.col("value") * scale)
    x_label = _word(axes.x)
    if delay:
        factor, x_label = shown_in(delay, _UNITS[delay])
        rows = rows.with_columns(pl.col("x") * factor)
    else:
        rows, x_label = _along(rows, "x", x_label, chosen.kind)
    rows, y_label = _along(rows, "y", _word(axes.y), chosen.kind)
    panels = _ordered(_ordered(rows, "colour"), "panel").partition_by("panel", maintain_order=True)
    across = min(len(panels), 1 if chosen.width == "column" else 3)
    figure, places = plots.new_figure(
        -(-len(panels) // across), across, width=chosen.width, share_y=len(panels) > 1
    )
    means = charts.summarised(rows, ["panel", "y", "x"])["mean"]
    between = tuple(pl.select(low=means.min(), high=means.max()).row(0))
    drawn, entries = [], dict[str, Any]()
    for place, part in zip(places, panels, strict=False):
        data, image = _in(place, part, chosen.kind, between)
        drawn.append(data.with_columns(panel=pl.lit(part["panel"][0])))
        place.set_title(f"{_word(axes.panel)} {part['panel'][0]}".strip())
        handles, names = place.get_legend_handles_labels()
        entries |= {name: handle for name, handle in zip(names, handles, strict=True) if name}
        if image is not None:
            figure.colorbar(image, ax=place, label=label)
    for place in places[: len(panels)]:  # once all have drawn: panels share their axes
        _label(place, chosen.kind, label, x_label, y_label)
    if chosen.kind == Kind.DELAY:
        ends = [end for place in places[: len(panels)] for end in place.get_xlim()]
        for place in places[: len(panels)]:
            place.set_xlim(max(ends), min(ends))
    for place in places[len(panels) :]:
        place.set_axis_off()
    plots.shared_legend(figure, entries)
    return figure, pl.concat(drawn)


def _in(place: Any, rows: pl.DataFrame, kind: Kind, between: tuple[float, float]) -> tuple[pl.DataFrame, Any]:
    if kind == Kind.HEATMAP:
        return charts.heat_map(place, rows, between)
    draw = {
        Kind.LINES: charts.lines_with_bands,
        Kind.DELAY: charts.throughput_and_delay,
        Kind.CDF: charts.cumulative_shares,
    }.get(kind)
    if draw:
        return draw(place, rows), None
    return charts.distributions(place, rows, violins=kind == Kind.VIOLIN), None


def _label(place: Any, kind: Kind, label: str, x_label: str, y_label: str) -> None:
    if kind == Kind.CDF:
        place.set_xlabel(label)
        return
    place.set_xlabel(x_label)
    place.set_ylabel(y_label if kind == Kind.HEATMAP else label)
    if kind in (Kind.LINES, Kind.BOX, Kind.VIOLIN):
        place.set_ylim(bottom=min(0, place.get_ylim()[0]))


def _along(rows: pl.DataFrame, column: str, label: str, kind: Kind) -> tuple[pl.DataFrame, str]:
    """An axis as numbers in one unit, in their order; what is no number stays text."""
    distinct = rows[column].unique(maintain_order=True).to_list()
    found = as_numbers(distinct)
    if found is None:
        return _ordered(rows.with_columns(pl.col(column).cast(pl.String)), column), label
    numbers, unit = found
    by_value = dict(zip(distinct, numbers, strict=True))
    made = rows.with_columns(
        pl.col(column).replace_strict(by_value, return_dtype=pl.Float64).alias(column)
    ).sort(column, maintain_order=True)
    return made, f"{label}, {unit}" if unit else label


def _ordered(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Rows in the order of a column: by size if it is of quantities, else by name."""
    distinct = sorted(rows[column].unique().to_list())
    found = as_numbers(distinct)
    if found:
        distinct = [value for _, value in sorted(zip(found[0], distinct, strict=True))]
    places = {value: place for place, value in enumerate(distinct)}
    return rows.sort(pl.col(column).replace_strict(places, return_dtype=pl.Int64), maintain_order=True)


def _word(path: str | None) -> str:
    return "" if path is None else value_text(path.rsplit(".", 1)[-1])
