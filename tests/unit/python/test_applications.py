"""Models of applications and of distributions write what the engine reads, in its ranges."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from annotated_types import Ge, Le
from pydantic import BaseModel

from fullpipe import Scenario
from fullpipe._native import PlanError, Simulation
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.catalogue import family
from fullpipe.scenario.model.workloads.distributions import Lognormal, Pareto
from fullpipe.scenario.model.workloads.transfers import RateRule, Web
from tests.golden.workloads import cases

PLANS = {
    name: plan(Scenario.model_validate({"name": "case", **data}))
    for name, data in cases()
    if name.startswith("workload ")
}
"""By the name of a golden case, of which every application and every distribution has one."""
DISTRIBUTION = "distribution "
"""Prefix of the names of tables of distributions."""


def workloads() -> dict[str, dict[str, Any]]:
    """The workload in the plan of each case, of the flow that the case tests."""
    found = {name: flow["workload"] for name, made in PLANS.items() for flow in made["flows"]}
    return {name: workload for name, workload in found.items() if workload}


def tables() -> dict[str, tuple[str, tuple[str, ...]]]:
    """A case, and the way from its workload to a table: one of every application and distribution."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name, workload in workloads().items():
        found.setdefault(workload["kind"], (name, ()))
        for key, value in workload.items():
            if isinstance(value, dict) and value.get("kind") in family("distributions"):
                found.setdefault(DISTRIBUTION + value["kind"], (name, (key,)))
    return found


def refusal(case: str, way: tuple[str, ...], key: str, value: object) -> str:
    """Why the engine refuses the plan of a case in which a key of a table has a value."""
    made = json.loads(json.dumps(PLANS[case]))
    table = next(flow["workload"] for flow in made["flows"] if flow["workload"])
    for part in way:
        table = table[part]
    table[key] = value
    with pytest.raises(PlanError) as refused:
        Simulation(json.dumps(made), 1)
    return str(refused.value)


def test_every_application_of_the_registry_has_a_model_and_every_model_an_entry() -> None:
    assert {workload["kind"] for workload in workloads().values()} == set(family("applications"))


def test_every_distribution_is_in_a_case() -> None:
    found = {name.removeprefix(DISTRIBUTION) for name in tables() if name.startswith(DISTRIBUTION)}
    assert found == set(family("distributions"))


@pytest.mark.parametrize("name", tables())
def test_a_model_writes_the_keys_that_the_registry_has(name: str) -> None:
    case, way = tables()[name]
    table: Any = workloads()[case]
    for part in way:
        table = table[part]
    kinds = family("distributions" if name.startswith(DISTRIBUTION) else "applications")
    assert set(table) == {"kind", *kinds[table["kind"]].params}


@pytest.mark.parametrize(
    ("model", "key", "case", "way"),
    [
        (Web, "connections", "workload web", ()),
        (RateRule, "safety", "workload video rate", ("rule",)),
        (Lognormal, "sigma", "workload poisson lognormal", ("sizes",)),
        (Pareto, "shape", "workload poisson pareto", ("sizes",)),
    ],
)
def test_a_model_has_the_range_of_the_engine(
    model: type[BaseModel], key: str, case: str, way: tuple[str, ...]
) -> None:
    metadata = model.model_fields[key].metadata
    [low] = [part.ge for part in metadata if isinstance(part, Ge)]
    [high] = [part.le for part in metadata if isinstance(part, Le)]
    text = refusal(case, way, key, 1_000_000)
    assert [float(x) for x in re.findall(r"between ([\d.]+) and ([\d.]+)", text)[0]] == [low, high]
