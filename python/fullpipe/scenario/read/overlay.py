"""A scenario file that begins with another: `base`, the tables laid over it, and the paths that are set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fullpipe.errors import ScenarioError, shown
from fullpipe.scenario.read import dotted, files

BASE, SET, LABELS = "base", "set", "labels"
MOST_BASES = 10
"""Files of which each begins with the next."""
_WHOLE = frozenset({"sweep"})
"""Tables that take the place of those of the base."""


def resolved(tree: dict[str, Any], folder: Path, depth: int = 0) -> dict[str, Any]:
    """The data of a scenario without `base` and `set`: laid over the base, with files located.

    Args:
        tree: What a file holds.
        folder: Where the file is, and the files that it names.
        depth: How many files lead here.

    Raises:
        ScenarioError: If a base cannot be read, is no name, or leads to too many others; or a path is wrong.
    """
    own = {key: value for key, value in tree.items() if key not in (BASE, SET)}
    labels = {LABELS: own.pop(LABELS)} if LABELS in own else {}  # words, none of which is a file
    made: dict[str, Any] = {**files.located(own, folder), **labels}
    if BASE in tree:
        made = _over(_base(tree[BASE], folder, depth), made)
    paths = tree.get(SET, {})
    if not isinstance(paths, Mapping):
        raise ScenarioError([f"set: expected paths and their values, got {shown(paths)}"])
    for path, value in files.located(dict(paths), folder).items():
        made = dotted.replaced(made, path, value)
    return made


def _base(name: object, folder: Path, depth: int) -> dict[str, Any]:
    if not isinstance(name, str):
        raise ScenarioError([f"base: expected a file or the name of a scenario, got {shown(name)}"])
    if depth >= MOST_BASES:
        many = f"more than {MOST_BASES} files in a row, or a circle of them"
        raise ScenarioError([f"base: {shown(name)} comes after {many}"])
    if name in files.scenario_names():
        return resolved(files.parse_toml(files.named_text(name)), files.folder_of_names(), depth + 1)
    path = folder / name
    return resolved(files.parse_toml(files.read_text(path), str(path)), path.parent, depth + 1)


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are laid over tables, key by key; one that says its kind, and whatever is no table, replaces."""
    made = dict(base)
    for key, value in own.items():
        before = made.get(key)
        is_whole = key in _WHOLE or not isinstance(value, Mapping) or "kind" in value
        made[key] = value if is_whole or not isinstance(before, Mapping) else _over(before, value)
    return made
