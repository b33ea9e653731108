"""What paths of a scenario are called on the axis of a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fullpipe.scenario.model.later import models_in
from fullpipe.scenario.model.scenario import ScenarioModel


def title_of(path: str) -> str:
    """The title of the field at a path, or else the last word of the path.

    >>> title_of("topology.bottleneck.delay"), title_of("topology.bottleneck.queue.size"), title_of("queue")
    ('one-way delay', 'queue size', 'queue')
    """
    words, found = path.split("."), models_in(ScenarioModel)
    fields: list[FieldInfo] = []
    for word in words:
        if word.isdecimal() or word == "*":
            continue
        fields = [field for model in found for field in _called(model, word)]
        found = [model for field in fields for model in models_in(field.annotation)]
    return next((field.title for field in fields if field.title), words[-1])


def titles_of(paths: Sequence[str]) -> dict[str, str]:
    """The title of every path, unless another path has it, too.

    >>> titles_of(["flows.0.cca", "flows.1.cca", "topology.bottleneck.delay"])
    {'flows.0.cca': 'flows.0.cca', 'flows.1.cca': 'flows.1.cca', 'topology.bottleneck.delay': 'one-way delay'}
    """
    return told_apart({path: title_of(path) for path in paths})


def told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """The name of every path, or the path itself where another has the name, too."""
    given = list(names.values())
    return {path: name if given.count(name) == 1 else path for path, name in names.items()}


def _called(model: type[BaseModel], word: str) -> Iterator[FieldInfo]:
    yield from (field for name, field in model.model_fields.items() if word in (name, field.alias))
