"""Results of iperf3, and refusal of logs of unsupported programs."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullpipe.errors import InputFileError, shown
from fullpipe.scenario.model.tcp import DEFAULT_MSS_BYTES, MOST_MSS_BYTES
from fullpipe.validation.fit.measured import SINCE_1970_S, Floats, Rates, Way

# Logs of unsupported programs, recognised by their lines.


READ = (
    "logs of ping and fping, CSV of t,bit/s, iperf3 --json or --json-stream, .flent.gz and captures are read"
)
_HEAD = 10_000
_KINDS = {
    r"^(?:Connecting to host |\[ *(?:ID|SUM|[0-9]{1,4})\](?:\[[TR]X-[CS]\])? )": (
        "the text that iperf prints; run iperf3 --json"
    ),
    r'"(?:irtt|round_trips)" *:|^(?:\[[^\]]{1,100}\] )?seq=[0-9]+ rtt=': (
        "of irtt; ping the server with ping -D beside iperf3 --json"
    ),
    r"\bcwnd:[0-9]+|\brtt:[0-9.]+/[0-9.]+": "of ss; measure with ping -D beside iperf3 --json",
    r"[^\s=]{2,12}=[0-9]{1,5} [^\s=<]{1,12}[=<][0-9]{1,6} ?ms TTL=[0-9]{1,3}\b": (
        "of Windows' ping, which prints whole milliseconds and no times; use fping, or ping -D of Linux"
    ),
}
"""Name of an unsupported log and what to do instead, by a pattern of a line in the log."""


def refuse(text: str, where: object) -> None:
    """Refuse the log of a program that is known to be unsupported.

    Raises:
        InputFileError: If the log is unsupported; the message names the program, a remedy, and supported
            logs.
    """
    for line, is_of in _KINDS.items():
        if re.search(line, text[:_HEAD], re.MULTILINE):
            raise InputFileError(f"{where}: is {is_of}; {READ}")


# Rates of iperf3 tests, as `iperf3 --json` and `iperf3 --json-stream` print them.
#
# An interval has the sum of its streams as `sum`. With --bidir, `sum` covers the data that the client sends,
# and `sum_bidir_reverse` the data that the server sends, whichever side prints. Versions 3.7 to 3.10 write
# the key `sum` twice instead, in this order. Source: esnet/iperf, src/iperf_api.c (iperf_print_intermediate),
# issue 952 and pull request 1200.


MOST_VALUES = 2_000_000
"""Maximum number of values of a JSON document, including lists and tables: a byte of text may take a hundred
bytes in memory."""
_SUM, _REVERSE = "sum", "_bidir_reverse"
_CONTENT = re.compile(r"\S")
_MOST_BPS, _MOST_S = 1e15, 1e12
_LEAST_ARRIVED = 0.5
"""Least plausible share of the written bytes that arrived. A file with a smaller share, or with more than
twice the written bytes, contradicts itself."""


def rates_of(text: str, where: object) -> dict[Way, Rates]:
    """The rates of the tests in a file, by direction.

    Args:
        text: One test, or one test in each direction, as iperf3 printed them.
        where: The file.

    Raises:
        InputFileError: If a test failed before its second interval, did not use TCP, or was not made by
            iperf3.
    """
    found: dict[Way, Rates] = {}
    for tree in _tests(text, where):
        rates = _of_test(tree, where)
        if twice := sorted(found.keys() & rates.keys()):
            raise InputFileError(
                f"{where}: has two tests of direction {twice[0]}; give each test its own file"
            )
        found |= rates
    return found


def _tests(text: str, where: object) -> list[dict[str, Any]]:
    """The tests in a file, each in the format of --json. Events of --json-stream are joined into tests."""
    tests: list[dict[str, Any]] = []
    streamed: dict[str, Any] | None = None
    for tree in _documents(text, where):
        if not isinstance(tree, dict):
            raise InputFileError(f"{where}: is a list in JSON, and not what iperf3 --json prints")
        event, data = tree.get("event"), tree.get("data")
        if not isinstance(event, str):
            if streamed is not None and _cookie(streamed) == _cookie(tree):
                tests.pop()  # --json-stream-full-output prints each test twice
            tests.append(tree)
            streamed = None
        elif event == "start":
            streamed = {"start": data, "intervals": [], "end": {}}
            tests.append(streamed)
        elif streamed is None:
            raise InputFileError(
                f"{where}: the event {shown(event)} comes before start; give all that --json-stream prints"
            )
        elif event == "interval":
            streamed["intervals"].append(data)
        elif event in ("end", "error"):
            streamed[event] = data
    return tests


def _cookie(test: Mapping[str, Any]) -> str:
    """The cookie by which iperf3 identifies a test."""
    start = test.get("start")
    found = start.get("cookie") if isinstance(start, Mapping) else None
    return found if isinstance(found, str) else ""


def _documents(text: str, where: object) -> Iterator[Any]:
    """The JSON documents of a text, one after the other. The last event of a stream may be truncated."""
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise InputFileError(f"{where}: has more than {MOST_VALUES:,} values; no test of iperf3 has as many")
    decoder = json.JSONDecoder(object_pairs_hook=_apart)
    place, is_stream = 0, False
    while content := _CONTENT.search(text, place):
        try:
            tree, place = decoder.raw_decode(text, content.start())
        except (ValueError, RecursionError):
            if is_stream and text.find("\n", content.start()) < 0:
                return
            raise InputFileError(f"{where}: is not JSON as iperf3 --json prints it") from None
        is_stream = isinstance(tree, dict) and "event" in tree
        yield tree


def _apart(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A table from pairs. The second of two equal keys gets the name that iperf3 3.11 and later use."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[f"{key}{_REVERSE}" if key in found else key] = value
    return found


@dataclass(frozen=True)
class _Test:
    """A test with at least two intervals."""

    start: Mapping[str, Any]
    intervals: Sequence[Any]
    end: Mapping[str, Any]
    error: str
    """Reason why the test ended early; empty if it ended normally."""
    where: object

    @property
    def is_of_server(self) -> bool:
        """Whether the server printed the test."""
        return "accepted_connection" in self.start


def _of_test(tree: Mapping[str, Any], where: object) -> dict[Way, Rates]:
    said, intervals, end = tree.get("error"), tree.get("intervals"), tree.get("end")
    error = said if isinstance(said, str) else ""
    is_long = isinstance(intervals, list) and len(intervals) >= 2
    if error and not is_long:
        raise InputFileError(f"{where}: iperf3 failed: {shown(error[:200])}")
    start = _table(tree, "start", where)
    settings = _table(start, "test_start", where)
    if settings.get("protocol", "TCP") != "TCP":
        protocol = shown(settings.get("protocol"))
        raise InputFileError(f"{where}: {protocol} sends at a fixed rate; give a test of TCP")
    if not isinstance(intervals, list) or not is_long:
        raise InputFileError(
            f"{where}: intervals: has fewer than two; run iperf3 for longer than its interval"
        )
    test = _Test(start, intervals, end if isinstance(end, Mapping) else {}, error, where)
    if any(isinstance(one, Mapping) and _SUM + _REVERSE in one for one in intervals):
        # The keys name the server's algorithm "sender" and the client's algorithm "receiver"
        # (iperf_print_results).
        return {
            "up": _rates(test, "up", _SUM, "receiver_tcp_congestion"),
            "down": _rates(test, "down", _SUM + _REVERSE, "sender_tcp_congestion"),
        }
    way: Way = "down" if settings.get("reverse") else "up"
    _check_way(test, way)
    return {way: _rates(test, way, _SUM, "sender_tcp_congestion")}


def _check_way(test: _Test, way: Way) -> None:
    """Refuse a bidirectional test that lost one direction: JSON parsers keep only one of two equal keys."""
    first = test.intervals[0]
    of = first.get(_SUM) if isinstance(first, Mapping) else None
    sender = of.get("sender") if isinstance(of, Mapping) else None
    if isinstance(sender, bool) and (sender != test.is_of_server) != (way == "up"):
        other = "down" if way == "up" else "up"
        raise InputFileError(
            f"{test.where}: intervals[0].sum: went {other} in a test {way}: one direction of --bidir was lost"
            " when the file was changed; give it as iperf3 wrote it"
        )


def _rates(test: _Test, way: Way, key: str, algorithm: str) -> Rates:
    rows, begin_s = _rows(test, key)
    if len(rows) < 2 or not any(row[2] for row in rows):
        raise InputFileError(f"{test.where}: intervals: fewer than two delivered anything {way}")
    table = np.array(rows)
    is_sender = test.intervals[0][key].get("sender", (way == "up") != test.is_of_server)
    held_bits = _held_bits(test, key, table) if is_sender else 0.0
    said, mss, resent = test.end.get(algorithm), test.start.get("tcp_mss_default"), table[:, 3]
    return Rates(
        begin_s + table[:, 0],
        table[:, 1],
        _arrived_bps(table, held_bits),
        frozenset({said} if isinstance(said, str) and len(said) <= 100 else ()),
        mss if isinstance(mss, int) and DEFAULT_MSS_BYTES <= mss <= MOST_MSS_BYTES else None,
        None if np.isnan(resent).any() else int(resent.sum()),
        _told(test, way, held_bits),
        abs(held_bits),
    ).busy()


def _rows(test: _Test, key: str) -> tuple[list[list[float]], float]:
    """Return end, duration, rate and retransmissions of every interval that is not omitted, and the start of
    the first of these intervals."""
    rows, begin_s, omitted_s = list[list[float]](), _since_1970(test.start), 0.0
    for number, interval in enumerate(test.intervals):
        place = f"intervals[{number}].{key}"
        of = interval.get(key) if isinstance(interval, Mapping) else None
        if not isinstance(of, Mapping):
            raise InputFileError(f"{test.where}: {place}: should be a table")
        end_s, lasts_s, bps = (_number(of.get(name)) for name in ("end", "seconds", "bits_per_second"))
        if math.isnan(end_s + lasts_s + bps):
            raise InputFileError(
                f"{test.where}: {place}: end, seconds or bits_per_second is missing or out of range"
            )
        if of.get("omitted"):
            omitted_s = end_s
        elif lasts_s > 0:
            if not rows and _number(of.get("start")) < omitted_s:
                begin_s += omitted_s  # times begin anew after -O (iperf_reset_stats)
            rows.append([end_s, lasts_s, bps, _number(of.get("retransmits"))])
    return rows, begin_s


def _held_bits(test: _Test, key: str, table: Floats) -> float:
    """Bits that the client wrote and the server did not receive; 0 if the file does not have this number.

    These bits are in the socket buffer of the client. The log of a server lacks the bytes that the client
    received (iperf_print_results), and the log of an interrupted client lacks the bytes that the server
    received.
    """
    received = test.end.get("sum_received" + key.removeprefix(_SUM))
    arrived = _number(received.get("bytes")) * 8 if isinstance(received, Mapping) else math.nan
    written = float((table[:, 1] * table[:, 2]).sum())
    is_known = not test.is_of_server and not test.error
    is_known = is_known and _LEAST_ARRIVED * written <= arrived <= written / _LEAST_ARRIVED
    return written - arrived if is_known else 0.0


def _arrived_bps(table: Floats, held_bits: float) -> Floats:
    """Rates of arrival. A client fills its socket buffer first, so the buffered bits are in the first
    interval.

    With the option -O, the first counted interval starts with a full socket buffer. Data that left the buffer
    since then are added to the first interval.
    """
    bits = table[:, 1] * table[:, 2]
    written = np.cumsum(bits)
    arrived = np.maximum(written - held_bits, 0.0)
    found: Floats = np.diff(arrived, prepend=0.0) / table[:, 1]
    return found


def _told(test: _Test, way: Way, held_bits: float) -> tuple[str, ...]:
    early = f"iperf3 ended early, by {shown(test.error[:200])}; the intervals before that are taken"
    held = (
        f"rate, {way}: without {held_bits / 8e6:.2g} MB still in the client's send buffer at the end"
        " (end.sum_received); subtracted at the start of the test, when the client fills this buffer"
    )
    return (*([early] if test.error else []), *([held] if held_bits else []))


def _number(value: object) -> float:
    """The value if it is a plausible number of a test, else NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_BPS:
        return math.nan
    return float(value)


def _since_1970(start: Mapping[str, Any]) -> float:
    stamp = start.get("timestamp")
    if not isinstance(stamp, Mapping):
        return 0.0
    for key, unit_s in (("timemillisecs", 1e-3), ("timesecs", 1.0)):
        time_s = _number(stamp.get(key)) * unit_s
        if SINCE_1970_S < time_s < _MOST_S:
            return time_s
    return 0.0


def _table(tree: Mapping[str, Any], key: str, where: object) -> Mapping[str, Any]:
    found = tree.get(key)
    if not isinstance(found, Mapping):
        raise InputFileError(f"{where}: {key}: is missing; it should be what iperf3 --json prints")
    return found
