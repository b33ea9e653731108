"""A laboratory for TCP congestion control.

>>> import fullpipe
>>> scenario = fullpipe.Scenario.named("single-cubic")
>>> run = fullpipe.run(scenario, seed=1)
>>> run.flows["flow"].to_list()
['cubic-1']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullpipe.api import load, run
    from fullpipe.errors import (
        ControllerError,
        EngineError,
        FullpipeError,
        NoRunError,
        ResultError,
        ScenarioError,
        UnknownNameError,
    )
    from fullpipe.results import Run
    from fullpipe.scenario import Scenario

    __version__: str

__all__ = [
    "ControllerError",
    "EngineError",
    "FullpipeError",
    "NoRunError",
    "ResultError",
    "Run",
    "Scenario",
    "ScenarioError",
    "UnknownNameError",
    "load",
    "run",
]

_HOMES = {"load": "api", "run": "api", "Run": "results", "Scenario": "scenario"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: what only reads a scenario should not wait for tables."""
    if name == "__version__":
        from importlib import metadata

        return metadata.version("fullpipe")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
