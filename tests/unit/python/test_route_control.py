"""Controllers of routes in scenarios: their plan, what is refused, and engines that have none."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

import fullpipe
from fullpipe import Scenario, engines
from fullpipe._native import plan_schema
from fullpipe.engines.native.plan import plan
from fullpipe.errors import ScenarioError
from fullpipe.scenario.model.routing import Policy

GRAPH: dict[str, Any] = {
    "kind": "graph",
    "nodes": ["s", "a", "b"],
    "links": [
        {"from": "s", "to": "a", "rate": "100 Mbit/s", "delay": "1 ms", "duplex": True},
        {"name": "fast", "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "duplex": True},
        {"name": "slow", "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "9 ms", "duplex": True},
    ],
}
CONTROLLER = {"every": "1 s", "policy": "least_loaded", "via": [["slow"], ["fast"]], "delay": "5 ms"}


def scenario(*controllers: dict[str, Any], **more: Any) -> Scenario:
    flows = [{"name": name, "cca": "cubic", "from": "s", "to": "b"} for name in ("one", "two")]
    tree = {"topology": GRAPH, "flows": flows, "route_controllers": controllers or [CONTROLLER], **more}
    return Scenario(name="x", duration="4 s", **tree)


def test_the_policies_are_those_of_the_simulator() -> None:
    known = json.loads(plan_schema())["$defs"]["PolicyPlan"]["oneOf"]
    assert {choice["const"] for choice in known} == set(get_args(Policy))


def test_every_flow_that_is_named_has_the_ways_of_its_controller() -> None:
    # Links: s-a 0 and 1, fast 2 and 3, slow 4 and 5.
    ways = [{"forward": [0, 4], "reverse": [5, 1]}, {"forward": [0, 2], "reverse": [3, 1]}]
    numbers = {"every_ns": 10**9, "policy": "least_loaded", "delay_ns": 5_000_000}
    flows = [{"flow": n, "ways": ways} for n in (0, 1)]
    assert plan(scenario())["route_controllers"] == [{**numbers, "flows": flows}]
    data = [{**way, "reverse": None} for way in ways]
    [found] = plan(scenario({**CONTROLLER, "flows": ["two"], "ways": "data"}))["route_controllers"]
    assert found["flows"] == [{"flow": 1, "ways": data}]


def test_a_scenario_without_controllers_has_none_in_its_plan() -> None:
    assert "route_controllers" not in plan(Scenario.named("single-reno"))


def test_two_flows_are_parted() -> None:
    summary = fullpipe.run(scenario()).links_summary
    rates = dict(zip(summary["link"], summary["utilisation"], strict=True))
    assert min(rates["fast"], rates["slow"]) > 0.6


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"every": "150 ms"}, r"route_controllers\[0\].every: counters are read with the samples"),
        ({"via": [["sluw"]]}, r'route_controllers\[0\].via\[0\]: unknown node or link "sluw"; did you mean'),
        ({"flows": ["ona"]}, r'route_controllers\[0\].flows\[0\]: unknown flow "ona"; did you mean "one"'),
        ({"policy": "random"}, r"route_controllers\[0\].policy"),
    ],
)
def test_what_a_controller_cannot_do_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        scenario({**CONTROLLER, **more})


def test_nothing_else_moves_what_it_steers() -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\]: route_controllers\[0\] and \[1\] steer it"):
        scenario(CONTROLLER, {**CONTROLLER, "flows": ["one"]})
    turns = {"every": "1 s", "via": [["slow"]]}
    flow = {"cca": "cubic", "from": "s", "to": "b", "alternate": turns}
    with pytest.raises(ScenarioError, match=r"flows\[0\]: route_controllers\[0\] steers it; leave out"):
        scenario(flows=[flow])
    moved = {**GRAPH, "links": [*GRAPH["links"][:2], {**GRAPH["links"][2], "alternate": turns}]}
    with pytest.raises(ScenarioError, match="route_controllers: links or nodes change routes, too"):
        scenario(topology=moved)
    dumbbell = Scenario.named("single-reno").to_dict()
    with pytest.raises(ScenarioError, match=r'route_controllers: only with topology\.kind = "graph"'):
        Scenario(**{**dumbbell, "route_controllers": [CONTROLLER]})


@pytest.mark.parametrize("name", ["linux", "ns3"])
def test_other_engines_have_none(name: str) -> None:
    found = [str(problem) for problem in engines.engine(name).check(scenario())]
    told = "no least_loaded controller of routes; use --engine native"
    assert any(line.startswith("route_controllers[0].policy: ") and line.endswith(told) for line in found)
