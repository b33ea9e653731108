"""Entries of a registry, chosen by name, with the parameters that differ from the defaults."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from fullpipe.errors import UnknownNameError, shown, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, WithinError
from fullpipe.scenario.model.later import declared
from fullpipe.scenario.quantities import number_in, text_of


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
    """Return parameters by their names in the registry, with numbers for quantities.

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
            problems.append((key, f"the same parameter as {param.key}; write one of them"))
        else:
            value, problem = _number(param, key, written)
            params[param.name] = value
            problems += [(key, problem)] if problem else []
    if problems:
        raise WithinError(*problems)
    return params


def _number(param: catalogue.Param, key: str, value: object) -> tuple[object, str | None]:
    """Return a value as the registry has it, and what is wrong with it. Text and the bare key have a unit."""
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

    A number that is not a whole number of base units, such as 0.3 ns, keeps the key with the unit.
    """
    if not param.has_quantity or value is None:
        return param.key, value
    text = text_of(param.unit, value)
    return (param.key, text) if number_in(param.unit, text) == value else (param.name, value)
