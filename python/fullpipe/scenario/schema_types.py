"""Schemas of types. TOML has no null: a field that can be None is a key that can be left out."""

from __future__ import annotations

import re
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as limits
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fullpipe.scenario.model.base import ShortFor
from fullpipe.scenario.model.registered import Chosen
from fullpipe.scenario.quantities import OrWritten, Written

Schema = dict[str, Any]
QUANTITY = "x-quantity"
"""Keyword for the kind of quantity of a text with a unit. Validators ignore this keyword."""
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean"}
_NUMBER = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_KEYWORDS = {
    "number": {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"},
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
}
_KEYWORDS["integer"] = _KEYWORDS["number"]
_WORDS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}


class Types(ABC):
    """Schemas of types. Subclasses add the schemas of models."""

    @abstractmethod
    def model(self, cls: type[BaseModel]) -> Schema:
        """Return the schema of a model."""

    @abstractmethod
    def tagged(self, models: Sequence[type[BaseModel]], key: str) -> Schema:
        """Return the schema of one of several models, selected by a key."""

    @property
    @abstractmethod
    def in_lists(self) -> Types:
        """The schemas for items of lists."""

    def schema_of(self, annotation: Any, notes: Iterable[Any] = ()) -> Schema:
        """Return the schema of a type with its annotations, such as limits."""
        notes = list(_flat(notes))
        if get_origin(annotation) is Annotated:
            base, *inner = get_args(annotation)
            return self.schema_of(base, [*_flat(inner), *notes])
        written = next((note for note in notes if isinstance(note, Written)), None)
        tag = next((note.discriminator for note in notes if isinstance(note, _Tag)), None)
        made = _limited(_text(written, notes) if written else self._bare(annotation, tag), notes)
        short = (_names(annotation, note.key) for note in notes if isinstance(note, ShortFor))
        also = (self.schema_of(note.type) for note in notes if isinstance(note, OrWritten))
        return either(made, *also, *short)

    def _bare(self, annotation: Any, tag: str | None) -> Schema:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (Union, types.UnionType):
            found = [arg for arg in args if arg is not type(None)]
            return self.tagged(found, tag) if tag else either(*map(self.schema_of, found))
        if origin is Literal:
            return {"enum": list(args)}
        if origin is tuple:
            return self._tuple(args)
        if origin is dict:
            return {"type": "object", "additionalProperties": self.schema_of(args[1])}
        if annotation in _PLAIN:
            return {"type": _PLAIN[annotation]}
        return self.model(annotation) if _is_model(annotation) else {}

    def _tuple(self, args: tuple[Any, ...]) -> Schema:
        if args[-1] is Ellipsis:
            return {"type": "array", "items": self.in_lists.schema_of(args[0])}
        items = [self.in_lists.schema_of(arg) for arg in args]
        return {"type": "array", "items": items, "minItems": len(items), "maxItems": len(items)}


class _Tag:
    """A discriminator: the name of the key that selects a model."""

    def __init__(self, discriminator: str) -> None:
        self.discriminator = discriminator


def either(*schemas: Schema) -> Schema:
    """Return the union of schemas, without duplicates."""
    flat = [one for schema in schemas for one in (schema["anyOf"] if [*schema] == ["anyOf"] else [schema])]
    once = [one for n, one in enumerate(flat) if one not in flat[:n]]
    return once[0] if len(once) == 1 else {"anyOf": once}


def _flat(notes: Iterable[Any]) -> Iterable[Any]:
    """Yield annotations, including those inside fields."""
    for note in notes:
        if isinstance(note, FieldInfo):
            yield from note.metadata
            if isinstance(note.discriminator, str):
                yield _Tag(note.discriminator)
        else:
            yield note


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _bounds(notes: Iterable[Any]) -> Mapping[str, Any]:
    kinds = (limits.Gt, limits.Ge, limits.Lt, limits.Le, limits.MinLen, limits.MaxLen)
    found = [vars_of(note) for note in notes if isinstance(note, kinds)]
    return {name: value for one in found for name, value in one.items()}


def vars_of(note: Any) -> dict[str, Any]:
    """Return the values of a limit by name."""
    return {name: getattr(note, name) for name in type(note).__dataclass_fields__}


def _text(written: Written, notes: Iterable[Any]) -> Schema:
    """Return the schema of text with a unit. Limits are given as text, as JSON Schema cannot check them."""
    sign = "[+-]?" if written.signed else r"\+?"
    units = "|".join(re.escape(unit) for unit in written.units)
    made: Schema = {
        "type": "string",
        "pattern": rf"^\s*{sign}{_NUMBER}\s*({units})\s*$",
        QUANTITY: written.noun,
        "examples": [written.example],
    }
    said = [f"{_WORDS[name]} {written.write(value)}" for name, value in _bounds(notes).items()]
    return {**made, "x-limits": " and ".join(said)} if said else made


def _limited(made: Schema, notes: Iterable[Any]) -> Schema:
    r"""Add limits to a schema. Patterns with \w are omitted, as its meaning differs between languages."""
    keywords = {} if QUANTITY in made else _KEYWORDS.get(made.get("type", ""), {})
    bounds = {keywords[name]: value for name, value in _bounds(notes).items() if name in keywords}
    pattern = next(
        (vars(note)["pattern"] for note in notes if "pattern" in getattr(note, "__dict__", {})), None
    )
    return {**made, **bounds, **({} if pattern is None or r"\w" in pattern else {"pattern": pattern})}


def _names(annotation: Any, key: str) -> Schema:
    """Return the schema of words that are short for a table with only this key."""
    words: list[str] = []
    for cls in (annotation, *get_args(annotation)):
        for one in (cls, *get_args(cls)):
            words += _words(one, key) if _is_model(one) else []
    return {"enum": list(dict.fromkeys(words))}


def _words(cls: type[BaseModel], key: str) -> list[str]:
    if issubclass(cls, Chosen):
        return list(cls.known())
    others = (field for name, field in cls.model_fields.items() if name != key)
    if any(field.is_required() for field in others):
        return []
    return [word for word in get_args(cls.model_fields[key].annotation) if isinstance(word, str)]
