"""Lines of Linux's tc as queues of a scenario."""

from collections.abc import Callable
from typing import Any

import pytest

from fullpipe import Scenario, run
from fullpipe.errors import ScenarioError, UnknownNameError
from fullpipe.scenario import catalogue
from fullpipe.scenario.tc import units
from fullpipe.scenario.tc.options import QDISCS
from fullpipe.scenario.tc.qdiscs import queue_of

Table = dict[str, Any]

LINES: list[tuple[str, Table]] = [
    ("pfifo", {"kind": "drop_tail", "packets": 1000}),
    ("pfifo limit 100", {"kind": "drop_tail", "packets": 100}),
    ("bfifo limit 64k", {"kind": "drop_tail", "bytes": "64 KiB"}),
    (
        "tbf rate 20mbit burst 1600 limit 100k",
        {"kind": "tbf", "rate_bps": 20_000_000, "burst_bytes": 1600, "limit_bytes": 102_400},
    ),
    (
        "tbf rate 8mbit buffer 10kb/8 latency 50ms",
        {"kind": "tbf", "rate_bps": 8_000_000, "burst_bytes": 10_240, "limit_bytes": 60_240},
    ),
    (
        "tbf rate 8mbit burst 10k latency 50ms peakrate 16mbit minburst 1540",
        {
            "kind": "tbf",
            "rate_bps": 8_000_000,
            "burst_bytes": 10_240,
            "peak_bps": 16_000_000,
            "mtu_bytes": 1540,
            "limit_bytes": 60_240,
        },
    ),
    (
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn adaptive bandwidth 10Mbit",
        {
            "kind": "red",
            "limit": 400_000,
            "min": 30_000,
            "max": 90_000,
            "avpkt": 1000,
            "burst": 55,
            "ecn": True,
            "adaptive": True,
            "bandwidth_mbps": 10.0,
        },
    ),
    (
        "codel limit 100 target 4ms interval 30ms ecn ce_threshold 500us",
        {
            "kind": "codel",
            "limit": 100,
            "target_ms": 4.0,
            "interval_ms": 30.0,
            "ecn": True,
            "ce_threshold_ms": 0.5,
        },
    ),
    (
        "fq limit 500 flow_limit 50 quantum 1514 initial_quantum 15140 maxrate 5mbit refill_delay 20ms",
        {
            "kind": "fq",
            "limit": 500,
            "flow_limit": 50,
            "quantum": 1514,
            "initial_quantum": 15_140,
            "maxrate_bps": 5_000_000,
            "refill_delay_ms": 20.0,
        },
    ),
    (
        "fq_codel limit 600 flows 32 quantum 300 memory_limit 4Mb noecn",
        {
            "kind": "fq_codel",
            "limit": 600,
            "flows": 32,
            "quantum": 300,
            "memory_limit_bytes": 4 << 20,
            "ecn": False,
        },
    ),
    (
        "pie limit 100 target 20ms tupdate 30ms alpha 3 beta 21 bytemode no_dq_rate_estimator",
        {
            "kind": "pie",
            "limit": 100,
            "target_ms": 20.0,
            "tupdate_ms": 30.0,
            "alpha": 3,
            "beta": 21,
            "bytemode": True,
        },
    ),
    ("fq_pie flows 10 ecn_prob 25 ecn", {"kind": "fq_pie", "flows": 10, "ecn_prob_percent": 25, "ecn": True}),
    (
        "dualpi2 target 20ms alpha 0.2 coupling_factor 3 overflow any_ect classic_protection 5%",
        {
            "kind": "dualpi2",
            "target_ms": 20.0,
            "alpha": 0.2,
            "coupling_factor": 3.0,
            "drop_on_overload": False,
            "any_ect": True,
            "classic_protection_percent": 5,
        },
    ),
    (
        "cake bandwidth 50Mbit diffserv4 dual-srchost nat wash ingress rtt 20ms memlimit 8mb",
        {
            "kind": "cake",
            "bandwidth_bps": 50_000_000,
            "diffserv": "diffserv4",
            "isolation": "dual-srchost",
            "wash": True,
            "ingress": True,
            "rtt_ms": 20.0,
            "memlimit_bytes": 8 << 20,
        },
    ),
    ("dualpi2 step_thresh 2ms", {"kind": "dualpi2", "step_thresh_ms": 2.0}),
    ("cake unlimited metro", {"kind": "cake", "rtt_ms": 10.0}),
    ("cake ethernet ether-vlan", {"kind": "cake", "overhead": 42, "mpu": 84, "framing": "noatm"}),
    ("cake ack-filter", {"kind": "cake", "ack_filter": "ack-filter"}),
    ("cake pppoe-vcmux", {"kind": "cake", "overhead": 32, "framing": "atm"}),
    ("cake overhead 18 mpu 64 noatm", {"kind": "cake", "overhead": 18, "mpu": 64, "framing": "noatm"}),
    ("cake ethernet raw", {"kind": "cake"}),
    ("cake diffserv", {"kind": "cake", "diffserv": "diffserv4"}),
    ("cake_mq bandwidth 1gbit", {"kind": "cake", "bandwidth_bps": 10**9}),
    ("pfifo_fast", {"kind": "drop_tail", "packets": 1000}),
    ("fq pacing", {"kind": "fq"}),
]


@pytest.mark.parametrize(("line", "table"), LINES, ids=[line for line, _ in LINES])
def test_a_line_becomes_a_queue(line: str, table: Table) -> None:
    assert queue_of(f"tc qdisc add dev eth0 root {line}") == table


POLICED = "tc filter add dev eth0 ingress matchall action police rate 1mbit burst 10k"
PRINTED: list[tuple[str, Table]] = [
    (
        "pfifo_fast 0: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        {"kind": "drop_tail", "packets": 1000},
    ),
    (
        "fq 8001: dev eth0 root refcnt 2 limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023"
        " quantum 3028b initial_quantum 15140b low_rate_threshold 550Kbit refill_delay 40ms"
        " timer_slack 10us horizon 10.0s horizon_drop",
        {
            "kind": "fq",
            "limit": 10_000,
            "flow_limit": 100,
            "orphan_mask": 1023,
            "quantum": 3028,
            "initial_quantum": 15_140,
            "low_rate_threshold_bps": 550_000,
            "refill_delay_ms": 40.0,
        },
    ),
    (
        "fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target 5.0ms interval 100.0ms"
        " memory_limit 4Mb ecn drop_batch 64",
        {
            "kind": "fq_codel",
            "limit": 10_240,
            "flows": 1024,
            "quantum": 1514,
            "target_ms": 5.0,
            "interval_ms": 100.0,
            "memory_limit_bytes": 4 << 20,
            "ecn": True,
        },
    ),
    (
        "tbf 1: root refcnt 2 rate 8Mbit burst 10Kb lat 50ms",
        {"kind": "tbf", "rate_bps": 8_000_000, "burst_bytes": 10_240, "limit_bytes": 60_240},
    ),
    (
        "cake 1: root offloaded refcnt 9 bandwidth unlimited besteffort nonat nowash no-ack-filter raw"
        " overhead 0",
        {"kind": "cake", "diffserv": "besteffort", "wash": False, "ack_filter": "no-ack-filter"},
    ),
]


@pytest.mark.parametrize(("line", "table"), PRINTED, ids=[line.split()[0] for line, _ in PRINTED])
def test_what_tc_prints_becomes_the_queue_of_the_line_that_set_it_up(line: str, table: Table) -> None:
    assert queue_of(f"qdisc {line}") == table


def test_every_queue_of_the_catalogue_has_its_line() -> None:
    no_qdiscs = {"step", "mac80211"}  # the latter is below qdiscs, in the driver of a Wi-Fi device
    assert {qdisc.queue for qdisc in QDISCS.values()} == catalogue.queues().keys() - no_qdiscs


def test_every_parameter_that_an_option_sets_exists() -> None:
    made_up = {"latency_us", "raw"}  # what becomes of them depends on other options
    for qdisc in QDISCS.values():
        named = {key for key, _ in qdisc.options.values()} | {key for t in qdisc.flags.values() for key in t}
        assert named - made_up <= catalogue.queue(qdisc.queue).params.keys(), qdisc.queue


def test_a_policer_is_found_in_a_filter() -> None:
    line = "tc filter add dev eth0 parent ffff: matchall police rate 1mbit burst 10k drop flowid :1"
    assert queue_of(line) == {"kind": "police", "rate_bps": 1_000_000, "burst_bytes": 10_240}


@pytest.mark.parametrize("action", ["drop", "drop/ok", "drop/pipe"])
def test_a_policer_may_say_that_it_drops_what_exceeds(action: str) -> None:
    assert queue_of(f"{POLICED} conform-exceed {action}")["rate_bps"] == 1_000_000


def test_a_policer_that_marks_what_exceeds_is_refused() -> None:
    with pytest.raises(ScenarioError, match="conform-exceed is not modelled; packets above"):
        queue_of(f"{POLICED} conform-exceed pipe")


@pytest.mark.parametrize(
    "prefix",
    [
        "sudo tc -n ns1 qdisc replace dev bn0 parent 1:1 handle 10:",
        "tc qdisc add root dev eth0",
        "tc qdisc change dev eth0 handle 1: root",
    ],
)
def test_where_it_is_attached_does_not_matter(prefix: str) -> None:
    assert queue_of(f"{prefix} codel limit 5") == {"kind": "codel", "limit": 5}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("codel limt 5", 'unknown option "limt" of codel; did you mean "limit"?'),
        ("codel limit", "limit needs a value"),
        ("codel limit many", 'limit: expected a whole number, got "many"'),
        ("codel target 5hours", 'target: unknown unit "hours" of a time'),
        ("fq limit 0", "limit: 0 is out of range"),
        ("tbf rate 1mbit burst 10k", "limit or latency is missing"),
        ("tbf rate 1mbit limit 10k", "burst is missing"),
        ("tbf rate 1mbit burst 10k limit 10k latency 5ms", "give one of limit and latency"),
        ("tbf rate 1mbit burst 10k limit 10k peakrate 2mbit", "peakrate needs mtu"),
        ("tbf rate 1mbit burst 10k limit 10k overhead 4", "overhead is not modelled"),
        ("red limit 60k", "avpkt is missing"),
        ("cake autorate-ingress", "autorate-ingress is not modelled; give a bandwidth"),
        ("cake raw overhead 18", "raw together with another overhead is not modelled"),
        ("dualpi2 max_rtt 100ms", "max_rtt is not modelled; give target"),
        (
            "fq horizon 2s",
            'horizon is not modelled; a queue has no access to sockets; for pacing, write tcp.pacing = "fq"',
        ),
        ("netem delay 10ms", "delay, jitter and loss are keys"),
        ("fq drop_batch 32", 'unknown option "drop_batch" of fq'),
        ("fq_codel drop_batch 32", "drop_batch is not modelled; it is always 64"),
        ("sfq perturb 10", "sfq has no counterpart; write fq with the same limit"),
        ("mq", "mq has no counterpart; it has a child queue for each processor"),
        ("prio", "prio has no counterpart; filters are not modelled, so packets have no bands"),
        ("htb default 10", "give all lines in a file"),
        ("hfsc default 1", "so packets have no classes"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(line: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        queue_of(f"tc qdisc add dev eth0 root {line}")
    assert message in str(error.value)


@pytest.mark.parametrize("kind", [kind for kind in QDISCS if kind != "police"])
def test_every_qdisc_refuses_an_unknown_option_by_name(kind: str) -> None:
    with pytest.raises(ScenarioError, match=f'tc {kind}: unknown option "nosuch" of {kind}'):
        queue_of(f"tc qdisc add dev eth0 root {kind} nosuch 1")


@pytest.mark.parametrize(
    "line", ["", "tc", "tc qdisc", "tc qdisc show dev eth0", "tc qdisc add dev eth0 root", "x" * 9999]
)
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ScenarioError, match="tc"):
        queue_of(line)


def test_an_unknown_qdisc_is_refused() -> None:
    with pytest.raises(UnknownNameError, match='unknown qdisc "cakes"; did you mean "cake"'):
        queue_of("tc qdisc add dev eth0 root cakes")


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1000", 1000),
        ("1007bit", 1000),  # get_rate64 stores whole bytes per second
        ("1e3kbit", 1_000_000),
        ("20mbit", 20_000_000),
        ("1.5Gbit", 1_500_000_000),
        ("1kibit", 1024),
        ("1bps", 8),
        ("1MBps", 8_000_000),
        ("1mibps", 8 << 20),
    ],
)
def test_rates_are_in_bits_and_bps_in_bytes(text: str, bits: int) -> None:
    assert units.rate(text) == bits


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("1600", 1600),
        ("1b", 1),
        ("100k", 102_400),
        ("1kb", 1024),
        ("1M", 1 << 20),
        ("8kbit", 1024),
        ("8mbit", 1 << 20),
        ("1g", 1 << 30),
        ("1.5kb", 1536),
        ("0.0005k", 0),
    ],
)
def test_sizes_are_in_powers_of_1024(text: str, size_bytes: int) -> None:
    assert units.size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "ms"),
    [("5000", 5.0), ("5ms", 5.0), ("5msecs", 5.0), ("1s", 1000.0), ("1usec", 0.001), ("1500.7", 1.5)],
)
def test_a_bare_time_is_in_microseconds(text: str, ms: float) -> None:
    assert units.milliseconds(text) == ms


def test_a_time_of_64_bits_is_in_nanoseconds_and_one_of_32_has_none() -> None:
    assert [units.nanoseconds(text) for text in ("5000", "5ns", "5us", "1s")] == [5000, 5, 5000, 10**9]
    with pytest.raises(ValueError, match='unknown unit "ns" of a time'):
        units.milliseconds("5ns")


@pytest.mark.parametrize(("text", "number"), [("0x10", 16), ("010", 8), ("0", 0), ("-0x1f", -31), ("10", 10)])
def test_a_whole_number_is_read_as_in_c(text: str, number: int) -> None:
    assert units.whole(text) == number


def test_an_overhead_is_never_octal() -> None:
    assert [units.decimal(text) for text in ("018", "-08", "00", "44")] == [18, -8, 0, 44]


def test_a_rate_in_percent_says_what_to_write() -> None:
    with pytest.raises(
        ValueError, match=r'"50%" is relative to the speed of a device; write a rate such as 10mbit'
    ):
        units.rate("50%")


@pytest.mark.parametrize(("text", "percent"), [("10", 10), ("10%", 10), ("10.4%", 10), ("29", 29)])
def test_a_percentage_needs_no_sign(text: str, percent: int) -> None:
    assert units.percent(text) == percent


@pytest.mark.parametrize(
    "line",
    [
        *("codel limit 0", "codel target 0", "codel interval 0", "pie alpha 0 beta 0", "pie tupdate 0"),
        *("fq_codel flows 0 quantum 0", "fq_pie ecn_prob 0", "dualpi2 step_thresh 0 target 0 limit 0"),
        *("cake rtt 0 memlimit 0", "cake bandwidth 0"),
    ],
)
def test_a_0_that_tc_does_not_send_leaves_the_default(line: str) -> None:
    kind, _ = line.split(maxsplit=1)
    assert queue_of(f"tc qdisc add dev eth0 root {line}") == {"kind": kind}


@pytest.mark.parametrize("kind", ["codel", "fq_codel"])
def test_bare_times_of_codel_are_in_microseconds(kind: str) -> None:
    found = queue_of(f"tc qdisc add dev eth0 root {kind} target 100 interval 2000 ce_threshold 30")
    assert found == {"kind": kind, "target_ms": 0.1, "interval_ms": 2.0, "ce_threshold_ms": 0.03}


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("pie target 100", "target_ms", 0.1),
        ("cake rtt 100", "rtt_ms", 0.1),
        ("dualpi2 step_thresh 1000", "step_thresh_ms", 1.0),
        ("fq refill_delay 40000", "refill_delay_ms", 40.0),
        ("tbf rate 8000000 burst 10k latency 50000", "limit_bytes", 60_240),
        ("tbf rate 8mbit burst 10k latency 1.9us", "limit_bytes", 10_241),
        ("red limit 400k avpkt 1kb probability 2e-2", "avpkt", 1024),
        ("pfifo limit 1k", "packets", 1024),
        ("pfifo limit 1000p", "packets", 1000),
    ],
)
def test_numbers_without_units_are_those_of_tc(line: str, key: str, value: float) -> None:
    assert queue_of(f"tc qdisc add dev eth0 root {line}")[key] == value


@pytest.mark.parametrize("text", ["", "-1ms", "1e400", "1e99", "nan", "5 ms", "1" * 99])
@pytest.mark.parametrize("read", [units.rate, units.size, units.milliseconds, units.number])
def test_no_text_is_too_odd_to_be_refused(read: Callable[[str], float], text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown unit"):
        read(text)


def test_an_imported_queue_runs(small: Scenario) -> None:
    queue = queue_of("tc qdisc add dev eth0 root tbf rate 5mbit burst 1600 limit 100k")
    flows = run(small.with_values({"topology.bottleneck.queue": queue})).summary()["flows"]
    assert 0 < sum(flow["goodput_bps"] for flow in flows) < 5e6
