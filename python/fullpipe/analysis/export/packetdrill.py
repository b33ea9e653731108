"""A flow's sender as a packetdrill script: the ACKs that it received, and the segments that it sent.

The script opens the connection, as the sender of a flow does, and then writes all data at once into a send
buffer with room for it. Times are those of the run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario import RoutedFlow
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import NANOSECONDS

_POINT = "sender"
_MICROSECOND, _MILLISECOND = 1_000, 1_000_000
_BURST_NS = 100 * _MICROSECOND
"""Segments that follow each other within this time are one expected packet, as the kernel passes them on."""
_SILENCE_NS = 500 * _MILLISECOND
"""Shortest time without a sent segment, data being in flight, that gets an assertion."""
_TIMER_NS = 10 * _MILLISECOND
"""Segments that follow no packet within this time are sent by a timer."""
_GRAIN_NS = 64 * _MILLISECOND
"""Grain of timers of 0.5 to 4 s in Linux. Their phase differs between a run and a script."""
_TOLERATED = 8
"""Ratio of a wait for a timer to its tolerance, as in packetdrill. Assertions within the wait hide it from
packetdrill, so the script has a range of times."""
_ASSERTED = 0.8
"""Part of a silence after which its assertion is checked: a timer may end the silence earlier or later."""
_LASTING = 0.9
"""Part of the time since the last segment that `tcpi_last_data_sent` must have."""
_STAMP = 1_000
"""First timestamp of each end in the script."""
_WORDS = 1 << 32
_FIELD = 65_535
_OPTIONS_BYTES = 12
_CHUNK = 262_144
"""Bytes of a write, as the application of the Linux engine writes."""
_MEMORY = 4
"""Ratio of the send buffer to the written bytes, because packets take more memory than their payload."""
_LEAST_MEMORY = 4 << 20
_MOST_MEMORY = (1 << 31) - 1
"""Largest value that Linux accepts in `tcp_wmem`."""
_FULL = 0.5
"""Part of the memory for the send buffer above which payload in flight may fill it: packets take up to twice
the memory of their payload."""
_LIMITED = 0.01
"""Share of time above which the send buffer has limited a sender."""
_RECEIVE_MEMORY = "4096 131072 6291456"
_SCALE = 7
"""Window scale of the sender, which follows from `tcp_rmem`."""
_IN_LINUX = {"bbr1": "bbr"}
"""Names of algorithms in Linux, where they differ."""

_Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Event:
    """A line of the script, and the time of the run at which it is due, or its earliest and latest time."""

    at_ns: int
    text: str
    span_ns: tuple[int, int] | None = None


def packetdrill(run: Run, flow: str | None = None) -> str:
    """Return a script in which the kernel receives the ACKs of a flow, and is expected to send its segments.

    At the end of every silence of at least 500 ms, assertions compare the packets in flight and the
    selectively acknowledged ones. The script applies to a stock kernel with the algorithm of the flow.

    Args:
        run: A run with packets captured at the sender (`record.packets = ["sender"]`).
        flow: Name of the flow; None if the run has only one.

    Raises:
        ResultError: If the packets or the flow cannot be written as a script.
        UnknownNameError: If the run has no such flow.
    """
    routed = _chosen(run, flow)
    packets = run.packets.filter(pl.col("point") == _POINT, pl.col("flow") == routed.name)
    if packets.is_empty():
        raise ResultError(
            f'no packets of {routed.name} at its sender; run with record.packets = ["sender"] from the start'
        )
    if packets["connection"].n_unique() > 1:
        raise ResultError(f"{routed.name} has several connections; a script describes one connection")
    kinds = packets["kind"].to_list()
    if kinds[:3] != ["syn", "syn_ack", "handshake_ack"]:
        raise ResultError(f"{routed.name} has a handshake with lost packets, which no script can show")
    rows = packets.rows(named=True)
    _check_buffer(run, routed, rows)
    return _Script(run, routed, rows).text()


def _check_buffer(run: Run, routed: RoutedFlow, rows: Sequence[_Row]) -> None:
    """Check that the send buffer had room, as in the script. The kernel counts a sender whose whole buffer is
    in flight as limited by its application, so the bytes in flight count, too."""
    shares = run.flows.filter(pl.col("flow") == routed.name)["limited_send_buffer"].drop_nulls()
    sent = acked = most_in_flight = 0
    for row in rows:
        sent, acked = max(sent, _end(row)), max(acked, row["ack"] if row["source"] != _POINT else 0)
        most_in_flight = max(most_in_flight, sent - acked)
    fixed_bytes = routed.tcp.send_buffer_bytes
    room_bytes = fixed_bytes or _FULL * routed.tcp.send_memory_most_bytes
    if most_in_flight >= room_bytes or any(share > _LIMITED for share in shares):
        remedy = (
            "leave out tcp.send_buffer" if fixed_bytes else "raise tcp.send_memory and tcp.send_memory_most"
        )
        raise ResultError(
            f"{routed.name} may have been limited by its send buffer, with {most_in_flight:,} bytes "
            f"in flight, but a script writes all data at once; {remedy}"
        )


def _chosen(run: Run, name: str | None) -> RoutedFlow:
    flows = {routed.name: routed for routed in resolve(run.scenario).flows}
    if name is None and len(flows) > 1:
        raise ResultError(f"the run has the flows {', '.join(flows)}; choose one with --flow")
    chosen = flows.get(name) if name else next(iter(flows.values()))
    if chosen is None:
        raise UnknownNameError("flow", name or "", flows)
    if chosen.flow.workload or chosen.flow.application:
        raise ResultError(f"{chosen.name} has a workload; a script needs a flow with a size or without end")
    if chosen.tcp.ecn == "accecn":
        raise ResultError(f"{chosen.name} has AccECN; a script needs a flow with classic ECN or without ECN")
    return chosen


class _Script:
    """The script of one connection."""

    def __init__(self, run: Run, routed: RoutedFlow, rows: list[dict[str, Any]]) -> None:
        self._run, self._routed, self._rows = run, routed, rows
        self._stamps = {row["source"]: row["ts_val"] for row in reversed(rows[:2])}
        largest = max(row["window"] for row in rows)
        self._scale = next(scale for scale in range(15) if largest >> scale <= _FIELD or scale == 14)

    def text(self) -> str:
        opening, rest = self._rows[:3], self._rows[3:]
        silences = list(self._silences(rest))
        events = sorted([*self._segments(rest), *silences], key=lambda event: event.at_ns)
        lines = [*self._settings(), *self._opening(opening)]
        lines += [f"{self._times(event)} {event.text}" for event in events]
        return "\n".join([*self._heading(len(silences)), *lines, ""])

    def _heading(self, silences: int) -> list[str]:
        run, name = self._run, self._routed.name
        return [
            f"// Flow {name} of {run.scenario.name}, as the engine {run.meta.engine.name} ran it with seed "
            f"{run.meta.seed}.",
            f"// The sender was silent {silences} times for 500 ms or more.",
            "// Play with: packetdrill FILE, or fullpipe packetdrill FILE --engine linux",
            "",
        ]

    def _settings(self) -> list[str]:
        tcp, cca = self._routed.tcp, self._routed.flow.cca
        kind = cca.kind if cca else ""
        memory = min(max(_MEMORY * self._written(), _LEAST_MEMORY), _MOST_MEMORY)
        settings = {
            "tcp_congestion_control": _IN_LINUX.get(kind, kind),
            "tcp_timestamps": int(tcp.timestamps),
            "tcp_ecn": int(bool(tcp.ecn)),
            "tcp_no_metrics_save": 1,
            "tcp_wmem": f'"4096 {memory} {memory}"',
            "tcp_rmem": f'"{_RECEIVE_MEMORY}"',
        }
        lines = [f"sysctl -q net.ipv4.{key}={value}" for key, value in settings.items()]
        return ["`" + "\n".join([*lines, "tc qdisc replace dev tun0 root pfifo"]) + "`", ""]

    def _written(self) -> int:
        """Bytes that the application writes: those that the sender has sent."""
        return max(_end(row) for row in self._rows)

    def _opening(self, rows: list[dict[str, Any]]) -> list[str]:
        tcp, (syn, answer, last) = self._routed.tcp, rows
        mss = tcp.mss_bytes + (_OPTIONS_BYTES if tcp.timestamps else 0)
        flags, offer = ("SE.", "SEW") if tcp.ecn else ("S.", "S")
        begins, opens = self._time(syn["time_ns"]), self._time(last["time_ns"])
        chunks = [_CHUNK] * (self._written() // _CHUNK) + [self._written() % _CHUNK]
        return [
            f"{begins} socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3",
            f"{begins} connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)",
            f"{begins} > {offer} 0:0(0) <{self._agreed(syn, 1460, _SCALE)}>",
            f"{self._time(answer['time_ns'])} < {flags} 0:0(0) ack 1 win {min(answer['window'], _FIELD)} "
            f"<{self._agreed(answer, mss, self._scale)}>",
            f"{opens} > . 1:1(0) ack 1{self._options(last)}",
            *(f"{opens} write(3, ..., {chunk}) = {chunk}" for chunk in chunks if chunk),
        ]

    def _agreed(self, row: _Row, mss: int, scale: int) -> str:
        """Options of a SYN or SYN-ACK in the order of Linux."""
        stamps = self._timestamps(row)
        middle = f"sackOK,{stamps},nop" if stamps else "nop,nop,sackOK,nop"
        return f"mss {mss},{middle},wscale {scale}"

    def _segments(self, rows: list[dict[str, Any]]) -> Iterator[_Event]:
        burst: list[_Row] = []
        last_ns = rows[0]["time_ns"] if rows else 0
        for row in rows:
            if burst and not _continues(burst[-1], row):
                yield self._expected(burst, last_ns)
                last_ns, burst = burst[-1]["time_ns"], []
            if row["source"] == _POINT:
                burst.append(row)
            else:
                last_ns = row["time_ns"]
                yield _Event(last_ns, self._injected(row))
        if burst:
            yield self._expected(burst, last_ns)

    def _expected(self, burst: list[_Row], last_ns: int) -> _Event:
        """The segments of a burst; `last_ns` is the time of the packet before it."""
        first, last = burst[0], burst[-1]
        start, end = first["seq"] + 1, last["seq"] + last["len"] + 1
        ecn = f"[{last['ecn']}] " if last["ecn"] != "not_ect" else ""
        letters = {"F": "fin", "P": "psh", "W": "cwr"}
        flags = "".join(letter for letter, name in letters.items() if name in last["flags"].split())
        text = f"> {ecn}{flags}. {start}:{end}({end - start}) ack 1{self._options(last)}"
        at_ns: int = first["time_ns"]
        waited_ns = at_ns - last_ns
        if waited_ns <= _TIMER_NS:
            return _Event(at_ns, text)
        slack_ns = max(waited_ns // _TOLERATED, _GRAIN_NS)
        return _Event(at_ns, text, (max(at_ns - slack_ns, last_ns), at_ns + slack_ns))

    def _injected(self, row: _Row) -> str:
        flags = "E." if "ece" in row["flags"].split() else "."
        window = row["window"] >> self._scale
        return f"< {flags} 1:1(0) ack {row['ack'] + 1} win {window}{self._options(row)}"

    def _options(self, row: _Row) -> str:
        stamps = self._timestamps(row)
        options = ["nop,nop", stamps] if stamps else []
        blocks = [block.split("-") for block in row["sacks"].split()]
        if blocks:
            ranges = [f"{int(start) + 1}:{int(end) + 1}" for start, end in blocks]
            options += ["nop,nop", f"sack {' '.join(ranges)}"]
        return f" <{','.join(options)}>" if options else ""

    def _timestamps(self, row: _Row) -> str:
        if not self._routed.tcp.timestamps:
            return ""
        other = next(source for source in self._stamps if source != row["source"])
        value = (row["ts_val"] - self._stamps[row["source"]] + _STAMP) % _WORDS
        echo = 0 if row["kind"] == "syn" else (row["ts_ecr"] - self._stamps[other] + _STAMP) % _WORDS
        return f"TS val {value} ecr {echo}"

    def _silences(self, rows: list[dict[str, Any]]) -> Iterator[_Event]:
        """Assertions on the packets in flight during times without a sent segment."""
        sent = [row for row in rows if row["source"] == _POINT]
        for before, after in pairwise(sent):
            length_ns = after["time_ns"] - before["time_ns"]
            if length_ns < _SILENCE_NS:
                continue
            at_ns = before["time_ns"] + int(_ASSERTED * length_ns)
            in_flight = self._in_flight(rows, at_ns)
            if not in_flight:
                continue
            unacked, sacked = in_flight
            silent_ms = int(_LASTING * _ASSERTED * length_ns) // _MILLISECOND
            conditions = [
                f"tcpi_last_data_sent >= {silent_ms}, tcpi_last_data_sent",
                f"tcpi_unacked == {unacked}, tcpi_unacked",
                f"tcpi_sacked == {sacked}, tcpi_sacked",
            ]
            asserts = "; ".join(f"assert {condition}" for condition in conditions)
            yield _Event(at_ns, f"%{{ {asserts} }}%")

    def _in_flight(self, rows: list[dict[str, Any]], at_ns: int) -> tuple[int, int] | None:
        """Packets that are not acknowledged at a time, and those of them that are selectively acknowledged;
        None if everything is acknowledged."""
        starts, acked, covered = set[int](), 0, list[tuple[int, int]]()
        for row in rows:
            if row["time_ns"] > at_ns:
                break
            if row["source"] == _POINT:
                starts.add(row["seq"])
            else:
                acked = max(acked, row["ack"])
                covered += [
                    (int(a), int(b)) for a, _, b in (block.partition("-") for block in row["sacks"].split())
                ]
        waiting = sorted(start for start in starts if start >= acked)
        sacked = [start for start in waiting if any(a <= start < b for a, b in covered)]
        return (len(waiting), len(sacked)) if waiting else None

    def _times(self, event: _Event) -> str:
        """The time of an event, or its earliest and latest time."""
        return "~".join(map(self._time, event.span_ns or (event.at_ns,)))

    @staticmethod
    def _time(at_ns: int) -> str:
        return f"{at_ns / NANOSECONDS:.6f}"


def _end(row: _Row) -> int:
    """The byte after the last one of a segment of the sender; 0 for other packets."""
    return int(row["seq"] + row["len"]) if row["source"] == _POINT else 0


def _continues(before: _Row, row: _Row) -> bool:
    """Whether a row is the next segment of a burst."""
    return (
        row["source"] == _POINT
        and row["seq"] == before["seq"] + before["len"]
        and row["time_ns"] - before["time_ns"] <= _BURST_NS
        and "psh" not in before["flags"].split()
        and row["ts_val"] == before["ts_val"]
    )
