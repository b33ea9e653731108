"""The conclusion of runs over seeds: main metrics of every group, fairness, and the extremes of a sweep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import isnan
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.table import leading
from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.points import varying
from fullpipe.analysis.shown import (
    LONGEST,
    begun,
    decimals_of,
    listed,
    mean_shown,
    metric_shown,
    point_shown,
    unit_shown,
    words_in,
)
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.quantities import as_numbers

MOST = 5
"""Maximum number of sentences of a conclusion."""
_MOST_NAMES = 3
_MOST_GROUPS = 4
"""Maximum number of groups of flows that a sentence names."""
_FAIRNESS = "jain"
_BULK, _GOODPUT, _RATIO, _FAIR = "bulk", "goodput", "share_ratio", "equal_share"
ONE_SEED = "one seed: no interval"
ERROR = 0.05
"""Largest probability that any of the tests of a sentence finds a difference that does not exist."""
NEEDED = (_BULK, _RATIO, _FAIR)
"""Metrics from which the leading metrics are chosen, even if outputs do not show them."""
_Rows = Sequence[Mapping[str, Any]]


def outcome(
    means: pl.DataFrame,
    asked: Sequence[str] = (),
    labels: Labels | None = None,
    called: Callable[[str, str], str] = lambda metric, of: of,
    values: pl.DataFrame | None = None,
) -> list[str]:
    """Summarise the results of runs in one to five sentences.

    Args:
        means: Means over seeds with intervals, as `over_seeds` returns them.
        asked: Requested metrics; default: the leading metrics of every group of flows.
        labels: Words for paths and values; default: the names in the model of scenarios.
        called: Function that names a group of flows in sentences on a metric; default: the name of the group.
        values: The values behind the means, so that points are compared by seed; default: by their intervals.

    Returns:
        For one point, the mean and interval of every group; for several points, the points at which a metric
        is highest and lowest.
    """
    known = with_groups(means.drop_nulls("mean"))
    paths = [path for path in paths_of(known) if known[path].n_unique() > 1]
    several = known.select(paths).n_unique() > 1 if paths else False
    paths = varying(known.select(paths).unique(maintain_order=True).to_dicts())  # one of paths set together
    subjects = list(_of_asked(known, asked) if asked else leads(known))
    if several:
        seeds = None if values is None else with_groups(values)
        told = [
            _extremes(known, paths, *subject, labels, called(*subject), seeds) for subject in subjects[:MOST]
        ]
        return [sentence for sentence in told if sentence]
    by_metric: dict[str, list[str]] = {}
    for metric, of in subjects:
        by_metric.setdefault(metric, []).append(of)
    return [_of_point(known, metric, groups, called) for metric, groups in list(by_metric.items())[:MOST]]


def with_groups(known: pl.DataFrame) -> pl.DataFrame:
    """Return a table in which every entry of `flows` has one name in the column `of`, even if the names of
    its flows differ between points."""
    names = known.filter(pl.col("entry").is_not_null()).group_by("entry", maintain_order=True)
    several = names.agg(pl.col("of").unique(maintain_order=True)).filter(pl.col("of").list.len() > 1)
    named = {entry: called(of, entry) for entry, of in several.iter_rows()}
    if not named:
        return known
    of = pl.col("entry").replace_strict(named, default=pl.col("of"), return_dtype=pl.String)
    return known.with_columns(of=of)


def labelled(values: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Return a table in which groups of flows have the user's labels in the column `of`.

    A label that several entries of `flows` share, or that is the name of a total, is left out.
    """
    flows = values.filter(pl.col("kind") == "flows", ~pl.col("of").is_in(TOTALS))
    owners = dict(flows.select("of", "entry").unique(maintain_order=True).iter_rows())
    words = {of: labels.group(of) for of in owners}
    entries: dict[str, set[object]] = {}
    for of, entry in owners.items():
        entries.setdefault(words[of], set()).add(of if entry is None else entry)
    taken = {text for text, owning in entries.items() if len(owning) > 1}.union(TOTALS)
    named = {of: text for of, text in words.items() if text != of and text not in taken}
    if not named:
        return values
    of = pl.when(pl.col("kind") == "flows").then(pl.col("of").replace(named)).otherwise(pl.col("of"))
    return values.with_columns(of=of)


def called(names: Sequence[str], entry: int) -> str:
    """The names of an entry of `flows`; if there are too many, the index of the entry.

    >>> called(["cubic-1", "reno-1"], 0), called(["cubic-1", "reno-1", "bbr1-1", "bbr3-1"], 0)
    ('cubic-1 or reno-1', 'flows.0')
    """
    return " or ".join(names) if len(names) <= _MOST_NAMES else f"flows.{entry}"


def short(sentence: str) -> str:
    """The sentence; if it has more than `LONGEST` words, it is split into sentences at its semicolons.

    >>> short("It is 5; it was 6."), short(f"It is 5{' and' * 35} (5; 6); lowest at 6.")[-23:]
    ('It is 5; it was 6.', 'nd (5; 6). Lowest at 6.')
    """
    if words_in(sentence) <= LONGEST:
        return sentence
    return ". ".join(map(begun, re.split(r"; (?![^(]*\))", sentence)))


def _of_asked(known: pl.DataFrame, asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the requested metrics, each with every group that has the metric, or with all flows if no group
    has it."""
    every = known.filter(pl.col("metric").is_in(asked))
    of_metric = dict(every.group_by("metric").agg(pl.col("of").unique(maintain_order=True)).rows())
    for metric in asked:
        names = of_metric.get(metric, [])
        yield from ((metric, of) for of in [n for n in names if n not in TOTALS] or names)


def leads(known: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Default metrics of a conclusion with their groups, the most important first.

    The metrics are: the ratio of goodput to fair share, for bulk flows whose fair share differs between
    points; the first metric of every group; Jain's index; and the second metric of bulk flows.

    Args:
        known: Means of `NEEDED` and of the shown metrics, as `with_groups` returns them.
    """
    needed = pl.col("metric").is_in(NEEDED)
    flows, helpers = (known.filter(pl.col("kind") == "flows", each) for each in (~needed, needed))
    groups = dict(flows.group_by("of", maintain_order=True).agg(pl.col("metric").unique()).rows())
    own = [of for of in groups if of not in TOTALS]
    bulk = helpers.filter(pl.col("metric") == _BULK, pl.col("mean") > 0)["of"].to_list()
    ranked = {of: leading(groups[of], is_bulk=of in bulk) or [*groups[of]] for of in own}
    firsts = [ranked[of][0] for of in own]
    if len(own) > 1 and {*firsts} == {_GOODPUT} and _is_by_fair_share(helpers, own[0]):
        yield _RATIO, own[0]
    yield from zip(firsts, own, strict=True)
    for of, metrics in groups.items():
        if of in TOTALS and _FAIRNESS in metrics:
            yield _FAIRNESS, of
    for of in own:
        if of in bulk and len(ranked[of]) > 1:
            yield ranked[of][1], of


def _is_by_fair_share(helpers: pl.DataFrame, of: str) -> bool:
    """Whether the group has the metric `share_ratio`, and the fair share of some group differs between
    points.
    """
    fair = helpers.filter(pl.col("metric") == _FAIR, ~pl.col("of").is_in(TOTALS))
    counts = fair.group_by("of").agg(pl.col("mean").n_unique())["mean"]
    has_ratio = not helpers.filter(pl.col("metric") == _RATIO, pl.col("of") == of).is_empty()
    return has_ratio and bool((counts > 1).any())


def _rows_of(known: pl.DataFrame, metric: str, of: str) -> _Rows:
    return known.filter(pl.col("metric") == metric, pl.col("of") == of).to_dicts()


def _of_point(
    known: pl.DataFrame, metric: str, groups: Sequence[str], called: Callable[[str, str], str]
) -> str:
    """Return a sentence with the means of a metric of several groups at one point."""
    named = BY_NAME[metric].label or metric
    parts = [
        f"{mean_shown(row, unit_shown(row['unit'], metric))} for {called(metric, of)}"
        for of in groups[:_MOST_GROUPS]
        for row in _rows_of(known, metric, of)[:1]
    ]
    more = f" ({len(groups) - _MOST_GROUPS} more in the table)" if len(groups) > _MOST_GROUPS else ""
    return begun(f"{named} is {listed(parts)}{more}.")


def _extremes(
    known: pl.DataFrame,
    paths: Sequence[str],
    metric: str,
    of: str,
    labels: Labels | None,
    name: str,
    values: pl.DataFrame | None,
) -> str:
    rows = _rows_of(known, metric, of)

    def place(row: Mapping[str, Any]) -> str:
        return ", ".join(point_shown({path: row[path] for path in paths}, labels))

    own = None if values is None else values.filter(pl.col("metric") == metric, pl.col("of") == of)
    return extremes(rows, metric, name, place, own) if len(rows) > 1 else ""


def extremes(
    rows: _Rows,
    metric: str,
    of: str,
    place: Callable[[Mapping[str, Any]], str],
    values: pl.DataFrame | None = None,
) -> str:
    """Say where a metric is highest and lowest, and how many other points may equal each extreme.

    Points with one seed are not ranked, because the variation between seeds is unknown. If all points have
    the same seeds, points differ if the t-test of their values paired by seed says so, after Holm's
    correction for all pairs of points. Otherwise points differ if their intervals do not overlap.

    Args:
        rows: Means of a metric of one group or link, at least one, as `over_seeds` returns them.
        metric: Name of the metric.
        of: Name of the group or link.
        place: Function that names the point of a row.
        values: Values of the metric of the group or link, with the columns of the points and `seed`.
    """
    least, *_, most = sorted((*rows, rows[0]), key=lambda row: row["mean"])
    unit = unit_shown(least["unit"], metric)
    digits = decimals_of((least, most))
    low, high = (mean_shown(row, unit, digits=digits) for row in (least, most))
    named = metric_shown(metric, of)
    if least["mean"] == most["mean"]:
        return begun(f"{named} is {low}{f' at all {len(rows)} points' if len(rows) > 1 else ''}.")
    if min(least["n"], most["n"]) == 1:
        told = f"{named} is from {low} ({place(least)}) to {high} ({place(most)}) over {len(rows)} points"
        return short(begun(f"{told}; {ONE_SEED}."))
    within = max(ends(row)[1] for row in rows) - min(ends(row)[0] for row in rows)
    if within <= BY_NAME[metric].margin.allowed(least["mean"]):
        told = f"{named} is about the same at all {len(rows)} points: {low} to {high}"
        return short(begun(f"{told}; the differences are within the margin."))
    tested = _Tested.of_values(rows, values)
    if tested and tested.is_monotonic:
        first, last = (f"{text} at {place(row)}" for row, text in ((rows[0], low), (rows[-1], high)))
        verb = "rises"
        if least is not rows[0]:
            first, last = (f"{text} at {place(row)}" for row, text in ((rows[0], high), (rows[-1], low)))
            verb = "falls"
        each = " from each point to the next," if len(rows) > 2 else ""
        return short(begun(f"{named} {verb}{each} from {first} to {last}; {tested}."))
    if tested and not tested.differ(least, most):
        told = f"{named} is {low} ({place(least)}) to {high} ({place(most)}) over {len(rows)} points"
        return short(begun(f"{told}{_pair(rows, unit, place, tested)}; {tested}."))
    if not tested and ends(least)[1] >= ends(most)[0]:
        told = f"{named} is {low} ({place(least)}) to {high} ({place(most)}) over {len(rows)} points"
        return short(begun(f"{told}{_apart(rows, unit, place)}."))
    at_most, at_least = (f"{place(row)}{_alike(row, rows, tested)}" for row in (most, least))
    how = f"; {tested}" if tested and len(rows) > 2 else ""
    return short(begun(f"{named} is highest at {at_most}: {high}; lowest at {at_least}: {low}{how}."))


_MOST_TESTED = 12
"""Maximum number of points of which all pairs are tested."""


class _Tested:
    """Tests of all pairs of points, paired by seed."""

    def __init__(self, rows: _Rows, paths: Sequence[str], p: Mapping[tuple[int, int], float]) -> None:
        self._rows, self._paths, self._p = rows, paths, p

    @classmethod
    def of_values(cls, rows: _Rows, values: pl.DataFrame | None) -> _Tested | None:
        """The tests; None for many points, or unless all points have the same seeds, at least two."""
        if values is None or not 1 < len(rows) <= _MOST_TESTED:
            return None
        paths = [path for path in paths_of(values) if path in rows[0]]
        at: dict[str, dict[int, float]] = {}
        for row in values.drop_nulls("value").iter_rows(named=True):
            at.setdefault(repr([row[path] for path in paths]), {})[row["seed"]] = row["value"]
        points = [at.get(repr([row[path] for path in paths]), {}) for row in rows]
        seeds = points[0].keys()
        if len(at) != len(rows) or len(seeds) < 2 or any(each.keys() != seeds for each in points):
            return None
        from fullpipe.analysis.statistics import holm, paired  # imported here, as the import is slow

        pairs = list(combinations(range(len(rows)), 2))
        found = [paired(*([points[n][seed] for seed in seeds] for n in pair)) for pair in pairs]
        p = [float(not each.difference) if isnan(each.p) else each.p for each in found]
        return cls(rows, paths, dict(zip(pairs, holm(p), strict=True)))

    def __str__(self) -> str:
        """The kind of the tests, and their number if there are several."""
        many = f", with Holm's correction for {len(self._p)} pairs" if len(self._p) > 1 else ""
        return f"tests are paired by seed{many}"

    def differ(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether the means of two rows differ."""
        first, last = sorted(
            next(n for n, row in enumerate(self._rows) if row is each) for each in (one, other)
        )
        return first != last and self._p[first, last] < ERROR

    @property
    def is_monotonic(self) -> bool:
        """Whether the rows are along one quantity, and every row differs from the one before, all in the same
        direction."""
        varied = [path for path in self._paths if len({row[path] for row in self._rows}) > 1]
        if len(varied) != 1 or not as_numbers([row[varied[0]] for row in self._rows]):
            return False
        steps = list(pairwise(self._rows))
        signs = {after["mean"] > before["mean"] for before, after in steps}
        return len(signs) == 1 and all(self.differ(*step) for step in steps)


def _pair(rows: _Rows, unit: str, place: Callable[[Mapping[str, Any]], str], tested: _Tested) -> str:
    """Return words with a pair of points that differs although the extremes do not, or that no pair does."""
    pairs = ((one, other) for one, other in combinations(rows, 2) if tested.differ(one, other))
    if not (found := next(pairs, None)):
        return (
            ", and no difference is significant"
            if len(rows) > 2
            else ", and the difference is not significant"
        )
    less, more = sorted(found, key=lambda row: row["mean"])
    digits = decimals_of(found)
    above, below = (f"{place(row)} ({mean_shown(row, unit, digits=digits)})" for row in (more, less))
    return f"; it is higher at {above} than at {below}"


def _apart(rows: _Rows, unit: str, place: Callable[[Mapping[str, Any]], str]) -> str:
    """Return words for the case that the intervals of both extremes overlap: two other points whose intervals
    do not overlap, or a statement that all intervals overlap."""
    firm = [row for row in rows if row["n"] > 1]
    above, below = max(firm, key=lambda row: ends(row)[0]), min(firm, key=lambda row: ends(row)[1])
    if ends(below)[1] >= ends(above)[0]:
        return ", and these intervals overlap"
    digits = decimals_of((above, below))
    more, less = (f"{place(row)} ({mean_shown(row, unit, digits=digits)})" for row in (above, below))
    return f"; it is higher at {more} than at {less}"


def _alike(row: Mapping[str, Any], rows: _Rows, tested: _Tested | None) -> str:
    """Return words with the number of other points that may have the same mean: points that do not differ in
    the tests, or without tests, points whose interval overlaps the interval of the given point."""
    low, high = ends(row)
    if tested:
        others = sum(not tested.differ(row, one) for one in rows) - 1
    else:
        others = sum(ends(one)[0] <= high and low <= ends(one)[1] for one in rows) - 1
    points = f"{others} other point" + ("s" if others > 1 else "")
    return f" (not distinguishable from {points})" if others else ""


def ends(row: Mapping[str, Any]) -> tuple[float, float]:
    """The ends of an interval; both are the mean for a single seed or for equal runs."""
    return (row["mean"], row["mean"]) if row["alike"] or row["low"] is None else (row["low"], row["high"])
