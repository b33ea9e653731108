"""Parameters of queues and algorithms that make no sense are refused with the scenario, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native import NativeEngine
from fullpipe.scenario import catalogue
from fullpipe.scenario.catalogue import Entry, Param

QUEUES = {name: entry for name, entry in catalogue.queues().items() if name != "drop_tail"}
"""drop_tail is a model of its own, whose keys have units."""
WRONG: dict[str, list[object]] = {
    "whole": ["x", 1.5, 1000.0, True, [1], None],
    "number": ["x", True, [1.5], float("nan"), float("inf"), None],
    "switch": ["x", 1, 0.0, None],
    "choice": ["x", 1, True, ["x"], None],
}


def scenario(*, cca: object = "reno", queue: object = None) -> Scenario:
    link: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "10 ms"}
    topology = {"kind": "dumbbell", "bottleneck": {**link, **({"queue": queue} if queue else {})}}
    return Scenario(name="x", duration="1 s", topology=topology, flows=[{"cca": cca}])


def beyond(param: Param) -> Iterator[float]:
    """Numbers below the smallest and above the largest that is allowed."""
    if param.min is None or param.max is None:
        return
    whole = param.kind == "whole"
    yield int(param.min) - 1 if whole else param.min - 1e-9 * max(1.0, abs(param.min))
    yield int(param.max) + 1 if whole else param.max * (1 + 1e-9) + 1e-9


def refusal(part: str, entry: Entry, key: str, value: object) -> str:
    given = {"kind": entry.name, key: value}
    with pytest.raises(ScenarioError) as error:
        scenario(**{part: given})
    [line] = error.value.problems
    return line


def _cases() -> Iterator[Any]:
    for part, where, entries in (
        ("cca", "flows[0].cca", catalogue.controllers()),
        ("queue", "topology.bottleneck.queue", QUEUES),
    ):
        for entry in entries.values():
            for param in entry.params.values():
                yield pytest.param(part, where, entry, param, id=f"{entry.name}-{param.name}")


CASES = list(_cases())


@pytest.mark.parametrize(("part", "where", "entry", "param"), CASES)
def test_a_value_of_another_type_or_out_of_range_is_refused_by_name(
    part: str, where: str, entry: Entry, param: Param
) -> None:
    for value in (*WRONG[param.kind], *beyond(param)):
        line = refusal(part, entry, param.name, value)
        assert line.startswith(f"{where}.{param.name}: "), line
        assert not re.search(r"[ui]64|[uif]32|f64|floating point|invalid type", line)


@pytest.mark.parametrize(("part", "where", "entry", "param"), CASES)
def test_the_limits_and_every_choice_are_taken_by_scenario_and_engine(
    part: str, where: str, entry: Entry, param: Param
) -> None:
    bounds = [b for b in (param.min, param.max) if b is not None]
    values = [int(b) if param.kind == "whole" else b for b in bounds] or list(param.choices) or [True, False]
    for value in values:
        made = scenario(**{part: {"kind": entry.name, param.name: value}})
        told = [problem.message for problem in NativeEngine().check(made)]
        assert not any(param.name in line for line in told), told


def test_a_wrong_number_is_told_with_what_is_allowed() -> None:
    line = refusal("queue", catalogue.queue("codel"), "limit", 1000.0)
    assert line == "topology.bottleneck.queue.limit: expected a whole number from 1 to 10000000, got 1000.0"


def test_a_wrong_name_is_told_with_what_there_is() -> None:
    line = refusal("cca", catalogue.controller("cubic"), "hystart", "linus")
    assert line == 'flows[0].cca.hystart: unknown value "linus"; did you mean "linux"?'


def test_two_mistakes_are_two_lines() -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(cca={"kind": "cubic", "beta": 7, "hystart": 1})
    assert [line.partition(": ")[0] for line in error.value.problems] == [
        "flows[0].cca.beta",
        "flows[0].cca.hystart",
    ]
