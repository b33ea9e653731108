"""Engines: each turns a scenario and a seed into a run.

An engine is a name here, and a module that is imported when it is first used. Another package provides one by
an entry point of the group `fullpipe.engines`, whose value names what makes the engine:

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
"""Our engines by name, each made without arguments. They stand here and not among the entry points, because a
source tree that is not installed, or was before an engine was added, has no metadata that names them."""

GROUP = "fullpipe.engines"
"""The entry points by which other packages provide engines."""


@functools.cache
def _entry_points() -> dict[str, metadata.EntryPoint]:
    """Engines of other packages, in the order of the names. No name of ours can be taken."""
    from importlib import metadata  # here: our engines need none of it

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
    """The engines: ours in the order of the registry, then those of other packages."""
    return [*ENGINES, *_entry_points()]


def engine(name: str) -> Engine:
    """The engine of a name.

    Raises:
        UnknownNameError: If there is none.
        EngineError: If another package provides it, which cannot be loaded.
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
# The names of engines take no scenario.
__getattr__, __dir__ = lazy.names(__name__, {"lacking": "lacks", **dict.fromkeys(_OF_BASE, "base")})
