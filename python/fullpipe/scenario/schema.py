"""The JSON Schema of scenario files."""

from __future__ import annotations

import re
import tomllib
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as limits
from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fullpipe.scenario import catalogue
from fullpipe.scenario.documented import default_of, documented, meaning
from fullpipe.scenario.model.base import ShortFor
from fullpipe.scenario.model.registered import Chosen
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.quantities import OrWritten, Written, text_of
from fullpipe.scenario.read.dotted import BASE, SET

Schema = dict[str, Any]
QUANTITY = "x-quantity"
"""Keyword of the schema for text with a unit. The value of the keyword is the kind of quantity, such as
"rate". Validators ignore the keyword."""
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
    """Return the fields of a limit, such as `ge`, by name."""
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
    """Return the schema of text that may replace a table with only this key."""
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


# Definitions of models in the schema: tables with keys, and entries of the registry.


_KINDS = {"whole": "integer", "number": "number", "switch": "boolean", "list": "array", "table": "object"}


class Definitions(Types):
    """Definitions of the schema by name. A definition is made when it is first referenced.

    Args:
        whole: None if this object defines whole tables. Otherwise this object defines tables that override a
            base and can omit any key, and `whole` has the definitions of whole tables. Items of lists use
            `whole`, as a list replaces the list of the base.
    """

    def __init__(self, whole: Definitions | None = None) -> None:
        self.made: dict[str, Schema] = {}
        self._models: dict[str, type[BaseModel]] = {}
        self._parts = whole is not None
        self._whole = whole or self

    @property
    def in_lists(self) -> Definitions:
        """The definitions for items of lists."""
        return self._whole

    def model(self, cls: type[BaseModel]) -> Schema:
        """Return a reference to the definition of a model."""
        name = f"{self._name(cls)}{'Part' if self._parts else ''}"
        if name not in self.made:
            self.made[name] = {}  # the model may refer to itself
            made = self._chosen(cls) if issubclass(cls, Chosen) else self._table(cls)
            self.made[name] = {"description": meaning(cls), **made}
        return {"$ref": f"#/definitions/{name}"}

    def tagged(self, models: Sequence[type[BaseModel]], key: str) -> Schema:
        """Return the schema of a table whose `key` selects a model. The key is required unless the table
        overrides a base.

        The schema uses if/then, with which editors mark a mistake at its place. With anyOf, editors would
        mark the whole table. Editors offer the keys in `properties` for completion.
        """
        references = [self.model(cls) for cls in models]
        tables = [self.made[reference["$ref"].rpartition("/")[2]] for reference in references]
        keys = dict.fromkeys(name for table in tables for name in table["properties"])
        have = {name: [t["properties"][name] for t in tables if name in t["properties"]] for name in keys}
        properties = {name: _common(found) for name, found in have.items()}
        kinds = [table["properties"][key]["enum"] for table in tables]
        cases = [
            {"if": {"properties": {key: {"enum": kind}}, "required": [key]}, "then": reference}
            for kind, reference in zip(kinds, references, strict=True)
        ]
        return {
            "type": "object",
            "properties": {**properties, key: {"enum": [word for kind in kinds for word in kind]}},
            "additionalProperties": False,
            **({} if self._parts else {"required": [key]}),
            "allOf": cases,
        }

    def _name(self, cls: type[BaseModel]) -> str:
        """Return the name of a model's definition. If two models have the same name, the name of the second
        begins with the name of its module."""
        name = cls.__name__
        if self._models.setdefault(name, cls) is not cls:
            name = f"{cls.__module__.rpartition('.')[2].title()}{name}"
        return name

    def _table(self, cls: type[BaseModel]) -> Schema:
        properties: dict[str, Schema] = {}
        wanted: list[Schema] = []
        for name, field in documented(cls).items():
            made = self._described(field)
            for key in spellings(name, field):
                properties[key] = either(properties[key], made) if key in properties else made
            if field.is_required():
                wanted.append(either(*({"required": [key]} for key in spellings(name, field))))
        needed = {} if self._parts or not wanted else {"allOf": wanted}
        return {"type": "object", "properties": properties, "additionalProperties": False, **needed}

    def _described(self, field: FieldInfo) -> Schema:
        made = self.schema_of(field.annotation, [field])
        made = {"allOf": [made]} if "$ref" in made else made  # draft 7 ignores keywords beside $ref
        examples = [value for text in field.examples or () if (value := _value(text)) is not None]
        said: Schema = {"title": field.title} if field.title else {}
        if field.description:
            said["description"] = field.description
        default = None if field.is_required() else _default(field)
        return (
            made
            | said
            | ({} if default is None else {"default": default})
            | ({"examples": examples} if examples else {})
        )

    def _chosen(self, cls: type[Chosen]) -> Schema:
        """Return the schema of a name, or of a table with a name and parameters."""
        own = {
            key: value
            for key, value in self._table(cls)["properties"].items()
            if key not in ("kind", "params")
        }
        known = cls.known()
        names = {"type": "string", "enum": [name for e in known.values() for name in (e.name, *e.aliases)]}
        tables = [self._with_params(entry, own) for entry in known.values()]
        others: list[Schema] = []
        if cls.own_names:
            named = {"type": "string", "pattern": cls.own_names}
            others = [named, {"type": "object", "properties": {"kind": named}, "required": ["kind"]}]
        return {"anyOf": [names, *tables, *others]}

    def _with_params(self, entry: catalogue.Entry, own: Mapping[str, Schema]) -> Schema:
        params = {key: made for param in entry.params.values() for key, made in _spellings(param)}
        kind: Schema = {"enum": [entry.name, *entry.aliases], "description": entry.title}
        needed = {} if self._parts else {"required": ["kind"]}
        properties = {"kind": kind, **own, **params}
        return {"type": "object", "properties": properties, "additionalProperties": False, **needed}


def _common(schemas: Sequence[Schema]) -> Schema:
    """Return the schema of a key that several tables have. If the key's schemas differ, the result is only
    the description from the first table."""
    if all(schema == schemas[0] for schema in schemas):
        return schemas[0]
    return {"description": schemas[0].get("description", "")}


def spellings(name: str, field: FieldInfo) -> Iterator[str]:
    """Yield the keys that files may use for a field, the preferred key first."""
    wanted = field.validation_alias
    others = wanted.choices if isinstance(wanted, AliasChoices) else [wanted]
    found = [field.serialization_alias or name, *(key for key in others if isinstance(key, str))]
    yield from dict.fromkeys(found)


def _default(field: FieldInfo) -> Any:
    if field.default is PydanticUndefined or field.default is None or isinstance(field.default, BaseModel):
        return None
    return default_of(field) if field.default != () else None


def _spellings(param: catalogue.Param) -> Iterator[tuple[str, Schema]]:
    """Yield the keys of a parameter with their schemas, the preferred key first."""
    number = _param(param)
    if not param.has_quantity:
        yield param.key, number
        return
    default = {} if param.default is None else {"default": text_of(param.unit, param.default)}
    text = {"type": "string", "description": param.doc} | default
    if param.key == param.name:
        yield param.key, {"anyOf": [text, number], "description": param.doc} | default
        return
    yield param.key, text
    yield param.name, number


def _param(param: catalogue.Param) -> Schema:
    """Return the schema of a parameter. Without a `kind`, the type is that of the default."""
    like = {bool: "boolean", int: "number", float: "number", str: "string"}.get(type(param.default))
    kind = _KINDS.get(param.kind) or like
    made: Schema = {"type": kind} if kind and not param.choices else {}
    if param.choices:
        made = {"enum": list(param.choices)}
    made |= {"minimum": param.min} if param.min is not None else {}
    made |= {"maximum": param.max} if param.max is not None else {}
    unit = f" In {param.unit}." if param.unit else ""
    made |= {"description": f"{param.doc}{unit}".strip()}
    return made if param.default is None else {**made, "default": param.default}


def _value(example: object) -> object:
    """Return the value of an example. Tables and lists are parsed as TOML; examples with "..." give None."""
    if not isinstance(example, str) or example[:1] not in "[{":
        return example
    return None if "..." in example else tomllib.loads(f"x = {example}")["x"]


# The JSON Schema of scenario files (draft 7), for editors. Each key has a type, range, default and meaning.
#
# `Scenario` also checks rules that a schema cannot express, such as that the end node of a link exists.
# `Scenario` may therefore refuse files that the schema accepts. It accepts no file that the schema refuses,
# with one exception: the schema is case-sensitive in names of algorithms.


TITLE = "Scenario file of fullpipe"
_BASE = {
    BASE: {
        "type": "string",
        "description": "Name or file of the scenario that this scenario extends.",
        "examples": ["single-cubic"],
    },
    SET: {
        "type": "object",
        "description": "Paths in the base scenario and the values that replace the base's values.",
        "examples": [{"flows.0.cca": "bbr3"}],
    },
}


def file_schema() -> dict[str, Any]:
    """Return the schema of a scenario file. A file with a base can omit any key."""
    whole = Definitions()
    part = Definitions(whole)
    scenario, over_base = whole.model(ScenarioModel), part.model(ScenarioModel)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": TITLE,
        "type": "object",
        "properties": {**part.made[_name(over_base)]["properties"], **_BASE},
        "additionalProperties": False,
        "if": {"not": {"required": [BASE]}},
        "then": {"allOf": [scenario]},
        "definitions": {**_with_paths(whole.made, _name(scenario)), **part.made},
    }


def _with_paths(made: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the definitions, with the key `set` added to the definition of a whole scenario."""
    root = made[name]
    return {**made, name: {**root, "properties": {**root["properties"], SET: _BASE[SET]}}}


def _name(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
