"""Fields of models made from parameters of the registry, and models of entries that are chosen by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, create_model, model_validator

from fullpipe.errors import UnknownNameError, shown, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import PERCENT, Model, Switch, WithinError
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.quantities import (
    DURATION,
    NANOSECONDS,
    BitsPerSecond,
    Bytes,
    BytesOrOff,
    Seconds,
    number_in,
    text_of,
    to_nanoseconds,
)

# Model fields that are made from parameters of the registry. The simulator declares these parameters. Each
# parameter has a type, unit, range, default and documentation.
#
# In a file, a parameter with a unit is text ("200 ms"). In a model, it is a number in base units, in a field
# whose last word is the unit (`min_rto_s`).


_M = TypeVar("_M", bound=Model)
_SUFFIX = {"bytes": "bytes", "ns": "s", "bit/s": "bps"}
"""The last word of a field's name, by the unit of its parameter."""
_SWITCHED: Mapping[str, bool] = {"off": False, "on": True}
"""Values of choices that are written as false and true in scenario files."""
_NUMBERS: Mapping[str, Any] = {"whole": int, "number": float}
_MOST_IN_FILES = 2**63 - 1
"""Largest whole number of TOML."""


def registered(entry: catalogue.Entry) -> Callable[[type[_M]], type[_M]]:
    """Add the parameters of an entry of the registry to a model, as fields.

    A field that the model declares itself keeps its type, but has the documentation of the registry.
    """

    def added(cls: type[_M]) -> type[_M]:
        own = declared(cls)
        fields = {
            name: _documented(own[name], param) if name in own else field_of(param)
            for param in entry.params.values()
            for name in [field_name(param)]
        }
        return with_fields(fields)(cls)

    return added


def with_fields(fields: Mapping[str, Any]) -> Callable[[type[_M]], type[_M]]:
    """Add fields to a model, each as a pair of its type and its declaration."""
    return lambda cls: _made(cls.__name__, cls, cls.__doc__, fields)


def model_of(entry: catalogue.Entry, base: type[_M], **first: Any) -> type[_M]:
    """Return a model of an entry of the registry, with the fields in `first` before its parameters."""
    source = f"\n\nSource: {entry.source}." if entry.source else ""
    fields = {field_name(param): field_of(param) for param in entry.params.values()}
    return _made(model_name(entry), base, f"{entry.title}.{source}", first | fields)


def model_name(entry: catalogue.Entry) -> str:
    """Return the name of the model of an entry: `GilbertElliott` for "gilbert_elliott"."""
    return entry.name.title().replace("_", "")


def _made(name: str, base: type[_M], doc: str | None, fields: Mapping[str, Any]) -> type[_M]:
    return create_model(name, __base__=base, __module__=base.__module__, __doc__=doc, **fields)


def field_name(param: catalogue.Param) -> str:
    """Return the field name of a parameter: the key, followed by the unit in which the model holds the
    value."""
    unit = _SUFFIX.get(param.unit)
    return f"{param.key}_{unit}" if unit else param.key


def values_of(model: Model, entry: catalogue.Entry) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a model by their names in the registry, with values in the registry's units."""
    for param in entry.params.values():
        yield param.name, in_registry(param, getattr(model, field_name(param)))


def in_registry(param: catalogue.Param, value: Any) -> Any:
    """Return a value of a field in the unit and the spelling of the registry."""
    if value is not None and param.unit == "ns":
        return to_nanoseconds(value)
    if isinstance(value, bool) and param.kind == "choice":
        return "on" if value else "off"
    return value


def in_plan(model: Model, entry: catalogue.Entry) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that differ from the simulator's defaults, with values in the simulator's
    units."""
    for name, value in values_of(model, entry):
        if value is not None and value != entry.params[name].default:
            yield name, value


def field_of(param: catalogue.Param, former: Sequence[str] = ()) -> tuple[Any, Any]:
    """Return the type and the declaration of the field of a parameter. The field also accepts `former`
    keys."""
    kind = type_of(param)
    alias = param.key if field_name(param) != param.key else None
    field = Field(
        ... if param.required else _default(param),
        alias=alias,
        validation_alias=AliasChoices(param.key, *former) if former else None,
        title=param.label or None,
        description=_meaning(param),
        examples=None if param.example is None else [param.example_text],
    )
    return kind | None if param.default is None and not param.required else kind, field


def _documented(field: Any, param: catalogue.Param) -> tuple[Any, Any]:
    found = copy(field)
    found.description = _meaning(param)
    return found.annotation, found


def _meaning(param: catalogue.Param) -> str:
    return " ".join(param.doc.split())


def _default(param: catalogue.Param) -> Any:
    if param.unit == "ns" and param.default is not None:
        return param.default / NANOSECONDS
    return _SWITCHED.get(param.default, param.default) if param.kind == "choice" else param.default


def type_of(param: catalogue.Param) -> Any:
    """Return the type of a parameter's values in a model, with the range of the values."""
    if param.kind == "switch":
        return Switch
    if param.kind == "choice":
        return _choice(tuple(param.choices))
    if param.kind not in _NUMBERS:
        raise TypeError(f'{param.name}: parameters of kind "{param.kind}" have no field type; add a type')
    if param.unit == "ns":
        return Annotated[Seconds, Field(**_bounds(param, NANOSECONDS))]
    bounds = Field(**_bounds(param, 1))
    if param.unit == "bit/s":
        return Annotated[BitsPerSecond, Field(**_bounds(param, 1))]
    if param.unit == "bytes":
        size = BytesOrOff if param.role == "off" else Bytes
        return Annotated[size, bounds]
    notes = [PERCENT] if param.role == "share" else []
    return Annotated[(_NUMBERS[param.kind], Field(strict=True), bounds, *notes)]


def _bounds(param: catalogue.Param, scale: int) -> dict[str, Any]:
    """Return the bounds of a parameter, divided by `scale`. A minimum of 1 ns becomes "more than 0".

    Bounds that hold for every quantity with this unit are left out.
    """
    bounds: dict[str, Any] = {}
    if param.min is not None and (param.min or param.unit not in _SUFFIX):
        bounds |= {"gt": 0} if param.min == 1 and param.unit == "ns" else {"ge": _scaled(param.min, scale)}
    if param.max is not None and (param.max < DURATION.limit or param.unit != "ns"):
        bounds |= {"le": min(_scaled(param.max, scale), _MOST_IN_FILES)}
    return bounds


def _scaled(bound: float, scale: int) -> float:
    found = bound / scale
    return int(found) if found.is_integer() else found


def _choice(names: tuple[str, ...]) -> Any:
    """Return the type of a choice of names. In files, the names "on" and "off" are true and false."""
    texts = tuple(name for name in names if name not in _SWITCHED)
    if len(texts) == len(names):
        return Literal[texts]

    def check(value: object) -> object:
        if isinstance(value, bool) or value in texts:
            return value
        wanted = " or ".join(f'"{text}"' for text in texts)
        raise ValueError(f"expected true, false or {wanted}, got {shown(value)}")

    return Annotated[bool | Literal[texts], BeforeValidator(check)]


# Models of algorithms and queues: the name of an entry of the registry, and parameters that differ from
# defaults.


class Chosen(Model):
    """An entry of the registry by name, with parameters. A subclass defines which entries are known."""

    kind: str
    """Name of the entry. An alias is replaced by the name of its entry."""
    params: dict[str, Any] = Field(default_factory=dict)

    _example: ClassVar[str]

    own_names: ClassVar[str] = ""
    """Regular expression for names outside the registry. Empty: every name must be in the registry."""

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """Return the entries that can be chosen, by name."""
        raise NotImplementedError

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry | None:
        """Return the entry `name`, or None if its parameters are unknown. Raises UnknownNameError."""
        raise NotImplementedError

    @classmethod
    def _spelt(cls, value: object) -> object:
        """Convert a value given in Python to a value as in TOML."""
        return value

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if isinstance(value, cls):
            return value
        value = cls._spelt(value)
        if isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
            raise ValueError(f"expected {cls._example}, got {shown(value)}")
        try:
            entry = cls._entry(value["kind"])
        except UnknownNameError as error:
            raise ValueError(str(error)) from None
        own = {field.alias or name for name, field in declared(cls).items()} - {"params"}
        given = {key: v for key, v in value.items() if key not in own}
        params = _numbers(entry, given) if entry else given
        kept = {key: v for key, v in value.items() if key in own}
        return {**kept, "kind": entry.name if entry else value["kind"], "params": params}

    def spelt(self, *, as_text: bool) -> dict[str, Any]:
        """Return the parameters as scenario files write them, or by their names in the registry."""
        entry = self._entry(self.kind) if as_text else None
        if entry is None:
            return self.params
        return dict(_spelt(entry.params[name], value) for name, value in self.params.items())


def _numbers(entry: catalogue.Entry, given: Mapping[str, object]) -> dict[str, object]:
    """Return parameters by their names in the registry. Quantities become numbers.

    Raises:
        WithinError: If a parameter is unknown or written twice, or a value is wrong.
    """
    keys = entry.keys
    params: dict[str, object] = {}
    problems: list[tuple[str, str]] = []
    for key, written in given.items():
        param = entry.params.get(key) or keys.get(key)
        if param is None:
            text = f'unknown parameter "{key}" of {entry.name}{suggestion(key, keys)}'
            problems.append(("", text))
        elif param.name in params:
            problems.append((key, f"the same parameter as {param.key}; write one of the two"))
        else:
            value, problem = _number(param, key, written)
            params[param.name] = value
            problems += [(key, problem)] if problem else []
    if problems:
        raise WithinError(*problems)
    return params


def _number(param: catalogue.Param, key: str, value: object) -> tuple[object, str | None]:
    """Return a value in the unit of the registry, and an error message or None.

    A key with the unit, such as `target_ms`, takes a number. A key without the unit takes text with a unit.
    """
    is_number = key == param.name and (param.key != param.name or not isinstance(value, str))
    if not param.has_quantity or is_number:
        problem = param.problem(value)
        return _shortest(value) if param.has_quantity and not problem else value, problem
    try:
        number = _shortest(number_in(param.unit, value))
    except ValueError as error:
        return value, str(error)
    if param.problem(number) is None:
        return number, None
    low, high = (text_of(param.unit, bound) for bound in (param.min or 0, param.max or 0))
    return number, f"{shown(value)} is out of range; from {low} to {high}"


def _shortest(number: Any) -> int | float:
    """Return a whole number as an integer: 5.0 ms, 5 ms and "5 ms" have one digest."""
    return int(number) if float(number).is_integer() else number


def _spelt(param: catalogue.Param, value: Any) -> tuple[str, Any]:
    """Return the key and the value of a parameter in scenario files.

    A number keeps the key with the unit if it is not a whole number of base units, such as 0.3 ns, or is
    larger than text may be, such as 100,000 s.
    """
    if not param.has_quantity or value is None:
        return param.key, value
    text = text_of(param.unit, value)
    try:
        is_same = number_in(param.unit, text) == value
    except ValueError:
        is_same = False
    return (param.key, text) if is_same else (param.name, value)
