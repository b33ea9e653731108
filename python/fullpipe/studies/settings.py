"""Settings that improve a verdict: a reading of the study, values in its scenarios, algorithms, or an engine.

A claim of `expected.toml` can name one of these settings:

- `setting = "fq_codel"`: a reading of the study, or a table `[[setting]]` of that `name`;
- `setting = { key = "tcp.loss_detection", value = "dupack" }`: a path in the scenarios and its new value. `*`
in a path stands for every entry of a list;
- `setting = { engine = "ns3" }`: an engine.

A table `[[setting]]` may combine several changes: `reading`, `values` (by path), `instead` (by path, a
replacement for every value of a sweep), `times` (by path, a factor for the number at the path), `algorithms`
(by the name in claims), `engine`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullpipe.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Setting:
    """Changes of a study that improve the verdict on a claim."""

    name: str = ""
    reading: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    instead: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Replacements, by path, of every value that the study sweeps at the path."""
    times: Mapping[str, float] = field(default_factory=dict)
    """Factors, by path, for the number at the path. Factors are used where the number differs between
    conditions."""
    algorithms: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""

    @classmethod
    def from_row(cls, row: str | Mapping[str, Any]) -> Setting:
        """Read the `setting` of a claim, or a table `[[setting]]`."""
        if isinstance(row, str):
            return cls(reading=row)
        made = {key: value for key, value in row.items() if key not in ("key", "value")}
        values = {**made.pop("values", {}), **({row["key"]: row["value"]} if "key" in row else {})}
        return cls(values=values, **made)

    def __str__(self) -> str:
        return self.name or ", ".join(self.parts())

    def parts(self) -> Iterator[str]:
        """Yield all changes as text, such as `key = value`.

        >>> list(Setting(reading="fq_codel", values={"tcp.mss": 536}).parts())
        ['fq_codel', 'tcp.mss = 536']
        """
        if self.reading:
            yield self.reading
        for key, value in (*self.values.items(), *self.algorithms.items()):
            yield f"{key} = {_written(value)}"
        for key, swaps in self.instead.items():
            yield f"{key} = " + ", ".join(f"{_written(v)} for {_written(old)}" for old, v in swaps.items())
        for key, factor in self.times.items():
            yield f"{key} times {factor:g}"
        if self.engine:
            yield f"engine = {_written(self.engine)}"

    def on(self, scenario: Scenario) -> Scenario:
        """Return a scenario with the changes. Raises KeyError if `instead` lacks the scenario's value."""
        if not (self.values or self.instead or self.times):
            return scenario
        tree = scenario.to_dict()
        swaps = {path: swaps[str(_at(tree, path))] for path, swaps in self.instead.items()}
        products = {path: _product(_at(tree, path), factor) for path, factor in self.times.items()}
        values = {**self.values, **swaps, **products}
        return scenario.with_values({p: v for path, v in values.items() for p in _paths(tree, path)})


def _written(value: Any) -> str:
    """Return a value as in a TOML file. A table is on one line.

    >>> _written({"kind": "fq_codel", "ecn": False})
    '{ kind = "fq_codel", ecn = false }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_written(v)}" for key, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _product(quantity: str, factor: float) -> str:
    """Return a quantity multiplied by a factor, in the unit of the quantity.

    >>> _product("74500 B", 0.1)
    '7450 B'
    """
    number, unit = quantity.split(maxsplit=1)
    return f"{float(number) * factor:.12g} {unit}"


def _at(tree: Any, path: str) -> Any:
    """Return the value at a path of a scenario.

    >>> _at({"links": [{"queue": {"size": "1 bdp"}}]}, "links.0.queue.size")
    '1 bdp'
    """
    for key in path.split("."):
        tree = tree[int(key) if isinstance(tree, list) else key]
    return tree


def _paths(tree: Any, path: str) -> list[str]:
    """Expand a path with `*` to one path per entry of the list.

    >>> _paths({"flows": [{}, {}]}, "flows.*.cca")
    ['flows.0.cca', 'flows.1.cca']
    """
    head, star, tail = path.partition(".*.")
    if not star:
        return [path]
    entries = enumerate(_at(tree, head))
    return [f"{head}.{i}.{rest}" for i, entry in entries for rest in _paths(entry, tail)]
