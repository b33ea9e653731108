"""Refusals name what stands in the scenario, and say which values the profile of the host has set."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe.engines import Problem
from fullpipe.engines.lacks import as_written
from fullpipe.scenario import Scenario


def told(path: str, tcp: dict[str, Any] | None = None, of_flow: dict[str, Any] | None = None) -> str:
    """A problem of the second entry of flows, as it is told."""
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "9 Mbit/s", "delay": "9 ms"}}
    second = {"cca": "reno", **({"tcp": of_flow} if of_flow else {})}
    flows = [{"cca": "cubic", "count": 16}, second]
    scenario = Scenario(name="x", duration="1 s", topology=topology, tcp=tcp or {}, flows=flows)
    return str(as_written(Problem(path, "no"), scenario))


def test_an_entry_of_flows_keeps_its_number_behind_one_that_stands_for_many() -> None:
    assert told("flows[1].cca") == "flows[1].cca: no"


def test_parameters_of_an_algorithm_are_written_below_its_key() -> None:
    assert told("flows[1].cca.params") == "flows[1].cca: no"


def test_a_value_of_a_profile_is_told_with_the_profile() -> None:
    assert told("tcp.prr", {"host": "ns3-like"}) == 'tcp.prr: no (set by tcp.host = "ns3-like")'


@pytest.mark.parametrize("tcp", [{"prr": "ns3"}, {"host": "linux-defaults", "prr": "ns3"}])
def test_a_value_that_was_written_is_told_alone(tcp: dict[str, Any]) -> None:
    assert told("tcp.prr", tcp) == "tcp.prr: no"


def test_a_value_written_beside_a_profile_that_sets_another_is_told_alone() -> None:
    assert told("tcp.min_rto", {"host": "ns3-like", "min_rto": "2 s"}) == "tcp.min_rto: no"


def test_a_key_with_a_unit_in_its_field_is_found_by_its_spelling() -> None:
    end = '(set by tcp.host = "linux-defaults")'
    assert told("tcp.receive_memory", {"host": "linux-defaults"}) == f"tcp.receive_memory: no {end}"


@pytest.mark.parametrize(
    ("tcp", "of_flow", "expected"),
    [
        ({"prr": "ns3"}, {"mss": "500 B"}, "tcp.prr: no"),
        ({}, {"prr": "ns3"}, "flows[1].tcp.prr: no"),
        ({}, {"mss": "500 B"}, "flows[1].tcp.prr: no"),
        ({"host": "ns3-like"}, {"mss": "500 B"}, 'tcp.prr: no (set by tcp.host = "ns3-like")'),
        ({}, {"host": "ns3-like"}, 'flows[1].tcp.prr: no (set by flows[1].tcp.host = "ns3-like")'),
    ],
)
def test_the_transport_that_says_it_is_named(
    tcp: dict[str, Any], of_flow: dict[str, Any], expected: str
) -> None:
    assert told("flows[1].tcp.prr", tcp, of_flow) == expected
