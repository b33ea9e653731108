"""Models of scenarios have the parameters, ranges, defaults and documentation of the registry."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fullpipe import Scenario
from fullpipe._native import PlanError, Simulation, registry
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.catalogue import family
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.cells.base import Shared
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.cells.wifi import Wifi
from fullpipe.scenario.model.link.impairments import Impairments, given
from fullpipe.scenario.model.link.losses import MODELS as LOSSES
from fullpipe.scenario.model.link.losses import plan_of
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.model.registered import field_name
from fullpipe.scenario.model.workloads import workload_models
from fullpipe.scenario.model.workloads.transfers import APPLICATIONS
from fullpipe.scenario.quantities import SIZE

CELLS: dict[str, type[BaseModel]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model for model in get_args(get_args(Cell)[0])
}
DERIVED = {"wifi", "lte", "nr"}
"""Kinds of cells whose keys stand for parameters that have other names."""
OF_NR = {
    ("nr", key) for key in ("numerology", "down_symbols", "up_symbols", "processing_ns", "harq_round_trip_ns")
}
"""Parameters whose defaults are those of LTE."""


def bounds(field: FieldInfo) -> tuple[float, float]:
    """The smallest and the largest value of a field; 0 and infinity without a bound."""
    found = list(constraints(field))
    low = max([0.0, *(float(c.ge) for c in found if isinstance(c, Ge))])
    return low, min([SIZE.limit, *(float(c.le) for c in found if isinstance(c, Le))])


def constraints(part: Any) -> Iterator[Any]:
    """All that a field is annotated with, however deep."""
    if isinstance(part, FieldInfo):
        yield from part.metadata
        yield from constraints(part.annotation)
    elif isinstance(part, tuple) and not hasattr(part, "_fields"):
        for item in part:
            yield from constraints(item)
    elif get_args(part):
        for item in get_args(part):
            yield item
            yield from constraints(item)


def test_every_medium_of_the_registry_is_a_kind_of_cell() -> None:
    assert sorted(family("media")) == sorted(CELLS)


def test_a_wifi_cell_has_a_value_for_every_parameter_of_the_registry() -> None:
    made = CELLS["wifi"].model_validate({"name": "x", "kind": "wifi", "stations": [{"node": "a"}]})
    assert isinstance(made, Wifi)
    params = family("media")["wifi"].params
    assert set(made.params()) == set(params)
    for key, param in params.items():
        value = made.params()[key]
        assert not param.choices or value in param.choices
        assert param.default in (None, [], value) or key in ("width_mhz", "streams")


@pytest.mark.parametrize("kind", sorted(DERIVED - {"wifi"}))
def test_a_cellular_cell_has_a_value_for_every_parameter_of_the_registry(kind: str) -> None:
    made = CELLS[kind].model_validate({"name": "x", "kind": kind, "users": [{"node": "a"}]})
    assert isinstance(made, Cellular)
    params = family("media")[kind].params
    assert set(made.params()) == set(params)
    for key, param in params.items():
        value = made.params()[key]
        assert not param.choices or value in param.choices
        assert param.default in (None, [], value) or (kind, key) in OF_NR


@pytest.mark.parametrize("name", sorted(set(family("impairments")) - {"recorded_jitter"}))
def test_a_link_takes_every_impairment_with_its_examples(name: str) -> None:
    entry = family("impairments")[name]
    examples = {param.name: param.example for param in entry.params.values() if param.example is not None}
    values = {key: param.example_text for key, param in entry.keys.items() if param.example is not None}
    [bare, *others] = values.values()
    made = Impairments.model_validate({name: values if len(entry.params) > 1 else bare})
    [one] = given(made)
    assert one.name == name
    assert one.params == {param.name: param.default for param in entry.params.values()} | examples
    assert len(entry.params) > 1 or not others


@pytest.mark.parametrize("name", sorted(set(family("losses")) - {"replay"}))
def test_a_link_takes_every_loss_with_its_examples(name: str) -> None:
    entry = family("losses")[name]
    examples = {param.name: param.example for param in entry.params.values() if param.example is not None}
    values = {key: param.example_text for key, param in entry.keys.items() if param.example is not None}
    made = LOSSES[name].model_validate({"kind": name, **values})
    defaults = {param.name: param.default for param in entry.params.values()}
    assert plan_of(made) == {"kind": name, **defaults, **examples}


def test_a_scenario_with_every_impairment_is_read_in_another_process() -> None:
    keys = {"duplicate": 0.01, "jitter": {"spread": "5 ms"}, "loss": {"kind": "periodic", "every": 9}}
    made = Scenario.named("single-reno").with_values(
        {f"topology.bottleneck.{key}": value for key, value in keys.items()}
    )
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_recorded_loss_has_the_parameters_of_the_registry() -> None:
    fields = documented(LOSSES["replay"])
    for name, param in family("losses")["replay"].params.items():
        assert fields[name].description == param.doc


def test_a_shared_cell_has_the_parameters_of_the_registry() -> None:
    params = family("media")["shared"].params
    given = {"name": "x", "kind": "shared", "hub": "h", "rate": "30 Mbit/s", "stations": [{"node": "a"}]}
    made = CELLS["shared"].model_validate(given)
    assert isinstance(made, Shared)
    assert made.params() == {name: param.default for name, param in params.items()} | {"rate_bps": 30_000_000}
    fields = documented(Shared)
    assert all(fields[field_name(param)].description == param.doc for param in params.values())


def test_drop_tail_has_the_parameters_of_the_registry() -> None:
    """Other queues have no model: their parameters are those of the registry."""
    limits = documented(DropTail)
    fields = {"packets": limits["packets"], "bytes": limits["limit_bytes"]}
    params = family("queues")["drop_tail"].params
    assert set(fields) == set(params)
    for name, field in fields.items():
        low, high = bounds(field)
        assert field.default is params[name].default is None
        assert (field.description, field.title) == (params[name].doc, "buffer")
        assert (params[name].min or 0) <= low <= high <= (params[name].max or 0)


TRANSFERS = {kind: model for kind, model in workload_models().items() if kind in APPLICATIONS}


def test_every_application_of_the_registry_is_a_workload() -> None:
    """Writers and datagrams are described by other quantities."""
    assert set(APPLICATIONS) - set(TRANSFERS) == {"writes", "datagrams"}


@pytest.mark.parametrize("kind", TRANSFERS)
def test_a_transfer_has_the_settings_of_the_registry(kind: str) -> None:
    fields = documented(TRANSFERS[kind])
    for param in APPLICATIONS[kind].params.values():
        field = fields[field_name(param)]
        assert field.description == param.doc or param.name == "objects"
        if param.min is not None and param.unit in ("", "bytes"):
            assert bounds(field) == (param.min, param.max)


def test_a_workload_needs_the_settings_without_a_default() -> None:
    made = plan(Scenario.named("single-reno"))
    made["flows"][0]["workload"] = {"kind": "web", "connections": 0}
    with pytest.raises(PlanError) as refused:
        Simulation(json.dumps(made), 1)
    assert "think: missing; it must be a table" in refused.value.message
    assert "connections: 0 is out of range; it must lie between 1 and 1000" in refused.value.message


def test_the_registry_has_the_families() -> None:
    found = registry()
    assert {"algorithms", "queues", "losses", "impairments", "media"} <= set(found)
    assert all(entry["title"] for entries in found.values() for entry in entries)


def test_a_plan_is_refused_with_every_problem() -> None:
    made = plan(Scenario.named("single-reno"))
    made["links"][0]["impairments"] = [{"kind": "jitter", "spread_ns": -1, "shape": "round"}]
    made["links"][1]["loss"] = {"kind": "periodic"}
    with pytest.raises(PlanError) as refused:
        Simulation(json.dumps(made), 1)
    paths = [path for path, _ in refused.value.problems]
    at = "links[0].impairments[0]"
    assert paths == [f"{at}.spread_ns", f"{at}.shape", "links[1].loss.every"]
    assert (refused.value.path, refused.value.message) == refused.value.problems[0]


def test_a_later_limit_has_the_range_of_the_queue() -> None:
    made = plan(Scenario.named("single-reno"))
    made["links"][0]["changes"] = [{"at_ns": 1, "limit": {"packets": 2 * 10**18, "bytes": None}}]
    with pytest.raises(PlanError, match="out of range") as refused:
        Simulation(json.dumps(made), 1)
    assert refused.value.path == "links[0].changes[0].limit.packets"
