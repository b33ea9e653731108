"""Checks of keys: refuses keys that a scenario sets and this engine does not support."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE
from fullpipe.scenario.model.base import Model


def unknown(model: Model, known: set[str], path: str) -> Iterator[Problem]:
    """Return a problem for every key that is set in a part of a scenario and that this engine lacks."""
    for name, described in type(model).model_fields.items():
        if name not in known and getattr(model, name) != described.get_default(call_default_factory=True):
            yield Problem(f"{path}.{described.alias or name}", f"Linux has nothing like it; {NATIVE}")
