"""What two scenarios are called beside each other: by what differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fullpipe.analysis.points import at, differences, short_names
from fullpipe.analysis.values import value_text
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import natural

_ASIDE = ("name", "labels", "record")
"""What changes no result."""
_MOST = 4
"""Paths in a name."""


def names_of(one: Scenario, other: Scenario) -> tuple[str, str]:
    """The names of two scenarios: the values that differ; their own names, or A and B, if too many do.

    >>> base = Scenario.named("single-cubic")
    >>> names_of(base, base.with_values({"flows.0.cca": "bbr3"}))
    ('cubic', 'bbr3')
    """
    trees = [_tree(each) for each in (one, other)]
    paths = differences(*trees)
    if 0 < len(paths) <= _MOST:
        words = short_names(paths)
        values = [[at(tree, _keys(path)) for path in paths] for tree in trees]
        pairs = list(zip(paths, *values, strict=True))
        first = ", ".join(_said(words[path], value, against) for path, value, against in pairs)
        second = ", ".join(_said(words[path], value, against) for path, against, value in pairs)
        if first != second:
            return first, second
    return (one.name, other.name) if one.name != other.name else ("A", "B")


def files_of(names: Sequence[str]) -> list[str]:
    """Names of scenario files after the names of scenarios.

    >>> files_of(["drop_tail 1 bdp", "fq_codel"])
    ['drop_tail-1-bdp.toml', 'fq_codel.toml']
    """
    stems = [re.sub(r"[^\w.+]+", "-", name, flags=re.ASCII).strip("-.")[:60] for name in names]
    if not all(stems) or len({stem.lower() for stem in stems}) < len(stems):
        stems = [chr(ord("a") + number) for number in range(len(names))]
    return [f"{stem}.toml" for stem in stems]


def _tree(scenario: Scenario) -> dict[str, Any]:
    return {key: value for key, value in scenario.to_dict().items() if key not in _ASIDE}


def _keys(path: str) -> list[str | int]:
    return [int(word) if word.isdecimal() else word for word in path.split(".")]


def _said(word: str, value: Any, against: Any) -> str:
    """A value in few words; with those of its path where the value alone does not say what it is."""
    if value is None:
        return f"default {word}"
    speaks = isinstance(value, str) or (isinstance(value, Mapping) and "kind" in value)
    text = _text(value)
    return text if speaks and against is not None else f"{word} {text}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and "kind" not in value:
        return " ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, Mapping):
        return " ".join(_text(part) for part in value.values())
    return natural(value) if isinstance(value, str) else value_text(value).lower()
