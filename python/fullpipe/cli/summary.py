"""Several runs on a terminal: a row per point and group of flows, means over seeds with their intervals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.headlines import headlines, names_in
from fullpipe.analysis.metrics.measure import View
from fullpipe.analysis.of_parts import of_parts
from fullpipe.analysis.outcome import NEEDED
from fullpipe.analysis.over_seeds import (
    are_equal_over_seeds,
    bounded,
    over_seeds,
    paths_of,
    without_stand_ins,
)
from fullpipe.analysis.shown import mean_shown
from fullpipe.analysis.subjects import Subject, check_groups, groups_asked
from fullpipe.analysis.unanswered import unanswered
from fullpipe.analysis.unfinished import BEGAN, TIMES, UNFINISHED, unfinished_shown, with_counts
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.forms import Form, Grid
from fullpipe.cli.modes import marked
from fullpipe.cli.shown import number_shown, unit_shown
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels

HEADLINES = names_in(View.TABLE)
"""Shown unless others are asked for, of those that any group has."""


def check_metrics(names: Sequence[str]) -> None:
    """Raise UnknownNameError if one is no metric."""
    for name in names:
        if name not in BY_NAME:
            raise UnknownNameError("metric", name, BY_NAME)


def summary_of(
    runs: Sequence[tuple[Mapping[str, Any], Run]],
    subjects: Sequence[Subject] = (),
    also: Sequence[str] = (),
) -> tuple[pl.DataFrame, list[str]]:
    """Means over seeds of the metrics that are shown, and notes on runs of two kinds: see `marked`.

    Args:
        runs: Each with its point.
        subjects: What is shown; if there are none, the usual metrics.
        also: Metrics that are shown besides.

    Raises:
        UnknownNameError: If no run has a group of flows or link that is asked for.
    """
    usual = headlines(HEADLINES, (run.scenario for _, run in runs))
    asked = groups_asked(subjects) or dict.fromkeys((*usual, *also))
    values = values_of(runs, (*with_counts([*asked]), *NEEDED))
    check_groups(subjects, values["of"].unique(maintain_order=True).to_list())
    left_out = [
        (pl.col("metric") == metric) & ~pl.col("of").is_in(groups)
        for metric, groups in asked.items()
        if groups
    ]
    if left_out:
        values = values.filter(~pl.any_horizontal(left_out))
    return marked(over_seeds(values), values, [*asked])


def grid(
    found: pl.DataFrame,
    metrics: Sequence[str] | None,
    form: Form,
    also: Sequence[str] = (),
    labels: Labels | None = None,
) -> Grid:
    """The rows of a table: a column per swept path, and per metric the mean and its interval.

    Every metric that is asked for has a column, of dashes if no run has a value. As CSV they are numbers in
    base units, with columns of their own for the ends of the interval, and paths and values are as in the
    scenario; elsewhere they are in words.
    """
    usual = [name for name in HEADLINES if _is_known(_of_metric(found, name))]
    wanted = list(metrics or dict.fromkeys((*usual, *also)))
    is_any_known = any(_is_known(_of_metric(found, name)) for name in wanted)
    keys = [*_telling(found, form), "of"]
    cells, words = _numbers if form == Form.CSV else _cells, labels or Labels()
    by_row: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for part in found.iter_rows(named=True):
        by_row.setdefault(tuple(part[key] for key in keys), {})[part["metric"]] = part
    rows = [
        [*_point_cells(keys[:-1], row, form, words), str(row[-1]), *cells(by_metric, wanted)]
        for row, by_metric in by_row.items()
        if not is_any_known or any(_has_value(by_metric[name]) for name in wanted if name in by_metric)
    ]
    headings = keys if form == Form.CSV else [*words.names(keys[:-1]).values(), "flows"]
    return Grid(headings, list(_headings(wanted, form)), rows)


def _point_cells(paths: Sequence[str], row: Sequence[Any], form: Form, words: Labels) -> list[str]:
    """The values of swept paths in a row."""
    values = zip(paths, row, strict=False)
    return [value_text(value) if form == Form.CSV else words.value(path, value) for path, value in values]


def shortened(found: pl.DataFrame, also: Sequence[str] = ()) -> tuple[pl.DataFrame, list[str]]:
    """Metrics that differ between points, and a line on those that show the same at all of several points.

    Several flows together are left out if they show the same as one of their groups. Metrics that replace
    unknown ones are left out if those are known.
    """
    found = without_stand_ins(found, "mean", also)
    by_group = _by_group(found)
    own = {(metric, *shown) for (of, metric), shown in by_group.items() if of not in TOTALS}
    same = [key for key, shown in by_group.items() if len(shown) > 1 and len(set(shown)) == 1]
    again = [key for key, shown in by_group.items() if key[0] in TOTALS and (key[1], *shown) in own]
    needless = pl.DataFrame([*same, *again], schema={"of": pl.String, "metric": pl.String}, orient="row")
    left = found.join(needless, on=["of", "metric"], how="anti", maintain_order="left")
    if left["mean"].is_null().all():
        return found, []
    units = dict(found.select("metric", "unit").iter_rows())
    told = [
        f"{metric} of {of} {by_group[of, metric][0]} {unit_shown(units[metric], metric)}".rstrip()
        for of, metric in same
        if metric in HEADLINES and of not in TOTALS and any(d in by_group[of, metric][0] for d in "123456789")
    ]
    return left, [f"the same at every point, as shown: {', '.join(told)}"] if told else []


def _by_group(found: pl.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Means of every group and metric at every point, as shown."""
    shown: dict[tuple[str, str], list[str]] = {}
    for row in found.drop_nulls("mean").iter_rows(named=True):
        shown.setdefault((row["of"], row["metric"]), []).append(
            number_shown(row["mean"], row["unit"], row["metric"])
        )
    return shown


def _telling(found: pl.DataFrame, form: Form) -> list[str]:
    """The columns that tell points apart; on paper without those that say what another does."""
    paths = [path for path in paths_of(found) if path != "engine" or found[path].n_unique() > 1]
    if form == Form.CSV:
        return paths
    columns = {path: found[path].cast(pl.String).to_list() for path in paths}
    return [path for n, path in enumerate(paths) if columns[path] not in [columns[p] for p in paths[:n]]]


def jain_is_of(found: pl.DataFrame) -> list[str]:
    """A line with the number of flows of Jain's index, if it is shown."""
    of_several = found.filter(pl.col("metric") == "jain").drop_nulls("mean")
    keys = [*paths_of(found), "of"]
    bulk = found.filter(pl.col("metric") == "bulk").join(of_several, on=keys, how="semi", nulls_equal=True)
    counts = [f"{count:g}" for count in bulk["mean"].unique().sort()]
    return [f"jain is of {' or '.join(counts)} bulk flows"] if counts else []


def leaves_out(runs: Sequence[Run], found: pl.DataFrame, metrics: Sequence[str] | None) -> list[str]:
    """Lines on the metrics of several flows that are of connections alone."""
    known = found.drop_nulls("mean").filter(pl.col("metric").is_in(metrics or HEADLINES))
    return of_parts((run.scenario for run in runs), known.select("metric", "of").iter_rows())


def cut(found: pl.DataFrame, metrics: Sequence[str] | None) -> list[str]:
    """Return a line on the metrics that are shown with intervals which end at a bound of the metric."""
    names = [name for name in bounded(found) if name in (metrics or HEADLINES)]
    return [f"intervals of {', '.join(names)} are cut at the bounds of the metric"] if names else []


def without_values(found: pl.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return a line for every metric that is asked for and has no value, with its meaning."""
    known = [name for name in metrics if _is_known(_of_metric(found, name))]
    return [f"note: {line}" for line in unanswered(metrics, known)]


def equal_seeds(runs: Sequence[tuple[Mapping[str, Any], Run]], scenario: Scenario) -> list[str]:
    """Return a line if the runs of every point are equal for all of several seeds."""
    if not are_equal_over_seeds(runs):
        return []
    if all(flow.start_jitter_s == 0 for flow in scenario.flows):
        how = 'give flows a start_jitter, such as "100 ms"'
    else:
        how = "one flow is the same whenever it starts; add other flows, random loss or a random workload"
    return [f"note: all seeds gave the same run, so there are no intervals; {how}"]


def _is_known(rows: pl.DataFrame) -> bool:
    """Whether there is anything to show: a mean, or what is left out of it."""
    return not rows["mean"].is_null().all() or bool(rows["unfinished"].sum())


def _has_value(part: Mapping[str, Any]) -> bool:
    return part["mean"] is not None or bool(part["unfinished"])


def _of_metric(found: pl.DataFrame, name: str) -> pl.DataFrame:
    return found.filter(pl.col("metric") == name)


def _headings(metrics: Sequence[str], form: Form) -> Iterator[str]:
    for name in metrics:
        if form == Form.CSV:
            yield from (f"{name}_n", f"{name}_mean", f"{name}_low", f"{name}_high")
            yield from (f"{name}{end}" for end in (BEGAN, UNFINISHED) if name in TIMES)
        else:
            unit = unit_shown(BY_NAME[name].unit, name)
            yield f"{name}\n{unit}" if unit and unit != "1" else name


def _cells(row: Mapping[str, Mapping[str, Any]], metrics: Sequence[str]) -> Iterator[str]:
    for name in metrics:
        part = row.get(name, {})
        modes = part.get("modes")
        yield mean_shown(part) if modes is None else modes + unfinished_shown(part)


def _numbers(row: Mapping[str, Mapping[str, Any]], metrics: Sequence[str]) -> Iterator[str]:
    for name in metrics:
        part = row.get(name, {})
        counts = ("began", "unfinished") if name in TIMES else ()
        values = (part.get(key) for key in ("n", "mean", "low", "high", *counts))
        yield from ("" if value is None else repr(value) for value in values)
