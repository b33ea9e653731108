"""Lines of netem as links of a scenario."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.errors import ScenarioError
from fullpipe.scenario.quantities import DURATION
from fullpipe.scenario.tc import qdiscs, script
from fullpipe.scenario.tc.devices import link_of

Cli = Callable[..., Any]
Table = dict[str, Any]
TBF_ABOVE_NETEM = """tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 32kbit latency 50ms
tc qdisc add dev eth0 parent 1:1 handle 10: netem delay 25ms 2ms loss 0.1%
"""
NETEM_ABOVE_TBF = """tc qdisc add dev eth0 root handle 1:0 netem delay 100ms
tc qdisc add dev eth0 parent 1:1 handle 10: tbf rate 256kbit buffer 1600 limit 3000
"""


def made(options: str) -> tuple[Table, str]:
    """The link of a line of netem, and its notes."""
    found = link_of(qdiscs.read(f"tc qdisc add dev eth0 root netem {options}"))
    assert found.up is not None
    return found.up.link, "\n".join(found.notes)


def bernoulli(probability: float) -> Table:
    return {"kind": "bernoulli", "probability": probability}


def chain(worsens: float, improves: float) -> Table:
    return {"kind": "gilbert_elliott", "worsens": worsens, "improves": improves}


@pytest.mark.parametrize(
    ("options", "link"),
    [
        ("delay 100ms", {"delay": "100 ms"}),
        ("latency 100000us", {"delay": "100 ms"}),
        ("delay 100000000", {"delay": "100 ms"}),  # get_time64 counts nanoseconds
        ("delay 20000000 2000000", {"delay": "18 ms", "jitter": {"spread": "4 ms", "reorder": True}}),
        ("delay 1e2ms", {"delay": "100 ms"}),
        ("delay 20ms 2ms", {"delay": "18 ms", "jitter": {"spread": "4 ms", "reorder": True}}),
        ("delay 20ms 2ms 25%", {"delay": "18 ms", "jitter": {"spread": "4 ms", "reorder": True}}),
        ("delay 20ms 0ms", {"delay": "20 ms"}),
        (
            "delay 20ms 2ms rate 8mbit",
            {
                "rate": "8000000 bit/s",
                "delay": "18 ms",
                "jitter": {"spread": "4 ms"},
                "queue": {"kind": "drop_tail", "packets": 1000},
            },
        ),
        ("loss 0.1%", {"loss": bernoulli(0.001)}),
        ("loss 1", {"loss": bernoulli(0.01)}),
        ("loss random 2% 25%", {"loss": bernoulli(0.02)}),
        ("drop 3%", {"loss": bernoulli(0.03)}),
        ("loss 0%", {}),
        ("loss 1e-1", {"loss": bernoulli(0.001)}),
        ("s 7 delay 1ms", {"delay": "1 ms"}),  # seed precedes slot in netem_parse_opt
        ("loss gemodel 1% 10%", {"loss": chain(0.01, 0.1)}),
        (
            "loss gemodel 1% 10% 70% 0.1%",
            {"loss": {**chain(0.01, 0.1), "bad": 0.7, "good": 0.001}},
        ),
        ("loss gemodel 25%", {"loss": chain(0.25, 0.75)}),
        ("loss state 1% 10%", {"loss": chain(0.01, 0.1)}),
        ("corrupt 1%", {"loss": bernoulli(0.01)}),
        ("duplicate 1%", {"duplicate": 0.01}),
        ("dup 1%", {"duplicate": 0.01}),
        ("delay 10ms reorder 25%", {"delay": "10 ms", "reordering": {"every": 4, "extra": "10 ms"}}),
        ("delay 10ms reorder 50% gap 5", {"delay": "10 ms", "reordering": {"every": 6, "extra": "10 ms"}}),
        (
            "rate 1mbit limit 50",
            {"rate": "1000000 bit/s", "queue": {"kind": "drop_tail", "packets": 50}},
        ),
        (
            "rate 1000001 limit 1k",
            {"rate": "1000000 bit/s", "queue": {"kind": "drop_tail", "packets": 1024}},
        ),
    ],
)
def test_a_line_of_netem_becomes_a_link(options: str, link: Table) -> None:
    assert made(options)[0] == link


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("delay 20ms 2ms 25%", "correlation of delay is left out: draws are independent"),
        ("loss 1% 25%", "correlation of loss is left out"),
        ("duplicate 1% 25%", "correlation of duplicate is left out"),
        ("loss 1% ecn", "ecn is left out: the link drops what netem would mark"),
        ("corrupt 0.1%", "corrupt 0.001 counts as loss"),
        ("loss state 1% 10% 5% 50%", "state p32, p23, p14 of loss is left out"),
        ("loss state 1% 10% 0% 100% 1%", "state p32, p23, p14 of loss is left out"),
        ("delay 9ms reorder 10%", "one packet in 10 arrive 9 ms late; netem sends random packets early"),
        ("delay 20ms 2ms distribution normal", "a uniform jitter with the standard deviation 2 ms"),
        ("delay 1ms 2ms", "sends a packet immediately if the jitter 2 ms makes its delay negative"),
        ("delay 1ms", "limit 1000 is left out: without a rate no packet waits"),
        ("rate 1mbit limit 50", "limit 50 counts waiting packets, not packets on the wire"),
        ("rate 1mbit 20 48 5", "overhead of rate is left out: links use tcp.link_overhead instead"),
        ("slot 10ms 20ms packets 5 bytes 64k", "slot is left out: a link has batch and frames"),
        ("slot distribution normal 10ms 2ms", "slot is left out"),
        ("slot 800000 1000000", "slot is left out"),
        ("delay 100", "delay 100 without a unit is 100 ns; before iproute2 6.9 it was 100 us"),
        ("delay 5ms 2e3", "jitter 2e3 without a unit is 2e3 ns"),
        ("loss 1% seed 18446744073709551615", "seed is left out: a run has seeds of its own"),
    ],
)
def test_what_a_link_cannot_do_is_named_once(options: str, note: str) -> None:
    assert made(options)[1].count(note) == 1


def test_a_time_with_a_unit_and_0_have_no_note_on_units() -> None:
    assert "without a unit" not in made("delay 0 5ms")[1]


def test_a_plain_chain_of_losses_has_no_note() -> None:
    assert made("rate 1mbit loss state 1% 99% 0% 100% 0%")[1].count("state") == 0


def test_another_distribution_keeps_its_mean_and_its_deviation() -> None:
    link, _ = made("delay 20ms 3ms distribution pareto")
    least_ms, spread_ms = (DURATION.parse(text) / 1e6 for text in (link["delay"], link["jitter"]["spread"]))
    assert least_ms + spread_ms / 2 == 20
    assert math.isclose(spread_ms / math.sqrt(12), 3, abs_tol=1e-3)


def test_damage_adds_to_every_state_of_a_chain_of_losses() -> None:
    loss = made("loss gemodel 1% 10% 50% corrupt 10%")[0]["loss"]
    assert math.isclose(loss["bad"], 0.55)
    assert math.isclose(loss["good"], 0.1)


def test_what_tc_prints_of_netem_is_the_line_that_set_it_up() -> None:
    printed = (
        "qdisc netem 8001: root refcnt 2 limit 50 delay 20ms  2ms loss gemodel p 1% r 10% 1-h 70% 1-k 0.1%"
        " rate 8Mbit seed 17"
    )
    found = link_of(qdiscs.read(printed)).up
    assert found is not None
    assert found.link == made("limit 50 delay 20ms 2ms loss gemodel 1% 10% 70% 0.1% rate 8mbit")[0]


def test_a_bucket_above_netem_has_the_queue_of_netem() -> None:
    found = script.router_of(TBF_ABOVE_NETEM)
    assert found.up is not None
    assert found.up.link == {
        "delay": "23 ms",
        "jitter": {"spread": "4 ms", "reorder": True},
        "loss": bernoulli(0.001),
        "queue": {"kind": "tbf", "rate_bps": 10_000_000, "burst_bytes": 4096, "packets": 1000},
    }
    assert any("have no effect with the child netem; netem's limit, 1000" in note for note in found.notes)


def test_a_bucket_below_netem_keeps_its_own() -> None:
    found = script.router_of(NETEM_ABOVE_TBF)
    assert found.up is not None
    assert found.up.link == {
        "delay": "100 ms",
        "queue": {"kind": "tbf", "rate_bps": 256_000, "burst_bytes": 1600, "limit_bytes": 3000},
    }


def test_a_class_of_htb_above_netem_is_its_rate() -> None:
    text = """tc qdisc add dev eth0 root handle 1: htb default 1
    tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit
    tc qdisc add dev eth0 parent 1:1 handle 2: netem delay 10ms limit 60"""
    found = script.router_of(text)
    assert found.up is not None
    assert found.up.link == {
        "rate": "5000000 bit/s",
        "delay": "10 ms",
        "queue": {"kind": "drop_tail", "packets": 60},
    }


def test_a_queue_below_a_netem_with_a_rate_holds_no_packet() -> None:
    text = """tc qdisc add dev eth0 root handle 1: netem rate 5mbit limit 60
    tc qdisc add dev eth0 parent 1: handle 2: fq_codel"""
    found = script.router_of(text)
    assert found.up is not None
    assert found.up.queue == {"kind": "drop_tail", "packets": 60}
    assert any("fq_codel, the child of netem, is left out" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("delay", "delay needs a value"),
        ("delay soon", 'delay: expected a time, got "soon"'),
        ("dealy 5ms", 'unknown option "dealy" of netem; did you mean "delay"?'),
        ("loss 101%", "loss: expected at most 100%"),
        ("loss burst 1%", 'unknown model of loss "burst"'),
        ("reorder 25%", "reorder needs a delay"),
        ("gap 5 delay 10ms", "gap needs reorder"),
        ("delay 10ms reorder 100%", "reorder lets most packets skip the delay"),
        ("delay 10ms distribution normal", "distribution needs a delay with a jitter"),
        ("delay 2h", 'delay: unknown unit "h" of a time'),
        ("delay 4000s", "tc: delay: "),
        ("rate 1mbit limit 0", "tc: queue"),
        ("slot", "slot needs a value"),
        ("slot 5ms 9q", 'slot: unknown unit "q" of a time'),
    ],
)
def test_what_is_wrong_with_netem_is_named(options: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        made(options)
    assert message in str(caught.value)


def test_the_command_prints_the_link_with_its_notes(fullpipe: Cli) -> None:
    options = "delay 20ms 2ms loss 1% rate 10mbit limit 99"
    done = fullpipe("import-tc", f"tc qdisc add dev eth0 root netem {options}")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "# netem: limit 99 counts waiting packets, not packets on the wire\n"
        '[topology.bottleneck]\nrate = "10 Mbit/s"\ndelay = "18 ms"\n\n'
        '[topology.bottleneck.jitter]\nspread = "4 ms"\n\n'
        '[topology.bottleneck.loss]\nkind = "bernoulli"\nprobability = 0.01\n\n'
        '[topology.bottleneck.queue]\nkind = "drop_tail"\npackets = 99\n'
    )


def test_an_imported_link_delays_and_loses(small: Scenario) -> None:
    link, _ = made("delay 30ms loss 20% rate 20mbit")
    rows = run(small.with_values({"topology.bottleneck": link})).links_summary.rows(named=True)
    assert next(row for row in rows if row["link"] == "bottleneck")["dropped_packets"] > 0


def test_a_printed_queue_has_the_keys_and_units_of_scenario_files(fullpipe: Callable[..., Any]) -> None:
    done = fullpipe("import-tc", "tc qdisc add dev eth0 root cake bandwidth 50mbit rtt 20ms")
    assert 'kind = "cake"\nbandwidth = "50 Mbit/s"\nrtt = "20 ms"\n' in done.stdout
