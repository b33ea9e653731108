"""The registry of the native engine: algorithms, queues, losses, impairments, media and other families."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import inf
from typing import Any

from fullpipe import _native
from fullpipe.errors import UnknownNameError, shown, suggestion

_TYPES: Mapping[str, tuple[type, ...]] = {
    "whole": (int,),
    "number": (int, float),
    "switch": (bool,),
    "choice": (str,),
}
_WANTED = {
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "choice": "text in quotes",
}
FORMER_KEYS = {"ack_filter": "thin", "aggregation": "batch", "reordering": "detour"}
"""Former keys of impairments, by their present keys. Scenario files may use either key. Digests of scenarios
use the former key."""
_SUFFIXES = {"ns": "_ns", "ms": "_ms", "s": "_s", "bit/s": "_bps", "Mbit/s": "_mbps", "bytes": "_bytes"}
"""Last words of parameter names in the registry, by unit. A key in a scenario file lacks this last word,
because its value has the unit: `target = "5 ms"` for `target_ms`."""


def is_same_parameter(key: str, other: str) -> bool:
    """Whether two keys differ only by a unit, like `target` and `target_ms`."""
    return any(key == other + unit or other == key + unit for unit in _SUFFIXES.values())


def are_former(key: str, other: str) -> bool:
    """Whether two keys are the former and the present key of one impairment, in either order.

    >>> are_former("thin", "ack_filter"), are_former("ack_filter", "thin"), are_former("thin", "batch")
    (True, True, False)
    """
    return FORMER_KEYS.get(other) == key or FORMER_KEYS.get(key) == other


def _like(default: object) -> tuple[type, ...]:
    """Return the types accepted for a parameter with this default."""
    return (int, float) if default is None or isinstance(default, float) else (type(default),)


@dataclass(frozen=True)
class Param:
    """A parameter of an entry of the registry."""

    name: str
    default: Any
    unit: str
    doc: str
    min: float | None = None
    max: float | None = None
    kind: str = ""
    """Type of the values: "whole", "number", "switch", "choice", "list" or "table". Empty: the type of the
    default."""
    choices: Sequence[str] = ()
    required: bool | None = None
    """Whether the parameter has no default."""
    role: str | None = None
    """"limit": the value limits the backlog, in the parameter's unit. "rate": the value is a shaping rate.
    "off": the parameter has no effect at 0. "share": figures show the value in per cent. None: no role."""
    label: str = ""
    """Short name in figures and tables. Empty: the key."""
    example: Any = None
    """A usual value, for a parameter without a default."""

    @property
    def key(self) -> str:
        """The key in scenario files, where the value is text with a unit: `target` for `target_ms`."""
        return self.name.removesuffix(_SUFFIXES.get(self.unit, ""))

    @property
    def has_quantity(self) -> bool:
        """Whether the value is text with a unit in scenario files."""
        return self.unit in _SUFFIXES and self.kind in ("whole", "number")

    @property
    def example_text(self) -> Any:
        """The example as scenario files write it: text with a unit, or a plain value."""
        return self.written(self.example) if self.has_quantity else self.example

    def written(self, value: Any) -> str:
        """Return a value as scenario files write it; empty for None."""
        if value is None or not self.has_quantity:
            return "" if value is None else str(value)
        from fullpipe.scenario.quantities import text_of  # imported here, as most commands write no quantity

        return text_of(self.unit, value)

    @property
    def written_range(self) -> str:
        """The smallest and the largest value as scenario files write them; empty without a range."""
        if self.min is None or self.max is None:
            return ""
        low, high = (
            self.written(bound) if self.has_quantity else f"{bound:g}" for bound in (self.min, self.max)
        )
        return f"{low} to {high}"

    @property
    def written_unit(self) -> str:
        """The unit of numbers in scenario files; empty for text with a unit."""
        return "" if self.has_quantity else self.unit

    def problem(self, value: object) -> str | None:
        """Return an error message for a value that is not allowed, or None if the value is allowed."""
        if self.choices and isinstance(value, str) and value not in self.choices:
            return f"unknown value {shown(value)}{suggestion(value, self.choices)}"
        bounds = "" if self.min is None or self.max is None else f"from {self.min:.15g} to {self.max:.15g}"
        if not self._takes(value):
            wanted = f"a value like {shown(self.default)}" if not self.kind else _WANTED[self.kind]
            return f"expected {wanted}{bounds and f' {bounds}'}, got {shown(value)}"
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = -inf if self.min is None else self.min, inf if self.max is None else self.max
            if not low <= value <= high or abs(value) == inf:
                return f"{shown(value)} is out of range; {bounds or 'it must be finite'}"
        return None

    def _takes(self, value: object) -> bool:
        kind = _TYPES.get(self.kind) or _like(self.default)
        return isinstance(value, kind) and (bool in kind or not isinstance(value, bool))


@dataclass(frozen=True)
class Entry:
    """An entry of the registry, such as an algorithm, a queue or a loss model."""

    name: str
    title: str
    source: str
    aliases: tuple[str, ...]
    params: Mapping[str, Param]
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Named sets of parameter values. A parameter that is not in a set has its default. The first set is the
    default."""

    @cached_property
    def keys(self) -> dict[str, Param]:
        """The parameters by their keys in scenario files."""
        return {param.key: param for param in self.params.values()}

    @property
    def example(self) -> str:
        """The examples of all parameters as an inline table of TOML."""
        values = {key: param.example_text for key, param in self.keys.items() if param.example is not None}
        return f"{{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in values.items())} }}"

    def with_role(self, role: str) -> list[Param]:
        """Return the parameters with a role, in the order of their declaration."""
        return [param for param in self.params.values() if param.role == role]


@cache
def _registry() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the registry of the native engine. The registry is cached, as building it takes milliseconds."""
    return _native.registry()


@cache
def family(name: str) -> dict[str, Entry]:
    """Return the entries of a family such as "losses" or "impairments", in the order of the registry."""
    return _entries(_registry()[name])


def families() -> list[str]:
    """Return the families of the registry, in its order."""
    return list(_registry())


def entries(name: str) -> dict[str, Entry]:
    """Return all entries called `name` by family. Algorithms are also found by an alias."""
    found = {of: family(of)[name] for of in families() if name in family(of)}
    try:
        return {"algorithms": controller(name), **found}
    except UnknownNameError:
        return found


def controllers() -> dict[str, Entry]:
    """Return the congestion control algorithms by name, in the order of the registry."""
    return family("algorithms")


def queues() -> dict[str, Entry]:
    """Return the queue disciplines by name, in the order of the registry."""
    return family("queues")


def controller(name: str) -> Entry:
    """Return the algorithm with this name or alias, ignoring case.

    Raises:
        UnknownNameError: If no such algorithm exists.
    """
    wanted = name.lower()
    for entry in controllers().values():
        if wanted == entry.name or wanted in entry.aliases:
            return entry
    raise UnknownNameError("algorithm", name, controllers())


def queue(name: str) -> Entry:
    """Return the queue discipline with this name.

    Raises:
        UnknownNameError: If no such queue exists.
    """
    if name not in queues():
        raise UnknownNameError("queue", name, queues())
    return queues()[name]


def _entries(described: Sequence[Mapping[str, Any]]) -> dict[str, Entry]:
    return {entry["name"]: _entry(entry) for entry in described}


def _entry(described: Mapping[str, Any]) -> Entry:
    params = [Param(**{key: p.get(key) for key in Param.__dataclass_fields__}) for p in described["params"]]
    return Entry(
        name=described["name"],
        title=described["title"],
        source=described.get("source", ""),
        aliases=tuple(described.get("aliases", ())),
        params={param.name: param for param in params},
        presets={preset["name"]: preset["values"] for preset in described.get("presets", ())},
    )
