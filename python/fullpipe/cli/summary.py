"""Tables of several runs: means over seeds, per sweep point and group of flows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from fullpipe.analysis.limits import (
    BEGAN,
    TIMES,
    UNFINISHED,
    bounds_of,
    unanswered,
    unfinished_shown,
    with_counts,
)
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.measure import View
from fullpipe.analysis.metrics.table import headlines, names_in
from fullpipe.analysis.outcome import MOST, NEEDED, labelled, leads, outcome
from fullpipe.analysis.over_seeds import (
    are_equal_over_seeds,
    bounded,
    over_seeds,
    paths_of,
    without_stand_ins,
)
from fullpipe.analysis.points import (
    Subject,
    groups_asked,
    of_parts,
    of_subjects,
    path_called,
    short_names,
    varying,
)
from fullpipe.analysis.precision import modes_of
from fullpipe.analysis.shown import decimals_of, mean_shown
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli import forms
from fullpipe.cli.answer import Answer, number_shown, point_shown, unit_shown
from fullpipe.cli.forms import Form, Grid
from fullpipe.cli.output import complain
from fullpipe.cli.stored import warnings_of_short
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels
from fullpipe.sweeps import Outcome
from fullpipe.validation.compare.contrast import EQUAL_SHARE, SHARE
from fullpipe.validation.compare.fair_share import with_fair_share

if TYPE_CHECKING:
    from fullpipe.analysis.statistics import Mode, TwoModes


# Metrics whose values have two modes: a table has both modes and their probabilities instead of a mean.


def marked(
    found: pl.DataFrame, values: pl.DataFrame, metrics: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Means over seeds with a column `modes`, and a note for each mean whose values have two modes.

    `modes` is the text that replaces the mean in a cell; null if the values of the seeds have one mode.
    """
    modes = list(modes_of(values, metrics))
    keys = [*paths_of(values), "kind", "of", "metric"]
    schema = pl.Schema({**{key: values.schema[key] for key in keys}, "modes": pl.String()})
    rows = [[*(row[key] for key in keys), _cell(of_row, row)] for row, of_row in modes]
    cells = pl.DataFrame(rows, schema=schema, orient="row")
    table = found.join(cells, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return table, [_told(row, of_row) for row, of_row in modes]


def _cell(found: TwoModes, row: Mapping[str, Any]) -> str:
    of = (row["unit"], row["metric"])
    modes = (found.low, found.high)
    return " or ".join(f"{number_shown(m.mean, *of)} ({100 * m.runs / found.n:.0f} %)" for m in modes)


def _told(row: Mapping[str, Any], found: TwoModes) -> str:
    point = {
        name: value for name, value in row.items() if name not in ("engine", "kind", "of", "metric", "unit")
    }
    name = ", ".join([f"{row['metric']} of {row['of']}", *point_shown(point)])
    modes = " and ".join(_mode(mode, found.n, row) for mode in (found.low, found.high))
    return f"two modes: {name} is {modes}"


def _mode(mode: Mode, n: int, row: Mapping[str, Any]) -> str:
    of = (row["unit"], row["metric"])
    share, low, high = (100 * part for part in (mode.runs / n, mode.share.low, mode.share.high))
    within = mode.interval.clipped(*bounds_of(row["metric"]))
    mean, *ends = (number_shown(v, *of) for v in (mode.mean, within.low, within.high))
    about = f"{mean} [{', '.join(ends)}] {unit_shown(row['unit'], row['metric'])}".rstrip()
    return f"{about} in {share:.0f} % [{low:.0f}, {high:.0f}] of runs"


# The table: a row per sweep point and group of flows, with means over seeds and their intervals.


HEADLINES = names_in(View.TABLE)
"""Default metrics. A metric is shown if at least one group has a value."""


def summary_of(
    runs: Sequence[tuple[Mapping[str, Any], Run]],
    subjects: Sequence[Subject] = (),
    also: Sequence[str] = (),
    labels: Labels | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """Means over seeds of the shown metrics, and notes on means whose values have two modes: see `marked`.

    Args:
        runs: Runs, each with its sweep point.
        subjects: Metrics and groups to show; if empty, the default metrics.
        also: Metrics to show in addition to the default metrics.
        labels: Labels of groups of flows.

    Raises:
        UnknownNameError: If no run has a named group of flows or link.
    """
    usual = headlines(HEADLINES, (run.scenario for _, run in runs))
    asked = groups_asked(subjects) or dict.fromkeys((*usual, *also))
    values = values_of(runs, (*with_counts([*asked]), *NEEDED))
    values = of_subjects(values, subjects, labels)
    if labels:
        values = labelled(values, labels)
    return marked(over_seeds(values), values, [*asked])


def grid(
    found: pl.DataFrame,
    metrics: Sequence[str] | None,
    form: Form,
    also: Sequence[str] = (),
    labels: Labels | None = None,
) -> Grid:
    """A table with a column per swept path, and a column per metric with the mean and its interval.

    Every metric that the user names has a column, with dashes if no run has a value. In CSV, numbers are in
    base units, the ends of intervals have columns of their own, and paths and values are spelt as in the
    scenario. Other formats have labels instead of paths and values.
    """
    usual = [name for name in HEADLINES if _is_known(_of_metric(found, name))]
    wanted = list(metrics or dict.fromkeys((*usual, *also)))
    is_any_known = any(_is_known(_of_metric(found, name)) for name in wanted)
    keys = [*_telling(found, form), "of"]
    digits = {name: decimals_of(_of_metric(found, name).iter_rows(named=True)) for name in wanted}
    cells = _numbers if form == Form.CSV else partial(_cells, digits=digits)
    words = labels or Labels()
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
    """The cells of the swept paths in a row."""
    values = zip(paths, row, strict=False)
    return [value_text(value) if form == Form.CSV else words.value(path, value) for path, value in values]


def shortened(found: pl.DataFrame, also: Sequence[str] = ()) -> tuple[pl.DataFrame, list[str]]:
    """Metrics whose shown value differs between points, and a line with the values of the other metrics.

    A total of several flows is left out if its values equal the values of one of its groups. Some metrics are
    shown only in place of another metric whose value is unknown; they are left out if that other metric is
    known.
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
    """The shown means at all points, by group and metric."""
    shown: dict[tuple[str, str], list[str]] = {}
    for row in found.drop_nulls("mean").iter_rows(named=True):
        shown.setdefault((row["of"], row["metric"]), []).append(
            number_shown(row["mean"], row["unit"], row["metric"])
        )
    return shown


def _telling(found: pl.DataFrame, form: Form) -> list[str]:
    """The paths that distinguish points. Except in CSV, a path is left out if it has the same value as an
    earlier path in every row."""
    paths = [path for path in paths_of(found) if path != "engine" or found[path].n_unique() > 1]
    if form == Form.CSV:
        return paths
    columns = {path: found[path].cast(pl.String).to_list() for path in paths}
    return [path for n, path in enumerate(paths) if columns[path] not in [columns[p] for p in paths[:n]]]


def jain_is_of(found: pl.DataFrame) -> list[str]:
    """A line with the number of flows over which Jain's index is computed; empty if it is not shown."""
    of_several = found.filter(pl.col("metric") == "jain").drop_nulls("mean")
    keys = [*paths_of(found), "of"]
    bulk = found.filter(pl.col("metric") == "bulk").join(of_several, on=keys, how="semi", nulls_equal=True)
    counts = [f"{count:g}" for count in bulk["mean"].unique().sort()]
    return [f"jain is over {' or '.join(counts)} bulk flows"] if counts else []


def leaves_out(runs: Sequence[Run], found: pl.DataFrame, metrics: Sequence[str] | None) -> list[str]:
    """Notes on totals over all flows that cover only connections, or only datagrams."""
    known = found.drop_nulls("mean").filter(pl.col("metric").is_in(metrics or HEADLINES))
    return of_parts((run.scenario for run in runs), known.select("metric", "of").iter_rows())


def cut(found: pl.DataFrame, metrics: Sequence[str] | None) -> list[str]:
    """Return a line that names the shown metrics whose intervals are truncated at a bound of the metric."""
    names = [name for name in bounded(found) if name in (metrics or HEADLINES)]
    return [f"intervals of {', '.join(names)} are truncated at the bounds of the metric"] if names else []


def without_values(found: pl.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return a note for every metric that the user names and that has no value in any run."""
    known = [name for name in metrics if _is_known(_of_metric(found, name))]
    return [f"note: {line}" for line in unanswered(metrics, known)]


def equal_seeds(runs: Sequence[tuple[Mapping[str, Any], Run]], scenario: Scenario) -> list[str]:
    """Return a note if the runs of all seeds are equal, at every point."""
    if not are_equal_over_seeds(runs):
        return []
    if all(flow.start_jitter_s == 0 for flow in scenario.flows):
        how = 'give flows a start_jitter, such as "100 ms"'
    else:
        how = "a single flow does not depend on its start; add other flows, random loss or a random workload"
    return [f"note: all seeds gave the same run, so there are no intervals; {how}"]


def _is_known(rows: pl.DataFrame) -> bool:
    """Whether a row has a value to show: a mean, or a number of unfinished transfers."""
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


def _cells(
    row: Mapping[str, Mapping[str, Any]], metrics: Sequence[str], digits: Mapping[str, int]
) -> Iterator[str]:
    for name in metrics:
        part = row.get(name, {})
        modes = part.get("modes")
        yield mean_shown(part, digits=digits[name]) if modes is None else modes + unfinished_shown(part)


def _numbers(row: Mapping[str, Mapping[str, Any]], metrics: Sequence[str]) -> Iterator[str]:
    for name in metrics:
        part = row.get(name, {})
        counts = ("began", "unfinished") if name in TIMES else ()
        values = (part.get(key) for key in ("n", "mean", "low", "high", *counts))
        yield from ("" if value is None else repr(value) for value in values)


# Output of several runs: conclusion, table and notes.


_OF_SHARES = (SHARE, EQUAL_SHARE, "goodput", "rtt_mean")
"""Metrics for the sentence on fair shares. Goodput and RTT show whether runs with equal shares differ."""


def show_points(
    outcomes: Sequence[Outcome],
    metrics: Sequence[str] | None,
    form: str,
    also: Sequence[str] = (),
    *,
    all_rows: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Print the conclusion and a table of every point: `metrics`, or the default metrics and `also`."""
    form, first = Form(form), outcomes[0]
    subjects = [Subject.read(text) for text in metrics or ()]
    runs = [(outcome.job.point, outcome.run) for outcome in outcomes]
    words = Labels(labels, _scenarios(outcomes))
    found, modes = summary_of(runs, subjects, also, words)
    metrics = list(dict.fromkeys(each.metric for each in subjects))
    points = [outcome.job.point for outcome in outcomes]
    short = warnings_of_short(points, [outcome.run.with_labels(labels or {}) for outcome in outcomes])
    warnings = [
        *without_values(found, metrics or also),
        *equal_seeds(runs, first.job.scenario),
    ]
    if form != Form.TABLE:
        forms.show(grid(found, metrics, form, also, words), form)
        for line in [*warnings, *short]:
            complain(line)
        return
    answer = Answer(all_rows=all_rows)
    wanted = dict.fromkeys((*_OF_SHARES, *found["metric"].unique()))
    values = labelled(values_of(runs, list(wanted)), words)
    told = outcome(found, metrics, words, values=values)
    if not metrics or SHARE in metrics:
        told = with_fair_share(told, values, MOST, words)
    answer.conclude(told)
    seeds = len({outcome.job.seed for outcome in outcomes})
    over = f", means of {seeds} seeds [95 % intervals]" if seeds > 1 else ""
    answer.title(
        first.run.name, f", {first.run.meta.duration_s:g} s, engine {first.run.meta.engine.name}{over}"
    )
    shown, once = (found, list[str]()) if metrics else shortened(found, also)
    answer.grid(grid(shown, metrics, form, also, words))
    notes = [*once, *jain_is_of(found), *cut(shown, metrics), *modes]
    notes += leaves_out([outcome.run for outcome in outcomes], shown, metrics)
    answer.notes(notes, [*warnings, *short], _pivoted(outcomes, found))


def _pivoted(outcomes: Sequence[Outcome], found: pl.DataFrame) -> str:
    """The command that prints a sweep over several paths with a row and a column per value; empty if there
    is none."""
    points = [outcome.job.point for outcome in outcomes]
    paths, store = varying(points), outcomes[0].run.store
    valued = set(found.drop_nulls("mean").select("metric", "of").iter_rows())
    first = next((lead for lead in leads(found) if lead in valued), None)
    if len(paths) < 2 or store is None or first is None:
        return ""
    known = list(dict.fromkeys(path for point in points for path in point))
    names = {
        path: name if path_called(name, known) == path else path for path, name in short_names(paths).items()
    }
    across = next((path for path in paths if path.endswith("cca")), paths[-1])
    rows = [word for path in paths if path != across for word in ("--rows", names[path])]
    place = str(store.relative_to(Path.cwd()) if store.is_relative_to(Path.cwd()) else store)
    words = ["fullpipe", "table", place, *rows, "--columns", names[across], "--metric", " of ".join(first)]
    return shlex.join(words)


def _scenarios(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The distinct scenarios of the jobs, as plain data. The seeds of a point share a scenario."""
    distinct = {id(outcome.job.scenario): outcome.job.scenario for outcome in outcomes}
    return [scenario.to_dict() for scenario in distinct.values()]
