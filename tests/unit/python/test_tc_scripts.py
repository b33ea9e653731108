"""Scripts of tc, and what tc prints, as routers: variables, policers, one direction, several devices."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.errors import ScenarioError
from fullpipe.scenario.tc import script
from fullpipe.scenario.tc.assembly import scenario_of
from fullpipe.scenario.tc.devices import Router
from fullpipe.scenario.tc.qdiscs import queue_of

Cli = Callable[..., Any]
POLICED = """tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip prio 50 u32 match ip src 0.0.0.0/0 \\
    police rate 20mbit burst 100k drop flowid :1
"""
UPLOAD = """tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 9mbit ceil 9mbit
tc qdisc add dev eth0 parent 1:10 handle 110: fq_codel limit 1000 noecn
"""
CAKE = (
    "bandwidth 18Mbit diffserv3 dual-srchost nat nowash ack-filter split-gso rtt 100ms noatm"
    " overhead 18 mpu 64"
)
PASTED = f"""root@OpenWrt:~# tc -s qdisc
qdisc noqueue 0: dev lo root refcnt 2
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc fq_codel 0: dev eth1 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn
qdisc cake 8001: dev eth0 root refcnt 2 {CAKE}
 Sent 12054 bytes 117 pkt (dropped 0, overlimits 0 requeues 0)
 memory used: 42Kb of 4Mb
 capacity estimate: 18Mbit
                   Bulk  Best Effort        Voice
  thresh       1125Kbit       18Mbit     4500Kbit
qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------
qdisc cake 8002: dev ifb4eth0 root refcnt 2 bandwidth 90Mbit besteffort triple-isolate nat wash ingress
"""
SHOWN_CLASSES = """$ tc qdisc show dev eth0
qdisc htb 1: root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000
qdisc fq_codel 110: parent 1:10 limit 1001p flows 1024 quantum 300 target 5ms interval 100ms ecn
$ tc -s class show dev eth0
class htb 1:10 parent 1:1 leaf 110: prio 0 rate 8Mbit ceil 9Mbit burst 1600b cburst 1600b
 Sent 12054 bytes 117 pkt (dropped 0, overlimits 0 requeues 0)
class htb 1:1 root rate 9Mbit ceil 9Mbit burst 1599b cburst 1599b
"""


def up_of(text: str) -> dict[str, Any]:
    found = script.router_of(text).up
    assert found is not None
    return found.link


def names(scenario: Scenario) -> list[str]:
    return [flow.name or "" for flow in scenario.flows]


def test_a_policer_alone_limits_what_comes() -> None:
    found = script.router_of(POLICED)
    assert found.up is None
    assert found.down is not None
    assert found.down.queue == {"kind": "police", "rate_bps": 20_000_000, "burst_bytes": 102_400}
    assumed = "eth0 is assumed to be the device at the access line"
    assert found.notes == [f"{assumed}; nothing shapes outgoing packets"]


@pytest.mark.parametrize("line", [None, "dsl"])
def test_a_policed_download_is_a_scenario(line: str | None) -> None:
    scenario = scenario_of(script.router_of(POLICED), line and Scenario.named(line))
    assert names(scenario) == ["download", *(["upload"] if line else []), "ping"]


def test_a_policer_at_another_place_limits_what_leaves() -> None:
    found = script.router_of(POLICED.replace("parent ffff:", "parent 1:"))
    assert found.down is None
    assert found.up is not None
    assert found.up.queue["kind"] == "police"


def test_a_policer_of_some_packets_says_that_it_is_taken_for_all() -> None:
    text = POLICED.replace("ip src 0.0.0.0/0", "ip dport 80 0xffff")
    assert "the policer of eth0 is applied to all packets" in script.router_of(text).notes[0]


def test_a_shaper_of_one_direction_is_a_scenario_that_names_the_line(fullpipe: Cli) -> None:
    Path("up.sh").write_text(UPLOAD)
    done = fullpipe("import-tc", "up.sh", "-o", "up.toml")
    assert done.exit_code == 0, done.output
    text = Path("up.toml").read_text()
    assert "# no download flow, as no rate limits what comes; name the line behind the router" in text
    assert "--line dsl" in text
    scenario = Scenario.from_file("up.toml")
    assert names(scenario) == ["upload", "ping"]
    assert fullpipe("import-tc", "up.sh", "--line", "dsl").stdout.count("there is no") == 0


def test_a_device_without_a_rate_is_a_link_and_with_a_line_a_scenario(fullpipe: Cli) -> None:
    Path("delay.sh").write_text("tc qdisc add dev eth0 root netem delay 10ms\n")
    done = fullpipe("import-tc", "delay.sh")
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith('[topology.bottleneck]\ndelay = "10 ms"\n')
    assert "as in --line dsl" in done.stdout
    done = fullpipe("import-tc", "delay.sh", "--line", "dsl")
    assert names(Scenario.from_toml(done.stdout)) == ["download", "upload", "ping"]


def test_a_router_without_a_rate_either_way_needs_a_line(fullpipe: Cli) -> None:
    Path("fair.sh").write_text("tc qdisc add dev eth0 root fq_codel\ntc qdisc add dev ifb0 root fq_codel\n")
    done = fullpipe("import-tc", "fair.sh")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "no queue has a rate, so nothing limits a flow; name the access line" in done.stderr


def test_a_delay_of_the_router_is_that_of_the_path() -> None:
    text = "tc qdisc add dev eth0 root netem delay 40ms rate 9mbit\n"
    scenario = scenario_of(script.router_of(text))
    delays = {link.known_as: link.delay_s for link in scenario.topology.links}
    assert delays == {"line-down": 0, "shaper-down": 0, "shaper-up": 0.04, "line-up": 0}


def test_what_tc_prints_is_the_line_that_set_it_up() -> None:
    printed = script.router_of(f"qdisc cake 8001: dev eth0 root refcnt 2 {CAKE}\n")
    assert printed.up is not None
    assert printed.up.queue == queue_of(f"tc qdisc add dev eth0 root cake {CAKE}")
    assert printed.up.link == up_of(f"tc qdisc add dev eth0 root cake {CAKE}\n")


def test_the_command_takes_a_printed_line_and_a_file_of_it(fullpipe: Cli) -> None:
    line = f"tc qdisc add dev eth0 root cake {CAKE}"
    printed = f"qdisc cake 8001: dev eth0 root refcnt 2 {CAKE}"
    Path("line").write_text(line)
    Path("printed").write_text(printed)
    assert fullpipe("import-tc", printed).stdout == fullpipe("import-tc", line).stdout
    done = fullpipe("import-tc", "printed")
    assert done.exit_code == 0, done.output
    assert done.stdout == fullpipe("import-tc", "line").stdout


def test_a_pasted_output_finds_both_directions_among_all_devices() -> None:
    found = script.router_of(PASTED)
    assert found.up is not None
    assert found.down is not None
    assert (found.up.queue["bandwidth_bps"], found.down.queue["bandwidth_bps"]) == (18_000_000, 90_000_000)
    assert found.notes == [
        "queues of eth1 are left out: they shape nothing, or belong to other ports",
        "eth0 is assumed to be the device at the access line, ifb4eth0 is assumed to carry incoming packets",
    ]


def test_a_pasted_class_lends_whatever_the_order_of_lines() -> None:
    assert up_of(SHOWN_CLASSES)["rate"] == "9000000 bit/s"


def test_a_pasted_filter_says_where_what_comes_goes() -> None:
    text = """qdisc cake 1: dev eth0 root bandwidth 9Mbit
    qdisc cake 2: dev shape0 root bandwidth 50Mbit
    # tc filter show dev eth0 parent ffff:
    action order 1: mirred (Egress Redirect to device shape0) stolen"""
    found = script.router_of(text)
    assert found.down is not None
    assert found.down.queue["bandwidth_bps"] == 50_000_000


def test_queues_of_processors_are_one() -> None:
    text = """qdisc mq 0: dev eth0 root
    qdisc fq_codel 0: dev eth0 parent :2 limit 10240p flows 1024
    qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024"""
    found = script.router_of(text)
    assert found.up is not None
    assert found.up.queue == {"kind": "fq_codel", "limit": 10_240, "flows": 1024}
    assert found.notes[0] == "mq: one of its 2 equal queues is used"


def test_a_shaper_of_several_processors_is_one() -> None:
    text = """qdisc cake_mq 1: dev eth0 root bandwidth 1Gbit
    qdisc cake 0: dev eth0 parent 1:1 bandwidth 1Gbit"""
    assert up_of(text)["queue"] == {"kind": "cake", "bandwidth_bps": 10**9}


def test_a_class_without_a_queue_has_that_of_its_device() -> None:
    assert up_of("\n".join(UPLOAD.splitlines()[:3])) == {
        "rate": "9000000 bit/s",
        "queue": {"kind": "drop_tail", "packets": 1000},
    }


def test_a_size_table_makes_packets_of_cake_larger() -> None:
    line = "tc qdisc add dev {} root stab overhead 44 linklayer atm cake bandwidth 800kbit\n"
    for device, overhead in (("eth0", 58), ("ppp0", 44)):
        queue = up_of(line.format(device))["queue"]
        assert (queue["overhead"], queue["framing"]) == (overhead, "atm")


def test_a_size_table_beside_an_overhead_of_cake_is_refused() -> None:
    with pytest.raises(ScenarioError, match="stab together with an overhead of CAKE"):
        up_of("tc qdisc add dev eth0 root stab overhead 8 cake bandwidth 1mbit docsis\n")


def test_a_link_layer_of_a_class_is_named() -> None:
    text = UPLOAD.replace("rate 9mbit ceil 9mbit", "rate 9mbit overhead 44 linklayer atm")
    assert any("overhead, linklayer of class 1:10: left out" in note for note in script.router_of(text).notes)


@pytest.mark.parametrize(
    "text",
    [
        'IF=eth0\nRATE="9mbit"\ntc qdisc replace dev $IF root cake bandwidth ${RATE}\n',
        "TC=/sbin/tc KIND='cake bandwidth'; $TC qdisc replace dev eth0 root $KIND 9mbit\n",
        'export UP=9\nOPTS="bandwidth ${UP}mbit"\nsudo -E tc qdisc replace dev eth0 root cake $OPTS\n',
        "LC_ALL=C tc qdisc replace dev eth0 root cake bandwidth 9mbit 2>/dev/null || true\n",
        "tc qdisc del dev a root 2>/dev/null && echo gone; tc qdisc add dev a root cake bandwidth 9mbit\n",
        "ip netns exec r1 tc qdisc add dev eth0 root cake bandwidth 9mbit > /tmp/log 2>&1\n",
        "tc -n r1 qdisc add dev eth0 root cake bandwidth 9mbit\n",
        "qdisc add dev eth0 root cake bandwidth 9mbit\n",
        "WAN=$(ip route | awk '{print $5}')\ntc qdisc add dev eth0 root cake bandwidth 9mbit\n",
        "tc qdisc add dev eth0 root cake bandwidth 9mbit\nexit 0\ntc frob add dev eth0\n",
        "tc qdisc add dev eth0 root cake bandwidth 9mbit\ntc -s qdisc show dev eth0 | grep cake\n",
    ],
)
def test_plain_text_of_a_shell_is_read(text: str) -> None:
    assert up_of(text)["queue"] == {"kind": "cake", "bandwidth_bps": 9_000_000}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tc qdisc add dev $IF root cake\n", "line 1: tc: $IF has no plain value before this line"),
        ("IF=$1\ntc qdisc add dev $IF root cake\n", "line 2: tc: $IF has no plain value"),
        ("IF=$(cat wan)\ntc qdisc add dev $IF root cake\n", "line 2: tc: $IF has no plain value"),
        ("tc qdisc add dev $1 root cake\n", 'line 1: tc: "$1" is not a plain variable; write its value'),
        ("tc qdisc add dev ${IF:-eth0} root cake\n", "is not a plain variable"),
        ("tc qdisc add dev `wan` root cake\n", "line 1: tc: command substitution and arithmetic"),
        ("tc qdisc add dev eth0 root cake bandwidth $((9 * 8))mbit\n", "and arithmetic are not computed"),
        (
            "if true; then\ntc qdisc add dev eth0 root cake\nfi\n",
            'line 1: tc: control flow ("if") is not supported',
        ),
        ("for i in 1 2; do tc qdisc add dev eth$i root cake; done\n", 'line 1: tc: control flow ("for")'),
        ("[ -n x ] && tc qdisc add dev eth0 root cake\n", 'line 1: tc: control flow ("[")'),
        ("start() {\ntc qdisc add dev eth0 root cake\n}\n", 'line 1: tc: control flow ("start()")'),
        ("true || tc qdisc add dev eth0 root cake\n", 'line 1: tc: "||" is not supported'),
        ("tc -batch rules\n", "line 1: tc: batch files are not read"),
        ("tc -b - <<END\nqdisc add dev eth0 root cake\nEND\n", "line 1: tc: here-documents"),
        ("A=xx\n" + "A=$A$A$A$A\n" * 12 + "tc qdisc add dev $A root cake\n", "$A has no plain value"),
        ("tc qdisc add dev eth0 parent 1:x cake\n", "expected a handle such as 1: or 1:10"),
    ],
)
def test_what_a_shell_would_have_to_compute_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        script.router_of(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["touch made", "IF=$(touch made)\ntc qdisc add dev $IF root cake", "`touch made`"]
)
def test_nothing_of_a_script_is_run(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"line [12]: "):
        script.router_of(text)
    assert not list(tmp_path.iterdir())


def test_queues_that_are_nested_without_end_are_refused() -> None:
    lines = [f"tc qdisc add dev eth0 parent {n:x}: handle {n + 1:x}: netem delay 1ms" for n in range(1, 900)]
    with pytest.raises(ScenarioError, match="queues are nested more than 8 deep"):
        script.router_of("\n".join(["tc qdisc add dev eth0 root handle 1: netem delay 1ms", *lines]))


def test_a_line_replaces_what_was_there_before() -> None:
    lines = ("add dev eth0 root netem delay 9ms rate 1mbit", "change dev eth0 root netem rate 2mbit")
    found = script.router_of("\n".join(f"tc qdisc {line}" for line in lines))
    assert found.up is not None
    assert (found.up.rate_bps, dict(found.up.wire)) == (2_000_000, {})
    assert found.notes[0] == "line 2 replaces line 1"


def test_what_changes_packets_elsewhere_is_named() -> None:
    text = "ip link set dev eth0 mtu 1400\nethtool -K eth0 tso off\n"
    notes = script.router_of(f"{text}{UPLOAD}").notes
    assert notes[:2] == [
        "line 1 is left out: ip link set dev eth0 mtu 1400",
        "line 2 is left out: ethtool -K eth0 tso off",
    ]


def test_an_empty_router_has_no_scenario() -> None:
    with pytest.raises(ScenarioError, match="no queue has a rate"):
        scenario_of(Router())
