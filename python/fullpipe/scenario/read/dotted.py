"""Dotted paths of scenario keys: setting values at paths, axes of sweeps, and overlays."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from fullpipe.errors import ScenarioError, brief, shown, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.read import files

# Dotted paths in scenario data, such as `topology.bottleneck.queue.packets` and `flows.0.cca`.


Tree = dict[str, Any]
MAX_PARTS = 50
"""Maximum number of parts of a path. A scenario has about eight levels."""
EVERY = "*"
"""Part of a path that matches every entry of a list."""
_SHORT = {"cca": "kind", "queue": "kind", "workload": "kind", "trace": "file"}
"""Keys whose value can be text instead of a table, each with the key of the table that the text sets."""
_DIGITS = 9
"""Maximum number of digits of an index in a path."""


def normal(path: str) -> str:
    """Return the canonical spelling of a path: `flows[0].cca` becomes `flows.0.cca`."""
    return re.sub(r"\[(\d+)\]", r".\1", path).strip()


def covers(path: str, other: str) -> bool:
    """Whether `path` equals `other` or contains `other`; `*` matches every entry of a list.

    >>> covers("flows.*.cca", "flows.0.cca.preset")
    True
    """
    parts, others = normal(path).split("."), normal(other).split(".")
    return len(parts) <= len(others) and all(map(_is_within, parts, others))


def of_every(path: str) -> str:
    """Return a path with `*` in place of every index of an entry.

    >>> of_every("flows.0.cca")
    'flows.*.cca'
    """
    return ".".join(EVERY if part.isdecimal() else part for part in normal(path).split("."))


def _is_within(part: str, other: str) -> bool:
    return part == other or (part == EVERY and other.isdecimal())


def replaced(tree: Tree, path: str, value: object) -> Tree:
    """Return a copy of `tree` with `value` at `path`. Missing tables along the path are created.

    The copy shares all parts outside the path with `tree`. A name, such as that of an algorithm, becomes a
    table when one of its parameters is set. `*` matches every entry of a list.

    Raises:
        ScenarioError: If the path does not fit the tree.
    """
    parts = normal(path).split(".")
    if not all(parts) or len(parts) > MAX_PARTS:
        raise ScenarioError([f'"{brief(path)}": not a path; write it as in topology.bottleneck.rate'])
    tree = copy(tree)
    nodes: list[Any] = [tree]
    for part in parts[:-1]:
        nodes = [_step(node, key, path) for node in nodes for key in _keys(node, part, path)]
    for node in nodes:
        for key in _keys(node, parts[-1], path):
            for other in other_spellings(node, key):
                del node[other]
            node[key] = value
    return tree


def replaces(tree: Tree, path: str, other: str) -> bool:
    """Whether a value at `path` replaces a value at `other`. The two paths may be two spellings of a key.

    >>> replaces({"queue": "codel"}, "queue.target", "queue.target_ms")
    True
    """
    mark = object()
    try:
        return not _holds(replaced(replaced(tree, other, mark), path, None), mark)
    except ScenarioError:  # one of the paths does not fit the tree
        return False


def _holds(node: Any, value: object) -> bool:
    if isinstance(node, dict | list | tuple):
        return any(_holds(part, value) for part in (node.values() if isinstance(node, dict) else node))
    return node is value


def other_spellings(node: Any, key: Any) -> list[str]:
    """Return the keys of a table that mean the same as `key`, such as `target_ms` for `target`."""
    if not isinstance(node, dict):
        return []
    kind = node.get("kind")
    if kind is None:
        return [other for other in node if catalogue.are_former(other, key)]
    if not isinstance(kind, str) or ":" in kind:  # a user's algorithm may have both target and target_s
        return []
    return [other for other in node if catalogue.is_same_parameter(other, key)]


def _keys(node: Any, part: str, path: str) -> list[Any]:
    """Return the keys in a table or a list that match a part of a path."""
    if not isinstance(node, list):
        return [part]
    return list(range(len(node))) if part == EVERY else [_index(node, part, path)]


def _step(node: Any, key: Any, path: str) -> Any:
    """Replace the table or list at a key of a tree by a copy, and return the copy."""
    if isinstance(node, dict) and key not in node:
        key = next(iter(other_spellings(node, key)), key)
        node.setdefault(key, {})
    if key in _SHORT and isinstance(node[key], str):
        node[key] = {_SHORT[key]: node[key]}
    if not isinstance(node[key], dict | list):
        raise ScenarioError([f'{brief(path)}: "{brief(key)}" is a single value and has no parts'])
    node[key] = copy(node[key])
    return node[key]


def _index(node: list[Any], part: str, path: str) -> int:
    if not part.isdecimal():
        where = f'{brief(path)}: "{brief(part)}"'
        for index, entry in enumerate(node):
            if isinstance(entry, dict) and entry.get("name") == part:
                told = path.replace(f".{part}", f".{index}", 1)
                raise ScenarioError([f"{where} is the name of entry {index}; write {brief(told)}"])
        raise ScenarioError([f"{where} is not a number; write the index of the entry, as in flows.0.cca"])
    if len(part) > _DIGITS or int(part) >= len(node):
        missing = f"{brief(path)}: there is no entry {brief(part)}"
        raise ScenarioError([f"{missing}; the list has {len(node)}, counted from 0"])
    return int(part)


# The axes of a sweep: a path with its values, several linked paths, or named variants.


Axis = Sequence[Any] | Mapping[str, Mapping[str, Any]]
"""The value of a key of `[sweep]`: the values of its paths, or the variants by name."""
Sweep = Mapping[str, Axis]


class Step(NamedTuple):
    """One value or variant of an axis, or one point of the sweep (a value or variant of every axis)."""

    named: Mapping[str, Any]
    """Names of the step: the path with its value, or the key of the axis with the name of the variant."""
    values: Mapping[str, Any]
    """Values that the step sets in the scenario, by path."""


def paths_of(key: str) -> list[str]:
    """Return the paths of a key of `[sweep]`, which are separated by commas.

    >>> paths_of("flows.0.cca, flows.1.cca")
    ['flows.0.cca', 'flows.1.cca']
    """
    return [path.strip() for path in key.split(",")]


def steps(key: str, axis: Axis) -> list[Step]:
    """Return the values or variants of an axis, in order.

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
    """Return the value of each linked path. A list has one value per path; any other value is common to
    all."""
    if not isinstance(value, list | tuple):
        return dict.fromkeys(paths, value)
    if len(value) != len(paths):
        raise ScenarioError(
            [f"sweep.{shown(key)}: {shown(value)} has {len(value)} values for {len(paths)} paths"]
        )
    return dict(zip(paths, value, strict=True))


def points(sweep: Sweep) -> Iterator[Step]:
    """Yield every combination of one value or variant per axis. The last axis changes fastest."""
    for combined in product(*(steps(key, axis) for key, axis in sweep.items())):
        yield Step(
            {name: value for step in combined for name, value in step.named.items()},
            {path: value for step in combined for path, value in step.values.items()},
        )


def paths(sweep: Sweep) -> list[str]:
    """Return every swept path. A path that is on several axes is returned several times."""
    return [path for key, axis in sweep.items() for path in _paths(key, axis)]


def _paths(key: str, axis: Axis) -> Iterable[str]:
    if isinstance(axis, Mapping):
        return dict.fromkeys(path for values in axis.values() for path in values)
    return paths_of(key)


def pinned(sweep: Sweep, path: str, value: Any) -> tuple[dict[str, Axis], Mapping[str, Any]]:
    """Set a swept path to one value, or an axis of variants to one variant.

    Return the remaining sweep, and the values to set in the scenario by path.

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
            _check_pinned(path, swept, key, [*axis] if isinstance(axis, Mapping) else [])
        rest = axis if isinstance(axis, Mapping) else _without(key, axis, path)
        left |= {key: axis} if rest is axis else rest
    return left, {path: value}


def _check_pinned(path: str, swept: str, key: str, variants: Sequence[str]) -> None:
    if variants and (covers(path, swept) or covers(swept, path)):
        several = f", or several with --over {key}={','.join(variants[:2])}" if len(variants) > 1 else ""
        how = f"choose one with --set {key}={variants[0]}{several}"
        raise ScenarioError([f"{path}: the variants of {key} set {swept}; {how}"])
    if covers(swept, path) and not covers(path, swept):
        raise ScenarioError([f"{path}: the scenario sweeps {swept} as a whole; set {swept} instead"])


def _without(key: str, axis: Sequence[Any], path: str) -> "dict[str, Axis] | Sequence[Any]":
    """Return an axis without `path`. The result is empty if the axis has no other path. If the axis does not
    have the path, it is returned unchanged."""
    linked = paths_of(key)
    kept = [swept for swept in linked if not covers(path, swept)]
    if len(kept) == len(linked):
        return axis
    rows = [[step.values[swept] for swept in kept] for step in steps(key, axis)]
    distinct = [row for n, row in enumerate(rows) if row not in rows[:n]]
    return {", ".join(kept): [row[0] for row in distinct] if len(kept) == 1 else distinct} if kept else {}


# Scenario files that extend another file: `base`, tables that override the base, and paths in `set`.


BASE, SET, LABELS = "base", "set", "labels"
MOST_BASES = 10
"""Maximum number of files in a chain in which each file extends the next file."""
_WHOLE = frozenset({"sweep"})
"""Tables that replace the table of the base completely, instead of being merged with it."""


def ending(node: Any, word: str, path: str = "") -> Iterator[str]:
    """Yield the paths of a tree whose last part is a word.

    >>> [*ending({"flows": [{"cca": "cubic"}], "duration": "1 s"}, "cca")]
    ['flows.0.cca']
    """
    for key, part in node.items() if isinstance(node, dict) else enumerate(node):
        if key == word and path:
            yield f"{path}{key}"
        if isinstance(part, dict | list | tuple):
            yield from ending(part, word, f"{path}{key}.")


def resolved(tree: dict[str, Any], folder: Path, depth: int = 0) -> dict[str, Any]:
    """Return scenario data with `base` and `set` applied and file names resolved.

    Args:
        tree: The content of a file.
        folder: The folder of the file and of the files that it names.
        depth: Number of files in the chain before this file.

    Raises:
        ScenarioError: If a base cannot be read, does not exist, or is nested too deeply; or a path is wrong.
    """
    own = {key: value for key, value in tree.items() if key not in (BASE, SET)}
    labels = {LABELS: own.pop(LABELS)} if LABELS in own else {}  # labels never name files
    made: dict[str, Any] = {**files.located(own, folder), **labels}
    if BASE in tree:
        made = _over(_base(tree[BASE], folder, depth), made)
    paths = tree.get(SET, {})
    if not isinstance(paths, Mapping):
        raise ScenarioError([f"set: expected paths and their values, got {shown(paths)}"])
    for path, value in files.located(dict(paths), folder).items():
        made = replaced(made, path, value)
    return made


def _base(name: object, folder: Path, depth: int) -> dict[str, Any]:
    if not isinstance(name, str):
        raise ScenarioError([f"base: expected a file or the name of a scenario, got {shown(name)}"])
    if depth >= MOST_BASES:
        many = f"more than {MOST_BASES} files in a row, or the files form a cycle"
        raise ScenarioError([f"base: {shown(name)} comes after {many}"])
    if name in files.scenario_names():
        return resolved(files.parse_toml(files.named_text(name)), files.folder_of_names(), depth + 1)
    path = folder / name
    return resolved(files.parse_toml(files.read_text(path), str(path)), path.parent, depth + 1)


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a table with the table of the base, key by key. A table with a `kind`, and any value that is not
    a table, replaces the value of the base."""
    made = dict(base)
    for key, value in own.items():
        for other in other_spellings(made, key):
            if other not in own:  # if a file has both spellings of a key, a later check refuses the file
                made[key] = made.pop(other)
        before = made.get(key)
        is_whole = key in _WHOLE or not isinstance(value, Mapping) or "kind" in value
        made[key] = value if is_whole or not isinstance(before, Mapping) else _over(before, value)
    return made
