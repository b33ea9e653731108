"""Something chosen by name from a catalogue, with the parameters that differ from its defaults."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from fullpipe.errors import UnknownNameError, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model import Model
from fullpipe.scenario.quantities import shown


class Chosen(Model):
    """A name of a catalogue and parameters; subclasses say which catalogue, and what one writes."""

    kind: str
    """Name in the catalogue; an alias becomes the name it stands for."""
    params: dict[str, Any] = Field(default_factory=dict)

    _example: ClassVar[str]

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry | None:
        """What is called `name`; None if nothing is known of its parameters. Raises UnknownNameError."""
        raise NotImplementedError

    @classmethod
    def _spelt(cls, value: object) -> object:
        """What was given, spelt as in TOML."""
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
        own = {field.alias or name for name, field in cls.model_fields.items()} - {"params"}
        params = {key: v for key, v in value.items() if key not in own}
        problems = [problem for key, v in params.items() if entry and (problem := _problem(entry, key, v))]
        if problems:
            raise ValueError("; ".join(problems))
        kept = {key: v for key, v in value.items() if key in own}
        return {**kept, "kind": entry.name if entry else value["kind"], "params": params}


def _problem(entry: catalogue.Entry, key: str, value: object) -> str | None:
    """Why `value` cannot be parameter `key`, if it cannot."""
    param = entry.params.get(key)
    if param is None:
        return f'unknown parameter "{key}" of {entry.name}{suggestion(key, entry.params)}'
    if not _same_type(param.default, value):
        wanted = "a number" if param.default is None else f"a value like {shown(param.default)}"
        return f"{key}: expected {wanted}, got {shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        low = float("-inf") if param.min is None else param.min
        high = float("inf") if param.max is None else param.max
        if not low <= value <= high or value in (float("inf"), float("-inf")):
            return f"{key}: {shown(value)} is out of range; from {low:g} to {high:g}"
    return None


def _same_type(default: object, value: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float) or default is None:
        return isinstance(value, int | float)
    return isinstance(value, type(default))
