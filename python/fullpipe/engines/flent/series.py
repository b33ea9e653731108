"""Series of a Flent file, their times and samples."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fullpipe.engines.flent.document import Document, Point, number, text
from fullpipe.errors import InputFileError, brief
from fullpipe.scenario.flent.families import COMPUTED, flow_of, mark_of

# Series of a Flent file, by kind: streams, pings, probes, fetches, calls, and statistics of a qdisc.


Floats = npt.NDArray[np.float64]
Kind = Literal["tcp", "udp", "ping", "probe", "http", "call", "qdisc"]
RATES = ("tcp", "udp")
ECHOES = ("ping", "probe")
_RTT_S = 1e-3
_MOST_SERIES = 1_000
_UNUSUAL = 10
"""A sample is not an RTT if its duration differs from the usual duration by more than this factor."""
_CALL, _CALL_PACKETS = "VoIP::delay", "VoIP"
"""Series with the delays of a call, and series with irtt's record of all packets of the call."""


@dataclass(frozen=True)
class Series:
    """One series, with its raw points in the order of time."""

    name: str
    flow: str
    """Name of the series' flow, which is unique."""
    kind: Kind
    points: Sequence[Point]
    meta: Mapping[str, Any]
    host: str = ""
    """The host at the other end, or ""."""
    is_interpolated: bool = False
    """Whether the points are Flent's interpolated values, because the file has no raw points."""
    stalled: int = 0
    """Number of samples of netperf's UDP_RR that were omitted because their values are not RTTs."""

    def column(self, key: str, points: Sequence[Point] | None = None) -> Floats:
        """Return the value of a key at every point; NaN for points without the key."""
        found = (point.get(key) for point in (self.points if points is None else points))
        return np.array([math.nan if value is None else value for value in found], dtype=float)

    @cached_property
    def values(self) -> Sequence[Point]:
        """The points with a value."""
        return [point for point in self.points if point.get("val") is not None]

    @cached_property
    def sockets(self) -> Sequence[Point]:
        """The points with values of the socket from `ss`."""
        return [point for point in self.points if "tcp_cwnd" in point or "tcp_rtt" in point]

    @property
    def is_upload(self) -> bool:
        """Whether the test host is the sender, according to netperf's command or the name of the series."""
        command = text(self.meta, "COMMAND")
        if "TCP_MAERTS" in command:
            return False
        return "TCP_STREAM" in command or "download" not in self.name

    @property
    def algorithm(self) -> str:
        """Kernel name of the sender's algorithm, or ""."""
        return brief(text(self.meta, "CONG_CONTROL").strip())

    @property
    def mark(self) -> int | str | None:
        """DSCP code point, from the sockets or from the name of the series; None for best effort."""
        for key in ("UPSTREAM_TOS", "DATA_TOS") if self.is_upload else ("DOWNSTREAM_TOS", "DATA_TOS"):
            tos = number(self.meta.get(key))
            if tos is not None and 0 <= tos < 256:
                return int(tos) >> 2 or None
        return mark_of(self.name)

    @property
    def first_s(self) -> float:
        """Start of the time that the first value covers, in seconds since 1970."""
        if not self.values:
            return float(self.points[0]["t"])
        point = self.values[0]
        lasts = point.get("dur", 0.0) if self.kind in RATES else point["val"] * _RTT_S
        return float(point["t"] - (lasts or 0.0))


def series_of(document: Document) -> tuple[list[Series], list[str]]:
    """Return the series of a file that become flows and links, and the names of the omitted series."""
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
    """Return the sort key of series: their order in the test, then their names."""

    def key(name: str) -> tuple[float, str]:
        place = number(document.series_meta(name).get("IDX"))
        return (math.inf if place is None else place), name

    return key


def _alone(name: str, taken: set[str]) -> str:
    """Return a unique name for a flow."""
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
    """Whether a file has the packets of a call, not only its delays."""
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
    """Return the host at the other end of a series.

    In tests with several servers, the name of a series ends with the name of the server. In other tests, the
    host is in the command: in netperf's command after the last -H (the first -H is for the control
    connection), in ping's command at the end. Without a command, the host is the only server of the test.
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
    """Yield every packet of irtt, and those samples of netperf's UDP_RR that are means of RTTs.

    If a reply is lost, netperf waits until its timeout or the end of the test. netperf then divides the
    transactions of the sample by a duration that includes the waiting time. Rule: a sample counts if its
    duration is within a factor of ten of the moving average of earlier durations, with weight 1/2. Source:
    flent/runners.py, NetperfDemoRunner.parse.
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
    """Yield the values on Flent's time grid, which starts at the first sample. Each value is valid for one
    step."""
    step_s = document.number("STEP_SIZE") or 0.2
    for x, value in zip(document.x_values, document.results[name], strict=True):
        if value is not None:
            yield {"t": first_s + x, "val": value, "dur": step_s}


def _as_today(points: Sequence[Point], kind: Kind) -> Iterator[Point]:
    """Yield raw values converted to version 4 of the format. Earlier versions have some values in the units
    of the measuring program."""
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


# Start and end times of a test and its streams.


_DEFAULT_STEP_S = 0.2
_LONGEST_S = 86_400.0
_MOST_CELLS = 2_000_000
"""Largest total number of samples of all flows."""
_LATE_S = 2.5
"""If the first sample of a stream is less than this time from the start of the test, the stream starts at the
start of the test. The difference is the time that a connection takes to open."""


@dataclass(frozen=True)
class Timing:
    """Times of a test, counted from its first sample."""

    origin_s: float
    """Time of the first sample, since 1970."""
    duration_s: float
    delay_s: float
    """Time for which pings run before the streams; 0 without streams."""
    length_s: float
    """Duration of the streams."""
    step_s: float

    def since(self, times_s: Floats) -> Floats:
        """Convert times since 1970 to times of the run."""
        return times_s - self.origin_s

    @property
    def grid_s(self) -> Floats:
        """Ends of the sampling steps, in seconds of the run."""
        steps = np.arange(1, round(self.duration_s / self.step_s) + 1, dtype=np.float64)
        return np.asarray(steps * self.step_s)

    def span_of(self, series: Series) -> tuple[float, float]:
        """Return start and stop of a stream, in s: the times of the test, unless the samples show other
        times."""
        starts_s = series.first_s - self.origin_s
        begin_s = self.delay_s if abs(starts_s - self.delay_s) < _LATE_S else float(round(starts_s))
        last_s = float(series.values[-1]["t"]) - self.origin_s if series.values else begin_s
        end_s = begin_s + self.length_s
        if last_s < end_s - 2 * _LATE_S:
            end_s = float(math.ceil(last_s))
        return begin_s, min(end_s, self.duration_s)


def timing_of(document: Document, series: Sequence[Series], where: object) -> Timing:
    """Return the times of a test.

    Raises:
        InputFileError: If the samples of the test span more than a day, or are too many.
    """
    origin_s = min(one.first_s for one in series)
    last_s = max(float(one.points[-1]["t"]) for one in series)
    span_s = last_s - origin_s
    if not 0 < span_s <= _LONGEST_S:
        raise InputFileError(f"{where}: samples span {span_s:g} s; a test takes at most a day")
    step_s = document.number("STEP_SIZE") or _DEFAULT_STEP_S
    said_s = document.number("TOTAL_LENGTH") or span_s
    duration_s = said_s if 0.5 * span_s <= said_s <= 2 * span_s else float(math.ceil(span_s))
    if not 0 < step_s <= duration_s or duration_s / step_s * len(series) > _MOST_CELLS:
        many = f"{len(series)} series of {duration_s:g} s"
        raise InputFileError(f"{where}: metadata.STEP_SIZE: {step_s:g} s is not a valid step for {many}")
    streams = [one for one in series if one.kind in RATES]
    length_s = document.number("LENGTH") or duration_s
    if not 0 < length_s <= duration_s:
        length_s = duration_s
    delay_s = (duration_s - length_s) / 2 if streams and len(streams) < len(series) else 0.0
    return Timing(origin_s, duration_s, delay_s, length_s, step_s)


# Conversion of irregular samples to a grid of regular steps, as in the tables of a run.


_STALE_STEPS = 1.5
"""Steps for which a socket's value is used if no newer value follows."""


def rates_bps(ends_s: Floats, lasts_s: Floats, mbps: Floats, grid_s: Floats) -> Floats:
    """Return the mean rate in the step before each time of a grid.

    Args:
        ends_s: End of every sample, shape (n,).
        lasts_s: Duration of every sample, shape (n,).
        mbps: Rate of every sample in Mbit/s, shape (n,).
        grid_s: Times at regular distances, the first one step after 0 s, shape (m,).

    Returns:
        bit/s, shape (m,). The sum of bits on the grid equals the sum of bits in the samples within the grid.
        NaN before the first sample and after the last.
    """
    if not ends_s.size or not grid_s.size:
        return np.full(grid_s.size, math.nan)
    begins_s = np.maximum(ends_s - lasts_s, np.concatenate([[-math.inf], ends_s[:-1]]))
    bits = mbps * 1e6 * lasts_s
    times = np.column_stack([begins_s, ends_s]).ravel()
    delivered = np.column_stack([np.cumsum(bits) - bits, np.cumsum(bits)]).ravel()
    edges = np.concatenate([[grid_s[0] - (grid_s[1] - grid_s[0] if grid_s.size > 1 else grid_s[0])], grid_s])
    found: Floats = np.diff(np.interp(edges, times, delivered)) / np.diff(edges)
    found[(grid_s <= begins_s[0]) | (edges[:-1] >= ends_s[-1])] = math.nan
    return found


def latest(times_s: Floats, values: Floats, grid_s: Floats) -> Floats:
    """Return the latest value at each time of a grid; NaN if that value is older than 1.5 steps.

    Args:
        times_s: Times of the values, ascending, shape (n,).
        values: The values, shape (n,); NaN for a point without a value.
        grid_s: Times of the grid, shape (m,).
    """
    known = ~np.isnan(values)
    times_s, values = times_s[known], values[known]
    if not times_s.size or not grid_s.size:
        return np.full(grid_s.size, math.nan)
    step_s = grid_s[1] - grid_s[0] if grid_s.size > 1 else math.inf
    place = np.searchsorted(times_s, grid_s, side="right") - 1
    found: Floats = values[np.maximum(place, 0)].copy()
    old = grid_s - times_s[np.maximum(place, 0)] > _STALE_STEPS * step_s
    found[(place < 0) | old] = math.nan
    return found


def means(times_s: Floats, values: Floats, grid_s: Floats) -> Floats:
    """Return the mean of the values in the step before each time of a grid; NaN for a step without values."""
    place = np.searchsorted(grid_s, times_s)
    inside = (place < grid_s.size) & ~np.isnan(values)
    count = np.bincount(place[inside], minlength=grid_s.size)
    total = np.bincount(place[inside], weights=values[inside], minlength=grid_s.size)
    found: Floats = np.divide(total, count, out=np.full(grid_s.size, math.nan), where=count > 0)
    return found
