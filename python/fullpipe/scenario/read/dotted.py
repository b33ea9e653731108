"""Dotted paths into a scenario as it is written: `topology.bottleneck.queue.packets`, `flows.0.cca`."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from copy import deepcopy
from itertools import accumulate
from typing import Any

from fullpipe.errors import ScenarioError, brief

Tree = dict[str, Any]
MAX_PARTS = 50
"""Of a path; a scenario has some eight levels."""
_DIGITS = 9
"""Of the number of an entry."""


def normal(path: str) -> str:
    """One spelling per path: `flows[0].cca` is `flows.0.cca`."""
    return re.sub(r"\[(\d+)\]", r".\1", path).strip()


def covers(path: str, other: str) -> bool:
    """Whether `path` is `other` or a part of the tree that holds it."""
    path, other = normal(path), normal(other)
    return other == path or other.startswith(f"{path}.")


def as_written(path: str, counts: Iterable[int]) -> str:
    """The path that a user writes for one in a plan, which has every flow by itself.

    Args:
        path: A path in the plan, such as `flows[7].cca.params`.
        counts: How many flows each entry of `flows` stands for.
    """
    found = re.match(r"flows\[(\d+)\](.*)", path)
    if not found:
        return path
    last = list(accumulate(counts))
    entry = min(bisect_right(last, int(found[1])), len(last) - 1)
    return f"flows[{entry}]{found[2].replace('.cca.params', '.cca')}"


def replaced(tree: Tree, path: str, value: object) -> Tree:
    """A copy of `tree` with `value` at `path`; tables on the way are made when they are missing.

    An algorithm written as a name becomes a table when one of its parameters is set.

    Raises:
        ScenarioError: If the path has no place in the tree.
    """
    parts = normal(path).split(".")
    if not all(parts) or len(parts) > MAX_PARTS:
        raise ScenarioError([f'"{brief(path)}": not a path; write it as in topology.bottleneck.rate'])
    tree = deepcopy(tree)
    node: Any = tree
    for part in parts[:-1]:
        node = _step(node, part, path)
    if isinstance(node, list):
        node[_index(node, parts[-1], path)] = value
    else:
        node[parts[-1]] = value
    return tree


def _step(node: Any, part: str, path: str) -> Any:
    key = _index(node, part, path) if isinstance(node, list) else part
    if isinstance(node, dict):
        node.setdefault(key, {})
    if part == "cca" and isinstance(node[key], str):
        node[key] = {"kind": node[key]}
    if not isinstance(node[key], dict | list):
        raise ScenarioError([f'{brief(path)}: "{brief(part)}" is a single value and has no parts'])
    return node[key]


def _index(node: list[Any], part: str, path: str) -> int:
    if not part.isdecimal():
        where = f'{brief(path)}: "{brief(part)}"'
        raise ScenarioError([f"{where} stands where a number belongs, as in flows.0.cca"])
    if len(part) > _DIGITS or int(part) >= len(node):
        missing = f"{brief(path)}: there is no number {brief(part)}"
        raise ScenarioError([f"{missing}; the list has {len(node)}, counted from 0"])
    return int(part)
