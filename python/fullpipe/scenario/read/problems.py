"""Conversion of pydantic's errors to lines with the path of a key, the mistake, and what to write instead."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fullpipe.errors import brief, shown, suggestion
from fullpipe.scenario.catalogue import FORMER_KEYS
from fullpipe.scenario.model.base import ProblemsError, WithinError
from fullpipe.scenario.model.later import models_in
from fullpipe.scenario.quantities import DURATION, NANOSECONDS, RATE, SIZE

MOST_LINES = 20
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text in quotes",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
}
_SYNONYMS = {"download": ["forward"], "upload": ["reverse"]}
"""Other words for values of keys."""
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


@dataclass(frozen=True)
class _Place:
    """The place of a mistake: the key path as the file writes it, the field if known, and the keys of the
    table with the mistake."""

    path: str
    field: FieldInfo | None
    siblings: tuple[str, ...]


def problems(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one line per mistake that pydantic found in the data of a `model`, up to `MOST_LINES`."""
    lines = (line for details in error.errors(include_url=False) for line in _lines(details, model))
    return first_lines(lines, error.error_count())


def first_lines(lines: Iterable[str], count: int) -> list[str]:
    """Return the first `MOST_LINES` distinct lines, and a line with the number of omitted lines.

    `count` is the approximate number of all lines.
    """
    first = list(dict.fromkeys(islice(lines, MOST_LINES)))
    return first if count <= MOST_LINES else [*first, f"and {count - MOST_LINES} more"]


def _lines(details: ErrorDetails, model: type[BaseModel]) -> Iterator[str]:
    context = details.get("ctx", {})
    if isinstance(context.get("error"), ProblemsError):
        yield from context["error"].lines
        return
    if details["type"] == "too_short" and len(details["input"]) >= context["min_length"]:
        return  # the items themselves are wrong, and each item has its own line
    place = _place(model, details["loc"])
    if details["type"].startswith("union_tag"):
        yield f"{place.path}.kind: {_tag(context, place)}"
        return
    if isinstance(context.get("error"), WithinError):
        yield from (
            f"{place.path}.{key}".rstrip(".") + f": {text}" for key, text in context["error"].problems
        )
        return
    message = _message(details, context, place)
    yield f"{place.path}: {message}{_sweep_hint(details['input'], message, place)}"


def _sweep_hint(value: object, message: str, place: _Place) -> str:
    """Return how to sweep a key that has a list of values in place of one value; empty for other mistakes."""
    if not isinstance(value, list) or not message.startswith("expected") or place.path.startswith("sweep"):
        return ""
    key = place.path.replace("[", ".").replace("]", "")
    return f'; to run each value, write "{key}" = [...] under [sweep]'


def _message(details: ErrorDetails, context: Mapping[str, Any], place: _Place) -> str:
    kind, value = details["type"], details["input"]
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        key = str(details["loc"][-1])
        present = next((name for name in place.siblings if FORMER_KEYS.get(name) == key), None)
        if present:
            return f"is the former key of {present}, which is given, too; leave out {key}"
        return f"unknown key{suggestion(key, place.siblings)}"
    if kind == "missing":
        return f"missing{_example(place)}"
    if kind in _WANTED:
        return f"expected {_WANTED[kind]}, got {shown(value)}"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"must be {words} {_bound(context[key], value)}, got {shown(value)}"
    if kind == "literal_error":
        written = value if isinstance(value, str) else shown(value)
        return f"unknown value {shown(value)}{_meant(written, _quoted(context['expected']))}"
    if kind in ("too_short", "too_long"):
        least = (
            f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        )
        return f"has {len(value)}, must have {least}"
    if kind == "string_pattern_mismatch":
        return f"{shown(value)} has a character other than letters, digits, spaces and _ - . +"
    return f"{details['msg'][0].lower()}{details['msg'][1:]}, got {shown(value)}"


def _meant(word: str, known: Sequence[str]) -> str:
    return suggestion(word, known, {key: names for key, names in _SYNONYMS.items() if {*names} <= {*known}})


def _bound(bound: float, value: object) -> str:
    """Return a bound as text: with a unit if the value is a quantity, else as a plain number."""
    for quantity, scale in ((DURATION, NANOSECONDS), (RATE, 1), (SIZE, 1)):
        if bound and isinstance(value, str) and value.split()[-1] in quantity.units:
            return quantity.format(round(bound * scale))
    return f"{bound:g}" if isinstance(bound, float) else f"{bound}"


def _tag(context: Mapping[str, Any], place: _Place) -> str:
    """Return the message for a wrong or missing `kind`. Pydantic lists the kinds only for a wrong `kind`."""
    if "tag" in context:
        wrong = shown(context["tag"])
        return f"unknown value {wrong}{suggestion(str(context['tag']), _quoted(context['expected_tags']))}"
    return f"missing; write one of {', '.join(_kinds(place.field))}"


def _kinds(field: FieldInfo | None) -> list[str]:
    """Return the kinds of models that a field can hold, in the order of their declaration."""
    models = models_in(field.annotation) if field else ()
    return [kind for model in models for kind in get_args(_field(model, "kind").annotation)]


def _example(place: _Place) -> str:
    example = (place.field.examples or [None])[0] if place.field else None
    if example is None:
        return ""
    key = place.path.rsplit(".", 1)[-1]
    plain = not isinstance(example, str) or example[0] in "[{"
    return f"; write for example {key} = {example if plain else shown(example)}"


def _quoted(expected: str) -> list[str]:
    """Return the quoted words in a text of pydantic, such as "'auto' or 'always'"."""
    return expected.split("'")[1::2]


def _place(model: type[BaseModel], location: tuple[int | str, ...]) -> _Place:
    """Return the place in the scenario file that corresponds to a location reported by pydantic. Tags of
    unions are not part of the path."""
    path, models = "", [model]
    field: FieldInfo | None = None
    siblings: tuple[str, ...] = ()
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
            continue
        tagged = [m for m in models if _is_tag(part, m)] if len(models) > 1 else []
        if tagged:
            models = tagged
            continue
        path += f".{brief(part)}" if path else brief(part)
        siblings = tuple(key for m in models for key in _keys(m))
        field = next((_keys(m)[part] for m in models if part in _keys(m)), None)
        models = models_in(field.annotation) if field else []
    return _Place(path, field, siblings)


def _is_tag(part: str, model: type[BaseModel]) -> bool:
    """Whether `part` of a location is the tag of this model in a union."""
    return part == model.__name__ or part in get_args(_field(model, "kind").annotation)


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {key: field for name, field in model.model_fields.items() for key in _spellings(name, field)}


def _spellings(name: str, field: FieldInfo) -> list[str]:
    """Return the keys that files may use for a field. Fullpipe writes the first key."""
    if isinstance(field.validation_alias, AliasChoices):
        return [str(choice) for choice in field.validation_alias.choices]
    return [field.alias or name]


def _field(model: type[BaseModel], name: str) -> FieldInfo:
    return model.model_fields[name]
