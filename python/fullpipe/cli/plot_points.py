"""`fullpipe plot --kind`: selects values and factors for figures over many runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import polars as pl
import typer

from fullpipe.analysis.limits import Counts, counted, counts_of, neutral_of, with_counts, with_neutral
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import ALL, TOTALS, algorithms_of, flow_groups, is_bulk
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Combined
from fullpipe.analysis.metrics.paths import base_rtts_s, capacity_bps
from fullpipe.analysis.outcome import called
from fullpipe.analysis.over_seeds import paths_of, sums
from fullpipe.analysis.points import Subject, of_parts, points_of, rows_of
from fullpipe.analysis.shown import decimals_between, listed, metric_shown, resolution_of
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.plot_axes import Ends, Factor, Factors
from fullpipe.cli.plot_drawn import OF_SHARES, Chart, Kind, Part, drawn
from fullpipe.cli.plot_sampled import (
    SAMPLED,
    SAMPLES,
    Sampled,
    flows_by_group,
    read_sampled,
    with_columns_of,
    with_samples,
)
from fullpipe.cli.selection import (
    FLOWS,
    changed_entries,
    changed_entry,
    factor_called,
    filtered,
    filtered_runs,
    group_counted,
    labelled,
    labels_of,
    no_value,
    of_groups,
    read_subjects,
    varied,
    with_name,
)
from fullpipe.palette import Look, is_algorithm, looks, looks_of_numbers
from fullpipe.plots.style import check_formulas
from fullpipe.runs import Run
from fullpipe.scenario import Scenario, resolve
from fullpipe.scenario.labels import Labels, algorithm_title, unit_of
from fullpipe.scenario.quantities import as_numbers
from fullpipe.scenario.remembered import Remembered

_OF_X, _OF_BASE = "value of x", "base RTT of x"
_CAPACITY, _BASE = "capacity of the path", "base RTT of the path"
"""Names of extra columns. The names contain spaces, so no path of a scenario is equal to them."""
_RTTS = ("rtt_min", "rtt_mean", "rtt_p95", "srtt_mean", "srtt_p95")
"""Metrics that are never below the base RTT of the path."""
_DELIVERED = "flows.goodput_bps"
"""Column of the metrics that cannot exceed the capacity of the path."""
_FAIR = "fair share of the group"
"""Name of an extra column, as above."""
_SHARES = {"share": "equal_share", "share_ratio": 1.0}
"""The fair share of metrics of shares: the metric that has the fair share, or a number."""
_SCALE_FROM = 3
"""Minimum number of swept numbers at which their colours form a scale from dark to light."""
_network = Remembered(resolve)


@Remembered
def _base_rtts_s(scenario: Scenario) -> dict[str, float | None]:
    """The base RTT of every flow in s; None if it varies."""
    network = _network(scenario)
    names = (routed.name for routed in network.flows)
    return dict(zip(names, base_rtts_s(network), strict=True))


@dataclass(frozen=True)
class Chosen:
    """The figure that the options of `fullpipe plot` describe."""

    kind: Kind
    metrics: Sequence[str]
    """Metrics, each by its name or with a flow group, such as "rtt_mean of ping"."""
    x: str | None = None
    y: str | None = None
    colour: str | None = None
    panel: str | None = None
    of: str | None = None
    where: Sequence[str] = ()
    width: str = "page"
    x_of: str | None = None
    x_label: str | None = None
    y_label: str | None = None
    log: Sequence[str] | None = None
    """The logarithmic axes, "x" and "y", beside those of values with a wide range unless "none" is given."""
    x_ends: Ends | None = None
    y_ends: Ends | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of paths and values, in addition to the labels in the scenarios."""


def figure_of(runs: Sequence[Run], chosen: Chosen) -> tuple[Any, pl.DataFrame]:
    """The figure and the table of its values.

    Raises:
        BadParameter: If the runs have no value for the figure, or a mark would mix runs of several points.
        UnknownNameError: If a metric, path or group does not exist.
    """
    metrics, chosen = _with_y(chosen)
    metrics, sampled = read_sampled(metrics) if chosen.kind == Kind.CDF else (metrics, {})
    subjects = read_subjects(metrics or ["goodput"], chosen.of)
    delay = Subject.read(chosen.x or "rtt_mean", chosen.x_of) if chosen.kind == Kind.DELAY else None
    metrics = [each.metric for each in (*subjects, *([delay] if delay else []))]
    wanted = with_counts(with_neutral(metrics))
    pointed = list(zip(points_of(runs), runs, strict=True))
    every = values_of(pointed, wanted)
    if delay:
        every = _with_limits(every, pointed)
    if sampled:
        every = with_samples(every, pointed, sampled)
    values = counted(filtered(every, chosen.where))
    labels = labels_of(runs, chosen.labels, [point for point, _ in pointed]).in_print()
    check_labels(labels)
    subjects = [with_name(each, every, labels) for each in subjects]
    delay = delay and with_name(delay, every, labels)
    both = [*subjects, *([delay] if delay else [])]
    entry = (
        None if chosen.of else default_entry(values, runs) if delay else changed_entry(paths_of(values), runs)
    )
    axes = _Axes(values, chosen, subjects, labels, entry)
    factors = axes.factors(pointed, {BY_NAME[each.metric].combined for each in subjects})
    if delay:
        factors = factors._replace(x=Factor(labelled(delay, labels, in_percent=False)))
    parts = [
        Part(
            _of_samples(labelled(axes.named(each), labels, runs, in_percent=False), sampled.get(each.metric)),
            _of_samples(axes.of_default(each).called, sampled.get(each.metric)),
            axes.rows(each, delay),
            _of_samples(axes.left_out(each, delay), sampled.get(each.metric)),
            axes.neutral(each) if chosen.kind == Kind.HEATMAP else None,
            each.bounds,
            delay.bounds if delay else NO_LESS_THAN_0,
            partial(decimals_between, unit=BY_NAME[each.metric].unit, metric=each.metric, in_percent=False),
            BY_NAME[each.metric].better if delay else "",
            BY_NAME[delay.metric].better if delay else "",
            sampled[each.metric].each if each.metric in sampled else "",
            0.0 if each.metric in sampled else resolution_of(each.metric),
        )
        for each in subjects
    ]
    shown = ((each.metric, of) for each in both for of in axes.groups_of(each))
    notes = [*of_parts((run.scenario for run in runs), shown, in_words=True)]
    there = filtered_runs(pointed, chosen.where)
    looks = axes.looks(there, [part.rows for part in parts], subjects)
    notes += _choices(every, values, labels, *axes.algorithm(there, subjects))
    chart = Chart(
        chosen.kind,
        chosen.width,
        factors,
        looks,
        chosen.x_label,
        chosen.y_label,
        chosen.log,
        chosen.x_ends,
        chosen.y_ends,
        notes,
    )
    return drawn(parts, chart)


def _of_samples(text: str, quantity: Sampled | None) -> str:
    """The label or the name of a metric, with the words of a sampled quantity instead of the metric's."""
    if quantity is None:
        return text
    words = metric_shown(quantity.metric, "")
    name = next(name for name, each in SAMPLED.items() if each is quantity)
    return text.replace(quantity.metric, name).replace(words, quantity.words)


def _with_y(chosen: Chosen) -> tuple[Sequence[str], Chosen]:
    """The metrics to draw. With --kind delay, --y may name the metric."""
    if chosen.kind != Kind.DELAY or chosen.y is None:
        return chosen.metrics, chosen
    if chosen.metrics:
        raise typer.BadParameter("--kind delay takes either --metric or --y; leave one out", param_hint="--y")
    return [chosen.y], replace(chosen, y=None)


def _choices(
    every: pl.DataFrame, values: pl.DataFrame, labels: Labels, algorithm: str | None, owner: str
) -> list[str]:
    """A line with the values that `--where` chooses. If all flows have the same algorithm and no value names
    it, the line also names the algorithm, of `owner` unless it is empty."""
    chosen = {path: values[path][0] for path in varied(every) if values[path].n_unique() == 1}
    names = labels.owned_names([*chosen])
    told = [labels.at(path, value, names[path]) for path, value in chosen.items()]
    if algorithm and algorithm not in map(str, chosen.values()):
        name = algorithm_title(algorithm)
        told.append(f"algorithm of {owner} {name}" if owner else f"algorithm {name}")
    return [", ".join(told)] if told else []


def default_entry(values: pl.DataFrame, runs: Sequence[Run]) -> int | None:
    """The entry of `flows` that `--kind delay` draws unless a group is named: the only one that a sweep
    changes, or the only one with bulk flows. None stands for all flows together.
    """
    if changed_entries(paths_of(values)):
        return changed_entry(paths_of(values), runs)
    flows = runs[0].scenario.flows
    bulk = [n for n, flow in enumerate(flows) if is_bulk(flow)]
    return bulk[0] if len(flows) > len(bulk) == 1 else None


def check_labels(labels: Labels) -> None:
    """Raise BadParameter if a label contains a formula ($...$) that cannot be drawn."""
    try:
        check_formulas(labels.words)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--label") from None


def _with_limits(values: pl.DataFrame, runs: Sequence[tuple[Mapping[str, Any], Run]]) -> pl.DataFrame:
    """Values with the capacity of the path of each group in bit/s, and its least base RTT in s; null if its
    flows have several paths, or their RTTs vary."""
    rows = [
        (number, of, capacity_bps(_network(run.scenario), flows), _base_rtt_s(run, flows))
        for number, (_, run) in enumerate(runs)
        for of, flows in flows_by_group(run).items()
    ]
    return with_columns_of(values, runs, rows, ("of",), {_CAPACITY: pl.Float64(), _BASE: pl.Float64()})


def _base_rtt_s(run: Run, flows: Collection[str]) -> float | None:
    """The least base RTT of some flows in s; None if one of the RTTs varies."""
    known = _base_rtts_s(run.scenario)
    rtts_s = [known[flow] for flow in flows if flow in known]
    return None if None in rtts_s else min(filter(None, rtts_s), default=None)


class _Axes:
    """Paths on the axes, colours and panels: those of the options, then other paths whose values differ."""

    def __init__(
        self,
        values: pl.DataFrame,
        chosen: Chosen,
        subjects: Sequence[Subject],
        labels: Labels,
        entry: int | None = None,
    ) -> None:
        self.labels, self.entry = labels, entry
        self.known = varied(values)
        self.values = values
        self.x = self._called(chosen.x) if chosen.kind != Kind.DELAY else None
        self.y = self._called(chosen.y)
        self.colour, self.panel = self._called(chosen.colour), self._called(chosen.panel)
        free = [path for path in self.known if path not in (self.x, self.y, self.colour, self.panel)]
        if self.x is None and chosen.kind not in (Kind.DELAY, *OF_SHARES) and free:
            self.x = free.pop(0)
        if chosen.kind == Kind.HEATMAP:
            self.y = self.y or (free.pop(0) if free else None)
            if self.x is None or self.y is None:
                raise typer.BadParameter("a heat map needs two paths whose values differ: --x PATH --y PATH")
        elif self.colour is None:
            shares = any(each.metric == "share" and each.of is None for each in subjects)
            by_flows = shares and FLOWS not in (self.x, self.panel)
            self.colour = FLOWS if by_flows else free.pop(0) if free else None
        if free:
            names = ", ".join(free)
            how = f"add --panel, --colour or --x {free[0]}, or --where {free[0]}=VALUE"
            raise typer.BadParameter(f"runs also differ in {names}: {how}")

    def _called(self, word: str | None) -> str | None:
        return None if word is None else factor_called(word, self.values)

    def factors(
        self, pointed: Sequence[tuple[Mapping[str, Any], Run]], combined: Collection[Combined] = ()
    ) -> Factors:
        """The factors of the axes, colours and panels, with the labels of their values.

        The label of a flow group has the number of its flows, and "sum" or "mean" if all metrics combine the
        flows in this way.
        """
        chosen = [path for path in (self.x, self.y, self.colour, self.panel) if path and path != FLOWS]
        names = {**self.labels.owned_names(list(dict.fromkeys([*self.known, *chosen]))), FLOWS: ""}
        points, runs = [point for point, _ in pointed], [run for _, run in pointed]
        found = Factors(*(
            Factor() if path is None else self._factor(path, names[path], points)
            for path in (self.x, self.y, self.colour, self.panel)
        ))  # fmt: skip
        only: Combined = next(iter(combined)) if len(combined) == 1 else ""
        return Factors(*(
            factor if path != FLOWS else factor._replace(
                words={of: group_counted(said, of, runs, only) for of, said in factor.words.items()}
            )
            for path, factor in zip((self.x, self.y, self.colour, self.panel), found, strict=True)
        ))  # fmt: skip

    def _factor(self, path: str, name: str, points: Sequence[Mapping[str, Any]]) -> Factor:
        """A path with labels of its values. Columns contain TOML tables as text; `points` have the tables."""
        own = {value_text(point[path]): point[path] for point in points if path in point}
        column = self.values["of" if path == FLOWS else path]
        raw = {text: own.get(text, value) for value, text in zip(column, column.cast(pl.String), strict=True)}
        words = {str(text): self.labels.value(path, value) for text, value in raw.items()}
        given = {str(text): said for text, value in raw.items() if (said := self.labels.given(path, value))}
        return Factor(name, words, given, unit_of(path))

    def looks(
        self, runs: Sequence[Run], parts: Sequence[pl.DataFrame], subjects: Sequence[Subject]
    ) -> dict[str, Look]:
        """The look of every value of the colour factor. A flow group has the look of its algorithm. Without a
        colour factor, all marks have the look of the only drawn algorithm; empty if there are several.
        """
        if self.colour is None:
            only, _ = self.algorithm(runs, subjects)
            return looks([""], {"": only}) if only else {}
        known = dict.fromkeys(str(value) for rows in parts for value in rows["colour"].unique().sort())
        numbers = as_numbers(self.values[self.colour].unique().to_list()) if self.colour != FLOWS else None
        if numbers and len(known) >= _SCALE_FROM:
            return looks_of_numbers(_ascending(known, self.values[self.colour]))
        return looks(list(known), algorithms_of(runs) if self.colour == FLOWS else {})

    def algorithm(self, runs: Sequence[Run], subjects: Sequence[Subject]) -> tuple[str | None, str]:
        """The only algorithm of all groups whose metrics are drawn, None if there are several or none; and
        the groups, if the algorithm of another group varies."""
        known = algorithms_of(runs)
        groups = {of for each in subjects for of in self.groups_of(each)}
        kinds = {known.get(of) for of in groups - {*TOTALS}} | (
            {known.get(of) for run in runs for of in flow_groups(run)} if groups & {*TOTALS} else set()
        )
        only = kinds.pop() if len(kinds) == 1 else None
        is_varied = any(path.endswith("cca") for path in self.known)
        owner = listed(map(self.labels.group, sorted(groups - {*TOTALS}))) if is_varied else ""
        return (only if only and is_algorithm(only) else None), owner

    def rows(self, subject: Subject, delay: Subject | None) -> pl.DataFrame:
        """A row per run and group: `x`, `y`, `colour`, `panel` and `value`, in the units of the figure.

        Columns of names are enums, whose order is the order of the runs.
        """
        table = self._of_groups(subject)
        if delay:
            keys = [*paths_of(self.values), "seed", *([] if delay.of else ["kind", "of"])]
            of_delay = self.values.filter(pl.col("metric") == delay.metric)
            if delay.of:
                of_delay = of_delay.filter(rows_of(delay.of, self.values, self.labels))
            base = pl.col(_BASE).alias(_OF_BASE)
            other = of_delay.select(*keys, (pl.col("value") * delay.scale).alias(_OF_X), base)
            table = table.join(other, on=keys, how="inner", nulls_equal=True, maintain_order="left")
            table = table.drop_nulls(_OF_X)
        columns = {
            "x": pl.col(_OF_X) if delay else self._column(self.x),
            "y": self._column(self.y),
            "colour": self._column(self.colour, as_names=True),
            "panel": self._column(self.panel, as_names=True),
        }
        if delay and BY_NAME[subject.metric].column == _DELIVERED and BY_NAME[subject.metric].unit == "bit/s":
            columns["most"] = pl.col(_CAPACITY) * subject.scale
        if subject.metric in _SHARES:
            table = self._with_fair_share(table, subject.metric)
            columns["fair"] = pl.col(_FAIR)
        if delay and BY_NAME[delay.metric].name in _RTTS:
            columns["least"] = pl.col(_OF_BASE) * delay.scale
        if SAMPLES in table.columns and BY_NAME[subject.metric].unit == "s":
            table = _one_by_one(table)
        rows = table.drop_nulls("value").select(**columns, value=pl.col("value") * subject.scale)
        if rows.is_empty():
            raise no_value(subject, self.values)
        return rows

    def _with_fair_share(self, table: pl.DataFrame, metric: str) -> pl.DataFrame:
        """Values of a share with the fair share of their group; null for a group without other flows."""
        fair = _SHARES[metric]
        if not isinstance(fair, str):
            return table.with_columns(pl.lit(fair).alias(_FAIR))
        keys = [*paths_of(self.values), "seed", "kind", "of"]
        known = self.values.filter(pl.col("metric") == fair, pl.col("value") < 1)
        other = known.select(*keys, pl.col("value").alias(_FAIR))
        return table.join(other, on=keys, how="left", nulls_equal=True, maintain_order="left")

    def neutral(self, subject: Subject) -> float | None:
        """The neutral value of the metric if all runs have the same neutral value, else None."""
        return neutral_of(subject.metric, self.values, self.groups_of(subject))

    def groups_of(self, subject: Subject) -> list[str]:
        """The flow groups or links whose metric is drawn."""
        return self._of_groups(subject)["of"].unique(maintain_order=True).to_list()

    def named(self, subject: Subject) -> Subject:
        """The subject with its group: if none is named, the only group with values, all flows, or the only
        link."""
        if not self._of_entry(subject).is_empty():
            return self.of_default(subject)
        known = self.values.filter(pl.col("metric") == subject.metric)
        groups = self.groups_of(subject)
        is_named = subject.of is None and len(groups) == 1 < known["of"].n_unique()
        valued = {*known.drop_nulls("value")["of"]} - {*TOTALS}
        if is_named and groups[0] == ALL and len(valued) == 1:
            groups = [*valued]
        return subject._replace(of=groups[0]) if is_named else subject

    def of_default(self, subject: Subject) -> Subject:
        """The subject with the name of the default entry of `flows`, if its values are drawn."""
        if self.entry is None or self._of_entry(subject).is_empty():
            return subject
        return subject._replace(of=called(self.groups_of(subject), self.entry))

    def left_out(self, subject: Subject, delay: Subject | None) -> str:
        """A line with the number of unfinished transfers, the point where their share is largest, and the
        number of runs without a value; or empty."""
        told = [_left_out(self._of_groups(each), each, self.labels) for each in (subject, delay) if each]
        return "; ".join(filter(None, [*told, *(self._without(each) for each in (subject, delay) if each)]))

    def _without(self, subject: Subject) -> str:
        """The number of runs in which the metric has no value; or empty if groups are drawn one by one."""
        values = self._of_groups(subject)["value"]
        if not values.null_count() or FLOWS in (self.x, self.y, self.colour, self.panel):
            return ""
        name = metric_shown(subject.metric, subject.of or "")
        return f"{name} has no value in {values.null_count()} of {len(values)} runs"

    def _of_groups(self, subject: Subject) -> pl.DataFrame:
        own = self._of_entry(subject)
        if not own.is_empty():
            return own
        by_group = FLOWS in (self.x, self.y, self.colour, self.panel)
        return of_groups(self.values, subject, self.labels, by_group=by_group)

    def _of_entry(self, subject: Subject) -> pl.DataFrame:
        """The values of the default entry; empty if a group is named or drawn, or the entry has no values."""
        if self.entry is None or subject.of or FLOWS in (self.x, self.y, self.colour, self.panel):
            return self.values.clear()
        own = self.values.filter(metric=subject.metric, entry=self.entry)
        return own.clear() if own["value"].is_null().all() else own

    def _column(self, name: str | None, *, as_names: bool = False) -> pl.Expr:
        """The values on an axis."""
        if name is None:
            return pl.lit("")
        column = "of" if name == FLOWS else name
        values = self.values[column]
        if values.dtype.is_numeric() and not as_names:
            return pl.col(column)
        names = values.cast(pl.String).drop_nulls().unique(maintain_order=True)
        return pl.col(column).cast(pl.String).cast(pl.Enum(names))


def _ascending(names: Iterable[str], values: pl.Series) -> list[str]:
    """Texts of numbers or quantities in ascending order."""
    distinct = values.drop_nulls().unique(maintain_order=True)
    found = as_numbers(distinct.to_list())
    assert found is not None
    sizes = dict(zip(distinct.cast(pl.String), found[0], strict=True))
    return sorted(names, key=sizes.__getitem__)


def _one_by_one(table: pl.DataFrame) -> pl.DataFrame:
    """A row per sample, instead of a row per run, for metrics that have samples."""
    sampled = table.filter(pl.col(SAMPLES).is_not_null())
    return table if sampled.is_empty() else sampled.drop("value").rename({SAMPLES: "value"}).explode("value")


def _left_out(rows: pl.DataFrame, subject: Subject, labels: Labels) -> str:
    paths = paths_of(rows)
    points = rows.group_by([*paths, "of"], maintain_order=True).agg(sums("began"), sums("unfinished"))
    points = points.filter(pl.col("unfinished") > 0)
    if points.is_empty():
        return ""
    most = points.sort(pl.col("unfinished") / pl.col("began"), descending=True, maintain_order=True)
    row = most.row(0, named=True)
    varied = {path: row[path] for path in paths if path != "engine" and rows[path].n_unique() > 1}
    where = f"; most at {', '.join(labels.point(varied))}: {counts_of(row)}" if varied else ""
    total = Counts(int(rows["unfinished"].sum()), int(rows["began"].sum()))
    return f"{metric_shown(subject.metric, subject.of or '')} leaves out {total}{where}"
