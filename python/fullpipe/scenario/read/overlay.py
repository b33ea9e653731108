"""Scenario files that extend another one: `base`, tables that override it, and paths in `set`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fullpipe.errors import ScenarioError, shown
from fullpipe.scenario.read import dotted, files

BASE, SET, LABELS = "base", "set", "labels"
MOST_BASES = 10
"""Longest chain of files that extend one another."""
_WHOLE = frozenset({"sweep"})
"""Tables that replace those of the base as a whole."""


def resolved(tree: dict[str, Any], folder: Path, depth: int = 0) -> dict[str, Any]:
    """Return scenario data with `base` and `set` applied and file names resolved.

    Args:
        tree: The content of a file.
        folder: The folder of the file and of the files that it names.
        depth: Number of files that led to this one.

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
    """Merge tables key by key. A table with a `kind`, and any other value, replaces that of the base."""
    made = dict(base)
    for key, value in own.items():
        for other in dotted.other_spellings(made, key):
            if other not in own:  # else it is written twice in one file, which is refused
                made[key] = made.pop(other)
        before = made.get(key)
        is_whole = key in _WHOLE or not isinstance(value, Mapping) or "kind" in value
        made[key] = value if is_whole or not isinstance(before, Mapping) else _over(before, value)
    return made
