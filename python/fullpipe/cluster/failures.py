"""Why a run failed, as plain data: errors of other processes are told by their kind and text."""

from typing import Any

from fullpipe.errors import EngineError, FullpipeError, ScenarioError

Told = dict[str, str]


def told(error: Exception) -> Told:
    """An error as plain data."""
    kind = "ScenarioError" if isinstance(error, ScenarioError) else type(error).__name__
    return {"kind": kind, "message": str(error)}


def error_told(data: Any) -> FullpipeError:
    """The error of such data: what is wrong with the scenario, or else with the run."""
    try:
        kind, message = str(data["kind"]), str(data["message"])
    except (KeyError, TypeError):
        return EngineError("failed; what says why cannot be read")
    return ScenarioError(message.split("\n")) if kind == "ScenarioError" else EngineError(message)
