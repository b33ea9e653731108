"""Features of a scenario that an engine does not support, and the paths of refused values in the scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from fullpipe.algorithms import classes, own
from fullpipe.engines.base import Capabilities, Problem
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import fields_by_key
from fullpipe.scenario.model.link.impairments import given
from fullpipe.scenario.model.tcp import PROFILES, Tcp

if TYPE_CHECKING:
    from fullpipe.scenario import Network, Scenario


# Detection of registry entries in a scenario that an engine does not support, for all engines.


NATIVE = "use --engine native"
KINDS = {"media": "cells of kind {}", "route_policies": "{} controller of routes"}
"""Formats of an entry's name in messages, by family. In families without a format, the name alone is
clear."""
Remedy = Callable[[str, str], str]
"""Function that returns the remedy for a missing entry, given its family and its name."""


def lacking(
    scenario: Scenario,
    network: Network,
    can: Capabilities,
    engine: str,
    remedy: Remedy = lambda family, name: NATIVE,
) -> list[Problem]:
    """Return a problem for every registry entry of a scenario that an engine does not support.

    Args:
        scenario: The scenario.
        network: The resolved scenario.
        can: Capabilities of the engine. A new entry of the registry is refused until the capabilities list
        it.
        engine: Name of the engine in messages.
        remedy: Remedy for a missing entry; by default, the advice to use the native engine.
    """
    found = (
        _problem(path, family, name, can, engine, remedy)
        for family, path, name in _named(scenario, network)
        if name not in getattr(can, family)
    )
    ended = () if can.ends_tcp else _ended(scenario, engine)
    return [*dict.fromkeys(problem for problem in found if problem is not None), *ended]


def _ended(scenario: Scenario, engine: str) -> Iterator[Problem]:
    for i, host in enumerate(scenario.hosts or ()):
        if host.terminated:
            yield Problem(f"hosts[{i}].terminated", f"{engine} has no hosts that terminate TCP; {NATIVE}")


def _problem(
    path: str, family: str, name: str, can: Capabilities, engine: str, remedy: Remedy
) -> Problem | None:
    if family == "ccas" and own.is_own(name):
        what = "written in Python" if name.startswith(classes.PREFIX) else "in a library"
        text = f"an algorithm {what} runs on the native engine only; {NATIVE}"
        return None if can.own_algorithms else Problem(path, text)
    what = KINDS.get(family, "{}").format(name)
    has = ", ".join(sorted(getattr(can, family)))
    return Problem(path, f"{engine} has no {what}{f'; it has {has}' if has else ''}; {remedy(family, name)}")


def _named(scenario: Scenario, network: Network) -> Iterator[tuple[str, str, str]]:
    """Yield the family, the path and the name of every registry entry in a scenario."""
    for medium in network.media:
        yield "media", medium.where, medium.kind
    for hop in network.hops:
        if hop.queue:
            yield "queues", f"{hop.where}.queue", hop.queue.kind
    for link in network.links:
        if link.loss:
            yield "losses", f"{link.where}.loss", link.loss.kind
        for one in given(link.impairments):
            yield "impairments", f"{link.where}.{one.name}", one.name
        for _, values in link.steps:
            if "loss" in values:
                yield "losses", f"{link.where}.changes", values["loss"]["kind"]
    for i, controller in enumerate(scenario.route_controllers or ()):
        yield "route_policies", f"route_controllers[{i}].policy", controller.policy
    for i, flow in enumerate(scenario.flows):
        if flow.cca:
            yield "ccas", f"flows[{i}].cca", flow.cca.kind
        if flow.workload:
            yield "workloads", f"flows[{i}].workload", flow.workload.kind


# Parameters of a queue that an engine ignores.


DROP_TAIL = frozenset({"kind", "packets", "limit_bytes", "size_bdp", "size_s"})
"""Fields of `DropTail` that every engine uses. Relative sizes are converted to limits before an engine gets
the queue."""
Made = TypeVar("Made")
"""An engine's queue."""


class _ReadKeys(Mapping[str, Any]):
    """Parameters of a queue that record which of them are read."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)


def with_ignored(
    make: Callable[[Mapping[str, Any]], Made], params: Mapping[str, Any], defaults: Mapping[str, Any]
) -> tuple[Made, list[str]]:
    """Return the queue that `make` makes, and the parameters that the engine would ignore.

    A parameter is ignored if its value differs from the default and `make` does not read it. So an engine
    refuses a new parameter of the registry until the engine reads it. `make` must read parameters by their
    names: a copy of all parameters would count as reading all of them.
    """
    keys = _ReadKeys(params)
    made = make(keys)
    return made, sorted(key for key in params if key not in keys.read and params[key] != defaults[key])


# Parameters of losses and impairments that only the native engine has.


_OF_LINKS: dict[str, frozenset[str]] = {
    "bernoulli": frozenset({"probability"}),
    "periodic": frozenset({"every"}),
    "gilbert_elliott": frozenset({"worsens", "improves", "bad", "good"}),
    "jitter": frozenset({"spread_ns", "shape", "reorder"}),
    "wifi_jitter": frozenset({"mean_ns"}),
    "recorded_jitter": frozenset({"delays_ns", "draw", "reorder"}),
    "aggregation": frozenset({"slot_ns"}),
    "reordering": frozenset({"every", "extra_ns", "from_ns", "until_ns"}),
    "duplicate": frozenset({"probability"}),
}
"""Parameters that the Linux and ns-3 engines use, by the loss model or impairment."""


def only_native(network: Network, engine: str) -> Iterator[Problem]:
    """Refuse parameters of losses and impairments that `_OF_LINKS` lacks, such as new parameters of the
    registry."""
    for link in network.links:
        losses = [values["loss"] for _, values in link.steps if "loss" in values]
        if link.loss:
            from fullpipe.scenario.model.link.losses import plan_of  # imported here, as few links have losses

            losses.append(plan_of(link.loss))
        for loss in losses:
            yield from _beyond(f"{link.where}.loss", "losses", loss["kind"], loss, engine)
        for one in given(link.impairments):
            yield from _beyond(f"{link.where}.{one.name}", "impairments", one.name, one.params, engine)


def _beyond(path: str, family: str, name: str, params: Mapping[str, Any], engine: str) -> Iterator[Problem]:
    if name not in _OF_LINKS:  # refused by `lacking`
        return
    for key, param in catalogue.family(family)[name].params.items():
        if key not in _OF_LINKS[name] and params.get(key, param.default) != param.default:
            text = f"{engine} has no such parameter of {name}; leave it out"
            yield Problem(f"{path}.{key}", f"{text}, or {NATIVE}")


# Conversion of key paths in "not supported" messages to the key paths that the user wrote. If a host profile
# set the value, the message names the profile.


_OF_TCP = re.compile(r"(?:flows\[(\d+)\]\.)?tcp\.(\w+)")
_NAMES = fields_by_key(Tcp)


def as_written(problem: Problem, scenario: Scenario) -> Problem:
    """Return a problem whose key path is the path that the user wrote in the scenario, such as that of a host
    profile."""
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
    """Return the key path and the table that set a transport option of a flow: the flow's `tcp`, or the
    common `tcp`."""
    own = scenario.flows[int(flow)].tcp if flow else None
    if own is not None and name in own.said:
        return f"flows[{flow}].tcp", own
    is_said = not flow or name in scenario.tcp.said
    return ("tcp" if is_said else f"flows[{flow}].tcp"), scenario.tcp


def _by_profile(key: str, said: Tcp) -> bool:
    """Whether the host profile set a value."""
    if said.host is None or key not in PROFILES[said.host]:
        return False
    name = _NAMES[key]
    return bool(getattr(said, name) == getattr(Tcp.model_validate({"host": said.host}), name))
