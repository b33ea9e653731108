"""Methods of a run from packages above it: `Run.summary` from the metrics, `Run.plot` from the plots.

The package of runs must not depend on packages that are built on it. So the top level of the package
registers the sources of these methods, and the first call of a method imports its source.
"""

from collections.abc import Callable
from typing import Any

_SOURCES: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, source: Callable[[], Callable[..., Any]]) -> None:
    """Register a method: `source` is called when the method is used, and returns a function of a run."""
    _SOURCES[name] = source


def method(name: str) -> Callable[..., Any]:
    """Return the function that implements the method `name` of a run.

    Raises:
        KeyError: If none was registered.
    """
    return _SOURCES[name]()
