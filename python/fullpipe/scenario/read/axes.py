"""The axes of a sweep: a path with its values, several linked paths, or named variants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from fullpipe.errors import ScenarioError, shown, suggestion
from fullpipe.scenario.read import dotted

Axis = Sequence[Any] | Mapping[str, Mapping[str, Any]]
"""The value of a key of `[sweep]`: the values of its paths, or the variants by name."""
Sweep = Mapping[str, Axis]


class Step(NamedTuple):
    """A place on one axis, or a point of the sweep, which is a place on all axes."""

    named: Mapping[str, Any]
    """Identification of the place: a path and its value, or the key of variants and a variant's name."""
    values: Mapping[str, Any]
    """The scenario's values at the place, by path."""


def paths_of(key: str) -> list[str]:
    """Return the paths of a key of `[sweep]`, which are separated by commas.

    >>> paths_of("flows.0.cca, flows.1.cca")
    ['flows.0.cca', 'flows.1.cca']
    """
    return [path.strip() for path in key.split(",")]


def steps(key: str, axis: Axis) -> list[Step]:
    """Return the places on an axis, in order.

    Raises:
        ScenarioError: If a list among the values of linked paths does not have one value per path.
    """
    if isinstance(axis, Mapping):
        return [Step({key: name}, values) for name, values in axis.items()]
    paths = paths_of(key)
    if len(paths) == 1:
        return [Step({key: value}, {key: value}) for value in axis]
    return [Step(values, values) for values in (_of_each(key, paths, value) for value in axis)]


def each_path(key: str, value: Any) -> dict[str, Any]:
    """Return the value at each path of a key, which can link several paths with commas as in `[sweep]`.

    >>> each_path("flows.0.cca, flows.1.cca", "bbr1")
    {'flows.0.cca': 'bbr1', 'flows.1.cca': 'bbr1'}

    Raises:
        ScenarioError: If a list does not have one value per path.
    """
    paths = paths_of(key)
    return {key: value} if len(paths) == 1 else _of_each(key, paths, value)


def _of_each(key: str, paths: Sequence[str], value: Any) -> dict[str, Any]:
    """Return the value of each linked path: its item of a list, or a common value."""
    if not isinstance(value, list | tuple):
        return dict.fromkeys(paths, value)
    if len(value) != len(paths):
        raise ScenarioError(
            [f"sweep.{shown(key)}: {shown(value)} has {len(value)} values for {len(paths)} paths"]
        )
    return dict(zip(paths, value, strict=True))


def points(sweep: Sweep) -> Iterator[Step]:
    """Yield every combination of the places on all axes; the last axis changes fastest."""
    for combined in product(*(steps(key, axis) for key, axis in sweep.items())):
        yield Step(
            {name: value for step in combined for name, value in step.named.items()},
            {path: value for step in combined for path, value in step.values.items()},
        )


def paths(sweep: Sweep) -> list[str]:
    """Return every swept path, once per axis that has it."""
    return [path for key, axis in sweep.items() for path in _paths(key, axis)]


def _paths(key: str, axis: Axis) -> Iterable[str]:
    if isinstance(axis, Mapping):
        return dict.fromkeys(path for values in axis.values() for path in values)
    return paths_of(key)


def pinned(sweep: Sweep, path: str, value: Any) -> tuple[dict[str, Axis], Mapping[str, Any]]:
    """Fix a path, or the key of variants, to one value. Return the remaining sweep and the values by path.

    Raises:
        ScenarioError: If the path is inside a swept table, or is set by variants.
    """
    if isinstance(variants := sweep.get(path), Mapping):
        if value not in variants:
            raise ScenarioError(
                [f"{path}: there is no variant {shown(value)}{suggestion(str(value), variants)}"]
            )
        return {key: axis for key, axis in sweep.items() if key != path}, variants[value]
    left: dict[str, Axis] = {}
    for key, axis in sweep.items():
        for swept in _paths(key, axis):
            _check_pinned(path, swept, key if isinstance(axis, Mapping) else None)
        rest = axis if isinstance(axis, Mapping) else _without(key, axis, path)
        left |= {key: axis} if rest is axis else rest
    return left, {path: value}


def _check_pinned(path: str, swept: str, variants: str | None) -> None:
    if variants and (dotted.covers(path, swept) or dotted.covers(swept, path)):
        raise ScenarioError([f"{path}: the variants of {variants} set {swept}; choose one of them instead"])
    if dotted.covers(swept, path) and not dotted.covers(path, swept):
        raise ScenarioError([f"{path}: the scenario sweeps {swept} as a whole; set that instead"])


def _without(key: str, axis: Sequence[Any], path: str) -> "dict[str, Axis] | Sequence[Any]":
    """Return an axis without a path. It is empty without other paths, and unchanged if it lacks the path."""
    linked = paths_of(key)
    kept = [swept for swept in linked if not dotted.covers(path, swept)]
    if len(kept) == len(linked):
        return axis
    rows = [[step.values[swept] for swept in kept] for step in steps(key, axis)]
    distinct = [row for n, row in enumerate(rows) if row not in rows[:n]]
    return {", ".join(kept): [row[0] for row in distinct] if len(kept) == 1 else distinct} if kept else {}
