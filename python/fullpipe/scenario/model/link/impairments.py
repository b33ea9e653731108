"""Impairments of a link other than loss. Every impairment of the registry is a key of a link.

The simulator declares the impairments (`crates/network/src/impairments`). The value of a key is a table of
parameters, or the bare value if the impairment has only one parameter.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import AliasChoices, Field

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.later import later
from fullpipe.scenario.model.registered import (
    field_name,
    field_of,
    in_registry,
    model_name,
    model_of,
    values_of,
    with_fields,
)

_ABSENT = "Left out: none."


class _Own(NamedTuple):
    """An impairment whose keys in scenario files differ from the parameters in the registry."""

    module: str
    """Module of the model. Its property `plan` returns the parameters of the registry."""
    example: str


_OWN = {"recorded_jitter": _Own("fullpipe.scenario.model.link.trace", '{ file = "delays.txt" }')}


class Impairment(Model):
    """Parameters of an impairment."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class _Key:
    """The key of an impairment."""

    def __init__(self, entry: catalogue.Entry) -> None:
        self.entry = entry
        self.former = [old for name, old in catalogue.FORMER_KEYS.items() if name == entry.name]
        self.own = _OWN.get(entry.name)
        first, *others = entry.params.values()
        self.table = model_name(entry) if others else ""
        """Name of the model of the parameters; empty if the impairment has a bare value."""
        self._param = replace(
            first, name=entry.name, required=False, default=None, doc=f"{first.doc} {_ABSENT}"
        )
        """The parameter of an impairment with a bare value; it has the name of the impairment."""
        self.field = entry.name if self.table else field_name(self._param)

    def declaration(self) -> tuple[Any, Any]:
        """Return the type and the declaration of the field."""
        if not self.table:
            return field_of(self._param, self.former)
        field: Any = Field(
            None,
            validation_alias=AliasChoices(self.entry.name, *self.former) if self.former else None,
            description=f"{self.entry.title}. {_ABSENT}",
            examples=[self.own.example if self.own else self.entry.example],
        )
        return later(self.own.module if self.own else __name__, self.table) | None, field

    def params(self, value: Any) -> dict[str, Any]:
        """Return the parameters as in the plan, with times in nanoseconds."""
        if not self.table:
            return {name: in_registry(self._param, value) for name in self.entry.params}
        if self.own:
            return dict(value.plan)
        return dict(values_of(value, self.entry))


_KEYS = [_Key(entry) for entry in catalogue.family("impairments").values()]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type[Impairment]:
        """Make the model of an impairment when the first value of the impairment is read."""
        entry = next((key.entry for key in _KEYS if name and key.table == name), None)
        if entry is None:
            raise AttributeError(f"module {__name__} has no attribute {name}")
        return globals().setdefault(name, model_of(entry, Impairment))


@with_fields({key.field: key.declaration() for key in _KEYS})
class Impairments(Model):
    """Effects of a link on single packets. Impairments act in the order of the registry."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


NO_IMPAIRMENTS = Impairments.model_construct()
"""A link without impairments."""


class Given(NamedTuple):
    """An impairment that a link has."""

    name: str
    """Name in the registry, equal to the key in scenarios."""
    params: dict[str, Any]
    """Parameters as in the plan, with times in nanoseconds."""


def given(impairments: Impairments) -> Iterator[Given]:
    """Yield the impairments that are set, in the order in which they act."""
    for key in _KEYS:
        value = getattr(impairments, key.field)
        if value is not None:
            yield Given(key.entry.name, key.params(value))


_DIGEST_NAMES = {key.field: key.field.replace(key.entry.name, old) for key in _KEYS for old in key.former}
"""Former names of fields, by their present names. Digests of scenarios use the former names."""


def with_digest_names(tree: Any) -> Any:
    """Return data of a scenario with the former names of fields, so that digests equal the digests of stored
    runs.

    Copying the data takes a quarter of the time of a digest. `has_renamed_fields` shows whether the copy is
    needed.
    """
    if isinstance(tree, list | tuple):
        return [with_digest_names(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    names = {} if "kind" in tree else _DIGEST_NAMES  # keys of a queue are parameters, not impairments
    return {names.get(key, key): with_digest_names(part) for key, part in tree.items()}


def has_renamed_fields(text: str) -> bool:
    """Whether the JSON of a scenario may have fields that have a former name in digests."""
    return any(f'"{name}":' in text for name in _DIGEST_NAMES)
