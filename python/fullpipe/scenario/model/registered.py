"""Fields of models that the simulator declares, each with type, unit, range, default and documentation.

A parameter with a unit is text with a unit in a file ("200 ms"). A model holds it as a number in base units,
in a field with the unit as its last word (`min_rto_s`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, create_model

from fullpipe.errors import shown
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Switch
from fullpipe.scenario.quantities import NANOSECONDS, Bytes, BytesOrOff, Seconds, to_nanoseconds

_M = TypeVar("_M", bound=Model)
_SUFFIX = {"bytes": "bytes", "ns": "s"}
"""The last word of a field, by the unit of its parameter."""
_SWITCHED: Mapping[str, bool] = {"off": False, "on": True}
"""Names of choices that a file writes as false and true."""


def registered(entry: catalogue.Entry) -> Callable[[type[_M]], type[_M]]:
    """Add the parameters of an entry of the registry to a model, as fields."""

    def added(cls: type[_M]) -> type[_M]:
        fields: dict[str, Any] = {field_name(param): _field(param) for param in entry.params.values()}
        return create_model(
            cls.__name__, __base__=cls, __module__=cls.__module__, __doc__=cls.__doc__, **fields
        )

    return added


def field_name(param: catalogue.Param) -> str:
    """The field of a parameter: its name, and the unit in which the model holds it."""
    unit = _SUFFIX.get(param.unit)
    return f"{param.name}_{unit}" if unit else param.name


def in_plan(model: Model, entry: catalogue.Entry) -> Iterator[tuple[str, Any]]:
    """The parameters that differ from the defaults of the simulator, with their values in its units."""
    for param in entry.params.values():
        value = getattr(model, field_name(param))
        if value is None:
            continue
        if param.unit == "ns":
            value = to_nanoseconds(value)
        elif isinstance(value, bool) and param.kind == "choice":
            value = "on" if value else "off"
        if value != param.default:
            yield param.name, value


def _field(param: catalogue.Param) -> tuple[Any, Any]:
    """The type and the declaration of a field."""
    kind = _type(param)
    default = _default(param)
    alias = param.name if field_name(param) != param.name else None
    field = Field(default, alias=alias, description=" ".join(param.doc.split()))
    return kind | None if param.default is None and not param.required else kind, field


def _default(param: catalogue.Param) -> Any:
    if param.unit == "ns" and param.default is not None:
        return param.default / NANOSECONDS
    return _SWITCHED.get(param.default, param.default) if param.kind == "choice" else param.default


def _type(param: catalogue.Param) -> Any:
    if param.kind == "switch":
        return Switch
    if param.kind == "choice":
        return _choice(tuple(param.choices))
    if param.kind != "whole":
        raise TypeError(f'{param.name}: the kind "{param.kind}" has no type of a field; give it one')
    if param.unit not in _SUFFIX:
        return Annotated[int, Field(strict=True, **_bounds(param, 1))]
    if param.unit == "ns":
        return Annotated[Seconds, Field(**_bounds(param, NANOSECONDS))]
    size = BytesOrOff if param.role == "off" else Bytes
    return Annotated[size, Field(**_bounds(param, 1))]


def _bounds(param: catalogue.Param, scale: int) -> dict[str, Any]:
    """The range of a parameter in units of `scale`. The least time above nothing reads "more than 0"."""
    bounds: dict[str, Any] = {}
    if param.min is not None:
        bounds |= {"gt": 0} if param.min == 1 and param.unit == "ns" else {"ge": _scaled(param.min, scale)}
    if param.max is not None:
        bounds |= {"le": _scaled(param.max, scale)}
    return bounds


def _scaled(bound: float, scale: int) -> float:
    return int(bound) if scale == 1 else bound / scale


def _choice(names: tuple[str, ...]) -> Any:
    """One of several names, of which "on" and "off" are written as true and false."""
    texts = tuple(name for name in names if name not in _SWITCHED)
    if len(texts) == len(names):
        return Literal[texts]

    def check(value: object) -> object:
        if isinstance(value, bool) or value in texts:
            return value
        wanted = " or ".join(f'"{text}"' for text in texts)
        raise ValueError(f"expected true, false or {wanted}, got {shown(value)}")

    return Annotated[bool | Literal[texts], BeforeValidator(check)]
