"""Errors of runs as plain data, with kind and message, to pass them between processes."""

from typing import Any

from fullpipe.errors import EngineError, FullpipeError, ScenarioError

Told = dict[str, str]


def told(error: Exception) -> Told:
    """Convert an error to plain data."""
    kind = "ScenarioError" if isinstance(error, ScenarioError) else type(error).__name__
    return {"kind": kind, "message": str(error)}


def error_told(data: Any) -> FullpipeError:
    """Convert plain data to an error: a ScenarioError, or else an EngineError."""
    try:
        kind, message = str(data["kind"]), str(data["message"])
    except (KeyError, TypeError):
        return EngineError("failed; the reason cannot be read")
    return ScenarioError(message.split("\n")) if kind == "ScenarioError" else EngineError(message)
