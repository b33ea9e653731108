"""The JSON Schema of scenario files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fullpipe.scenario import catalogue
from fullpipe.scenario.documented import default_of, documented, meaning
from fullpipe.scenario.model.registered import Chosen
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.quantities import text_of
from fullpipe.scenario.read.dotted import BASE, SET
from fullpipe.scenario.schema_types import Schema, Types, either

# Schema definitions of models: tables with keys, and entries of catalogues.


_KINDS = {"whole": "integer", "number": "number", "switch": "boolean", "list": "array", "table": "object"}


class Definitions(Types):
    """Definitions by name, created at the first reference.

    Args:
        whole: Definitions of whole tables, given if this object defines tables that override a base and can
            omit any key. Items of lists use `whole`, as a list replaces the list of the base.
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
        """Return the schema of a table with a kind; the kind is required unless the table overrides a base.

        With if/then, editors mark a mistake at its place; with a list of alternatives they mark the table.
        Editors complete the keys in `properties`.
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
        """Return the name of a model. A second model with the same name gets its module's name as prefix."""
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
    """Return the schema of a key of several tables, or the first description if the schemas differ."""
    if all(schema == schemas[0] for schema in schemas):
        return schemas[0]
    return {"description": schemas[0].get("description", "")}


def spellings(name: str, field: FieldInfo) -> Iterator[str]:
    """Yield the keys of a field in files, the preferred one first."""
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
    """Return the schema of a parameter. A missing kind is derived from the default."""
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
    """Parse an example; tables and lists are written as TOML. Abridged examples give None."""
    if not isinstance(example, str) or example[:1] not in "[{":
        return example
    return None if "..." in example else tomllib.loads(f"x = {example}")["x"]


# The JSON Schema of scenario files (draft 7), for editors. Each key has a type, range, default and meaning.
#
# `Scenario` checks rules that a schema cannot express, such as that a link's end exists. So it may refuse
# files that the schema accepts. A file that the schema refuses is no scenario, except for the case of
# names.


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
    """Return the definitions with `set` among the keys of a whole scenario."""
    root = made[name]
    return {**made, name: {**root, "properties": {**root["properties"], SET: _BASE[SET]}}}


def _name(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
