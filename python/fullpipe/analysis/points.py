"""Points of runs: the paths whose values differ between their scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fullpipe.runs import Run
from fullpipe.runs.population import content_of, files_of
from fullpipe.scenario.labels import told_apart
from fullpipe.scenario.quantities import natural

CONTENT, MODEL = "content", "model_version"
"""Paths of points that no scenario has: the files that a run depends on, and the version of its model."""
_ASIDE = ("name", "sweep", "labels", "record")
"""Keys of scenarios that change neither the simulation nor the measured values."""


def points_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the point of every run: the paths at which scenarios differ, each with its value.

    Tables of different kinds are one path, with the table as its value. If several paths distinguish the same
    runs, such as linked ones, only the first is used. Runs of one sweep with named variants have the names
    instead of the values that these set. Runs of one point with different files or models differ in
    `content` or `model_version`.

    >>> from fullpipe import Scenario, run
    >>> base = Scenario.named("single-cubic").with_values({"duration": "1 s"})
    >>> points_of([run(base), run(base.with_values({"flows.0.cca": "reno"}))])
    [{'flows.0.cca': 'cubic'}, {'flows.0.cca': 'reno'}]
    """
    if _have_variants(runs):
        trees = told_by_origin([run.meta.point for run in runs], runs)
        paths = _distinct([(key,) for key in trees[0]], trees)
    else:
        scenarios = (run.meta.scenario.items() for run in runs)
        trees = [{key: value for key, value in each if key not in _ASIDE} for each in scenarios]
        trees = told_by_origin(trees, runs)
        paths = _distinct(list(dict.fromkeys(_paths(trees, ()))), trees)
    return [{".".join(map(str, path)): _natural(at(tree, path)) for path in paths} for tree in trees]


def told_by_origin(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Add `content` or `model_version` to points if an engine has runs of one point that differ in it.

    No point then has runs of two contents or models, which must not be averaged.
    """
    contents = [content_of(files_of(run.meta)) for run in runs]
    models = [run.meta.engine.model_version for run in runs]
    found = [dict(point) for point in points]
    for name, values in ((CONTENT, contents), (MODEL, models)):
        if len(set(values)) > 1 and _differ_within(found, runs, values):
            found = [{**point, name: value} for point, value in zip(found, values, strict=True)]
    return found


def _differ_within(points: Sequence[Mapping[str, Any]], runs: Sequence[Run], values: Sequence[str]) -> bool:
    """Whether one engine's runs of one point have different values."""
    first: dict[tuple[str, str], str] = {}
    return any(
        first.setdefault((repr(point), run.meta.engine.name), value) != value
        for point, run, value in zip(points, runs, values, strict=True)
    )


def shape_of(run: Run) -> tuple[object, ...]:
    """Return the kind of the topology and the number of flows.

    Only scenarios that share both can be compared path by path.
    """
    scenario = run.meta.scenario
    return scenario["topology"]["kind"], len(scenario["flows"])


def _natural(value: Any) -> Any:
    """Return a value with its quantities in units that people use."""
    if isinstance(value, Mapping):
        return {key: _natural(part) for key, part in value.items()}
    return natural(value) if isinstance(value, str) else value


def _have_variants(runs: Sequence[Run]) -> bool:
    """Whether all runs are of one sweep with an axis that is no path, and its points differ in scenario."""
    keys = runs[0].meta.point.keys() if runs else ()
    if all(key in runs[0].meta.scenario or "." in key for key in keys):
        return False
    if any(run.meta.point.keys() != keys for run in runs):
        return False
    points = {(str(run.meta.point), run.meta.digest) for run in runs}
    return len(points) == len({point for point, _ in points}) == len({digest for _, digest in points})


def _distinct(paths: Sequence[tuple[str | int, ...]], trees: Sequence[Any]) -> list[tuple[str | int, ...]]:
    """Return the paths without those that divide the runs in the same way as an earlier path."""
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
    """Return the keys of tables, or the indices of lists of one length; empty if a path ends here."""
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
    """Return the path that equals a word, or the only one that ends with it; otherwise None.

    >>> path_called("cca", ["flows.0.cca", "topology.bottleneck.rate"])
    'flows.0.cca'
    """
    paths = list(known)
    if word in paths:
        return word
    ending = [path for path in paths if path.endswith(f".{word}")]
    return ending[0] if len(ending) == 1 else None


def varying(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths whose values differ between points, only the first of those that divide them alike."""
    paths = dict.fromkeys(path for point in points for path in point)
    found = _distinct([(path,) for path in paths], points)
    first = [str(path) for (path,) in found]
    return [path for path in first if any(point.get(path) != points[0].get(path) for point in points)]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return the last word of every path, or more of the path if another one ends in the same word.

    >>> short_names(["flows.0.cca", "topology.bottleneck.rate"])
    {'flows.0.cca': 'cca', 'topology.bottleneck.rate': 'rate'}
    """
    return told_apart({path: path.rsplit(".", 1)[-1] for path in paths})
