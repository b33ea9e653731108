"""Engines: what turns a scenario and a seed into a run.

An engine is a name here, and a module that is imported when it is first used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from fullpipe.engines.base import (
    Capabilities,
    Engine,
    Installable,
    InstallOptions,
    Problem,
    Progress,
    Requirement,
    Say,
    identity,
    missing,
)
from fullpipe.errors import UnknownNameError


def _lazily(module: str, made: str) -> Callable[[], Engine]:
    def make() -> Engine:
        found: Engine = getattr(import_module(f"{__name__}.{module}"), made)()
        return found

    return make


ENGINES: Mapping[str, Callable[[], Engine]] = {
    "native": _lazily("native", "NativeEngine"),
    "linux": _lazily("linux", "LinuxEngine"),
    "ns3": _lazily("ns3", "Ns3Engine"),
    "ns3-3.43": _lazily("ns3", "Ns3Engine343"),
    "ns3-3.42": _lazily("ns3", "Ns3Engine342"),
    "ns3-3.39": _lazily("ns3", "Ns3Engine339"),
}
"""Engines by name, each made without arguments."""


def names() -> list[str]:
    """The engines, in the order of the registry."""
    return list(ENGINES)


def engine(name: str) -> Engine:
    """The engine of a name.

    Raises:
        UnknownNameError: If there is none.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    return ENGINES[name]()


__all__ = [
    "ENGINES",
    "Capabilities",
    "Engine",
    "InstallOptions",
    "Installable",
    "Problem",
    "Progress",
    "Requirement",
    "Say",
    "engine",
    "identity",
    "missing",
    "names",
]
