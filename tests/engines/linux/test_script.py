"""What the guest is told, for one scenario after the other. Nothing boots here."""

from __future__ import annotations

import re
import struct

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.departures import start_ns
from fullpipe.engines.linux.layout import lay_out
from fullpipe.engines.linux.script import script

CCAS = ("reno", "cubic", "bbr", "dctcp")


def told(scenario: Scenario) -> str:
    return script(scenario, lay_out(scenario, 1), CCAS)


def lines(scenario: Scenario, word: str) -> list[str]:
    """The lines of the script that begin with a word."""
    return [line for line in told(scenario).splitlines() if line.startswith(f"{word} ")]


def qdiscs(scenario: Scenario) -> list[str]:
    """Kinds of the queue disciplines, in the order of the script."""
    return [line.split()[6] for line in lines(scenario, "qdisc")]


def test_the_same_scenario_and_seed_give_the_same_script(small: Scenario) -> None:
    assert told(small) == told(small)


def test_a_rate_with_a_queue_is_a_server_over_the_queue_and_a_wire(small: Scenario) -> None:
    assert qdiscs(small)[:3] == ["htb", "pfifo", "netem"]


def test_drop_tail_holds_as_many_packets_as_the_scenario_says(small: Scenario) -> None:
    [options, *_] = [line.split()[7] for line in lines(small, "qdisc") if " pfifo " in line]
    assert struct.unpack("<I", bytes.fromhex(options)[4:]) == (20,)


def test_a_link_serves_at_its_rate(small: Scenario) -> None:
    [options, *_] = [line.split()[7] for line in lines(small, "class")]
    assert struct.pack("<I", 10_000_000 // 8).hex() in options


def test_access_links_without_a_queue_are_wires_alone() -> None:
    scenario = Scenario.named("kato2025").with_values({"topology.bottleneck.queue.packets": 100})
    kinds = qdiscs(scenario)
    assert (kinds.count("htb"), kinds.count("netem")) == (2, 2 + 4 * 16)


def test_an_aqm_stands_below_the_server(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.queue": {"kind": "codel", "target_ms": 7.0}})
    [line, *_] = [line for line in lines(scenario, "qdisc") if " codel " in line]
    assert line.split()[4] == "10001"
    assert struct.pack("<HHI", 8, 1, 7_000).hex() in line


def test_cake_with_a_bandwidth_is_its_own_bucket(small: Scenario) -> None:
    queue = {"kind": "cake", "bandwidth_bps": 10_000_000}
    bottleneck = {"delay": "10 ms", "queue": queue}
    scenario = small.with_values({"topology.bottleneck": bottleneck})
    assert qdiscs(scenario)[:2] == ["cake", "netem"]


def test_a_policer_is_a_filter_in_front_of_the_class(small: Scenario) -> None:
    queue = {"kind": "police", "rate_bps": 5_000_000, "burst_bytes": 30_000, "packets": 50}
    scenario = small.with_values({"topology.bottleneck.queue": queue})
    assert qdiscs(scenario)[:2] == ["htb", "pfifo"]
    [policer, *_] = lines(scenario, "filter")
    assert policer.split()[4] == "10000"
    assert struct.pack("<I", round(30_000 * 8 / 5_000_000 * 1e9 / 64)).hex() in policer


def test_a_policer_without_a_rate_makes_nobody_wait(small: Scenario) -> None:
    bottleneck = {"delay": "10 ms", "queue": {"kind": "police", "rate_bps": 5_000_000}}
    scenario = small.with_values({"topology.bottleneck": bottleneck})
    assert qdiscs(scenario)[:2] == ["htb", "netem"]
    assert lines(scenario, "class") == []


def test_a_threshold_of_time_is_one_of_codel(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.queue": {"kind": "step", "mark_ms": 2.0}})
    [line, *_] = [line for line in lines(scenario, "qdisc") if " codel " in line]
    assert struct.pack("<HHI", 8, 5, 2_000).hex() in line


def test_copies_are_made_last_and_apart(small: Scenario) -> None:
    assert qdiscs(small.with_values({"topology.bottleneck.duplicate": 0.1}))[:4] == [
        *("htb", "pfifo", "netem", "netem")
    ]


def test_packets_that_are_lost_by_number_are_counted_where_they_arrive(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.loss": {"kind": "periodic", "every": 100}})
    [ingress] = [line.split()[1:3] for line in lines(scenario, "qdisc") if " ingress" in line]
    [counts] = lines(scenario, "filter")
    [*_, watched] = [line.split()[2:] for line in lines(scenario, "watch") if line.split()[2:] == ingress]
    assert counts.split()[1:3] == ingress == watched
    assert struct.pack("<HHi", 2, 100, 2).hex() in counts


def test_every_namespace_on_the_route_of_data_has_a_route(small: Scenario) -> None:
    routes = [line.split() for line in lines(small, "route")]
    to_receiver = [route[1] for route in routes if route[2] == "10.2.0.1"]
    assert len(to_receiver) == len(set(to_receiver)) == 4


def test_one_ack_per_packet_is_a_property_of_the_route_back(small: Scenario) -> None:
    quick = [line for line in lines(small.with_values({"tcp.ack_every": 1}), "route") if "quickack 1" in line]
    assert [line.split()[2] for line in quick] == ["10.1.0.1"]


def test_the_initial_window_is_a_property_of_the_route_of_the_sender(small: Scenario) -> None:
    scenario = small.with_values({"tcp.initial_window": 32})
    assert sum("initcwnd 32" in line for line in lines(scenario, "route")) == 1


def test_flows_start_when_they_do_in_the_simulator(small: Scenario) -> None:
    scenario = small.with_values({"flows.0.start": "1 s", "flows.0.start_jitter": "10 ms"})
    [flow] = lay_out(scenario, seed=3).flows
    assert flow.start_ns == start_ns(1_000_000_000, 10_000_000, 3, "#0/0")


def test_a_payload_sets_the_mtu(small: Scenario) -> None:
    assert all(line.endswith(" 1472") for line in lines(small.with_values({"tcp.mss": "1420 B"}), "link"))


def test_a_rate_change_leaves_the_queue_alone(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "rate": "5 Mbit/s"}]})
    changed = [line.split()[2:9:6] for line in lines(scenario, "at") if " change " in line]
    assert changed == [["class", "htb"], ["qdisc", "netem"]]


def test_a_rate_change_of_a_bucket_sets_the_queue_below_it_again(small: Scenario) -> None:
    queue = {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 5000, "packets": 20}
    changes = [{"at": "2 s", "rate": "5 Mbit/s"}]
    scenario = small.with_values(
        {"topology.bottleneck": {"queue": queue, "delay": "10 ms", "changes": changes}}
    )
    changed = [line.split()[8] for line in lines(scenario, "at") if " change " in line]
    assert changed == ["tbf", "pfifo"]
    [frame] = [line for line in lines(scenario, "at") if " frames " in line]
    assert frame.split()[:3] == ["at", "2000000000", "frames"], "a packet wakes the bucket"


def test_a_ramp_is_as_many_changes_as_it_has_steps(small: Scenario) -> None:
    ramp = {"kind": "ramp", "at": "1 s", "over": "1 s", "step": "100 ms", "to": {"rate": "5 Mbit/s"}}
    scenario = small.with_values({"topology.bottleneck.shapes": [ramp]})
    assert sum(" class " in line for line in lines(scenario, "at")) == 10


def test_another_limit_leaves_the_rate_alone(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "packets": 5}]})
    assert [line.split()[8] for line in lines(scenario, "at") if " change " in line] == ["pfifo"]


def test_a_delay_change_leaves_the_queue_alone(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "delay": "30 ms"}]})
    changed = [line.split()[8] for line in lines(scenario, "at") if " change " in line]
    assert changed == ["netem"]


def test_packets_may_overtake_each_other_only_behind_the_serialisation(small: Scenario) -> None:
    scenario = small.with_values({"topology.bottleneck.changes": [{"at": "2 s", "delay": "5 ms"}]})
    assert qdiscs(scenario)[:4] == ["htb", "pfifo", "netem", "netem"]


def test_a_reroute_replaces_routes_at_its_time() -> None:
    scenario = Scenario.from_toml(
        """
        name = "two ways"
        duration = "4 s"
        [topology]
        kind = "graph"
        nodes = ["a", "b"]
        links = [
            { name = "fast", from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms", duplex = true },
            { name = "slow", from = "a", to = "b", rate = "10 Mbit/s", delay = "50 ms", duplex = true },
        ]
        [[flows]]
        cca = "reno"
        from = "a"
        to = "b"
        reroutes = [{ at = "2 s", via = ["slow"] }]
        """
    )
    replaced = [
        line for line in lines(scenario, "at") if re.match(r"at 2000000000 route s0 10\.2\.0\.1", line)
    ]
    assert len(replaced) == 1


def test_offload_off_hands_over_single_packets(small: Scenario) -> None:
    assert [line.split()[-1] for line in lines(small.with_values({"tcp.max_burst": "off"}), "bursts")] == [
        "1"
    ]


def test_fq_paces_at_the_sender(small: Scenario) -> None:
    assert qdiscs(small.with_values({"tcp.pacing": "fq"}))[-1] == "fq"


@pytest.mark.parametrize("order", [1, -1])
def test_a_ping_leaves_the_options_of_the_connections_of_its_host_alone(small: Scenario, order: int) -> None:
    tcp = {"ecn": True, "timestamps": False, "max_burst": "off"}
    flows = [
        {"cca": "cubic", "hosts": ["laptop", "server"], "tcp": tcp},
        {"workload": {"kind": "ping"}, "hosts": ["laptop", "server"]},
    ]
    hosts = [{"name": name, "nic": {"rate": "5 Mbit/s"}} for name in ("laptop", "server")]
    scenario = small.with_values({"hosts": hosts, "flows": flows[::order]})
    options = [line.split()[2:] for line in lines(scenario, "sysctl") if re.search("tcp_(ecn|times)", line)]
    of_host = [["net/ipv4/tcp_ecn", "1"], ["net/ipv4/tcp_timestamps", "0"]]
    assert options == [*of_host, *of_host]


@pytest.mark.parametrize(("option", "set_to"), [(None, []), (True, []), (False, ["0"] * 2)])
def test_accecn_without_its_option_is_a_switch_of_both_hosts(
    small: Scenario, option: bool | None, set_to: list[str]
) -> None:
    values = {"tcp.ecn": "accecn"} | ({} if option is None else {"tcp.accecn_option": option})
    found = [line.split()[-1] for line in lines(small.with_values(values), "sysctl") if "ecn_option" in line]
    assert found == set_to


def test_datagrams_set_nothing_where_they_are_sent(small: Scenario) -> None:
    ping = {"workload": {"kind": "ping"}, "tcp": {"max_burst": "off", "pacing": "fq"}}
    scenario = small.with_values({"flows": [ping]})
    assert (lines(scenario, "bursts"), "fq" in qdiscs(scenario)) == ([], False)


def test_a_host_is_told_of_its_smallest_timeout_and_of_tail_loss_probes(small: Scenario) -> None:
    options = lines(small.with_values({"tcp.min_rto": "1 s", "tcp.tail_loss_probe": False}), "sysctl")
    told = {tuple(line.split()[-2:]) for line in options}
    assert {("net/ipv4/tcp_rto_min_us", "1000000"), ("net/ipv4/tcp_early_retrans", "0")} <= told


def test_dctcp_runs_at_both_ends(small: Scenario) -> None:
    [flow] = lines(small.with_values({"flows.0.cca": "dctcp", "tcp.ecn": True}), "flow")
    assert flow.split()[5:7] == ["dctcp", "dctcp"]


def test_a_host_with_an_interface_is_one_namespace_that_sends_by_its_queue(small: Scenario) -> None:
    hosts = [{"name": "laptop", "nic": {"rate": "5 Mbit/s", "queue": {"kind": "fq"}}}]
    flows = [{"cca": "cubic", "hosts": ["laptop", name]} for name in ("a", "b")]
    scenario = small.with_values({"hosts": hosts, "flows": flows})
    sender = {line.split()[2] for line in lines(scenario, "flow")}
    (namespace,) = sender
    assert [line.split()[4:7:2] for line in lines(scenario, "qdisc") if line.split()[1] == namespace] == [
        ["ffffffff", "htb"],
        ["10001", "fq"],
    ]
