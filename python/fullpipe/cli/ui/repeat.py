"""The command line that does what the page did."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from fullpipe.errors import FullpipeError
from fullpipe.scenario import Scenario

_BASE = "single-cubic"
_TOP = ("duration", "warmup", "flows", "tcp", "record")


def command_of(scenario: Scenario, seed: int) -> str:
    """A command that makes the same run without any file; empty if there is none, or none that is short.

    It begins with a scenario that comes with fullpipe and sets what differs.
    """
    base = Scenario.named(_BASE)
    values = dict(_changes(base.to_dict(), scenario.to_dict()))
    try:
        if base.with_values(values).digest != scenario.digest:
            return ""
    except FullpipeError:
        return ""
    words = ["fullpipe", "run", _BASE, "--seed", str(seed)]
    for path, value in values.items():
        words += ["--set", f"{path}={inline(value)}"]
    return shlex.join(words)


def inline(value: Any) -> str:
    """A value as TOML on one line.

    >>> inline([{"cca": "cubic", "count": 2}])
    '[{cca = "cubic", count = 2}]'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _changes(base: Mapping[str, Any], tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Paths with their values where a scenario differs from the base."""
    there, wanted = base["topology"], tree["topology"]
    for key in _TOP:
        if key in tree and tree[key] != base.get(key):
            yield key, tree[key]
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(there.get(key), Mapping):
            changed = ((inner, part) for inner, part in value.items() if there[key].get(inner) != part)
            yield from ((f"topology.{key}.{inner}", part) for inner, part in changed)
        elif value != there.get(key):
            yield f"topology.{key}", value
