"""Lazy imports: names of a package, and polars, are imported on first use."""

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["LOADED_NS", "names", "pl"]

LOADED_NS = time.time_ns()
"""Time at which this process began to load the package, ns since 1970. Files may have changed since then, so
that a module that is imported later may be of another version."""


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Args:
        package: Name of the package.
        homes: The module within it that has each name.
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
    pl = _Library("polars")  # its import takes longer than a short run
