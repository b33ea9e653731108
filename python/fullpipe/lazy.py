"""Names of a package, and polars, that are imported when they are first used."""

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["LOADED_NS", "names", "pl"]

LOADED_NS = time.time_ns()
"""When this process began to load the package; a module that comes later may be of a file that changed."""


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    Args:
        package: Its name.
        homes: The module within it where each name is.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    def known() -> list[str]:
        return sorted({*vars(import_module(package)), *homes})

    return get, known


class _Library:
    """A library that is imported when the first of its names is used."""

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
    pl = _Library("polars")  # it takes longer to import than a short run
