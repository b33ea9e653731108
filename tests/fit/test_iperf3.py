"""Files of iperf3: every version of --bidir, streams of events, interrupted tests, and what arrived."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fullpipe.errors import InputFileError
from fullpipe.validation.fit import fit, iperf3
from fullpipe.validation.fit.estimate import rate_bps
from fullpipe.validation.fit.measured import Rates, Way
from fullpipe.validation.fit.read import read
from tests.fit.lines import HEADERS
from tests.fit.score import WITHIN

CLOCK_S, IDLE_S, LOAD_S = 1_700_000_000, 10, 30
UP_BPS, DOWN_BPS = 19.1e6, 47.8e6
"""Payload of a line of 20 Mbit/s up and 50 down."""
BLOCK_BYTES = 131_072
"""What iperf3 writes to a socket at once."""
Tree = dict[str, Any]


def row(second: int, bps: float, *, sender: bool | None, **more: Any) -> Tree:
    of_sender = {} if sender is None else {"sender": sender, **({"retransmits": 3} if sender else {})}
    times = {"start": second, "end": second + 1, "seconds": 1.0}
    return {**times, "bytes": round(bps / 8), "bits_per_second": bps, "omitted": False, **of_sender, **more}


def tree_of(intervals: Sequence[Tree], end: Tree | None = None, **start: Any) -> Tree:
    settings = {"protocol": "TCP", "num_streams": 1, "omit": 0, "reverse": 0, **start.pop("test_start", {})}
    return {
        "start": {
            "version": "iperf 3.12",
            "timestamp": {"timesecs": CLOCK_S + IDLE_S},
            "cookie": "kept",
            "tcp_mss_default": 1448,
            "test_start": settings,
            **start,
        },
        "intervals": [{"streams": [], **one} for one in intervals],
        "end": end or {},
    }


def both_ways(*, of_server: bool = False) -> Tree:
    """A test of --bidir, as iperf3 3.11 and 3.12 print it: without `bidir` in test_start."""
    return tree_of(
        [
            {
                "sum": row(n, UP_BPS, sender=not of_server),
                "sum_bidir_reverse": row(n, DOWN_BPS, sender=of_server),
            }
            for n in range(LOAD_S)
        ],
        {"sender_tcp_congestion": "bbr", "receiver_tcp_congestion": "cubic"},
        **({"accepted_connection": {}} if of_server else {"connecting_to": {}}),
    )


def as_before_3_11(tree: Tree) -> str:
    """`sum` twice in every interval (esnet/iperf, issue 952)."""
    return json.dumps(tree).replace("sum_bidir_reverse", "sum")


def one_way(way: Way = "up", **more: Any) -> Tree:
    sums = [{"sum": row(n, UP_BPS, sender=way == "up")} for n in range(LOAD_S)]
    return tree_of(sums, test_start={"reverse": int(way == "down")}, **more)


def means(found: dict[Way, Rates]) -> dict[Way, float]:
    return {way: float(of.bps.mean()) for way, of in found.items()}


BIDIR: dict[str, Callable[[], str]] = {
    "3.12": lambda: json.dumps(both_ways()),
    "3.12 of the server": lambda: json.dumps(both_ways(of_server=True)),
    "3.7": lambda: as_before_3_11(both_ways()),
    "3.7 of the server": lambda: as_before_3_11(both_ways(of_server=True)),
    "since 3.13": lambda: json.dumps(both_ways()).replace('"reverse": 0', '"reverse": 0, "bidir": 1'),
}


@pytest.mark.parametrize("version", BIDIR)
def test_each_direction_has_its_rate_and_its_algorithm(version: str) -> None:
    found = iperf3.rates_of(BIDIR[version](), "x")
    assert means(found) == pytest.approx({"up": UP_BPS, "down": DOWN_BPS})
    assert {way: of.ccas for way, of in found.items()} == {"up": {"cubic"}, "down": {"bbr"}}


def ping_log() -> str:
    """Pings of 20 ms that wait for 60 to 100 ms while the test runs."""
    lines = ["PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data."]
    for n in range(250):
        sent_s, ms = CLOCK_S + n * 0.2, 20 + n % 3 * 0.1
        if IDLE_S < n * 0.2 < IDLE_S + LOAD_S:
            ms = 80 + n * 7 % 40
        reply = f"64 bytes from 192.0.2.9: icmp_seq={n + 1} ttl=57 time={ms:.1f} ms"
        lines.append(f"[{sent_s + ms / 1e3:.6f}] {reply}")
    return "\n".join(lines)


@pytest.mark.parametrize("version", ["3.12", "3.7"])
def test_a_line_that_was_tested_both_ways_has_both_rates(tmp_path: Path, version: str) -> None:
    (tmp_path / "bidir.json").write_text(BIDIR[version]())
    (tmp_path / "ping.txt").write_text(ping_log())
    found = fit(read([tmp_path / "ping.txt", tmp_path / "bidir.json"]))
    assert found.ways["up"].rate_bps == pytest.approx(20e6, rel=0.01)
    assert found.ways["down"].rate_bps == pytest.approx(50e6, rel=0.01)
    assert not any("nothing was tested" in line for line in found.unknown)


def test_a_direction_that_another_program_lost_is_told() -> None:
    lost = json.loads(as_before_3_11(both_ways()))  # keeps the last of equal keys
    with pytest.raises(InputFileError, match="went down in a test up: one direction of --bidir was lost"):
        iperf3.rates_of(json.dumps(lost), "x")


@pytest.mark.parametrize("of_server", [False, True])
@pytest.mark.parametrize("way", ["up", "down"])
def test_a_direction_is_that_of_the_client(way: Way, of_server: bool) -> None:
    role = {"accepted_connection": {}} if of_server else {}
    sums = [{"sum": row(n, UP_BPS, sender=(way == "up") != of_server)} for n in range(3)]
    tree = tree_of(sums, test_start={"reverse": int(way == "down")}, **role)
    assert list(iperf3.rates_of(json.dumps(tree), "x")) == [way]


def test_files_of_before_3_7_do_not_say_who_sent() -> None:
    tree = tree_of([{"sum": row(n, UP_BPS, sender=None)} for n in range(3)], test_start={"reverse": 1})
    assert means(iperf3.rates_of(json.dumps(tree), "x")) == pytest.approx({"down": UP_BPS})


def events(tree: Tree) -> list[str]:
    """What --json-stream prints of the same test."""
    intervals = [("interval", one) for one in tree["intervals"]]
    every = [("start", tree["start"]), *intervals, ("server_output_text", "x"), ("end", tree["end"])]
    return [json.dumps({"event": event, "data": data}) for event, data in every]


STREAMS: dict[str, Callable[[], str]] = {
    "whole": lambda: "\n".join(events(both_ways())) + "\n",
    "cut": lambda: "\n".join(events(both_ways())[: 1 + LOAD_S])[:-20],
    "with all at the end": lambda: "\n".join(events(both_ways())) + "\n" + json.dumps(both_ways(), indent=1),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_events_are_a_test(kind: str) -> None:
    found = iperf3.rates_of(STREAMS[kind](), "x")
    assert means(found) == pytest.approx({"up": UP_BPS, "down": DOWN_BPS})
    assert found["up"].bps.size == LOAD_S - (kind == "cut")


def test_an_interrupted_test_is_read_and_told() -> None:
    interrupted = "interrupt - the client has terminated"
    tree = one_way() | {"error": interrupted, "end": {"sum_received": {"bytes": 0}}}
    text = "\n".join([*events(tree)[:-1], json.dumps({"event": "error", "data": interrupted})])
    for one in (json.dumps(tree), text):
        found = iperf3.rates_of(one, "x")["up"]
        assert float(found.bps.mean()) == pytest.approx(UP_BPS)
        assert found.told == (f'iperf3 ended early, by "{interrupted}"; the intervals before that are taken',)


def test_a_file_may_have_a_test_each_way_one_after_the_other() -> None:
    text = json.dumps(one_way("up")) + "\n" + json.dumps(one_way("down"), indent=1)
    assert set(iperf3.rates_of(text, "x")) == {"up", "down"}
    with pytest.raises(InputFileError, match="has two tests of direction up; give each test its own file"):
        iperf3.rates_of(json.dumps(one_way()) * 2, "x")


def uploaded(socket_bytes: int = 900_000, seconds: int = 10) -> tuple[Tree, float]:
    """An upload over a busy line, and the bytes that arrived.

    The client writes blocks into a socket that has room once a third is free (sk_stream_is_writeable).
    """
    step_s, held, arrived, is_writing = 0.001, 0.0, 0.0, True
    written = [0.0] * seconds
    for n in range(round(seconds / step_s)):
        is_writing = held < socket_bytes * (1 if is_writing else 2 / 3)
        while is_writing and held < socket_bytes:
            held += BLOCK_BYTES
            written[int(n * step_s)] += BLOCK_BYTES
        sent = min(UP_BPS / 8 * step_s, held)
        held, arrived = held - sent, arrived + sent
    sums = [{"sum": row(n, of * 8, sender=True)} for n, of in enumerate(written)]
    return tree_of(sums, {"sum_received": {"seconds": float(seconds), "bytes": round(arrived)}}), arrived


def test_a_client_that_sends_is_taken_at_what_the_server_received() -> None:
    tree, arrived = uploaded()
    found = iperf3.rates_of(json.dumps(tree), "x")["up"]
    written = [one["sum"]["bits_per_second"] for one in tree["intervals"]]
    assert float((found.bps * found.lasts_s).sum()) / 8 == pytest.approx(arrived)
    assert found.bps[1:].tolist() == pytest.approx(written[1:])
    assert found.held_bits == pytest.approx(sum(written) - arrived * 8)
    (line,) = found.told
    assert "MB still in the client's send buffer at the end (end.sum_received)" in line


def test_the_rate_of_a_short_upload_is_that_of_the_line() -> None:
    tree, _ = uploaded()
    found = iperf3.rates_of(json.dumps(tree), "x")["up"]
    assert rate_bps(found, 0.05) == pytest.approx(UP_BPS * HEADERS, rel=0.03)


MEASURED = [
    [27.1, 15.3, 24.5, 19.6, 19.6, 19.6, 22.9, 19.6, 19.6, 19.6],
    [28.7, 21.8, 15.7, 21.4, 18.3, 21.9, 20.5, 15.1, 23.4, 22.2],
    [25.7, 19.6, 19.6, 19.6, 19.6, 19.6, 16.4, 19.6, 19.7, 19.6],
]
"""Mbit/s with headers of one stream, of four and of --bidir, by iperf3 3.12 over a tbf of 20 Mbit/s."""


@pytest.mark.parametrize("mbps", MEASURED)
def test_bursts_of_writes_are_no_rate_of_the_line(mbps: Sequence[float]) -> None:
    sums = [{"sum": row(n, one * 1e6 / HEADERS, sender=True)} for n, one in enumerate(mbps)]
    tree = tree_of(sums, {"sum_received": {"bytes": round(20e6 / HEADERS * 10 / 8)}})
    assert rate_bps(iperf3.rates_of(json.dumps(tree), "x")["up"], 0.05) == pytest.approx(
        20e6, rel=WITHIN["rate"]
    )


def test_what_is_omitted_leaves_a_full_socket() -> None:
    tree, arrived = uploaded()
    tree["intervals"][:1] = []
    tree["end"]["sum_received"]["bytes"] = round(arrived * 0.9)
    found = iperf3.rates_of(json.dumps(tree), "x")["up"]
    assert float((found.bps * found.lasts_s).sum()) / 8 == pytest.approx(arrived * 0.9)


@pytest.mark.parametrize("change", ["nothing", "of the server", "half"])
def test_what_arrived_is_not_known_of_every_file(change: str) -> None:
    tree, _ = uploaded()
    if change == "nothing":
        tree["end"] = {}
    elif change == "half":
        tree["end"]["sum_received"]["bytes"] /= 3
    else:
        tree["start"] |= {"accepted_connection": {}, "test_start": {"reverse": 1}}
    (found,) = iperf3.rates_of(json.dumps(tree), "x").values()
    assert found.told == ()
    assert found.bps.tolist() == [one["sum"]["bits_per_second"] for one in tree["intervals"]]


def test_times_begin_anew_after_what_is_omitted() -> None:
    omitted = [{"sum": row(n, 1e6, sender=True, omitted=True)} for n in range(3)]
    tree = tree_of([*omitted, *({"sum": row(n, UP_BPS, sender=True)} for n in range(5))])
    found = iperf3.rates_of(json.dumps(tree), "x")["up"]
    assert found.begin_s == CLOCK_S + IDLE_S + 3
    assert found.bps.tolist() == [UP_BPS] * 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"event": "interval", "data": {}}', 'the event "interval" comes before start'),
        ('{"event": "start", "data": 7}\n{"event": "interval", "data": 7}', "start: is missing"),
        ('{"event": "start", "data": {}}\n{"event"\n{}', "is not JSON as iperf3 --json prints it"),
        ('{"event": "error", "data": "x"}', "comes before start"),
        ("[" + "[]," * 3_000_000, "has more than 2,000,000 values"),
    ],
)
def test_what_is_no_test_is_told(text: str, message: str) -> None:
    with pytest.raises(InputFileError, match=message):
        iperf3.rates_of(text, "x")


@pytest.mark.parametrize("stamp", [10**400, True, "1700000000", None, [1], -1])
def test_a_time_that_no_test_has_counts_as_not_said(stamp: object) -> None:
    tree = one_way()
    tree["start"]["timestamp"] = {"timesecs": stamp}
    assert iperf3.rates_of(json.dumps(tree), "x")["up"].begin_s == 0
