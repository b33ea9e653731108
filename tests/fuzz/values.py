"""Values for fuzzing: right, on the border, and wrong, made from what the models of a scenario declare."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from datetime import date
from random import Random
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as bounds
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from fullpipe.scenario import catalogue, quantities
from fullpipe.scenario.model.flows import Cca
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.quantities import DURATION, RATE, SIZE, Dimension

NAMES = ("a", "b", "c", "slow", "sender", "bottleneck", "a-b", "x" * 100)
HOSTILE = (
    "", " ", "\x1b[2J", "\x1b]0;x\x07", "\u202e", "\ud800", "\x00", "\n", "[/bold]", "[red]", "%s%n",
    "../../x", "/dev/zero", "k" * 5_000, "nan", "inf", "-1 s", "1e999 s", "0.1 ns", "1e-30 Mbit/s",
    "\uff11 s", "1 S", "python:os:system", "{{}}", "true", "\U000e0001", "bbr9", "1 ms ", "=", "a.b.c",
    "0x10 s", "1_000 s", "\u0663 s",
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, -0.0, float("nan"), float("inf"), 2**63, -(2**64), 10**400, 16**4000,
    1e308, [], {}, [[]], {"": {}}, [None], {"kind": None}, {"kind": "x"}, {"kind": []}, ["a"] * 30, b"bytes",
    object(), {1: 2}, (1, 2), 0.1, 1e-320, {"a": {"b": {"c": [{}]}}}, date(2000, 1, 1), {1}, range(3),
)  # fmt: skip
PLAIN = tuple(value for value in WRONG if isinstance(value, bool | int | float | str | list | dict | date))
_RIGHT: dict[str, tuple[str, ...]] = {
    "duration": ("1 s", "100 ms", "20 ms", "5 ms", "1 ms", "2 s", "300 us", "10 us"),
    "rate": ("10 Mbit/s", "1 Mbit/s", "100 Mbit/s", "64 kbit/s", "1 Gbit/s"),
    "size": ("1448 B", "64 KiB", "1 MiB", "100 B", "10 kB", "20 MB", "1 GB"),
}
_EDGES: dict[str, tuple[str, ...]] = {
    "duration": ("0 s", "1 ns", "2 ns", "1 us", "86400 s", "3600 s", "0.5 ns", "86401 s", "0.999999999 s"),
    "rate": ("0 bit/s", "1 bit/s", "1 Tbit/s", "1000 Tbit/s", "1001 Tbit/s", "0.4 bit/s"),
    "size": ("0 B", "1 B", "1 GiB", "1048576 GiB", "9000 B", "9001 B", "0.4 B", "1000 B"),
}


class Values:
    """Draws values; `edges` and `wrong` are the shares of those on the border and of wrong ones."""

    def __init__(self, rng: Random, edges: float, wrong: float) -> None:
        self.rng, self.edges, self.wrong = rng, edges, wrong

    def model(self, model: type[BaseModel], depth: int = 0) -> Any:
        """A table for a model: what it needs, and now and then what it may have."""
        if issubclass(model, Cca | Discipline):
            return self._chosen(model)
        table = {
            field.alias or name: self.field(field, depth + 1)
            for name, field in model.model_fields.items()
            if field.is_required() or name == "kind" or self.rng.random() < 0.25 / (1 + depth / 3)
        }
        if self.rng.random() < self.wrong / 4:
            table[self.rng.choice(HOSTILE)] = self.any_wrong()
        return table

    def field(self, field: FieldInfo, depth: int) -> Any:
        """A value for a field."""
        return self._annotated(field.annotation, field.metadata, depth)

    def value(self, wanted: Any, meta: Sequence[Any], depth: int) -> Any:
        """A value for an annotation."""
        if self.rng.random() < self.wrong / (4 + depth):
            return self.any_wrong()
        origin = get_origin(wanted)
        if origin is Annotated:
            inner, *more = get_args(wanted)
            return self._annotated(inner, [*more, *meta], depth)
        if origin in (Union, types.UnionType):
            return self._one_of(get_args(wanted), depth)
        if origin is Literal:
            return self.rng.choice(get_args(wanted))
        if origin is tuple:
            return self._items(get_args(wanted), meta, depth)
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            return self.model(wanted, depth)
        return self._simple(wanted, meta)

    def any_wrong(self) -> Any:
        """Something that hardly anything may be."""
        return self.rng.choice(HOSTILE) if self.rng.random() < 0.5 else self.rng.choice(WRONG)

    def _annotated(self, inner: Any, meta: Sequence[Any], depth: int) -> Any:
        flat = [part for item in meta for part in (item.metadata if isinstance(item, FieldInfo) else [item])]
        for item in flat:
            make = _BY_VALIDATOR.get(item.func) if isinstance(item, BeforeValidator) else None
            if make is not None:
                return make(self)
        return self.value(inner, flat, depth)

    def _one_of(self, options: Sequence[Any], depth: int) -> Any:
        known = [option for option in options if option is not type(None)]
        return self.value(self.rng.choice(known), (), depth)

    def _items(self, parts: Sequence[Any], meta: Sequence[Any], depth: int) -> list[Any]:
        if parts[-1] is not Ellipsis:
            return [self.value(part, (), depth + 1) for part in parts]
        least = max((item.min_length for item in meta if isinstance(item, bounds.MinLen)), default=0)
        return [self.value(parts[0], (), depth + 1) for _ in range(least + self.rng.choice((0, 0, 1, 2)))]

    def _simple(self, wanted: Any, meta: Sequence[Any]) -> Any:
        if wanted is bool:
            return self.rng.random() < 0.5
        if wanted in (int, float):
            return self._number(wanted, meta)
        if wanted is str:
            return self.rng.choice(NAMES)
        return {}

    def _number(self, kind: type, meta: Sequence[Any]) -> Any:
        low, high = 0, 10
        for item in meta:
            low = getattr(item, "ge", getattr(item, "gt", low))
            high = getattr(item, "le", getattr(item, "lt", high))
        if self.rng.random() < self.edges:
            return self.rng.choice((low, high, low - 1, high + 1))
        if kind is float:
            return self.rng.uniform(low, min(high, low + 1))
        return self.rng.randint(low, min(high, low + 20))

    def quantity(self, of: Dimension) -> str:
        """A rate, a size or a time."""
        if self.rng.random() < self.wrong / 6:
            return self.rng.choice(HOSTILE)
        return self.rng.choice((_EDGES if self.rng.random() < self.edges else _RIGHT)[of.noun])

    def _chosen(self, model: type[BaseModel]) -> Any:
        """An algorithm or a queue with some of its parameters."""
        entries = catalogue.controllers() if issubclass(model, Cca) else catalogue.queues()
        kind = self.rng.choice([name for name in entries if name != "drop_tail"])
        table: dict[str, Any] = {"kind": kind}
        for param in entries[kind].params.values():
            if self.rng.random() < 0.15:
                table[param.name] = self._parameter(param)
        if issubclass(model, Cca) and len(table) == 1:
            return kind
        return table

    def _parameter(self, param: catalogue.Param) -> Any:
        if self.rng.random() < self.wrong:
            return self.any_wrong()
        if param.min is None or param.max is None or isinstance(param.default, bool | str):
            return param.default if param.default is not None else 1
        value: float = self.rng.choice(
            (param.min, param.max, (param.min + param.max) / 2, param.default or param.min)
        )
        return round(value) if isinstance(param.default, int) else value


_BY_VALIDATOR: dict[Any, Callable[[Values], Any]] = {
    quantities._seconds: lambda v: v.quantity(DURATION),
    quantities._seconds_or_off: lambda v: "off" if v.rng.random() < 0.3 else v.quantity(DURATION),
    RATE.parse: lambda v: v.quantity(RATE),
    SIZE.parse: lambda v: v.quantity(SIZE),
    quantities._bytes_or_off: lambda v: "off" if v.rng.random() < 0.3 else v.quantity(SIZE),
    quantities._bdps: lambda v: v.rng.choice(("1 bdp", "0.5 bdp", "1e6 bdp", "0 bdp", "1e-9 bdp", "2 BDP")),
}
