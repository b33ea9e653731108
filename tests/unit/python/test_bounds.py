"""A flow that nothing limits is refused as a scenario, by the same rule as its plan."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native import NativeEngine

LOSSY = {"kind": "bernoulli", "probability": 0.01}
CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "nothing": ({}, False),
    "a rate": ({"bottleneck": {"rate": "10 Mbit/s"}}, True),
    "loss": ({"bottleneck": {"loss": LOSSY}}, False),
    "a rate for ACKs": ({"reverse": {"delay": "10 ms", "rate": "1 Mbit/s"}}, False),
    "a shaper": ({"bottleneck": {"queue": {"kind": "tbf"}}}, True),
    "a shaper without a rate": ({"bottleneck": {"queue": {"kind": "cake"}}}, False),
    "frames": ({"bottleneck": {"frames": {"every": "1 ms", "size": "9 kB"}}}, True),
    "an access link": ({"access": {"rate": "10 Mbit/s"}}, True),
    "a send buffer": ({"tcp": {"send_buffer": "1 MiB"}}, True),
    "a receive buffer": ({"tcp": {"receive_buffer": "1 MiB"}}, True),
    "a size": ({"flow": {"size": "1 MB"}}, True),
    "datagrams": ({"flow": {"cca": None, "workload": {"kind": "ping"}}}, True),
    "a constant rate": ({"flow": {"workload": {"kind": "cbr", "rate": "1 Mbit/s"}}}, False),
    "transfers": ({"flow": {"workload": {"kind": "web"}}}, True),
    "requests": ({"flow": {"workload": {"kind": "request_response", "response": "20 kB"}}}, True),
}


def made(case: dict[str, Any]) -> Scenario:
    bottleneck = {"delay": "10 ms", **case.get("bottleneck", {})}
    links = {key: case[key] for key in ("reverse", "access") if key in case}
    flow = {
        key: value for key, value in {"cca": "cubic", **case.get("flow", {})}.items() if value is not None
    }
    topology = {"kind": "dumbbell", "bottleneck": bottleneck, **links}
    return Scenario(name="x", duration="1 s", topology=topology, tcp=case.get("tcp", {}), flows=[flow] * 2)


def rerouted(via: list[str]) -> Scenario:
    """Over a link with a rate, and later past what `via` names."""
    links = [
        {"from": "a", "to": "b", "delay": "5 ms", "duplex": True, "rate": "10 Mbit/s"},
        {"name": "wide", "from": "a", "to": "b", "delay": "9 ms", "duplex": True},
    ]
    flow = {"cca": "cubic", "from": "a", "to": "b", "reroutes": [{"at": "500 ms", "via": via}]}
    topology = {"kind": "graph", "nodes": ["a", "b"], "links": links}
    return Scenario(name="x", duration="1 s", topology=topology, flows=[flow])


@pytest.mark.parametrize("name", CASES)
def test_scenarios_and_plans_agree_on_what_limits_a_flow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, limited = CASES[name]
    if limited:
        assert NativeEngine().check(made(case)) == []
        return
    with pytest.raises(ScenarioError, match=r'^flows: nothing limits "cubic-1"'):
        made(case)
    monkeypatch.setattr("fullpipe.scenario.checks.route_problems", lambda *_: ())
    told = [str(problem) for problem in NativeEngine().check(made(case))]
    assert [line.split(";")[0] for line in told] == [f"flows[{i}]: nothing limits this flow" for i in (0, 1)]


def test_every_route_of_the_data_needs_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NativeEngine().check(rerouted([])) == []
    with pytest.raises(ScenarioError, match="nothing limits"):
        rerouted(["wide"])
    monkeypatch.setattr("fullpipe.scenario.checks.route_problems", lambda *_: ())
    assert "nothing limits" in str(NativeEngine().check(rerouted(["wide"])))
