"""What the engine refuses, with a reason each and all of them at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.check import problems
from fullpipe.engines.linux.install.installed import INSTALL, OURS, Installed
from fullpipe.scenario import resolve


def paths(scenario: Scenario, known: Installed) -> list[str]:
    return [problem.path for problem in problems(scenario, resolve(scenario), known)]


def test_a_plain_scenario_is_not_refused(small: Scenario, known: Installed) -> None:
    assert paths(small, known) == []


def test_every_algorithm_of_some_kernel_is_no_reason_without_a_kernel(
    small: Scenario, known: Installed
) -> None:
    scenarios = [small.with_values({"flows.0.cca": cca}) for cca in OURS]
    assert [path for scenario in scenarios for path in paths(scenario, known)] == []


def test_the_first_study_is_not_refused(known: Installed) -> None:
    assert [path for point in Scenario.named("kato2025").expand() for path in paths(point, known)] == []


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("flows.0.cca", "copa", "flows[0].cca"),
        ("flows.0.cca", {"kind": "cubic", "beta": 0.5}, "flows[0].cca.params"),
        ("tcp.ack_every", 4, "tcp.ack_every"),
        ("tcp.send_buffer", "1 MB", "tcp.send_buffer"),
        ("tcp.packet_memory", "2 KiB", "tcp.packet_memory"),
        ("tcp.gro", "50 us", "tcp.gro"),
        ("tcp.rescue_retransmit", "rfc6675", "tcp.rescue_retransmit"),
        ("tcp.loss_detection", "dupack", "tcp.loss_detection"),
        ("topology.bottleneck.device_queue", {"packets": 100}, "topology.bottleneck.device_queue"),
        ("record.packets", ["sender", "bottleneck"], "record.packets[1]"),
        ("record.variables", True, "record.variables"),
        ("topology.bottleneck.aggregation", "10 ms", "topology.bottleneck.aggregation"),
        ("topology.bottleneck.reordering", {"every": 100, "extra": "5 ms"}, "topology.bottleneck.reordering"),
        ("topology.bottleneck.loss", {"kind": "periodic", "every": 10**6}, "topology.bottleneck.loss.every"),
        ("topology.bottleneck.loss", {"kind": "replay", "packets": [9]}, "topology.bottleneck.loss"),
        ("topology.bottleneck.ack_filter", 4, "topology.bottleneck.ack_filter"),
        (
            "topology.reverse",
            {"delay": "9 ms", "frames": {"every": "1 ms", "size": "9 kB"}},
            "topology.reverse.frames",
        ),
        ("topology.bottleneck.queue", {"kind": "step"}, "topology.bottleneck.queue"),
        (
            "topology.bottleneck.queue",
            {"kind": "step", "mark_packets": 10, "mark_ms": 1.0},
            "topology.bottleneck.queue.mark_packets",
        ),
        (
            "topology.bottleneck.queue",
            {"kind": "red", "limit": 10**9, "burst": 10**6},
            "topology.bottleneck.queue",
        ),
        (
            "topology.bottleneck.queue",
            {"kind": "police", "rate_bps": 8, "burst_bytes": 1000},
            "topology.bottleneck.queue.burst_bytes",
        ),
        (
            "topology.bottleneck.queue",
            {"kind": "fq", "maxrate_bps": 10**11},
            "topology.bottleneck.queue.maxrate_bps",
        ),
    ],
)
def test_what_a_kernel_cannot_do_exactly_is_refused(
    small: Scenario, known: Installed, path: str, value: Any, where: str
) -> None:
    assert where in paths(small.with_values({path: value}), known)


PERIODIC = {"kind": "periodic", "every": 100}


def test_copies_on_a_link_that_loses_are_refused(small: Scenario, known: Installed) -> None:
    values = {"topology.bottleneck.duplicate": 0.1, "topology.bottleneck.loss": PERIODIC}
    assert paths(small.with_values(values), known) == ["topology.bottleneck.duplicate"]


def test_periodic_loss_that_ends_is_refused(small: Scenario, known: Installed) -> None:
    changes = [{"at": "1 s", "loss": {"kind": "bernoulli", "probability": 0.0}}]
    values = {"topology.bottleneck.changes": changes, "topology.bottleneck.loss": PERIODIC}
    assert paths(small.with_values(values), known) == ["topology.bottleneck.loss"]


@pytest.mark.parametrize(
    "values",
    [
        {"topology.bottleneck.loss": PERIODIC},
        {"topology.bottleneck.queue": {"kind": "police", "rate_bps": 5_000_000}},
    ],
)
def test_what_a_kernel_of_an_older_installation_lacks_comes_with_how_to_get_it(
    small: Scenario, known: Installed, values: dict[str, Any]
) -> None:
    scenario = small.with_values(values)
    [problem] = set(problems(scenario, resolve(scenario), replace(known, qdiscs=("htb", "fq"))))
    assert INSTALL in problem.message


def test_a_workload_of_connections_is_refused(small: Scenario, known: Installed) -> None:
    flow = {"cca": "cubic", "workload": {"kind": "web"}}
    assert "flows[0].workload" in paths(small.with_values({"flows": [flow]}), known)


def test_a_datagram_that_cannot_be_numbered_is_refused(small: Scenario, known: Installed) -> None:
    flow = {"workload": {"kind": "ping", "size": "4 B"}}
    assert paths(small.with_values({"flows": [flow]}), known) == ["flows[0].workload.size"]


def test_a_route_that_passes_a_node_twice_is_refused(known: Installed) -> None:
    ends = ("ab", "bc", "cb", "bd")
    links = [{"from": a, "to": b, "rate": "9 Mbit/s", "delay": "1 ms", "duplex": True} for a, b in ends]
    graph = {"kind": "graph", "nodes": ["a", "b", "c", "d"], "links": links}
    straight = Scenario(
        name="x", duration="1 s", topology=graph, flows=[{"cca": "reno", "from": "a", "to": "d"}]
    )
    assert paths(straight, known) == []
    assert set(paths(straight.with_values({"flows.0.via": ["c"]}), known)) == {"flows"}


@pytest.mark.parametrize(
    "values",
    [
        {"flows.0.tcp": {"ecn": True}},
        {"tcp.pacing": "fq"},
        {"flows.1": {"hosts": ["laptop", "b"], "workload": {"kind": "ping", "size": "3000 B"}}},
    ],
)
def test_flows_of_a_host_with_an_interface_that_one_namespace_cannot_have_are_refused(
    small: Scenario, known: Installed, values: dict[str, Any]
) -> None:
    flows = [{"cca": "cubic", "hosts": ["laptop", name]} for name in ("a", "b")]
    host = {"name": "laptop", "nic": {"rate": "5 Mbit/s"}}
    scenario = small.with_values({"hosts": [host], "flows": flows})
    assert paths(scenario, known) == []
    assert paths(scenario.with_values(values), known) == ["hosts[0].nic"]


def test_packets_behind_the_queue_of_an_interface_are_refused(small: Scenario, known: Installed) -> None:
    hosts = [{"name": "laptop", "nic": {"rate": "5 Mbit/s"}}]
    flows = [{"cca": "cubic", "hosts": ["laptop", "server"]}]
    scenario = small.with_values({"hosts": hosts, "flows": flows, "record.packets": ["sender"]})
    assert paths(scenario, known) == ["record.packets"]


def test_cells_are_refused(known: Installed) -> None:
    stations = [{"node": "a"}]
    cell = {"name": "cell", "kind": "shared", "hub": "b", "stations": stations, "rate": "10 Mbit/s"}
    link = {"from": "b", "to": "c", "rate": "9 Mbit/s", "delay": "1 ms", "duplex": True}
    graph = {"kind": "graph", "nodes": ["a", "b", "c"], "links": [link]}
    flows = [{"cca": "reno", "from": "a", "to": "c"}]
    scenario = Scenario(name="x", duration="1 s", topology=graph, cells=[cell], flows=flows)
    assert paths(scenario, known) == ["cells[0]"]


def test_every_reason_is_told_at_once(small: Scenario, known: Installed) -> None:
    scenario = small.with_values({"flows.0.cca": "copa", "tcp.gro": "50 us", "record.variables": True})
    assert set(paths(scenario, known)) == {"flows[0].cca", "tcp.gro", "record.variables"}


def test_an_algorithm_that_another_kernel_has_comes_with_how_to_get_it(
    small: Scenario, known: Installed
) -> None:
    bare = replace(known, ccas=("reno", "cubic", "bbr"))
    scenario = small.with_values({"flows.0.cca": "bbr3"})
    [problem] = problems(scenario, resolve(scenario), bare)
    assert "--source" in problem.message


def test_a_queue_that_a_newer_kernel_has_comes_with_how_to_get_it(small: Scenario, known: Installed) -> None:
    bare = replace(known, qdiscs=("codel",))
    scenario = small.with_values({"topology.bottleneck.queue": {"kind": "dualpi2"}})
    [problem] = set(problems(scenario, resolve(scenario), bare))
    assert INSTALL in problem.message


def test_accurate_ecn_needs_a_kernel_that_has_it(small: Scenario, known: Installed) -> None:
    bare = replace(known, accecn=False)
    scenario = small.with_values({"tcp.ecn": "accecn"})
    assert [problem.path for problem in problems(scenario, resolve(scenario), bare)] == ["tcp.ecn"]
