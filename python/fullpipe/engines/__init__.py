"""Engines: what turns a scenario and a seed into a run."""

from collections.abc import Callable, Mapping

from fullpipe.engines.base import Capabilities, Engine, Problem, Progress, identity
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import UnknownNameError

ENGINES: Mapping[str, Callable[[], Engine]] = {"native": NativeEngine}
"""Engines by name, each made without arguments."""


def engine(name: str) -> Engine:
    """The engine of a name.

    Raises:
        UnknownNameError: If there is none.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    return ENGINES[name]()


__all__ = ["ENGINES", "Capabilities", "Engine", "Problem", "Progress", "engine", "identity"]
