"""Profiles of hosts: what `tcp.host` sets, and what takes its place."""

from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.engines.native.plan import plan
from fullpipe.scenario.model.tcp import PROFILES, Tcp

from .conftest import SMALL

SHIPPED = {"receive_memory_bytes": 131_072, "receive_memory_most_bytes": 33_554_432}
SHIPPED |= {"send_memory_bytes": 16_384, "send_memory_most_bytes": 4_194_304}


def scenario(tcp: dict[str, Any], of_flow: dict[str, Any] | None = None) -> Scenario:
    said = {"tcp": tcp} | ({"flows.0.tcp": of_flow} if of_flow else {})
    return Scenario.from_toml(SMALL).with_values(said)


def transport(tcp: dict[str, Any], of_flow: dict[str, Any] | None = None) -> Tcp:
    made = scenario(tcp, of_flow)
    return made.tcp_of(made.flows[0])


def values(tcp: Tcp, names: Any = tuple(SHIPPED)) -> dict[str, Any]:
    return {name: getattr(tcp, name) for name in names}


def test_linux_as_it_ships_has_the_buffers_of_7_2() -> None:
    assert values(transport({"host": "linux-defaults"})) == SHIPPED


def test_without_a_profile_no_buffer_is_in_the_way() -> None:
    assert transport({}) == Tcp()
    plans = [plan(scenario(tcp))["flows"] for tcp in ({}, {"host": "linux"})]
    assert plans[0] == plans[1]
    assert plans[0][0]["tcp"] == {}


def test_a_key_beside_the_profile_takes_its_place() -> None:
    found = values(transport({"host": "linux-defaults", "send_memory_most": "8 MiB"}))
    assert found == SHIPPED | {"send_memory_most_bytes": 8 * 2**20}


def test_a_flow_has_its_own_profile_or_changes_that_of_all() -> None:
    assert values(transport({}, {"host": "linux-defaults"})) == SHIPPED
    changed = values(transport({"host": "linux-defaults"}, {"receive_memory": "1 MiB"}))
    assert changed == SHIPPED | {"receive_memory_bytes": 2**20}


def test_a_host_like_that_of_ns3_finds_losses_by_duplicates() -> None:
    like = transport({"host": "ns3-like"})
    assert (like.loss_detection, like.min_rto_s, like.tail_loss_probe) == ("dupack", 1.0, False)
    assert (like.ack_every, like.sack_compression, like.max_burst_bytes) == (2, False, 0)
    assert (like.undo, like.full_send_buffer, like.idle_application, like.prr) == (
        False,
        "network_limited",
        "network_limited",
        "ns3",
    )


def test_another_profile_takes_the_place_of_all_that_the_first_set() -> None:
    like = scenario({"host": "ns3-like", "min_rto": "2 s"})
    for host in PROFILES:
        changed = like.with_values({"tcp.host": host})
        assert changed.tcp == scenario({"host": host, "min_rto": "2 s"}).tcp
        assert Scenario.from_toml(changed.to_toml()) == changed


def test_a_flow_with_a_profile_has_nothing_of_that_of_all() -> None:
    found = transport({"host": "ns3-like", "mss": "1000 B"}, {"host": "linux-defaults"})
    assert found == transport({"host": "linux-defaults", "mss": "1000 B"})


def test_every_profile_can_be_named_and_reads_as_it_is_written() -> None:
    for name, said in PROFILES.items():
        made = transport({"host": name})
        assert made == transport({"host": name, **said})


@pytest.mark.parametrize(
    ("tcp", "problem"),
    [
        ({"host": "windows"}, "tcp.host"),
        ({"send_memory": "8 MiB", "send_memory_most": "4 MiB"}, "tcp.send_memory_most"),
        ({"mss": "9000 B", "receive_memory": "8 kB"}, "tcp.receive_memory"),
    ],
)
def test_what_cannot_be_is_refused(tcp: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        scenario(tcp)
