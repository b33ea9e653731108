"""The base class of all models of a scenario."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ModelWrapValidatorHandler
from pydantic.fields import FieldInfo

from fullpipe.scenario.model.later import declared, fields_of
from fullpipe.scenario.quantities import Seconds

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


# Files named in the scenario of a finished run. Their digests are taken from the metadata of the run, and the
# files are not read.


_recorded: ContextVar[Mapping[str, str]] = ContextVar("recorded")


@contextmanager
def recorded(digests: Mapping[str, str]) -> Iterator[None]:
    """Context in which files named in scenarios are neither read nor checked.

    Args:
        digests: SHA-256 of every file, by its path in the scenario.
    """
    token = _recorded.set(digests)
    try:
        yield
    finally:
        _recorded.reset(token)


def recorded_digest(file: str) -> str | None:
    """Return the recorded SHA-256 of a file, or None if the file itself must be read."""
    return _recorded.get({}).get(file)


def are_recorded() -> bool:
    """Whether the context `recorded` is active."""
    return bool(_recorded.get({}))


_stored: ContextVar[bool] = ContextVar("stored", default=False)


@contextmanager
def stored() -> Iterator[None]:
    """Context in which flows and labels may have names of totals: older versions stored such scenarios."""
    token = _stored.set(True)
    try:
        yield
    finally:
        _stored.reset(token)


def are_stored() -> bool:
    """Whether the context `stored` is active."""
    return _stored.get()


MAX_PACKETS = 1_000_000_000


class _Fields:
    def __get__(self, model: object, owner: Any = None) -> dict[str, FieldInfo]:
        return fields_of(owner)


class Model(BaseModel):
    """A part of a scenario. Models are frozen and refuse unknown keys; each field is documented below it."""

    if not TYPE_CHECKING:
        model_fields = _Fields()
        """The fields, with the types that the placeholders of `later` stand for. Reading this attribute
        imports all types."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
        ignored_types=(_Fields,),
        defer_build=True,  # validators are built once, when the first scenario is read
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        cls.model_rebuild()  # the serializer of the model writes its default value
        return handler(schema)


_Made = TypeVar("_Made", bound=BaseModel)


@cache
def fields_by_key(model: type[BaseModel]) -> Mapping[str, str]:
    """Field names of a model by their keys in scenarios."""
    return {field.alias or name: name for name, field in declared(model).items()}


def laid_under(values: object, preset: Mapping[str, object], make: ModelWrapValidatorHandler[_Made]) -> _Made:
    """Return a model with `values`, and with a preset for missing keys. A null in `values` counts as missing.

    Fields filled from the preset count as unset (`model_fields_set`), so that another preset can replace
    them.
    """
    if not isinstance(values, Mapping):
        return make(values)
    said = {key: value for key, value in values.items() if value is not None or key not in preset}
    made = make({**preset, **said})
    keys = fields_by_key(type(made))
    made.model_fields_set.difference_update(keys[key] for key in preset if key not in said)
    return made


@dataclass(frozen=True)
class ShortFor(BeforeValidator):
    """Accept text in place of a table and use it as the value of `key`: `queue = "fq_codel"`."""

    key: str = ""


def short_for(key: str) -> ShortFor:
    """Accept text as short for a table that has only `key`."""
    return ShortFor(lambda value: {key: value} if isinstance(value, str) else value, key=key)


class ProblemsError(ValueError):
    """Mistakes across several fields. Each line of the message begins with the path of its field."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class WithinError(ValueError):
    """Mistakes within one value: pairs of a key and a message. An empty key means the whole value."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{key}: {problem}" if key else problem for key, problem in problems))
        self.problems = problems


Name = Annotated[str, Field(strict=True, min_length=1, max_length=100, pattern=r"^[\w.+ -]+$")]
"""A name that is safe in a file, a table and a figure: letters, digits, space, `_`, `-`, `.` and `+`."""
Delay = Annotated[Seconds, Field(le=3_600)]
"""Propagation delay of a link, one way."""


class Unit(NamedTuple):
    """The unit in which messages and figures show a plain number; an annotation of the number's type."""

    name: str = ""
    scale: float = 1.0
    """Factor from the stored value to the shown value."""

    def text(self, value: float) -> str:
        """Format a value with its unit.

        >>> Unit("%", 100).text(0.001)
        '0.1 %'
        """
        return f"{value * self.scale:.10g} {self.name}".rstrip()


PERCENT = Unit("%", 100)
Probability = Annotated[float, Field(strict=True, ge=0, le=1), PERCENT]
Packets = Annotated[int, Field(strict=True, ge=1, le=MAX_PACKETS), Unit("packets")]
"""A whole number of packets."""
Switch = Annotated[bool, Field(strict=True)]
"""true or false."""
