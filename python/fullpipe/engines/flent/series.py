"""What the series of a file are of: streams, pings, probes, fetches, calls, and statistics of a qdisc."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fullpipe.engines.flent.document import Document, Point, number, text
from fullpipe.errors import brief
from fullpipe.scenario.flent.names import COMPUTED, flow_of, mark_of

Floats = npt.NDArray[np.float64]
Kind = Literal["tcp", "udp", "ping", "probe", "http", "call", "qdisc"]
RATES = ("tcp", "udp")
ECHOES = ("ping", "probe")
_RTT_S = 1e-3
_MOST_SERIES = 1_000
_UNUSUAL = 10
"""A sample that lasts for so many times the usual duration, or for such a part of it, is no RTT."""
_CALL, _CALL_PACKETS = "VoIP::delay", "VoIP"
"""The delays of a call, and all that irtt says of its packets."""


@dataclass(frozen=True)
class Series:
    """One series, with its raw points in the order of time."""

    name: str
    flow: str
    """What its flow is called: one name for each."""
    kind: Kind
    points: Sequence[Point]
    meta: Mapping[str, Any]
    host: str = ""
    """The host at the other end; empty if the file does not say it."""
    is_interpolated: bool = False
    """Whether there are no raw points, and values of Flent's grid stand in their place."""
    stalled: int = 0
    """Samples of netperf's UDP_RR that are left out of the points, as they are no RTTs."""

    def column(self, key: str, points: Sequence[Point] | None = None) -> Floats:
        """A value of every point; NaN where there is none."""
        found = (point.get(key) for point in (self.points if points is None else points))
        return np.array([math.nan if value is None else value for value in found], dtype=float)

    @cached_property
    def values(self) -> Sequence[Point]:
        """The points with a value."""
        return [point for point in self.points if point.get("val") is not None]

    @cached_property
    def sockets(self) -> Sequence[Point]:
        """The points that say what `ss` shows of the socket."""
        return [point for point in self.points if "tcp_cwnd" in point or "tcp_rtt" in point]

    @property
    def is_upload(self) -> bool:
        """Whether the test host sends: by the test of netperf, else by its name."""
        command = text(self.meta, "COMMAND")
        if "TCP_MAERTS" in command:
            return False
        return "TCP_STREAM" in command or "download" not in self.name

    @property
    def algorithm(self) -> str:
        """What the kernel of the sender calls its algorithm; empty if that is not said."""
        return brief(text(self.meta, "CONG_CONTROL").strip())

    @property
    def mark(self) -> int | str | None:
        """Its code point: what the sockets say, else what its name does; None for best effort."""
        for key in ("UPSTREAM_TOS", "DATA_TOS") if self.is_upload else ("DOWNSTREAM_TOS", "DATA_TOS"):
            tos = number(self.meta.get(key))
            if tos is not None and 0 <= tos < 256:
                return int(tos) >> 2 or None
        return mark_of(self.name)

    @property
    def first_s(self) -> float:
        """The time since 1970 at which what its first value is of began."""
        if not self.values:
            return float(self.points[0]["t"])
        point = self.values[0]
        lasts = point.get("dur", 0.0) if self.kind in RATES else point["val"] * _RTT_S
        return float(point["t"] - (lasts or 0.0))


def series_of(document: Document) -> tuple[list[Series], list[str]]:
    """The series of a file that become flows and links, and the names of those that do not."""
    found, left, taken = list[Series](), list[str](), set[str]()
    for name in sorted(document.results.keys() | document.raw_values.keys(), key=_place(document)):
        kind = _kind(name, document)
        if kind is None:
            if not (COMPUTED.search(name) or name.startswith(_CALL_PACKETS)) and document.raw_values.get(
                name
            ):
                left.append(brief(name))
            continue
        one = _one(name, kind, document)
        if one.points and len(found) < _MOST_SERIES:
            found.append(replace(one, flow=_alone(one.flow, taken)))
    return found, left


def _place(document: Document) -> Any:
    """Where a series stands: as the test lists it, then by name."""

    def key(name: str) -> tuple[float, str]:
        place = number(document.series_meta(name).get("IDX"))
        return (math.inf if place is None else place), name

    return key


def _alone(name: str, taken: set[str]) -> str:
    """A name that no other flow has."""
    found, n = name, 1
    while found in taken:
        n += 1
        found = f"{name[:90]} {n}"
    taken.add(found)
    return found


def _kind(name: str, document: Document) -> Kind | None:
    if COMPUTED.search(name):
        return None
    runner = text(document.series_meta(name), "RUNNER")
    if name.startswith("Ping (ms)"):
        return "probe" if "UDP" in name else "ping"
    if name == (_CALL_PACKETS if _has_packets(document) else _CALL):
        return "call"
    prefixes: tuple[tuple[str, Kind], ...] = (
        ("TCP", "tcp"),
        ("UDP", "udp"),
        ("HTTP latency", "http"),
        ("qdisc_stats", "qdisc"),
    )
    if ("::" in name and name.startswith(("qdisc_stats", "HTTP"))) or "::tcp_" in name:
        return None
    by_name = next((kind for prefix, kind in prefixes if name.startswith(prefix)), None)
    return by_name or ("ping" if runner == "PingRunner" else None)


def _has_packets(document: Document) -> bool:
    """Whether a file has the packets of a call, and not its delays alone."""
    return any("owd_up" in point for point in document.raw_values.get(_CALL_PACKETS, ()))


def _one(name: str, kind: Kind, document: Document) -> Series:
    points = sorted(document.raw_values.get(name, ()), key=lambda point: point["t"])
    meta = document.series_meta(name)
    flow = "VoIP" if kind == "call" else "qdisc" if kind == "qdisc" else flow_of(name)
    stalled = 0
    if kind == "probe":
        answered = [*_answered(points)]
        stalled, points = len(points) - len(answered), answered
    if document.version < 4:
        points = [*_as_today(points, kind)]
    if name == _CALL_PACKETS:
        points = [{**point, "val": point["owd_up"]} if "owd_up" in point else point for point in points]
    host = _host(document, name, kind)
    if points or name not in document.results:
        return Series(name, flow, kind, points, meta, host, stalled=stalled)
    first_s = min((point["t"] for of in document.raw_values.values() for point in of), default=0.0)
    grid = list(_of_grid(document, name, first_s))
    return Series(name, flow, kind, grid, meta, host, is_interpolated=True)


def _host(document: Document, name: str, kind: Kind) -> str:
    """The host at the other end of a series.

    Tests with several servers end the name of a series with that of its server. Else the command names it:
    netperf after its last -H, as the first is that of the control connection, and ping at its end. Else it is
    the only server of the test.
    """
    named = [host for host in document.hosts if name.endswith(f" {host}")]
    if named:
        return max(named, key=len)
    words = text(document.series_meta(name), "COMMAND").split()
    by_option = [after for word, after in pairwise(words) if word == "-H"]
    if by_option:
        return by_option[-1]
    if words and kind == "ping":
        return words[-1]
    return document.hosts[0] if len(document.hosts) == 1 else ""


def _answered(points: Sequence[Point]) -> Iterator[Point]:
    """The samples of netperf's UDP_RR that are means of RTTs, and every packet of irtt.

    netperf waits for an answer that was lost until its timeout or the end of the test, and divides the
    transactions of a sample by that time. Law: a sample counts if its duration is within a factor of ten of
    the moving average of those before, with weight 1/2. Source: flent/runners.py, NetperfDemoRunner.parse.
    """
    usual_s = math.nan
    for point in points:
        lasts_s = point.get("dur")
        if lasts_s is None:
            yield point
        elif lasts_s > 0 and not (lasts_s >= usual_s * _UNUSUAL or lasts_s <= usual_s / _UNUSUAL):
            usual_s = lasts_s if math.isnan(usual_s) else (usual_s + lasts_s) / 2
            yield point


def _of_grid(document: Document, name: str, first_s: float) -> Iterator[Point]:
    """Values of Flent's grid, whose times count from the first sample, each valid for a step."""
    step_s = document.number("STEP_SIZE") or 0.2
    for x, value in zip(document.x_values, document.results[name], strict=True):
        if value is not None:
            yield {"t": first_s + x, "val": value, "dur": step_s}


def _as_today(points: Sequence[Point], kind: Kind) -> Iterator[Point]:
    """Raw values as version 4 of the format has them: before, some are as the program printed them."""
    before: dict[str, float] = {}
    for point in points:
        changed = dict(point)
        value = point.get("val")
        if kind == "probe" and "dur" in point:
            changed["val"] = number(1e3 / value) if value else None  # transactions per second
        elif kind == "http" and value is not None:
            changed["val"] = value * 1e3  # seconds
        for key in ("dropped", "ecn_mark") if kind == "qdisc" else ():
            if point.get(key) is not None:  # counted from the start of the qdisc
                changed[key] = point[key] - before.get(key, point[key])
                before[key] = point[key]
        yield changed
