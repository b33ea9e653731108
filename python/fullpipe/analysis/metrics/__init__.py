"""Metrics: pure functions on the tables of a run, each with its formula and its source."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.metrics.delay import responsiveness as responsiveness

# Most metrics are imported on first use, because `fullpipe run --json` needs only `summary`. Functions with
# the name of their module are imported here: a later import of the module would replace the function.
from fullpipe.analysis.metrics.groups import connections as connections
from fullpipe.analysis.metrics.summary import summary as summary

if TYPE_CHECKING:
    from fullpipe.analysis.metrics.every import *  # noqa: F403 - the names themselves, for type checkers


def __getattr__(name: str) -> Any:
    every = import_module(f"{__name__}.every")
    if name != "__all__" and name not in every.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(every, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(f"{__name__}.every").__all__})
