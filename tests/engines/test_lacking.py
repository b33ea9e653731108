"""What an engine does not have is refused by one rule: a new entry of the registry needs no other."""

from dataclasses import replace
from typing import Any

import pytest

from fullpipe.engines import lacking
from fullpipe.engines.native import NativeEngine
from fullpipe.scenario import Scenario, resolve

EVERYTHING = Scenario(
    name="everything",
    duration="9 s",
    topology={
        "kind": "graph",
        "nodes": ["a", "b", "c"],
        "links": [
            {
                "from": "a",
                "to": "b",
                "rate": "10 Mbit/s",
                "delay": "1 ms",
                "duplex": True,
                "queue": {"kind": "codel"},
                "loss": {"kind": "bernoulli", "probability": 0.01},
                "changes": [{"at": "1 s", "loss": {"kind": "periodic", "every": 100}}],
                "batch": "5 ms",
            }
        ],
    },
    cells=[{"name": "d", "kind": "shared", "hub": "b", "rate": "9 Mbit/s", "stations": [{"node": "c"}]}],
    flows=[{"cca": "cubic", "from": "a", "to": "c"}, {"workload": {"kind": "ping"}, "from": "a", "to": "c"}],
)
CAN = NativeEngine().capabilities()


def refused(scenario: Scenario, **without: Any) -> list[str]:
    can = replace(CAN, **without)
    return [str(problem) for problem in lacking(scenario, resolve(scenario), can, "it", "do {} {}".format)]


def test_nothing_is_refused_that_an_engine_has() -> None:
    assert refused(EVERYTHING) == []


@pytest.mark.parametrize(
    ("family", "has", "told"),
    [
        ("ccas", {"reno"}, ["flows[0].cca: it has no cubic; it has reno; do ccas cubic"]),
        ("workloads", {"bulk"}, ["flows[1].workload: it has no ping; it has bulk; do workloads ping"]),
        ("media", set(), ["cells[0]: it has no cells of kind shared; do media shared"]),
        ("queues", {"red"}, ["topology.links[0].queue: it has no codel; it has red; do queues codel"]),
        (
            "losses",
            set(),
            [
                "topology.links[0].loss: it has no bernoulli; do losses bernoulli",
                "topology.links[0].changes: it has no periodic; do losses periodic",
            ],
        ),
        (
            "impairments",
            set(),
            ["topology.links[0].aggregation: it has no aggregation; do impairments aggregation"],
        ),
    ],
)
def test_what_an_engine_does_not_have_is_refused_in_its_place(
    family: str, has: set[str], told: list[str]
) -> None:
    assert refused(EVERYTHING, **{family: frozenset(has)}) == told


def test_a_host_that_ends_tcp_is_refused_unless_there_are_such() -> None:
    hosts = [{"name": "a"}, {"name": "b", "terminated": True}]
    scenario = EVERYTHING.with_values({"hosts": hosts, "cells.0.delay": "1 ms"})
    assert refused(scenario) == []
    assert refused(scenario, ends_tcp=False) == [
        "hosts[1].terminated: it has no hosts that terminate TCP; use --engine native"
    ]


def test_an_algorithm_in_python_is_refused_unless_such_run() -> None:
    scenario = EVERYTHING.with_values({"flows.0.cca": "python:mine:Mine"})
    assert refused(scenario) == []
    [told] = refused(scenario, own_algorithms=False)
    assert told.startswith("flows[0].cca: an algorithm written in Python runs on the native engine only")
