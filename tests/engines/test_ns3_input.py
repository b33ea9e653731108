"""The input of the ns3 engine's program, and what it refuses: no ns-3 is needed."""

from __future__ import annotations

from typing import Any

import pytest

from fullpipe.engines.ns3 import Ns3Engine, remarks
from fullpipe.engines.ns3.input import problems, program_input
from fullpipe.engines.ns3.supported import COUNTERPARTS, NoCounterpartError, ns3_queue, red_weight
from fullpipe.scenario import Scenario, catalogue
from fullpipe.scenario.model.link.queues import Discipline, DropTail


def scenario(cca: object = "cubic", queue: object = None, **other: Any) -> Scenario:
    bottleneck = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": queue or {"packets": 66}}
    bottleneck |= other.pop("bottleneck", {})
    flow = {"cca": cca, **other.pop("flow", {})}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return Scenario(**{"name": "test", "duration": "10 s", "topology": topology, "flows": [flow], **other})


def lines(value: Scenario, key: str) -> list[str]:
    found = [line.split(" ", 1) for line in program_input(value, seed=7).splitlines()]
    return [rest[0] if rest else "" for name, *rest in found if name == key]


def attributes(value: Scenario) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in lines(value, "socket_attribute"))


def refusals(value: Scenario) -> list[str]:
    return [str(problem) for problem in problems(value, Ns3Engine().capabilities())]


def test_times_are_in_nanoseconds_and_the_seed_comes_first() -> None:
    assert lines(scenario(warmup="1 s"), "run") == ["7 10000000000 1000000000 100000000 0"]


def test_a_link_has_its_rate_delay_and_queue() -> None:
    made = scenario()
    assert lines(made, "wire")[0] == "20000000 20000000 0"
    assert lines(made, "queue_attribute")[0] == "MaxSize 66p"


def test_changes_carry_what_changes_and_leave_the_rest() -> None:
    changes = [{"at": "5 s", "delay": "50 ms", "loss": {"kind": "bernoulli", "probability": 0.05}}]
    made = scenario(bottleneck={"changes": changes})
    assert lines(made, "change") == ["5000000000 -1 50000000"]
    assert lines(made, "change_loss") == ["bernoulli 0.050000000000000003 loss/bottleneck/0"]


def test_losses_are_drawn_from_the_streams_of_the_native_engine() -> None:
    made = scenario(bottleneck={"loss": {"kind": "periodic", "every": 100}})
    assert lines(made, "loss") == ["periodic 100 loss/bottleneck"]


def test_buffers_that_never_limit_are_as_large_as_ns3_can_say() -> None:
    assert attributes(scenario())["SndBufSize"] == attributes(scenario())["RcvBufSize"] == str(2**29)
    assert lines(scenario(), "data") == [f"{2**64 - 1} 0"]


def test_a_send_buffer_is_never_larger_than_the_receive_buffer() -> None:
    made = scenario(tcp={"send_buffer": "2 MiB", "receive_buffer": "1 MiB"})
    assert attributes(made)["SndBufSize"] == attributes(made)["RcvBufSize"] == str(2**20)
    assert lines(made, "data") == [f"{2**64 - 1} 1"]


def test_acks_are_those_of_ns3_unless_the_scenario_counts_them() -> None:
    assert "DelAckCount" not in attributes(scenario())
    assert attributes(scenario(tcp={"ack_every": 1}))["DelAckCount"] == "1"


def test_what_ns3_does_anyway_is_no_reason_and_a_smallest_timeout_is_its_own() -> None:
    tcp = {"loss_detection": "dupack", "tail_loss_probe": False, "full_send_buffer": "network_limited"}
    tcp |= {"undo": False, "idle_application": "network_limited", "prr": "ns3"}
    made = scenario({"kind": "bbr1", "policer": False}, tcp={**tcp, "min_rto": "300 ms"})
    assert refusals(made) == []
    assert attributes(made)["MinRto"] == "300000000ns"


def test_a_device_below_the_queue_holds_what_the_scenario_says() -> None:
    assert lines(scenario(bottleneck={"device_queue": {"packets": 100}}), "device") == ["100", "0"]


def test_an_application_writes_at_its_interval() -> None:
    cbr = {"kind": "cbr", "rate": "8 Mbit/s", "write": "1 kB", "when_full": "drop"}
    made = scenario(flow={"workload": cbr}, tcp={"send_buffer": "1 MiB"})
    assert lines(made, "writes") == ["1000000 1000 1"]
    assert lines(scenario(), "writes") == []


def test_the_input_has_what_the_random_numbers_of_a_flow_are_called() -> None:
    assert lines(scenario(), "stream") == ["#0/0"]
    assert lines(scenario(flow={"stream": "own"}), "stream") == ["own/0"]


def test_ns3_runs_its_own_algorithm_of_a_name_and_ours_where_it_has_none() -> None:
    assert lines(scenario("bbr1"), "algorithm") == ["ns3::TcpBbr"]
    assert lines(scenario("bbr3"), "own") == ["bbr3 {}"]


def test_ours_run_throughout_if_the_scenario_says_so() -> None:
    made = scenario({"kind": "cubic", "beta": 0.5}, ns3={"algorithms": "fullpipe"})
    assert lines(made, "own") == ['cubic {"beta": 0.5}']


def test_parameters_that_ns3_has_are_handed_on() -> None:
    made = scenario({"kind": "bbr1", "bw_window_rounds": 20})
    assert lines(made, "algorithm_attribute") == ["BwWindowLength 20"]


def test_parameters_that_it_has_not_are_refused_by_name() -> None:
    [told] = refusals(scenario({"kind": "bbr1", "policer": True}))
    assert told.startswith("flows[0].cca.policer: TcpBbr has no such parameter; leave it out, or write")


def test_counterparts_have_our_names_and_our_parameters() -> None:
    for name, theirs in COUNTERPARTS.items():
        assert set(theirs.attributes) <= set(catalogue.controller(name).params), name


def test_recovery_and_selective_acknowledgements_can_be_chosen() -> None:
    made = scenario(ns3={"recovery": "classic", "sack": False})
    assert lines(made, "recovery") == ["ns3::TcpClassicRecovery"]
    assert attributes(made)["Sack"] == "false"


def test_options_of_ns3_survive_toml_and_move_no_digest_unless_set() -> None:
    made = scenario(ns3={"recovery": "classic"})
    assert Scenario.from_toml(made.to_toml()) == made
    assert scenario().digest != made.digest


def test_the_input_has_every_route_of_a_flow_that_changes() -> None:
    links = [
        {"from": "a", "to": "b", "rate": "20 Mbit/s", "delay": "10 ms", "duplex": True},
        {"from": "a", "to": "b", "name": "slow", "rate": "20 Mbit/s", "delay": "30 ms"},
    ]
    reroutes = [{"at": "3 s", "via": ["slow"], "ways": "data"}]
    flow = {"cca": "cubic", "from": "a", "to": "b", "reroutes": reroutes}
    graph = {"kind": "graph", "nodes": ["a", "b"], "links": links}
    made = Scenario(name="test", duration="10 s", topology=graph, flows=[flow])
    assert lines(made, "reroute") == ["3000000000 0 2"]


@pytest.mark.parametrize(
    ("queue", "wanted"),
    [
        ({"kind": "codel", "target_ms": 3.0}, {"Target": "3000000ns", "MaxSize": "1000p", "UseEcn": "false"}),
        ({"kind": "pie", "alpha": 4}, {"A": "0.25", "B": "1.25", "QueueDelayReference": "15000000ns"}),
        ({"kind": "fq_pie", "ecn": True}, {"UseEcn": "true", "MarkEcnThreshold": "0.10000000000000001"}),
        ({"kind": "red", "limit": 120_000}, {"MaxSize": "120000B", "MinTh": "10000", "MaxTh": "30000"}),
        ({"kind": "tbf", "packets": 50}, {"Rate": "100000000bps", "Burst": "125000", "MaxSize": "50p"}),
    ],
)
def test_a_queue_has_the_parameters_of_ours(queue: dict[str, Any], wanted: dict[str, str]) -> None:
    found = ns3_queue(Discipline(**queue)).attributes
    assert {key: found[key] for key in wanted} == wanted


def test_a_fair_queue_has_a_quantum() -> None:
    assert ns3_queue(Discipline(kind="fq_codel")).quantum == 1514


def test_drop_tail_limits_packets_or_bytes() -> None:
    assert ns3_queue(DropTail(packets=10)).attributes == {"MaxSize": "10p"}
    assert ns3_queue(DropTail(bytes="1 MiB")).attributes == {"MaxSize": "1048576B"}


def test_the_weight_of_red_is_a_power_of_a_half_that_lets_the_burst_pass() -> None:
    weight = red_weight(10_000, 16, 1_000)
    assert (1 - (1 - weight) ** 16) / weight >= 16 + 1 - 10 > (1 - (1 - 2 * weight) ** 16) / (2 * weight)


@pytest.mark.parametrize("kind", ["cake", "dualpi2", "police", "step"])
def test_queues_that_ns3_has_not_are_refused(kind: str) -> None:
    with pytest.raises(NoCounterpartError, match=f"ns-3 has no {kind}"):
        ns3_queue(Discipline(kind=kind))


def test_a_parameter_of_a_queue_that_ns3_has_not_is_refused() -> None:
    with pytest.raises(NoCounterpartError, match="memory_limit_bytes"):
        ns3_queue(Discipline(kind="fq_codel", memory_limit_bytes=1_000_000))


def test_a_host_like_that_of_ns3_says_what_ns3_does() -> None:
    assert refusals(scenario(tcp={"host": "ns3-like"})) == []


@pytest.mark.parametrize(
    ("tcp", "where"),
    [
        ({"sack_compression": True}, "tcp.sack_compression"),
        ({"gro": "50 us"}, "tcp.gro"),
        ({"max_burst": "64 KiB"}, "tcp.max_burst"),
        ({"min_burst": 2}, "tcp.min_burst"),
        ({"pacing": "fq"}, "tcp.pacing"),
        ({"ecn": "accecn"}, "tcp.ecn"),
        ({"loss_detection": "rack"}, "tcp.loss_detection"),
        ({"full_send_buffer": "app_limited"}, "tcp.full_send_buffer"),
        ({"tail_loss_probe": True}, "tcp.tail_loss_probe"),
        ({"host": "linux"}, "tcp.host"),
        ({"receive_memory": "1 MiB"}, "tcp.receive_memory"),
        ({"undo": True}, "tcp.undo"),
        ({"idle_application": "app_limited"}, "tcp.idle_application"),
        ({"prr": "rfc9937"}, "tcp.prr"),
        ({"rescue_retransmit": "unbounded"}, "tcp.rescue_retransmit"),
        ({"send_buffer": "1 GiB"}, "tcp.send_buffer"),
    ],
)
def test_what_the_transport_says_and_ns3_cannot_is_refused(tcp: dict[str, Any], where: str) -> None:
    [told] = refusals(scenario(tcp=tcp))
    assert told.startswith(f"{where}: ")


def test_what_the_transport_leaves_out_is_no_reason() -> None:
    assert refusals(scenario()) == []


def test_every_reason_is_told_at_once() -> None:
    made = scenario("prague", {"kind": "cake"}, tcp={"gro": "50 us"}, record={"packets": ["sender"]})
    assert len(refusals(made)) == 4


def test_dctcp_without_ecn_is_not_what_ns3_has() -> None:
    [told] = refusals(scenario("dctcp"))
    assert told == "flows[0].tcp.ecn: ns-3's DCTCP always negotiates ECN; write ecn = true"
    assert refusals(scenario("dctcp", tcp={"ecn": True})) == []


def test_algorithms_that_ns3_has_not_are_ours_unless_they_are_to_be_its_own() -> None:
    assert refusals(scenario("nv")) == []
    [told] = refusals(scenario("nv", ns3={"algorithms": "ns3-only"}))
    assert told.startswith("flows[0].cca: ns-3 has no nv of its own")
    assert refusals(scenario("cubic", ns3={"algorithms": "ns3-only"})) == []


def test_an_algorithm_in_python_is_refused() -> None:
    [told] = refusals(scenario("python:mine:Mine"))
    assert "native engine only" in told


def test_a_network_interface_is_one_more_link_at_the_head_of_the_routes_from_its_host() -> None:
    nic = {"rate": "5 Mbit/s", "queue": {"kind": "codel"}}
    made = scenario(flow={"hosts": ["laptop", "server"]}, hosts=[{"name": "laptop", "nic": nic}])
    assert lines(made, "link") == ["bottleneck", "bottleneck-reverse", "laptop-nic"]
    assert (lines(made, "wire")[2], lines(made, "forward"), lines(made, "reverse")) == (
        "5000000 0 0",
        ["2 0"],
        ["1"],
    )
    assert refusals(made) == []
    told = (
        "flows of laptop share its interface, but in ns-3 each has its own host, so TCP small queues do not"
    )
    [remark] = remarks(made)
    assert remark.startswith(told)
    assert list(remarks(scenario())) == []


def test_cells_are_refused() -> None:
    assert refusals(Scenario.named("shared-uplink"))[0].startswith("cells[0]: the ns3 engine has no cells")
