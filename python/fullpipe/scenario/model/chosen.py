"""Entries of a registry, chosen by name, with the parameters that differ from the defaults."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from fullpipe.errors import UnknownNameError, shown, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, WithinError
from fullpipe.scenario.model.later import declared


class Chosen(Model):
    """An entry of a catalogue, by name, with parameters. A subclass gives the catalogue and the spelling."""

    kind: str
    """Name in the catalogue. An alias is replaced by the name of its entry."""
    params: dict[str, Any] = Field(default_factory=dict)

    _example: ClassVar[str]

    own_names: ClassVar[str] = ""
    """Regular expression for names outside the catalogue. Empty: every name must be in the catalogue."""

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """Return the entries of the catalogue by name."""
        raise NotImplementedError

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry | None:
        """Return the entry `name`, or None if its parameters are unknown. Raises UnknownNameError."""
        raise NotImplementedError

    @classmethod
    def _spelt(cls, value: object) -> object:
        """Return the given value, spelt as in TOML."""
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
        params = {key: v for key, v in value.items() if key not in own}
        problems = [problem for key, v in params.items() if entry and (problem := _problem(entry, key, v))]
        if problems:
            raise WithinError(*problems)
        kept = {key: v for key, v in value.items() if key in own}
        return {**kept, "kind": entry.name if entry else value["kind"], "params": params}


def _problem(entry: catalogue.Entry, key: str, value: object) -> tuple[str, str] | None:
    """Return the place and the text of the mistake if `value` cannot be parameter `key`, else None."""
    param = entry.params.get(key)
    if param is None:
        return "", f'unknown parameter "{key}" of {entry.name}{suggestion(key, entry.params)}'
    problem = param.problem(value)
    return (key, problem) if problem else None
