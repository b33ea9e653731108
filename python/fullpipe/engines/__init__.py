"""Engines. An engine runs a scenario with a seed and returns a run.

An engine has a name and a module that is imported at its first use. Another package can provide an engine by
an entry point of the group `fullpipe.engines`, whose value names a callable that returns the engine:

    [project.entry-points."fullpipe.engines"]
    testbed = "their_package:TestbedEngine"
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.errors import EngineError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib import metadata

    from fullpipe.engines.base import (
        Capabilities,
        Engine,
        Installable,
        InstallOptions,
        Problem,
        Progress,
        Requirement,
        Say,
        digest_of,
        identity,
        missing,
        place_of,
    )
    from fullpipe.engines.lacks import lacking


def _lazily(module: str, made: str) -> Callable[[], Engine]:
    @functools.cache
    def kind() -> Callable[[], Engine]:
        found: Callable[[], Engine] = getattr(import_module(f"{__name__}.{module}"), made)
        return found

    def make() -> Engine:
        return kind()()

    return make


ENGINES: Mapping[str, Callable[[], Engine]] = {
    "native": _lazily("native", "NativeEngine"),
    "linux": _lazily("linux", "LinuxEngine"),
    "ns3": _lazily("ns3", "Ns3Engine"),
    "ns3-3.43": _lazily("ns3", "Ns3Engine343"),
    "ns3-3.42": _lazily("ns3", "Ns3Engine342"),
    "ns3-3.39": _lazily("ns3", "Ns3Engine339"),
}
"""Built-in engines by name, each a callable without arguments. Built-in engines are not entry points, because
entry points need the metadata of an installation. A source tree that is not installed has no metadata. The
metadata of an installed source tree lack engines that were added after the installation."""

GROUP = "fullpipe.engines"
"""Group of entry points by which other packages provide engines."""


@functools.cache
def _entry_points() -> dict[str, metadata.EntryPoint]:
    """Return the entry points of other packages' engines, sorted by name. An entry point with the name of a
    built-in engine is ignored."""
    from importlib import metadata  # imported here, because built-in engines need no metadata

    found = sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name)
    return {entry.name: entry for entry in found if entry.name not in ENGINES}


def _made(entry: metadata.EntryPoint) -> Engine:
    try:
        loaded: Engine = entry.load()()
    except Exception as error:
        where = f"{entry.dist.name} ({entry.value})" if entry.dist else entry.value
        told = f"{type(error).__name__}: {error}"
        raise EngineError(f"engine {entry.name} of the package {where} cannot be loaded: {told}") from error
    return loaded


def names() -> list[str]:
    """Return the names of the built-in engines in the order of `ENGINES`, then those of other packages'
    engines."""
    return [*ENGINES, *_entry_points()]


def engine(name: str) -> Engine:
    """Return the engine with a name.

    Raises:
        UnknownNameError: If no such engine exists.
        EngineError: If the engine of another package cannot be loaded.
    """
    if name in ENGINES:
        return ENGINES[name]()
    if name in _entry_points():
        return _made(_entry_points()[name])
    raise UnknownNameError("engine", name, names())


__all__ = [
    "ENGINES",
    "GROUP",
    "Capabilities",
    "Engine",
    "InstallOptions",
    "Installable",
    "Problem",
    "Progress",
    "Requirement",
    "Say",
    "digest_of",
    "engine",
    "identity",
    "lacking",
    "missing",
    "names",
    "place_of",
]

_OF_BASE = (
    *("Capabilities", "Engine", "InstallOptions", "Installable", "Problem", "Progress", "Requirement", "Say"),
    *("digest_of", "identity", "missing", "place_of"),
)
# Lazy imports: importing this package does not import `fullpipe.scenario`.
__getattr__, __dir__ = lazy.names(__name__, {"lacking": "lacks", **dict.fromkeys(_OF_BASE, "base")})
