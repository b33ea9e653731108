"""A laboratory for TCP congestion control.

>>> import fullpipe
>>> scenario = fullpipe.Scenario.named("single-cubic")
>>> run = fullpipe.run(scenario, seed=1)
>>> run.flows["flow"].to_list()
['cubic-1']
"""

from fullpipe.api import load, run
from fullpipe.errors import EngineError, FullpipeError, ResultError, ScenarioError, UnknownNameError
from fullpipe.results import Run, version
from fullpipe.scenario import Scenario

__version__ = version("fullpipe")
__all__ = [
    "EngineError",
    "FullpipeError",
    "ResultError",
    "Run",
    "Scenario",
    "ScenarioError",
    "UnknownNameError",
    "load",
    "run",
]
