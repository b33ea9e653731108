"""Points of sweeps, and subjects of figures and tables: a metric with its group of flows or link."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from fullpipe.analysis.limits import bounds_of
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import ALL, TOTALS
from fullpipe.analysis.metrics.measure import Bounds, Combined
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.table import check_metric
from fullpipe.analysis.shown import axis_shown
from fullpipe.analysis.values import MEASURED
from fullpipe.errors import UnknownNameError
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.runs.population import content_of, files_of
from fullpipe.scenario import Scenario
from fullpipe.scenario.labels import Labels, told_apart
from fullpipe.scenario.quantities import natural

# Sweep points of runs: the scenario keys whose values differ between runs.


CONTENT, MODEL = "content", "model_version"
"""Keys of points that are not paths of a scenario: the files that a run depends on, and the version of its
model."""
_ASIDE = ("name", "sweep", "labels", "record")
"""Keys of scenarios that change neither the simulation nor the measured values."""


def points_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the point of every run: the paths at which scenarios differ, each with its value.

    If the tables at a path differ in `kind`, the whole table is the value of the path. If several paths
    distinguish the same runs, such as linked axes, only the first path is used. Runs of a sweep with named
    variants have the names instead of the values that the variants set. Runs of one point with different
    files or models differ in `content` or `model_version`.

    >>> from fullpipe import Scenario, run
    >>> base = Scenario.named("single-cubic").with_values({"duration": "1 s"})
    >>> points_of([run(base), run(base.with_values({"flows.0.cca": "reno"}))])
    [{'flows.0.cca': 'cubic'}, {'flows.0.cca': 'reno'}]
    """
    if named := _named_points(runs):
        trees = told_by_origin(named, runs)
        paths = _distinct([(key,) for key in trees[0]], trees)
    else:
        scenarios = (run.meta.scenario.items() for run in runs)
        trees = [{key: value for key, value in each if key not in _ASIDE} for each in scenarios]
        trees = told_by_origin(trees, runs)
        paths = _distinct(list(dict.fromkeys(_paths(trees, ()))), trees)
    return [{".".join(map(str, path)): _natural(at(tree, path)) for path in paths} for tree in trees]


def told_by_origin(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Add `content` or `model_version` to points if an engine has runs of one point with different contents
    or models.

    The result has no point with runs of two contents or models, which must not be averaged.
    """
    contents = [content_of(files_of(run.meta)) for run in runs]
    models = [run.meta.engine.model_version for run in runs]
    found = [dict(point) for point in points]
    for name, values in ((CONTENT, contents), (MODEL, models)):
        if len(set(values)) > 1 and _differ_within(found, runs, values):
            found = [{**point, name: value} for point, value in zip(found, values, strict=True)]
    return found


def _differ_within(points: Sequence[Mapping[str, Any]], runs: Sequence[Run], values: Sequence[str]) -> bool:
    """Whether one engine has runs of one point with different `values`, one per run."""
    first: dict[tuple[str, str], str] = {}
    return any(
        first.setdefault((repr(point), run.meta.engine.name), value) != value
        for point, run, value in zip(points, runs, values, strict=True)
    )


def shape_of(run: Run) -> tuple[object, ...]:
    """Return the kind of the topology and the number of flows.

    Only scenarios with equal shapes can be compared path by path.
    """
    scenario = run.meta.scenario
    return scenario["topology"]["kind"], len(scenario["flows"])


def _natural(value: Any) -> Any:
    """Return a value with its quantities in units that people use."""
    if isinstance(value, Mapping):
        return {key: _natural(part) for key, part in value.items()}
    return natural(value) if isinstance(value, str) else value


def _named_points(runs: Sequence[Run]) -> list[Mapping[str, Any]]:
    """Return the point of every run if all runs are of one sweep with named variants, and every point has its
    own scenario; empty otherwise.

    Another command may have run further seeds of a scenario, without the names of the sweep. The runs of
    these seeds have the point of the other runs of their scenario.
    """
    named: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        point = run.meta.point
        is_named = any(key not in run.meta.scenario and "." not in key for key in point)
        if is_named and str(named.setdefault(run.meta.digest, point)) != str(point):
            return []
    points = list(named.values())
    are_alike = len({tuple(point) for point in points}) == 1
    if not are_alike or len({str(point) for point in points}) != len(points):
        return []
    return [named[run.meta.digest] for run in runs] if all(run.meta.digest in named for run in runs) else []


def _distinct(paths: Sequence[tuple[str | int, ...]], trees: Sequence[Any]) -> list[tuple[str | int, ...]]:
    """Remove every path that divides the runs in the same way as an earlier path."""
    classes: dict[tuple[int, ...], tuple[str | int, ...]] = {}
    for path in paths:
        numbers: dict[str, int] = {}
        of_run = tuple(numbers.setdefault(repr(at(tree, path)), len(numbers)) for tree in trees)
        classes.setdefault(of_run, path)
    return list(classes.values())


def _paths(trees: Sequence[Any], path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the deepest paths at which trees differ."""
    if all(tree == trees[0] for tree in trees):
        return
    keys = _keys(trees)
    if not keys:
        yield path
        return
    for key in keys:
        yield from _paths([at(tree, (key,)) for tree in trees], (*path, key))


def _keys(trees: Sequence[Any]) -> list[str | int]:
    """Return the keys of tables of the same `kind`, or the indices of lists of equal length. The result is
    empty for all other values: paths end at such values."""
    if all(isinstance(tree, Mapping) for tree in trees):
        kinds = {str(tree.get("kind")) for tree in trees}
        return [] if len(kinds) > 1 else list(dict.fromkeys(key for tree in trees for key in tree))
    if all(isinstance(tree, list) for tree in trees) and len({len(tree) for tree in trees}) == 1:
        return list(range(len(trees[0])))
    return []


def at(tree: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path in a tree of tables and lists; None if there is no such path."""
    for key in path:
        if isinstance(tree, Mapping):
            tree = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int):
            tree = tree[key]
        else:
            return None
    return tree


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the deepest paths at which two scenarios differ.

    >>> differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}})
    ['a.c']
    """
    return [".".join(map(str, path)) for path in _paths([one, other], ())]


def path_called(word: str, known: Iterable[str]) -> str | None:
    """Return the path that equals a word, or the only path that ends with the word; otherwise None. The last
    part `kind` may be left out, or added to a path without it.

    >>> path_called("cca", ["flows.0.cca", "topology.bottleneck.rate"])
    'flows.0.cca'
    """
    paths = list(known)
    if word in paths:
        return word
    ending = [path for path in paths if path.endswith(f".{word}")]
    short = f".{word.removesuffix('.kind')}"
    ending = ending or [path for path in paths if f".{path.removesuffix('.kind')}".endswith(short)]
    return ending[0] if len(ending) == 1 else None


def varying(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths whose values differ between points. If several paths divide the points in the same
    way, only the first is returned."""
    paths = dict.fromkeys(path for point in points for path in point)
    found = _distinct([(path,) for path in paths], points)
    first = [str(path) for (path,) in found]
    return [path for path in first if any(point.get(path) != points[0].get(path) for point in points)]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return the last word of every path, or more of the path if another path ends in the same word.

    >>> short_names(["flows.0.cca", "topology.bottleneck.rate"])
    {'flows.0.cca': 'cca', 'topology.bottleneck.rate': 'rate'}
    """
    return told_apart({path: path.rsplit(".", 1)[-1] for path in paths})


# Notes on metrics that leave out datagrams or connections in a group that has both.


_PARTS = {
    "connections": (
        "of connections alone, without datagrams such as pings and calls",
        frozenset(measure.name for measure in MEASURES if measure.is_of_connections),
    ),
    "datagrams": (
        "of datagrams alone, without connections",
        frozenset(measure.name for measure in MEASURES if measure.is_of_datagrams),
    ),
}
"""Notes on metrics that cover only connections, or only datagrams: the text, and the metrics that need the
note."""
_DEFINED = {
    "connections": "all flows without datagrams such as pings and calls",
    "datagrams": "all flows that are datagrams, such as pings and calls",
}


def of_parts(
    scenarios: Iterable[Scenario], shown: Iterable[tuple[str, str]], *, in_words: bool = False
) -> list[str]:
    """Return notes on the shown totals that cover only connections, or only datagrams.

    Args:
        scenarios: Scenarios of the runs.
        shown: The metrics that are shown, each with its group of flows.
        in_words: Whether notes have the labels of metrics, as in figures, instead of their names.
    """
    if not are_both(scenarios):
        return []
    totals = [*dict.fromkeys((of, metric) for metric, of in shown if of in TOTALS)]
    return [f"{said}: {told}" for said, names in _PARTS.values() if (told := _told(totals, names, in_words))]


def as_definition(note: str) -> str:
    """Return a note of `of_parts` as a definition of the names of `flows_of`; any other note is unchanged.

    >>> as_definition("of datagrams alone, without connections: owd_mean of all flows")
    'all datagrams: all flows that are datagrams, such as pings and calls'
    """
    kind = next((kind for kind, (said, _) in _PARTS.items() if note.startswith(f"{said}: ")), "")
    return f"all {kind}: {_DEFINED[kind]}" if kind else note


def _told(totals: Iterable[tuple[str, str]], names: Collection[str], in_words: bool) -> str:
    found = [(of, (in_words and BY_NAME[metric].label) or metric) for of, metric in totals if metric in names]
    by_group = ((of, ", ".join(metric for each, metric in found if each == of)) for of in TOTALS)
    return "; ".join(f"{metrics} of {of}" for of, metrics in by_group if metrics)


def _has_both(scenario: Scenario) -> bool:
    """Whether a scenario has both connections and datagrams."""
    return len({flow.datagrams is None for flow in scenario.flows}) > 1


def are_both(scenarios: Iterable[Scenario]) -> bool:
    """Whether any scenario has both connections and datagrams."""
    return any(map(_has_both, scenarios))


def with_flows(of: str, counts: Iterable[int], combined: Combined) -> str:
    """Return the name of a group of flows; with several flows, also their number and what their value is.

    Args:
        of: Name of the group or link.
        counts: Numbers of flows of the group, such as those of two sides; empty if they are not known.
        combined: See `Measure.combined`.

    >>> with_flows("old", [2, 2], "sum"), with_flows("old", [1, 2], "mean"), with_flows("new", [1], "sum")
    ('old (2 flows, sum)', 'old (1 -> 2 flows, mean)', 'new')
    """
    distinct = list(dict.fromkeys(counts))
    if max(distinct, default=1) < 2:
        return of
    return f"{of} ({' -> '.join(f'{count:,}' for count in distinct)} flows{combined and f', {combined}'})"


def flows_of(metric: str, of: str, *, has_both: bool) -> str:
    """Return the flows that a metric of a group covers: the group, or only its connections or datagrams.

    Args:
        metric: Name of the metric.
        of: Name of the group or link.
        has_both: Whether the scenarios have both connections and datagrams.

    >>> flows_of("rtt_mean", "all flows", has_both=True), flows_of("goodput", "all flows", has_both=True)
    ('all connections', 'all flows')
    >>> flows_of("owd_mean", "all uploads", has_both=True)
    'datagrams of all uploads'
    """
    if not has_both or of not in TOTALS:
        return of
    named = next((named for named, (_, metrics) in _PARTS.items() if metric in metrics), "")
    return of if not named else f"all {named}" if of == ALL else f"{named} of {of}"


# Subjects of figures and tables: a metric of all flows, of a group or of a link ("rtt_mean of ping").


class Subject(NamedTuple):
    """A metric, with a group of flows or link, or without one."""

    metric: str
    of: str | None

    @classmethod
    def read(cls, text: str, of: str | None = None) -> Subject:
        """Read a subject such as "rtt_mean of ping"; the group is `of` if the text is only the name of a
        metric.

        Raises:
            UnknownNameError: If there is no such metric.
        """
        metric, _, own = (part.strip() for part in text.partition(" of "))
        check_metric(metric)
        return cls(metric, own or of)

    @property
    def called(self) -> str:
        """The metric with its group or link, as `read` takes it."""
        return f"{self.metric} of {self.of}" if self.of else self.metric

    @property
    def scale(self) -> float:
        """Factor from values to numbers on an axis."""
        return axis_shown(self.metric, in_percent=False)[0]

    @property
    def bounds(self) -> Bounds:
        """Smallest and largest possible number on an axis."""
        least, most = bounds_of(self.metric)
        return least * self.scale, most * self.scale

    @property
    def label(self) -> str:
        """Label of an axis."""
        return axis_shown(self.metric, self.of or "", in_percent=False)[1]


def groups_asked(subjects: Iterable[Subject]) -> dict[str, list[str] | None]:
    """Return the requested groups or links of every metric; None if a subject of the metric names no
    group."""
    found: dict[str, list[str] | None] = {}
    for metric, of in subjects:
        known = found.get(metric, [])
        found[metric] = None if of is None or known is None else [*dict.fromkeys([*known, of])]
    return found


def rows_of(
    word: str, values: pl.DataFrame, labels: Labels | None = None, *, by_entry: bool = False
) -> pl.Expr:
    """Return a filter of the rows of a group of flows or link, which every command names alike: by its name,
    by its label, or by the index of an entry, as in `flows.0`.

    Args:
        word: The name, label or index.
        values: Values as `values_of` returns them.
        labels: Labels of groups.
        by_entry: Whether a name also means the other names that its entry of `flows` has at other points.

    Raises:
        ScenarioError: If a run has several groups with this label.
        UnknownNameError: If no run has such a group.
    """
    words, names = labels or Labels(), values["of"].unique(maintain_order=True).to_list()
    entries = values["entry"].drop_nulls().unique()
    found = words.groups_called(word, groups_at(values, words, word))
    if found[0] not in names:
        entry = next((each for each in entries if word == f"flows.{each}"), None)
        if entry is None:
            known = dict.fromkeys([*names, *map(words.group, names)])
            raise UnknownNameError("group of flows or link", word, known)
        return pl.col("entry").eq_missing(pl.lit(entry, pl.Int64))
    rows = pl.col("of").is_in(found)
    if by_entry:
        own = values.filter(rows)["entry"].drop_nulls().unique()
        rows |= pl.col("entry").is_in(own.implode()).fill_null(value=False)
    return rows


def groups_at(values: pl.DataFrame, labels: Labels, word: str) -> list[list[str]]:
    """Return the names of the groups of every run with this name or label."""
    own = values.filter(
        pl.col("of").is_in([of for of in values["of"].unique() if word in (of, labels.group(of))])
    )
    keys = [name for name in own.columns if name not in MEASURED]
    return own.group_by(keys).agg(pl.col("of").unique(maintain_order=True))["of"].to_list()


def of_subjects(
    values: pl.DataFrame,
    subjects: Iterable[Subject],
    labels: Labels | None = None,
    *,
    by_entry: bool = False,
) -> pl.DataFrame:
    """Return the values of the groups that subjects name; metrics of subjects without a group keep all
    groups. See `rows_of` for `labels` and `by_entry`.

    Raises:
        ScenarioError: If a run has several groups with a named label.
        UnknownNameError: If no run has a named group of flows or link.
    """
    for metric, asked in groups_asked(subjects).items():
        if asked:
            kept = [rows_of(word, values, labels, by_entry=by_entry) for word in asked]
            values = values.filter((pl.col("metric") != metric) | pl.any_horizontal(kept))
    return values


def check_groups(subjects: Iterable[Subject], known: Collection[str]) -> None:
    """Raise UnknownNameError if a subject names an unknown group."""
    for _, of in subjects:
        if of is not None and of not in known:
            raise UnknownNameError("group of flows", of, known)


# Spacing of swept values: linear or geometric.


_GEOMETRIC = 4
"""Least ratio of the last to the first value of a geometric sweep."""


def is_geometric(values: Sequence[float]) -> bool:
    """Whether swept values are spaced more evenly on a logarithmic axis than on a linear one.

    >>> is_geometric([1, 2, 4, 8, 16]), is_geometric([0.5, 1, 4]), is_geometric([1, 2, 3, 4])
    (True, True, False)
    """
    if len(values) < 3 or min(values) <= 0 or values[-1] < _GEOMETRIC * values[0]:
        return False
    ratios = [math.log(high / low) for low, high in pairwise(values)]
    steps = [high - low for low, high in pairwise(values)]
    return bool(pstdev(ratios) / fmean(ratios) < pstdev(steps) / fmean(steps))
