"""One scenario whose points are given scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fullpipe.errors import FullpipeError
from fullpipe.scenario import Scenario

_POINT = "point"
_MISSING = object()


def scenario_of(name: str, scenarios: Iterable[Scenario]) -> Scenario | None:
    """One scenario whose points are these scenarios; None if there is none.

    Every point is a named variant with the values of all paths at which it differs from the first.
    """
    distinct = {one.digest: one for one in scenarios}
    trees = [dict(one.to_dict()) for one in distinct.values()]
    base = {key: value for key, value in trees[0].items() if key not in ("name", "sweep")}
    changes = [dict(_changes(base, tree, ())) for tree in trees]
    paths = dict.fromkeys(path for change in changes for path in change)
    try:
        variants = {str(n + 1): {p: _at(tree, p) for p in paths} for n, tree in enumerate(trees)}
        if any(value is _MISSING for values in variants.values() for value in values.values()):
            return None
        sweep = {} if len(trees) == 1 else {_POINT: variants}
        made = Scenario(**base, name=name, sweep=_plain(sweep, variants, len(trees)))
        is_it = {one.digest for one in made.expand()} == set(distinct)
    except FullpipeError:
        return None
    return made if is_it else None


def _plain(sweep: dict[str, Any], variants: Mapping[str, Mapping[str, Any]], count: int) -> dict[str, Any]:
    """The sweep as axes of its own if the points are all combinations of the values of every path."""
    paths = list(next(iter(variants.values()))) if count > 1 else []
    axes: dict[str, list[Any]] = {path: [] for path in paths}
    for values in variants.values():
        for path, value in values.items():
            if value not in axes[path]:
                axes[path].append(value)
    size = 1
    for axis in axes.values():
        size *= len(axis)
    return dict(axes) if paths and size == count else sweep


def _changes(base: Any, tree: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The deepest paths at which a scenario is not like the first; a table of another kind is one."""
    for key in dict.fromkeys([*base, *tree]) if isinstance(base, Mapping) else range(len(base)):
        if key in ("name", "sweep", "labels") and not path:
            continue
        one = base.get(key, _MISSING) if isinstance(base, Mapping) else base[key]
        other = tree.get(key, _MISSING) if isinstance(tree, Mapping) else tree[key]
        here = (*path, str(key))
        if _goes_on(one, other):
            yield from _changes(one, other, here)
        elif one != other:
            yield ".".join(here), other


def _goes_on(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.get("kind") == other.get("kind")
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other)


def _at(tree: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(tree, Mapping):
            tree = tree.get(key, _MISSING)
        elif isinstance(tree, list) and key.isdigit() and int(key) < len(tree):
            tree = tree[int(key)]
        else:
            return _MISSING
    return tree
