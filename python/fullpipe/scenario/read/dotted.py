"""Dotted paths into scenario data, such as `topology.bottleneck.queue.packets` and `flows.0.cca`."""

import re
from copy import copy
from typing import Any

from fullpipe.errors import ScenarioError, brief
from fullpipe.scenario import catalogue

Tree = dict[str, Any]
MAX_PARTS = 50
"""Most parts of a path; a scenario has about eight levels."""
EVERY = "*"
"""Part of a path that matches every entry of a list."""
_SHORT = {"cca": "kind", "queue": "kind", "workload": "kind", "trace": "file"}
"""Keys whose table can be written as text, and the key of the table that the text sets."""
_DIGITS = 9
"""Most digits of an entry's number."""


def normal(path: str) -> str:
    """Return the canonical spelling of a path: `flows[0].cca` becomes `flows.0.cca`."""
    return re.sub(r"\[(\d+)\]", r".\1", path).strip()


def covers(path: str, other: str) -> bool:
    """Whether `path` is `other` or contains it; `*` matches every entry of a list.

    >>> covers("flows.*.cca", "flows.0.cca.preset")
    True
    """
    parts, others = normal(path).split("."), normal(other).split(".")
    return len(parts) <= len(others) and all(map(_is_within, parts, others))


def of_every(path: str) -> str:
    """Return a path with `*` in place of every number of an entry.

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
    """Whether a value at `path` takes the place of one at `other`, which may be another spelling.

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
        return [other for other in node if catalogue.is_former(other, key) or catalogue.is_former(key, other)]
    if not isinstance(kind, str) or ":" in kind:  # your own algorithm may have target and target_s
        return []
    return [other for other in node if catalogue.is_same_parameter(other, key)]


def _keys(node: Any, part: str, path: str) -> list[Any]:
    """Return the keys in a table or a list that match a part of a path."""
    if not isinstance(node, list):
        return [part]
    return list(range(len(node))) if part == EVERY else [_index(node, part, path)]


def _step(node: Any, key: Any, path: str) -> Any:
    """Replace the table or list at a key by a copy, and return the copy."""
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
        raise ScenarioError([f"{where} is not a number; entries have numbers, as in flows.0.cca"])
    if len(part) > _DIGITS or int(part) >= len(node):
        missing = f"{brief(path)}: there is no number {brief(part)}"
        raise ScenarioError([f"{missing}; the list has {len(node)}, counted from 0"])
    return int(part)
