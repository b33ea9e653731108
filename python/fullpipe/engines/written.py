"""Conversion of paths in refusals to the scenario's spelling, with the host profile that set a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fullpipe.engines.base import Problem
from fullpipe.scenario.model.base import fields_by_key
from fullpipe.scenario.model.host_profiles import PROFILES
from fullpipe.scenario.model.tcp import Tcp

if TYPE_CHECKING:
    from fullpipe.scenario import Scenario

_OF_TCP = re.compile(r"(?:flows\[(\d+)\]\.)?tcp\.(\w+)")
_NAMES = fields_by_key(Tcp)


def as_written(problem: Problem, scenario: Scenario) -> Problem:
    """Return a problem with the path of its cause in the scenario."""
    path = problem.path.replace(".cca.params", ".cca")
    found = _OF_TCP.fullmatch(path)
    if not found or found[2] not in _NAMES:
        return Problem(path, problem.message)
    where, said = _holder(found[1], _NAMES[found[2]], scenario)
    message = problem.message
    if _by_profile(found[2], said):
        message += f' (set by {where}.host = "{said.host}")'
    return Problem(f"{where}.{found[2]}", message)


def _holder(flow: str | None, name: str, scenario: Scenario) -> tuple[str, Tcp]:
    """Return the path and the transport that set a value of a flow: its own, or that of all flows."""
    own = scenario.flows[int(flow)].tcp if flow else None
    if own is not None and name in own.said:
        return f"flows[{flow}].tcp", own
    is_said = not flow or name in scenario.tcp.said
    return ("tcp" if is_said else f"flows[{flow}].tcp"), scenario.tcp


def _by_profile(key: str, said: Tcp) -> bool:
    """Whether a value is that of the host profile."""
    if said.host is None or key not in PROFILES[said.host]:
        return False
    name = _NAMES[key]
    return bool(getattr(said, name) == getattr(Tcp.model_validate({"host": said.host}), name))
