"""Subsets of a sweep's points: descriptions in words, and random subsets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Any

from fullpipe.analysis.points import varying
from fullpipe.analysis.values import value_text
from fullpipe.runs import Run
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.quantities import as_numbers

Point = Mapping[str, Any]
Said = Callable[[str, Any], str]
_MOST_PARTS = 6


def region(
    points: Sequence[Point],
    chosen: Collection[int],
    words: Mapping[str, str],
    said: Said = lambda _, value: value_text(value),
) -> str:
    """Describe chosen points by conditions on paths; empty if all points are chosen.

    Args:
        points: The values of the paths at every point.
        chosen: Indices of points.
        words: Name of each path in the description.
        said: Function from a path and a value to text.

    >>> grid = [{"rate": rate, "size": size} for rate in (1, 2, 3) for size in (10, 20)]
    >>> region(grid, [0, 2, 4], {"rate": "rate", "size": "size"})
    'size = 10'
    >>> region(grid, [0, 1, 2], {"rate": "rate", "size": "size"})
    'rate = 1, and rate = 2 with size = 10'
    >>> region(grid, [2, 3, 4, 5], {"rate": "rate", "size": "size"})
    'rate >= 2'
    """
    of = _Grid(points, frozenset(chosen), words, said)
    told = [of.parts(range(len(points)), paths) for paths in _orders(list(words))]
    parts = min(told, key=lambda found: (len(found), sum(map(len, found))), default=[])
    first, rest = parts[:_MOST_PARTS], parts[_MOST_PARTS:]
    shown = [*first, f"{len(rest)} more"] if rest else first
    return ", and ".join(shown)


def region_of_runs(points: Sequence[Point], chosen: Collection[int], runs: Sequence[Run]) -> str:
    """Describe chosen points with the labels of the runs' scenarios: see `region`."""
    firsts: dict[str, Run] = {}
    for run in runs:  # `meta` of every run would open every run
        firsts.setdefault(run.place, run)
    labels = Labels(scenarios={run.meta.digest: run.meta.scenario for run in firsts.values()}.values())
    return region(points, chosen, labels.names(varying(points)), labels.value)


def _orders(paths: list[str]) -> list[list[str]]:
    """Return, for each path, the list of all paths with this path first."""
    return [[path, *(other for other in paths if other != path)] for path in paths]


class _Grid:
    def __init__(
        self, points: Sequence[Point], chosen: frozenset[int], words: Mapping[str, str], said: Said
    ) -> None:
        self._points, self._chosen, self._words, self._said = points, chosen, words, said

    def parts(self, among: Sequence[int], paths: Sequence[str]) -> list[str]:
        """Return conditions such that each chosen point meets at least one of them. If all points are chosen,
        the only condition is empty."""
        wanted = [place for place in among if place in self._chosen]
        if not wanted:
            return []
        if len(wanted) == len(among) or not paths:
            return [""]
        path, rest = paths[0], paths[1:]
        values = _ordered([self._points[place][path] for place in among])
        alike: dict[tuple[str, ...], list[Any]] = {}
        for value in values:
            within = [place for place in among if self._points[place][path] == value]
            alike.setdefault(tuple(self.parts(within, rest)), []).append(value)
        return [
            " with ".join(filter(None, [self._condition(path, of, values), inner]))
            for found, of in alike.items()
            for inner in found
        ]

    def _condition(self, path: str, of: Sequence[Any], values: Sequence[Any]) -> str:
        """Return the condition that the value of a path is one of `of`, a subset of `values`."""
        word = self._words[path]
        if len(of) == len(values):
            return ""
        first, last = values.index(of[0]), values.index(of[-1])
        if len(of) > 1 and as_numbers(values) and last - first == len(of) - 1:
            low, high = self._said(path, of[0]), self._said(path, of[-1])
            if first == 0:
                return f"{word} <= {high}"
            return f"{word} >= {low}" if last == len(values) - 1 else f"{word} from {low} to {high}"
        *before, end = (self._said(path, value) for value in of)
        return f"{word} = {', '.join(before)} or {end}" if before else f"{word} = {end}"


def _ordered(values: Sequence[Any]) -> list[Any]:
    """Return distinct values: quantities sorted by size, other values in the order of their first
    occurrence."""
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    found = as_numbers(distinct)
    if not found:
        return distinct
    return [value for _, value in sorted(zip(found[0], distinct, strict=True), key=lambda pair: pair[0])]


def random_points(places: Sequence[Sequence[int]], most: int, fewest: int) -> list[Sequence[int]]:
    """Return the indices of runs to examine, by point: the same number of seeds of every point.

    If there are too many points, they are selected at random. If every n-th point were selected, all selected
    points could have the same value of an axis.

    Args:
        places: Indices of the runs of every point.
        most: Largest number of runs to examine, of one point or of all points together.
        fewest: Smallest number of seeds of a point.
    """
    if not places:
        return []
    points = most // fewest
    few = (
        places
        if len(places) <= points
        else [places[n] for n in sorted(Random(0).sample(range(len(places)), points))]
    )
    seeds = min(max(most // len(few), fewest), *map(len, few)) if len(few) > 1 else most
    return [of[:seeds] for of in few]
