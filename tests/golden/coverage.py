"""Everything that a scenario can say: its keys, their kinds and their choices."""

from collections.abc import Collection, Iterator
from functools import cache
from inspect import get_annotations
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel


def keys_that_exist(model: type[BaseModel], *, without: Collection[str] = ()) -> set[str]:
    """Keys and choices of a model and of all that it holds, as "Jitter.shape" and "Jitter.shape=normal"."""
    found: set[str] = set()
    waiting, seen = [model], {model}
    while waiting:
        cls = waiting.pop()
        for name, field in cls.model_fields.items():
            key = _key(cls, name)
            if key in without:
                continue
            found.add(key)
            for part in _parts(field.annotation):
                if isinstance(part, type) and issubclass(part, BaseModel):
                    waiting += [part] if part not in seen else []
                    seen.add(part)
                elif get_origin(part) is Literal:
                    found |= {f"{key}={value}" for value in get_args(part)}
    return found


def keys_of(value: object) -> Iterator[str]:
    """Keys that a scenario sets, and the choices that it makes, by default or not."""
    if isinstance(value, tuple):
        for item in value:
            yield from keys_of(item)
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            key, held = _key(type(value), name), getattr(value, name)
            if name in value.model_fields_set:
                yield key
            if isinstance(held, str):
                yield f"{key}={held}"
            yield from keys_of(held)


@cache
def _key(cls: type[BaseModel], name: str) -> str:
    """A key as it is spelt in TOML, behind the class that declares it."""
    where = next(base for base in reversed(cls.__mro__) if name in get_annotations(base))
    return f"{where.__name__}.{cls.model_fields[name].alias or name}"


def _parts(annotation: Any) -> Iterator[Any]:
    """An annotation and everything in it."""
    yield annotation
    if get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from _parts(part)
