"""Methods of a run from packages above it: `Run.summary` from the metrics, `Run.plot` from the plots.

A run must not depend on what is built on runs. So the top level of the package, which sees everything, says
where these methods come from, and the first call gets them there.
"""

from collections.abc import Callable
from typing import Any

_SOURCES: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, source: Callable[[], Callable[..., Any]]) -> None:
    """Say where a method comes from: `source` is called once it is needed, and gives a function of a run."""
    _SOURCES[name] = source


def method(name: str) -> Callable[..., Any]:
    """The function of a run that is its method `name`.

    Raises:
        KeyError: If none was provided.
    """
    return _SOURCES[name]()
