"""Placeholders for model types. A type is imported, and its validator built, when its first value is read.

Building the validators of all cells, workloads, losses and shapes takes longer than a short run, and a
scenario needs few of them.
"""

from __future__ import annotations

from copy import copy
from functools import cache, reduce
from importlib import import_module
from operator import or_
from threading import RLock
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, SerializationInfo, TypeAdapter
    from pydantic.fields import FieldInfo
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class Later:
    """Placeholder for a model or a union of models. Values, error messages and TOML are those of that type.

    For a union of kinds, only the validator of the kind that the value names is built.
    """

    home: ClassVar[tuple[str, str]]
    """The type's module and name."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(_written, info_arg=True)
        return core_schema.no_info_plain_validator_function(cls._read, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(_adapter(*cls.home).core_schema)

    @classmethod
    def _read(cls, value: object) -> Any:
        kind = value.get("kind") if isinstance(value, dict) else None
        model = _kinds(*cls.home).get(kind) if isinstance(kind, str) else None
        if model is not None:
            try:
                return _built(model).model_validate(value)
            except ValidationError:
                pass  # the validator of the whole type gives a better message, which names the kind
        return _adapter(*cls.home).validate_python(value)


def later(module: str, name: str) -> Any:
    """Return a placeholder for a type of a module."""
    return type(name, (Later,), {"home": (module, name), "__module__": module})


def _written(value: BaseModel, info: SerializationInfo) -> dict[str, Any]:
    return value.model_dump(
        mode=info.mode,
        include=info.include,  # type: ignore[arg-type]  # the same type, which pydantic spells in two ways
        exclude=info.exclude,  # type: ignore[arg-type]
        context=info.context,
        by_alias=info.by_alias,
        exclude_unset=info.exclude_unset,
        exclude_defaults=info.exclude_defaults,
        exclude_none=info.exclude_none,
    )


_building = RLock()
"""Lock with which one thread at a time builds validators."""


def _built(model: type[BaseModel]) -> type[BaseModel]:
    if not model.__pydantic_complete__:
        with _building:
            model.model_rebuild()
    return model


@cache
def _type(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


@cache
def _adapter(module: str, name: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # imported here, as a value of a known kind needs no adapter

    with _building:
        return TypeAdapter(_type(module, name))


@cache
def _kinds(module: str, name: str) -> dict[str, type[BaseModel]]:
    """Return the models of a discriminated union by kind. Empty for a single model."""
    models = [model for model in models_in(_type(module, name)) if "kind" in declared(model)]
    if len(models) < 2:
        return {}
    return {kind: m for m in models for kind in get_args(declared(m)["kind"].annotation)}


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a type may hold, such as those of a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def models_of(field: FieldInfo) -> list[type[BaseModel]]:
    """Return the models that a field may hold. Only the types of this field are imported."""
    return models_in(_with_types(field.annotation))


def declared(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model with placeholders as types. Nothing is imported."""
    return model.__pydantic_fields__


@cache
def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model with their real types. All of these types are imported."""
    return {name: _resolved(field) for name, field in declared(model).items()}


def _resolved(field: FieldInfo) -> FieldInfo:
    from pydantic.fields import FieldInfo

    annotation = _with_types(field.annotation)
    if annotation is field.annotation:
        return field
    found = copy(field)
    found.annotation = annotation
    if get_origin(annotation) is Annotated:  # pydantic unpacks the outermost Annotated
        found.annotation, *notes = get_args(annotation)
        for note in notes:
            if isinstance(note, FieldInfo):
                found.discriminator = note.discriminator
    return found


def _with_types(annotation: Any) -> Any:
    """Replace the placeholders in an annotation by their types."""
    if isinstance(annotation, type) and issubclass(annotation, Later):
        return _type(*annotation.home)
    args = get_args(annotation)
    made = tuple(map(_with_types, args))
    if all(new is old for new, old in zip(made, args, strict=True)):
        return annotation
    origin = get_origin(annotation)
    if origin is Annotated:
        return Annotated[made]
    return reduce(or_, made) if origin in (Union, UnionType) else origin[made]
