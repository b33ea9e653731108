"""A laboratory for TCP congestion control.

>>> import fullpipe
>>> scenario = fullpipe.Scenario.named("single-cubic")
>>> run = fullpipe.run(scenario, seed=1)
>>> run.flows["flow"].to_list()
['cubic-1']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullpipe import lazy

if TYPE_CHECKING:
    from fullpipe import plots, sweeps
    from fullpipe.analysis import metrics, statistics
    from fullpipe.analysis.stored import query, table
    from fullpipe.api import load, run, sweep
    from fullpipe.errors import (
        ControllerError,
        EngineError,
        FullpipeError,
        NoRunError,
        ResultError,
        ScenarioError,
        UnknownNameError,
    )
    from fullpipe.runs import Run
    from fullpipe.scenario import Scenario, traces
    from fullpipe.validation import compare, test
    from fullpipe.validation import test as factors
    from fullpipe.validation.over import compare_over

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
    "compare",
    "compare_over",
    "factors",
    "load",
    "metrics",
    "plots",
    "query",
    "run",
    "statistics",
    "sweep",
    "sweeps",
    "table",
    "test",
    "traces",
]

_HOMES = {
    "load": "api",
    "run": "api",
    "sweep": "api",
    "compare_over": "validation.over",
    "query": "analysis.stored",
    "table": "analysis.stored",
    "Run": "runs",
    "Scenario": "scenario",
}
_MODULES = {
    "compare": "validation.compare",
    "factors": "validation.test",
    "test": "validation.test",
    "metrics": "analysis.metrics",
    "plots": "plots",
    "statistics": "analysis.statistics",
    "sweeps": "sweeps",
    "traces": "scenario.traces",
}


def __getattr__(name: str) -> Any:
    """Import a name at its first use, so that programs that only read a scenario do not import polars."""
    if name == "__version__":
        from fullpipe._native import VERSION

        return VERSION
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULES:
        value = import_module(f"{__name__}.{_MODULES[name]}")
    else:
        value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


lazy.provide("summary", lambda: __getattr__("metrics").summary)
lazy.provide("plot", lambda: __getattr__("plots").plot_run)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
