"""Figures over points: lines with bands along quantities, heat maps over two paths, and boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

import numpy as np
import polars as pl

from fullpipe.analysis.length import warnings_of
from fullpipe.analysis.limits import bounds_of, neutral_of
from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.metrics.groups import ECHOES, algorithms_of
from fullpipe.analysis.metrics.measure import Bounds, View
from fullpipe.analysis.metrics.table import names_in
from fullpipe.analysis.over_seeds import FEW
from fullpipe.analysis.over_time import QUANTITIES, presented, samples
from fullpipe.analysis.points import is_geometric
from fullpipe.analysis.shown import axis_shown, decimals_between, metric_shown
from fullpipe.analysis.values import value_text
from fullpipe.report.content import (
    Block,
    Box,
    Boxes,
    Chart,
    Figure,
    Heat,
    Line,
    Lines,
    Look,
    Section,
    Text,
)
from fullpipe.report.rows import Budget
from fullpipe.report.runs.points import VARIANT, Points, ordered
from fullpipe.report.runs.tables import named_paths
from fullpipe.report.svg.marks import distinct, series
from fullpipe.report.text import counted, left_out, listed
from fullpipe.runs import Run
from fullpipe.scenario.labels import Labels, unit_of
from fullpipe.scenario.quantities import as_numbers

_WANTED = names_in(View.FIGURE)
"""Metrics that are drawn for all flows together, if runs have a value."""
Drawn = tuple[str, int | str]
"""A metric of an entry of `flows`, a total or a link."""
_MOST_BOXES, _MOST_LINES, _MOST_ENTRIES = 40, 14, 3
_FAIR, _DOTTED = (6, 3, 4), 6
"""Colours and dashes of lines of fair shares."""
_NEAR = 0.02
"""Largest difference of fair shares that are drawn as one line, as a share of either."""
_MOST_BANDS = 3
"""Maximum number of lines at which their bands are readable. With more lines, a heat map comes first."""


def over_points(
    found: Points,
    most: int,
    lead: Drawn | None = None,
    at: Sequence[Mapping[str, Any]] = (),
    *,
    has_pairs: bool = False,
) -> tuple[list[Figure], str]:
    """Figures over points, metric by metric, and a note on figures left out; empty for a single run.

    Args:
        found: The points.
        most: Maximum number of figures.
        lead: Metric and group of the first figure.
        at: Points that the conclusion names. The panel of the first one is the first of several panels.
        has_pairs: Whether the conclusion is from pairs of runs with one seed, which captions then say.
    """
    first = at[0] if at else _highest(found, lead)
    figures = list(_figures(found, lead, first)) if found.count > 1 else []
    note = left_out(most, len(figures), "figures")
    shown = [_with_pairs(each) if has_pairs else each for each in figures[:most]]
    return shown, f"{note} fullpipe plot draws any of them." if note else ""


def _with_pairs(figure: Figure) -> Figure:
    """The figure with a sentence in its caption, as intervals of different means may overlap."""
    if not isinstance(figure.chart, Lines):
        return figure
    marks = "bar" if figure.chart.has_bars else "band"
    told = f"Each {marks} is the interval of one mean. Verdicts are of differences paired by seed."
    return replace(figure, caption=f"{figure.caption} {told}")


def _unnumbered(flows: pl.DataFrame) -> dict[str, str]:
    """Names of entries of `flows` that are one line: an entry without a name is "cubic-1" if it is one flow,
    and "cubic" if it is several. Names that another entry has, too, are left out."""
    names: dict[int, set[str]] = {}
    for entry, of in flows.drop_nulls("entry").select("entry", "of").unique().iter_rows():
        names.setdefault(entry, set()).add(of)
    times = Counter(name for own in names.values() for name in own)
    return {
        f"{name}-1": name
        for own in names.values()
        for name in own
        if f"{name}-1" in own and times[name] == times[f"{name}-1"] == 1
    }


def _highest(found: Points, lead: Drawn | None) -> Mapping[str, Any]:
    """The point where the leading metric is highest."""
    rows = found.means_of(*lead) if lead else ()
    return max(rows, key=lambda row: row["mean"], default={})


def _figures(found: Points, lead: Drawn | None, at: Mapping[str, Any]) -> Iterator[Figure]:
    flows = found.values.filter(pl.col("kind") == "flows").drop_nulls("value")
    flows = flows.with_columns(pl.col("of").replace(_unnumbered(flows)))
    first_rows = flows.filter((pl.col("metric") == (lead[0] if lead else "")) & pl.col("entry").is_not_null())
    is_of_groups = (
        lead is not None
        and (isinstance(lead[1], int) or lead[0] == found.sharing)
        and not found.metrics
        and len(found.paths) < 2
        and first_rows["of"].n_unique() > 1
    )
    subjects = dict.fromkeys(_subjects(found))
    if lead and found.paths and not is_of_groups:
        subjects = {lead: None, **subjects}
    drawn = [of for metric, of in subjects if metric == found.sharing and isinstance(of, int)]
    is_left = pl.col("entry").is_not_null() & ~pl.col("entry").is_in(drawn)
    shares = flows.filter((pl.col("metric") == found.sharing) & is_left)
    if lead and is_of_groups:
        yield from _of_groups(found, first_rows, lead[0])
    if found.paths:
        for metric, of in subjects:
            name = found.group_of(metric, of)
            first = at if (metric, of) == lead else None
            yield from _of_metric(found, metric, rows_of_subject(found, metric, of), name, found.paths, first)
    else:
        yield from _of_one_point(found, subjects)
    if len(found.paths) < 2:
        is_drawn = is_of_groups and lead is not None and lead[0] == found.sharing
        yield from () if is_drawn else _of_groups(found, shares, found.sharing)
    elif shares["entry"].n_unique() + len(drawn) > 1:
        for rows in shares.partition_by("entry", maintain_order=True)[:_MOST_ENTRIES]:
            names = rows["of"].unique(maintain_order=True).to_list()
            yield from _of_metric(found, found.sharing, rows, " or ".join(names[:_MOST_ENTRIES]), found.paths)


def _subjects(found: Points) -> Iterator[Drawn]:
    """Metrics with their entry of `flows`, total or link, in the order of their figures."""
    for metric in found.metrics:
        yield from ((metric, found.entries.get(of, of)) for of in found.asked_of(metric))
    if len(found.telling) > 1 and {*found.telling.values()} != {"goodput"}:
        yield from ((metric, entry) for entry, metric in found.telling.items())
    for metric in _WANTED:
        yield from ((metric, of) for of in found.totals_of(metric))


def rows_of_subject(found: Points, metric: str, of: int | str) -> pl.DataFrame:
    """The known values of a metric of an entry of `flows`, a total or a link."""
    is_it = pl.col("entry") == of if isinstance(of, int) else pl.col("of") == of
    return found.values.filter((pl.col("metric") == metric) & is_it).drop_nulls("value")


def _of_one_point(found: Points, subjects: Iterable[tuple[str, int | str]]) -> Iterator[Figure]:
    """Yield a figure per metric, with a box for every group. A single box is drawn only for a metric that the
    user names."""
    metrics: dict[str, list[pl.DataFrame]] = {}
    for metric, of in subjects:
        rows = rows_of_subject(found, metric, of)
        if rows["value"].n_unique() > 1:
            metrics.setdefault(metric, []).append(rows)
    for metric, parts in metrics.items():
        if len(parts) > 1 or metric in found.metrics:
            yield from _groups(found, metric, pl.concat(parts))


def _groups(found: Points, metric: str, rows: pl.DataFrame) -> Iterator[Figure]:
    """The boxes of several groups of flows or links side by side."""
    scale, label = axis_shown(metric)
    named = [found.group_of(metric, of) for of in rows["of"]]
    of = named[0] if len({*named}) == 1 else "every group"
    boxes = rows.with_columns(pl.col("value") * scale, label=pl.Series(named))
    yield from _boxes(boxes, label, metric_shown(metric, of), found)


def _of_metric(
    found: Points,
    metric: str,
    rows: pl.DataFrame,
    of: str,
    paths: Sequence[str],
    at: Mapping[str, Any] | None = None,
) -> Iterator[Figure]:
    """Yield figures of one group. The kind of figure depends on the number and the kind of the paths."""
    if rows.is_empty() or rows["value"].n_unique() < 2:
        return
    along = next((path for path in paths if as_numbers(ordered(rows[path].to_list()))), None)
    others = [path for path in paths if path != along]
    if len(paths) > 2:
        panel = next((path for path in reversed(others) if not path.endswith(("cca", VARIANT))), others[-1])
        left = [path for path in paths if path != panel]
        values = ordered(rows[panel].to_list())
        if at and panel in at:
            values.sort(key=lambda value: found.at(panel, value) != found.at(panel, at[panel]))
        for value in values:
            part, where = rows.filter(pl.col(panel).eq_missing(value)), f"{of}, {_at(found, panel, value)}"
            yield from _of_metric(found, metric, part, where, left, at)
        return
    scale, label = axis_shown(metric)
    rows = rows.with_columns(pl.col("value") * scale)
    even = neutral_of(metric, found.values, rows["of"].unique().to_list())
    neutral = None if even is None else scale * even
    named = metric_shown(metric, of)
    if along:
        chart: Chart = _lines(found, rows, along, others, label)
        if others and rows[others[0]].n_unique() > _MOST_BANDS:
            yield _figure(f"{named}: means", _heat(found, rows, (along, others[0]), neutral, metric), found)
        yield _figure(f"{named} over {found.words[along]}: means and 95 % intervals", chart, found)
    elif len(paths) == 2:
        yield _figure(f"{named}: means", _heat(found, rows, (paths[1], paths[0]), neutral, metric), found)
    else:
        labels = [_told(found, row) or of for row in rows.iter_rows(named=True)]
        yield from _boxes(rows.with_columns(label=pl.Series(labels)), label, named, found)


def _of_groups(found: Points, rows: pl.DataFrame, metric: str) -> Iterator[Figure]:
    """Yield a figure of a metric of every group: a line per group along a quantity, otherwise boxes side by
    side."""
    if rows["of"].n_unique() < 2:
        return
    scale, label = axis_shown(metric)
    rows = rows.with_columns(pl.col("value") * scale)
    named = metric_shown(metric, "every group of flows")
    words = {of: found.group_of(metric, of) for of in rows["of"].unique().to_list()}
    rows = rows.with_columns(pl.col("of").replace(words))
    along = next((path for path in found.paths if as_numbers(ordered(rows[path].to_list()))), None)
    if along:
        chart = _lines(found, rows, along, ["of"], label)
        yield _figure(f"{named} over {found.words[along]}: means and 95 % intervals", chart, found)
        return
    names = [", ".join(filter(None, [_told(found, row), row["of"]])) for row in rows.iter_rows(named=True)]
    yield from _boxes(rows.with_columns(label=pl.Series(names)), label, named, found)


def _figure(caption: str, chart: Chart, found: Points) -> Figure:
    return Figure(f"{caption}.", chart, f"{caption}, scenario {found.name}. The numbers are in the tables.")


def _lines(found: Points, rows: pl.DataFrame, along: str, others: Sequence[str], label: str) -> Lines:
    metric = rows["metric"][0]
    (least, most), (scale, _) = bounds_of(metric), axis_shown(metric)
    bounds = least * scale, most * scale
    values = ordered(rows[along].to_list())
    numbers, unit = as_numbers(values) or ([], "")
    if not unit:
        numbers = [float(f"{number * unit_of(along).scale:.12g}") for number in numbers]
    places = dict(zip(values, numbers, strict=True))
    parts = rows.partition_by(others[0], maintain_order=True) if others else [rows]
    names = _legend(found, others[0], [part[others[0]][0] for part in parts]) if others else [""]
    names = names[:_MOST_LINES]
    lines = []
    words = [_word(found, part.row(0, named=True), others) for part in parts[:_MOST_LINES]]
    for name, look, part in zip(names, distinct(words), parts, strict=False):
        groups = part.group_by(along)
        points = [_mean(places[key[0]], group["value"].to_numpy(), bounds) for key, group in groups]
        lines.append(Line(name, look, sorted(points)))
    axis = found.labels.axis(along, values, found.words[along])
    if fair := list(_fair_lines(found, rows, along, places)):
        alone = found.group_of(metric, rows["of"][0])
        lines = [*(line if line.label else replace(line, label=alone) for line in lines), *fair]
    return Lines(axis, label, lines, is_log=is_geometric(sorted(set(numbers))))


def _fair_lines(found: Points, rows: pl.DataFrame, along: str, places: Mapping[Any, float]) -> Iterator[Line]:
    """A dotted line with the fair share of every group that is drawn, if there are few groups. Groups whose
    fair shares are about equal have one line."""
    entries, metric = rows["entry"].drop_nulls().unique().sort().to_list(), rows["metric"][0]
    scale, _ = axis_shown(metric)
    drawn = list[tuple[str, Mapping[Any, float], list[str]]]()
    for entry in entries if len(entries) <= _MOST_BANDS else ():
        means, part = found.fair_at(metric, entry, along)
        alike = (
            names
            for of, fair, names in drawn
            if of == part and fair.keys() == means.keys()
            if all(isclose(fair[at], means[at], rel_tol=_NEAR) for at in means)
        )
        names = next(alike, [])
        if means and not names:
            drawn.append((part, means, names))
        names.append(found.called(entry))
    for colour, (part, fair, names) in zip(_FAIR, drawn, strict=False):
        ends = sorted((places[at], scale * mean) for at, mean in fair.items())
        points = [(at, mean, mean, mean) for at, mean in ends]
        yield Line(f"fair share of {listed(names)}{part}", Look(colour, _DOTTED), points)


def _word(found: Points, row: Mapping[str, Any], others: Sequence[str]) -> str:
    """The algorithm or value that determines the look of a line."""
    if others and others[0] != "of":
        return value_text(row[others[0]])
    return found.algorithm_of(row) or (row["of"] if others else "")


def _legend(found: Points, path: str, values: Sequence[Any]) -> list[str]:
    """Return the names of lines. A quantity is preceded by the name of its path."""
    if as_numbers(values):
        return [_at(found, path, value) for value in values]
    return [found.drawn.value(path, value) for value in values]


def _at(found: Points, path: str, value: Any) -> str:
    """A value with its path in the words of figures."""
    return found.drawn.at(path, value, found.words[path])


def _told(found: Points, row: Mapping[str, Any]) -> str:
    """The point of a row in the words of figures, for the paths that the row has."""
    return ", ".join(_at(found, path, row[path]) for path in found.paths if path in row)


def _mean(place: float, values: Any, bounds: Bounds) -> tuple[float, float, float, float]:
    """A point of a line, with its interval truncated at the bounds of the metric."""
    from fullpipe.analysis.statistics import t_interval

    mean = float(np.mean(values))
    if len(values) < 2:
        return place, mean, mean, mean
    found = t_interval(values).clipped(*bounds)
    return place, mean, found.low, found.high


def _heat(
    found: Points, rows: pl.DataFrame, paths: tuple[str, str], neutral: float | None, metric: str
) -> Heat:
    """Means over two paths, the first on the horizontal axis; the axis of a quantity has its unit."""
    across, up = paths
    columns, lines = ordered(rows[across].to_list()), ordered(rows[up].to_list())
    grouped = rows.group_by(across, up).agg(pl.col("value").mean())
    means = {(x, y): mean for x, y, mean in grouped.iter_rows()}
    cells = [[means.get((column, line)) for column in columns] for line in lines]
    heads = [_heads(found, path, values) for values, path in ((columns, across), (lines, up))]
    (columns_shown, x_label), (lines_shown, y_label) = heads
    digits = decimals_between(min(means.values()), max(means.values()), BY_NAME[metric].unit, metric)
    label = axis_shown(metric)[1]
    return Heat(x_label, y_label, columns_shown, lines_shown, cells, neutral, label, digits)


def _heads(found: Points, path: str, values: Sequence[Any]) -> tuple[list[str], str]:
    """Texts of values, and the title of their axis with their unit."""
    numbers = as_numbers(values)
    if not numbers or not numbers[1]:
        return [found.drawn.value(path, value) for value in values], found.words[path]
    return [f"{value:g}" for value in numbers[0]], found.labels.axis(path, values, found.words[path])


def _boxes(rows: pl.DataFrame, label: str, caption: str, found: Points) -> Iterator[Figure]:
    from fullpipe.analysis.statistics.intervals import five_numbers  # imported here, as the import is slow

    parts = rows.partition_by("label", maintain_order=True)
    names = [str(part["label"][0]) for part in parts]
    if len(parts) > _MOST_BOXES:
        return
    firsts = [part.row(0, named=True) for part in parts]
    looks = distinct([found.algorithm_of(row) or name for row, name in zip(firsts, names, strict=True)])
    made = []
    for name, look, part in zip(names, looks, parts, strict=True):
        five = five_numbers(part["value"].to_numpy())
        few = part["value"].to_list() if part.height <= FEW else []
        made.append(Box(name, look, five, part.height, few))
    are_few = [part.height <= FEW for part in parts]
    marks = "points: runs; line: median" if all(are_few) else "median, quartiles and extremes over runs"
    more = f"; up to {FEW} runs are points with their median" if any(are_few) and not all(are_few) else ""
    told = f"{caption}: {marks}{more}"
    yield _figure(told, Boxes(label, made), found)


# Time series of the first seed of each sweep point; of many points, a subset is drawn.


_DRAWN = ("goodput", "rtt", "cwnd", "queue")
_CHOICES = ("points that the conclusion names", "points with a warning", "points at equal distances")
_MOST_EXAMINED = 40
"""Maximum number of points that are examined for warnings, to choose the runs that are drawn over time. One
point takes about as long as all warnings of a page."""


def over_time(found: Points, budget: Budget, at: Sequence[Mapping[str, Any]] = ()) -> Section:
    """Return the samples of the first seed of every point.

    If there are more points than the page has space for, the points `at` of the conclusion come first, then
    points with a warning, then points at equal distances, each with all its variants. See `_chosen`.
    """
    sections, more = list[Section](), list[Block]()
    places, why = _chosen(found, budget.runs_over_time, at)
    for place in places:
        run = found.runs[place]
        figures = list(_over_time_figures(run, budget))
        if figures:
            row = {**found.points[place], "engine": run.meta.engine.name}
            named = ", ".join(filter(None, [_told(found, row), f"seed {run.meta.seed}"]))
            sections.append(Section(named, figures))
    if not sections:
        more.append(Text("No run was recorded over time: record.interval is off."))
    elif len(sections) < len(found.runs):
        told = f"{counted(len(sections), 'run')} of {len(found.runs):,}, of the first seed{why}"
        more.append(Text(f"Shown over time: {told}. fullpipe plot draws any run."))
    return Section("Over time", more, sections)


def _chosen(found: Points, most: int, at: Sequence[Mapping[str, Any]]) -> tuple[list[int], str]:
    """Indices of the first runs of at most this many points, and words on their choice; no words if all
    points are chosen.

    Variants of one point stay together. The runs at the points `at` come first; these have a value, or its
    words, for each path. Points with a warning come next, unless there are more than `_MOST_EXAMINED` points.
    """
    runs_at: dict[str, list[int]] = {}
    for place, (point, run) in enumerate(zip(found.points, found.runs, strict=True)):
        runs_at.setdefault(f"{point} {run.meta.engine.name}", []).append(place)
    of_places = list(runs_at.values())
    firsts = [places[0] for places in of_places]
    if len(firsts) <= most:
        return firsts, ""
    paths = [path for path in found.paths if path not in named_paths(found)]
    by_point: dict[str, list[int]] = {}
    for place in firsts:
        by_point.setdefault(repr([found.points[place].get(path) for path in paths]), []).append(place)
    groups = list(by_point.values())
    lead = [of for of in groups if any(found.has(found.points[of[0]], each) for each in at if each)]
    warned = set[int]()
    if len(firsts) <= _MOST_EXAMINED:
        warned = {of[0] for of in of_places if warnings_of([found.runs[place] for place in of])}
    doubtful = [of for of in groups if of not in lead and not warned.isdisjoint(of)]
    rest = [of for of in groups if of not in lead and of not in doubtful]
    chosen, told = list[int](), list[str]()
    for kind, words in zip((lead, doubtful, rest), _CHOICES, strict=True):
        own = _evenly(range(len(kind)), (most - len(chosen)) // max(map(len, groups)))
        chosen += [place for number in own for place in kind[number]]
        told += [words] if own else []
    each = ", each with all variants" if len(groups) < len(firsts) else ""
    if not chosen:  # a point has more variants than there is room for
        of = (lead or groups)[0]
        return [of[number] for number in _evenly(range(len(of)), most)], ": some variants of a point"
    return sorted(chosen), f": {listed(told)}{each}"


def _evenly(places: Sequence[int], most: int) -> list[int]:
    """Choose at most this many places at equal distances, with the first and the last.

    >>> _evenly(range(10), 4)
    [0, 3, 6, 9]
    """
    chosen = np.linspace(0, len(places) - 1, min(most, len(places))).round()
    return [places[int(n)] for n in chosen]


def _over_time_figures(run: Run, budget: Budget) -> Iterator[Figure]:
    tables, links, labels = presented(run), busy_links(run), Labels(scenarios=[run.meta.scenario])
    kinds = {labels.group(of): kind for of, kind in algorithms_of([run]).items()}
    for quantity in _DRAWN:
        of_links = QUANTITIES[quantity].table == "links"
        try:
            data, label = samples({run.name: tables}, quantity, links if of_links else None, each_ping=False)
        except ValueError:
            continue
        if not of_links:
            data = _without_echoes(data, quantity, kinds, labels)
        actors = data["actor"].unique(maintain_order=True).to_list()
        chosen = actors[: budget.traces]
        parts = [data.filter(pl.col("actor") == actor).drop_nulls("time_s") for actor in chosen]
        if not any(part.height for part in parts):
            continue
        rest = f"; {counted(len(actors) - len(chosen), 'more')} left out" if len(actors) > len(chosen) else ""
        what, *window = label.split("\n")
        names = [*chosen] if of_links else [labels.group(actor) for actor in chosen]
        drawn = series(what, names, [(part["time_s"].to_numpy(), part["value"]) for part in parts], kinds)
        warmup_s = run.scenario.warmup_s
        shade = "; the shade is the warm-up" if warmup_s > drawn.start_s else ""
        means = "".join(f", moving {each}" for each in window)
        yield Figure(
            f"{what} over time{means}{rest}{shade}.",
            replace(drawn, warmup_s=warmup_s),
            f"{what} over time, scenario {run.name}, seed {run.meta.seed}: {', '.join(names)}.",
        )


def _without_echoes(
    data: pl.DataFrame, quantity: str, kinds: Mapping[str, str], labels: Labels
) -> pl.DataFrame:
    """Samples without flows that have none: pings and probes have no goodput and no window."""
    known = data.drop_nulls("value").filter(pl.col("value").is_not_nan())["actor"].unique().to_list()
    if quantity == "goodput":
        known = [actor for actor in known if kinds.get(labels.group(actor)) not in ECHOES]
    return data.filter(pl.col("actor").is_in(known))
