"""Start-up: lazy imports, lazy methods of runs, and no garbage collection before the command runs."""

import gc
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["LOADED_NS", "names", "pl"]


# Lazy imports: names of a package, and polars, are imported on first use.


LOADED_NS = time.time_ns()
"""Time at which this process began to load the package, ns since 1970. If a file changed after this time, a
module imported later may be of another version."""


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Args:
        package: Name of the package.
        homes: For each name, the module within the package that defines it.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    def known() -> list[str]:
        return sorted({*vars(import_module(package)), *homes})

    return get, known


class _Library:
    """A library that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, name)


if TYPE_CHECKING:
    import polars as pl
else:
    pl = _Library("polars")  # importing polars takes longer than a short run


# Methods of a run from packages that import `runs`: `Run.summary` from the metrics, `Run.plot` from the
# plots. The package `runs` must not depend on these packages. So the top level of fullpipe registers
# the sources of these methods, and the first call of a method imports its source.


_SOURCES: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, source: Callable[[], Callable[..., Any]]) -> None:
    """Register a method: `source` is called when the method is used, and returns a function of a run."""
    _SOURCES[name] = source


def method(name: str) -> Callable[..., Any]:
    """Return the function that implements the method `name` of a run.

    Raises:
        KeyError: If no method of this name was registered.
    """
    return _SOURCES[name]()


# Garbage collection is off while a command imports modules, since imports leave no garbage.


def pause_collection() -> None:
    """Turn the garbage collector off until `resume_collection`."""
    gc.disable()


def resume_collection() -> None:
    """Turn the garbage collector on again if it was turned off. Objects made by imports are never
    collected."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
