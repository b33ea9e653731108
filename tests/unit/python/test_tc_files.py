"""Configurations of routers as scenarios: OpenWrt's sqm, and scripts of tc."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.errors import ScenarioError
from fullpipe.scenario.tc import script, sqm
from fullpipe.scenario.tc.assembly import scenario_of

Cli = Callable[..., Any]
CAKE = {"kind": "cake", "bandwidth_bps": 50_000_000, "diffserv": "besteffort"}
SCRIPT = """#!/bin/sh
sudo modprobe ifb   # a device for what comes
ip link set dev ifb0 up
/sbin/tc qdisc del dev eth0 root
tc qdisc replace dev eth0 root cake bandwidth 9mbit
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: matchall \\
    action mirred egress redirect dev ifb0
tc qdisc replace dev ifb0 root cake bandwidth 50mbit besteffort
"""
HTB = """tc qdisc add dev eth0 root handle 1: stab overhead 44 mpu 84 htb default 10
tc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit ceil 9mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 8mbit ceil 9mbit prio 0
tc qdisc add dev eth0 parent 1:10 handle 110: fq_codel limit 1001
"""


def section(**options: object) -> str:
    shown = {"enabled": 1, "interface": "wan", "download": 50_000, "upload": 9_000, "qdisc": "cake"} | options
    return "config queue 'wan'\n" + "".join(f"\toption {key} '{value}'\n" for key, value in shown.items())


def queues(**options: object) -> tuple[Any, Any]:
    """Those for what comes and for what leaves."""
    found = sqm.router_of(section(**options))
    return found.down and dict(found.down.queue), found.up and dict(found.up.queue)


def test_piece_of_cake_has_one_class() -> None:
    down, up = queues(script="piece_of_cake.qos")
    assert down == {**CAKE, "wash": True}
    assert up == {**CAKE, "bandwidth_bps": 9_000_000}


def test_layer_cake_has_classes_unless_those_that_come_are_ignored() -> None:
    down, up = queues(script="layer_cake.qos")
    assert (down["diffserv"], down["wash"]) == ("besteffort", True)
    assert up["diffserv"] == "diffserv3"
    down, up = queues(script="layer_cake.qos", squash_dscp=0, squash_ingress=0)
    assert (down["diffserv"], "wash" in down) == ("diffserv3", False)


def test_options_of_the_link_layer_reach_cake() -> None:
    layer = {"overhead": 44, "tcMPU": 84}
    for kind, framing in (("ethernet", None), ("atm", "atm")):
        for queue in queues(script="piece_of_cake.qos", linklayer=kind, **layer):
            assert (queue["overhead"], queue["mpu"], queue.get("framing")) == (44, 84, framing)
    for off in (
        {"linklayer": "none"},
        {"linklayer": "ethernet", "linklayer_adaptation_mechanism": "htb_private"},
    ):
        for queue in queues(script="piece_of_cake.qos", **layer, **off):
            assert not queue.keys() & {"overhead", "mpu"}


@pytest.mark.parametrize(("interface", "overhead"), [("ppp0", 44), ("pppoe-wan", 44), ("eth1", 58)])
def test_a_size_table_counts_below_cake_with_the_header_of_the_device(interface: str, overhead: int) -> None:
    layer = {"linklayer": "atm", "overhead": 44, "linklayer_adaptation_mechanism": "tc_stab"}
    for queue in queues(script="piece_of_cake.qos", interface=interface, **layer):
        assert (queue["overhead"], queue["mpu"], queue["framing"]) == (overhead, 0, "atm")


def test_a_mechanism_that_does_nothing_for_cake_is_named() -> None:
    layer = {"linklayer": "atm", "overhead": 44, "linklayer_adaptation_mechanism": "htb_private"}
    notes = "\n".join(sqm.router_of(section(script="piece_of_cake.qos", **layer)).notes)
    assert 'linklayer and overhead have no effect: sqm-scripts ignore "htb_private" with cake' in notes


def test_cells_of_adsl_are_counted_by_a_size_table_only() -> None:
    layer: dict[str, object] = {"script": "piece_of_cake.qos", "linklayer": "adsl", "overhead": 40}
    assert all("framing" not in queue for queue in queues(**layer))
    assert any("adsl adds no cells" in note for note in sqm.router_of(section(**layer)).notes)
    layer["linklayer_adaptation_mechanism"] = "tc_stab"
    assert all(queue["framing"] == "atm" for queue in queues(**layer))


def simplest(**options: object) -> tuple[Any, Any]:
    """Queues below shapers, each direction at 10 Mbit/s unless the options say otherwise."""
    usual = {"qdisc": "fq_codel", "script": "simplest.qos", "download": 10_000, "upload": 10_000}
    return queues(**{**usual, **options})


def test_a_target_that_is_not_given_fits_a_packet_of_a_slow_link() -> None:
    down, up = simplest(upload=400)
    assert (up["target_ms"], up["interval_ms"]) == (34.98, 129.98)
    assert not down.keys() & {"target_ms", "interval_ms"}


@pytest.mark.parametrize(
    ("kbit", "target_ms", "interval_ms"),
    [(16, 874.5, 969.5), (2_000, 6.996, 101.996), (2_797, 5.002, 100.002), (2_798, None, None)],
)
def test_a_target_grows_with_the_time_that_33_cells_take(
    kbit: int, target_ms: float | None, interval_ms: float | None
) -> None:
    _, up = simplest(upload=kbit)
    assert (up.get("target_ms"), up.get("interval_ms")) == (target_ms, interval_ms)


@pytest.mark.parametrize(
    ("text", "target_ms", "interval_ms"),
    [
        ("auto", 34.98, 129.98),
        ("", 34.98, 129.98),
        ("default", None, None),
        ("8ms", 8.0, None),
        ("5", None, None),
    ],
)
def test_a_target_is_read_as_sqm_scripts_read_it(
    text: str, target_ms: float | None, interval_ms: float | None
) -> None:
    _, up = simplest(upload=400, etarget=text)
    assert (up.get("target_ms"), up.get("interval_ms")) == (target_ms, interval_ms)


def test_pie_has_the_target_of_fast_links_and_no_interval() -> None:
    down, up = simplest(qdisc="pie", upload=400)
    assert (down["target_ms"], up["target_ms"]) == (5.0, 34.98)


def test_a_target_that_was_computed_or_is_no_time_is_named() -> None:
    options = {"qdisc": "fq_codel", "script": "simplest.qos", "upload": 400, "itarget": "5"}
    notes = "\n".join(sqm.router_of(section(**options)).notes)
    assert "etarget is automatic: 34.98 ms, interval 129.98 ms for 400 kbit/s" in notes
    assert 'itarget "5" is not a time such as 5ms: fq_codel has its default target' in notes


@pytest.mark.parametrize(("squash", "down"), [(1, None), (0, 1500)])
def test_the_class_of_unmarked_packets_has_the_quantum_of_simple_qos(squash: int, down: int | None) -> None:
    found = queues(qdisc="fq_codel", script="simple.qos", squash_ingress=squash)
    assert [queue.get("quantum") for queue in found] == [down, 300]
    found = queues(qdisc="codel", script="simple.qos", squash_ingress=squash)
    assert all("quantum" not in queue for queue in found)


def test_a_quantum_of_a_section_replaces_that_of_the_script() -> None:
    assert queues(qdisc="fq_codel", script="simple.qos", eqdisc_opts="quantum 600")[1]["quantum"] == 600


def test_cake_by_simplest_qos_keeps_marks() -> None:
    assert queues(script="simplest.qos")[0] == CAKE


def test_a_rate_that_is_not_set_is_that_of_the_scripts() -> None:
    text = section(script="piece_of_cake.qos").replace("\toption upload '9000'\n", "")
    found = sqm.router_of(text)
    assert found.up is not None
    assert found.up.queue["bandwidth_bps"] == 2_302_000
    assert "upload is not set: sqm-scripts use 2302 kbit/s" in found.notes


def test_rates_that_a_program_changes_stay_as_they_are() -> None:
    text = section(script="piece_of_cake.qos", autorate=1, max_download=90_000, min_upload=100)
    notes = sqm.router_of(text).notes
    assert notes[1:] == ["autorate is left out: the rates stay as download and upload set them"]
    assert len(sqm.router_of(text.replace("autorate '1'", "autorate '0'")).notes) == 1


def test_a_section_that_is_not_started_says_so() -> None:
    text = section(script="piece_of_cake.qos").replace("\toption enabled '1'\n", "")
    assert any("start it only with option enabled '1'" in note for note in sqm.router_of(text).notes)


def test_further_words_reach_their_direction() -> None:
    down, up = queues(
        script="piece_of_cake.qos", iqdisc_opts="nat dual-dsthost ingress", eqdisc_opts="ack-filter"
    )
    assert (down["isolation"], down["ingress"], "ack_filter" in down) == ("dual-dsthost", True, False)
    assert (up["ack_filter"], "ingress" in up) == ("ack-filter", False)


def test_a_direction_of_0_is_not_shaped() -> None:
    assert queues(script="piece_of_cake.qos", download=0)[0] is None


def test_simplest_shapes_above_a_queue() -> None:
    text = section(qdisc="fq_codel", script="simplest.qos", itarget="8ms", egress_ecn="NOECN", ilimit=500)
    found = sqm.router_of(text)
    assert found.down is not None
    assert found.up is not None
    assert found.down.link["rate"] == "50000000 bit/s"
    assert found.down.queue == {"kind": "fq_codel", "limit": 500, "target_ms": 8.0, "ecn": True}
    assert found.up.queue == {"kind": "fq_codel", "limit": 1001, "ecn": False}


def test_what_is_left_out_is_named() -> None:
    text = section(qdisc="fq_codel", script="simple.qos", linklayer="atm", use_mq=1, itarget="auto")
    notes = "\n".join(sqm.router_of(text).notes)
    for word in ("use_mq", "classes of EF", "linklayer", "itarget", "interface wan"):
        assert word in notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            section(script="piece_of_cake.qos", downlod=1),
            'unknown option "downlod"; did you mean "download"?',
        ),
        (
            section(script="piece_of_cake.qos", eqdisc_opts="frobnicate"),
            'unknown option "frobnicate" of cake',
        ),
        (section(script="hfsc_lite.qos"), "is not modelled; known are piece_of_cake.qos"),
        (section(script="simple.qos"), "simple.qos with cake is not modelled"),
        (section(script="simplest.qos", qdisc="sfq"), "known are cake, fq_codel, codel, pie"),
        (section(script="piece_of_cake.qos", download="fast"), "expected kbit/s as a whole number"),
        (section(script="piece_of_cake.qos", linklayer="token-ring"), "linklayer: expected none"),
        (section(enabled=0), "0 of 1 sections are enabled; write option enabled '1' in section \"wan\""),
        (section(enabled=0) * 2, "write option enabled '1' in one of the sections"),
        (section() + section(), "2 of 2 sections are enabled"),
        ("config queue\noption x 'y\n", "line 2: a quote is not closed"),
        ("config queue\nconfig interface wan\n", "line 2: expected config queue NAME"),
    ],
)
def test_what_is_wrong_with_a_section_is_named(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        sqm.router_of(text)
    assert message in str(caught.value)


def test_a_script_shapes_both_directions() -> None:
    found = script.router_of(SCRIPT)
    assert found.up is not None
    assert found.down is not None
    assert found.up.queue["bandwidth_bps"] == 9_000_000
    assert found.down.queue == CAKE
    assert not found.notes


def test_the_only_class_of_an_htb_is_a_rate_above_its_queue() -> None:
    found = script.router_of(HTB)
    assert found.up is not None
    assert found.up.link == {"rate": "9000000 bit/s", "queue": {"kind": "fq_codel", "limit": 1001}}
    assert any("stab overhead 44 mpu 84 is left out" in note for note in found.notes)


def test_a_policer_limits_what_comes() -> None:
    lines = "tc qdisc add dev eth0 root fq_codel\ntc qdisc add dev eth0 ingress\n"
    police = "tc filter add dev eth0 parent ffff: matchall police rate 10mbit burst 10k drop flowid :1\n"
    found = script.router_of(lines + police)
    assert found.down is not None
    assert found.down.queue["kind"] == "police"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line sets up a queue"),
        ("iptables -A x\n", "line 1: "),
        ("tc qdisc add dev eth0 root cake bandwidth 9mbit zork\n", 'line 1: tc cake: unknown option "zork"'),
        ("tc qdisc add root cake\n", "line 1: tc: the line names no device"),
        ("tc qdisc add dev a root cake\ntc qdisc add dev b root cake\n", "a and b cannot be distinguished"),
        (
            "tc qdisc add dev a root tbf rate 1mbit burst 2k limit 9k\ntc qdisc add dev a parent 1:1 cake",
            "below 1:1",
        ),
        (HTB + HTB.splitlines()[3].replace("1:10", "1:1") + "\n", "eth0 has 2 queues"),
        ("tc qdisc add dev 'a root cake\n", "line 1: a quote is not closed"),
        ("tc frob add dev a\n", "is not understood"),
    ],
)
def test_what_is_wrong_with_a_script_is_named(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        script.router_of(text)
    assert message in str(caught.value)


def test_a_shaper_below_the_line_keeps_its_buffer_empty() -> None:
    line = Scenario.named("dsl")
    text = section(script="piece_of_cake.qos", download=15_000, upload=900, iqdisc_opts="ingress")
    shaped = scenario_of(sqm.router_of(text), line).with_values({"duration": "15 s"})
    links = {row["link"]: row for row in run(shaped).links_summary.to_dicts()}
    assert links["line-up"]["sojourn_mean_s"] < 0.005
    assert links["shaper-up"]["dropped_packets"] > 0
    assert links["line-down"]["sojourn_p95_s"] < 0.05


def test_the_command_writes_a_scenario_that_runs(fullpipe: Cli) -> None:
    Path("sqm").write_text(section(script="piece_of_cake.qos", debug_logging=0))
    done = fullpipe("import-tc", "sqm", "--line", "dsl", "-o", "shaped.toml")
    assert (done.exit_code, done.stdout) == (0, "shaped.toml\n")
    assert Path("shaped.toml").read_text().startswith("# interface wan is assumed")
    assert fullpipe("run", "shaped.toml", "--set", "duration=6 s").exit_code == 0
    for refused in (("nothing",), ("sqm", "--line", "lte")):
        done = fullpipe("import-tc", *refused)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_a_comment_names_what_the_scenario_of_a_line_has_beside_its_links(fullpipe: Cli) -> None:
    Path("sqm").write_text(section(script="piece_of_cake.qos"))
    line = Scenario.named("dsl").with_values({"duration": "77 s"})
    Path("line.toml").write_text(line.to_toml())
    told = fullpipe("import-tc", "sqm", "--line", "line.toml").stdout
    (note,) = (
        each for each in told.splitlines() if each.startswith("# only the links of line.toml are used")
    )
    assert {"duration", "flows"} <= set(note.partition("not its ")[2].split(", "))
    assert "only the links" not in fullpipe("import-tc", "sqm", "--line", "dsl").stdout


@pytest.mark.parametrize(
    ("root", "leaf", "rate_bps"),
    [
        ("rate 9mbit ceil 30mbit", "rate 1mbit ceil 100mbit", 9_000_000),
        ("rate 9mbit", "rate 1mbit ceil 5mbit", 5_000_000),
        ("rate 9mbit", "rate 4mbit", 4_000_000),
    ],
)
def test_a_class_of_htb_borrows_what_its_parent_has(root: str, leaf: str, rate_bps: int) -> None:
    text = HTB.replace("rate 9mbit ceil 9mbit", root).replace("rate 8mbit ceil 9mbit", leaf)
    up = script.router_of(text).up
    assert up is not None
    assert up.rate_bps == rate_bps


def test_names_of_devices_are_shown_as_text(fullpipe: Cli) -> None:
    Path("router.sh").write_text("tc qdisc replace dev 'e\x1b[31m0' root cake bandwidth 9mbit\n")
    done = fullpipe("import-tc", "router.sh", "--line", "cable", "-o", "made.toml")
    assert done.exit_code == 0, done.output
    assert r"# e\x1b[31m0 is assumed" in Path("made.toml").read_text()


@pytest.mark.parametrize(("squash", "down_kbit"), [(1, 50_000), (0, 49_984)])
def test_unmarked_packets_have_the_middle_class_of_simple_qos(squash: int, down_kbit: int) -> None:
    options = {"qdisc": "fq_codel", "script": "simple.qos", "download": 50_000, "upload": 10_000}
    found = sqm.router_of(section(**options, squash_ingress=squash))
    assert found.up is not None
    assert found.down is not None
    assert (found.up.rate_bps, found.down.rate_bps) == (9_984_000, down_kbit * 1_000)
    assert any("use layer_cake.qos with cake" in note for note in found.notes)
    text = section(**{**options, "upload": 16})
    with pytest.raises(ScenarioError, match="needs more than 16 kbit/s"):
        sqm.router_of(text)
