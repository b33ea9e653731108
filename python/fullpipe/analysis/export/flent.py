"""A run as a file that Flent opens: raw values, and the series that Flent computes from them on a grid of
times.

Keys and units are as Flent 2.3.0 reads them. `docs/explanation/flent.md` describes the mapping."""

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

import numpy as np

from fullpipe.analysis.export.flent_points import Points, call_points, points_of
from fullpipe.analysis.metrics.throughput import jain
from fullpipe.errors import ResultError
from fullpipe.runs import Run, version
from fullpipe.scenario.flent.build import COUNTED, TESTS, with_streams
from fullpipe.scenario.flent.families import FlentTest, flow_of

VERSION = 4
"""Version of the file format."""
_GAP_STEPS = 5
"""Largest gap between samples, in steps, over which Flent interpolates."""
_DATE = "%Y-%m-%dT%H:%M:%S.%fZ"
_OF_SOCKETS = ("tcp_cwnd", "tcp_rtt", "tcp_pacing_rate", "tcp_delivery_rate", "tcp_bbr_bw", "tcp_bbr_mrtt")
_GENERAL = {True: "tcp_nup", False: "tcp_ndown"}
"""Flent's test for runs that match no other test, by direction: the key is True if the streams upload. The
test has pings, and streams in one direction only."""
_DIGITS = 6
"""Decimals to which times are rounded, so that times of samples equal times of the grid. A float of seconds
since 1970 has no further exact decimals."""
Values = list[float | None]


def flent(run: Run, title: str = "") -> bytes:
    """Return a run as a `.flent.gz`. A run that matches no other test of Flent becomes `tcp_nup` or
    `tcp_ndown`.

    The same run gives the same bytes.

    Raises:
        ResultError: If the run has no samples, or no streams, pings, probes, calls or pages.
    """
    if run.series.is_empty():
        raise ResultError('no samples to export; run with record.interval = "200 ms"')
    test, series = _test_of(run)
    origin = _origin(run)
    points = _points(run, series, origin.timestamp())
    if not any(of.raw for of in points.values()):
        raise ResultError(
            "nothing to export: Flent's tests have TCP streams, pings, probes, calls and pages only"
        )
    tree = _file(run, test, title, origin, points)
    return gzip.compress(json.dumps(tree, indent=2, sort_keys=True, allow_nan=False).encode(), mtime=0)


def _points(run: Run, series: Mapping[str, str], origin_s: float) -> dict[str, Points]:
    """Return the points of every series; a call is one flow with several series."""
    found: dict[str, Points] = {}
    for name, flow in series.items():
        is_call = name.startswith("VoIP")
        found |= call_points(run, flow, origin_s) if is_call else {name: points_of(run, flow, name, origin_s)}
    return found


def _test_of(run: Run) -> tuple[FlentTest, dict[str, str]]:
    """Return the Flent test that matches the flows of a run, and the flow of every series."""
    flows = run.flows["flow"].to_list()
    streams = sum(flow.startswith("TCP") for flow in flows)
    counts = {streams, streams // 2} - {0}
    numbered = [with_streams(TESTS[name], count) for name in COUNTED for count in counts]
    by_name = [TESTS[run.name]] if run.name in TESTS else []
    for test in (*by_name, *TESTS.values(), *numbered):
        series = {name: _flow(name) for name in test.series}
        if sorted(series.values()) == sorted(flows):
            return test, series
    return _general(run)


def _flow(series: str) -> str:
    return "VoIP" if series.startswith("VoIP") else flow_of(series)


def _general(run: Run) -> tuple[FlentTest, dict[str, str]]:
    """Return a general test: the streams of the direction with more streams, and all pings and probes."""
    by_protocol = run.flows.select("flow", "protocol").iter_rows()
    found: dict[str, list[str]] = {"tcp": [], "icmp": [], "udp": []}
    for flow, protocol in by_protocol:
        found[protocol or "tcp"].append(flow)
    uploads = {flow.name for flow in run.scenario.flows if flow.is_upload}
    is_upload = 2 * sum(name in uploads for name in found["tcp"]) >= len(found["tcp"])
    streams = [name for name in found["tcp"] if (name in uploads) == is_upload]
    way = "upload" if is_upload else "download"
    series = {f"TCP {way}::{n}": flow for n, flow in enumerate(streams, 1)}
    series |= {f"Ping (ms) ICMP{n or ''}": flow for n, flow in enumerate(found["icmp"])}
    probed = set(run.probes["flow"])
    series |= {f"Ping (ms) UDP {flow}": flow for flow in found["udp"] if flow in probed}
    return with_streams(TESTS[_GENERAL[is_upload]], max(len(streams), 1)), series


def _origin(run: Run) -> datetime:
    """Return the origin of times: the date of the run, or 2000-01-01 if it is unknown."""
    try:
        return datetime.fromisoformat(run.meta.started)
    except ValueError:
        return datetime.fromisoformat("2000-01-01T00:00:00+00:00")


def _file(
    run: Run, test: FlentTest, title: str, origin: datetime, points: Mapping[str, Points]
) -> dict[str, Any]:
    step_s = _step_s(run)
    grid = [round(n * step_s, _DIGITS) for n in range(round(run.meta.duration_s / step_s))]
    results: dict[str, Values] = {}
    for name, of in points.items():
        raw = [(round(point["t"] - origin.timestamp(), _DIGITS), point) for point in of.raw]
        results[name] = _on_grid([(t, p["val"]) for t, p in raw if p.get("val") is not None], grid, step_s)
        for key in _OF_SOCKETS:
            values = [(t, point[key]) for t, point in raw if key in point]
            if values:
                results[f"{name}::{key}"] = _on_grid(values, grid, step_s)
    computed = _computed(results, list(points), test.summed)
    about = {name: {**of.meta, "UNITS": of.units} for name, of in points.items()} | {
        name: {"RUNNER": runner, "UNITS": _units(name), "MEAN_VALUE": _mean(values)}
        for name, (runner, values) in computed.items()
    }
    return {
        "version": VERSION,
        "metadata": _metadata(run, test, title, origin, about),
        "x_values": grid,
        "results": results | {name: values for name, (_, values) in computed.items()},
        "raw_values": {name: of.raw for name, of in points.items()} | {name: [] for name in computed},
    }


def _step_s(run: Run) -> float:
    times = run.series["time_s"].unique().sort()
    return round(float(times[0]), 9)


def _metadata(
    run: Run, test: FlentTest, title: str, origin: datetime, about: dict[str, Any]
) -> dict[str, Any]:
    meta, scenario = run.meta, run.scenario
    date = origin.strftime(_DATE)
    hosts = [f"server{n}" for n in range(1, test.hosts + 1)] if test.hosts > 1 else ["server"]
    return {
        "NAME": test.name,
        "TITLE": title,
        "NOTE": f"made by fullpipe: scenario {run.name}, engine {meta.engine.name}, seed {meta.seed}",
        "HOST": hosts[0],
        "HOSTS": hosts,
        "LOCAL_HOST": "client",
        "LENGTH": round(test.length_s(meta.duration_s, scenario.warmup_s)),
        "TOTAL_LENGTH": round(meta.duration_s),
        "STEP_SIZE": _step_s(run),
        "TIME": date,
        "T0": date,
        "IP_VERSION": 4,
        "FLENT_VERSION": f"fullpipe {version('fullpipe')}",
        "KERNEL_NAME": "fullpipe",
        "KERNEL_RELEASE": meta.engine.version,
        "FAILED_RUNNERS": 0,
        "BATCH_UUID": None,
        "TEST_PARAMETERS": dict(test.parameters),
        "EGRESS_INFO": _egress(run),
        "SERIES_META": {name: {**of, "IDX": n} for n, (name, of) in enumerate(about.items())},
    }


def _egress(run: Run) -> dict[str, Any]:
    """Return the queue at the NIC of the test host."""
    for host in run.scenario.hosts or ():
        if host.nic and host.nic.queue:
            speed = {"speed": f"{host.nic.rate_bps // 10**6}Mb/s"} if host.nic.rate_bps else {}
            queue = {"name": host.nic.queue.kind, "id": "0:", "parent": "root", "params": {}}
            return {"iface": "eth0", "driver": None, "link_params": speed, "qdiscs": [queue]}
    return {"iface": None, "driver": None, "qdiscs": []}


def _on_grid(values: Sequence[tuple[float, float]], grid: Sequence[float], step_s: float) -> Values:
    """Interpolate values at the times of the grid, as Flent does; None at times that are too far from
    samples."""
    if not values:
        return [None] * len(grid)
    times, known = (np.array(column, dtype=float) for column in zip(*values, strict=True))
    x = np.array(grid)
    after = np.searchsorted(times, x)
    near = np.clip(after, 0, times.size - 1)
    before = np.clip(after - 1, 0, times.size - 1)
    found = np.interp(x, times, known)
    lacks = (after >= times.size) | (times[near] - x > _GAP_STEPS * step_s)
    lacks |= (after == 0) & (times[near] - x > step_s / 2)
    lacks |= (after > 0) & (x - times[before] > _GAP_STEPS * step_s)
    return [None if lacking else value for value, lacking in zip(found.tolist(), lacks.tolist(), strict=True)]


def _computed(
    results: Mapping[str, Values], names: Sequence[str], summed: str = ""
) -> dict[str, tuple[str, Values]]:
    """Return the series that Flent computes from other series. At each time, a mean or sum ignores series
    without a value."""
    starts = [f"TCP {way} {summed}".strip() for way in ("upload", "download")]
    ways = {start: [name for name in names if name.startswith(start)] for start in starts}
    pings = [name for name in names if name.startswith("Ping (ms)")]
    found: dict[str, tuple[str, Values]] = {}
    for start, of_way in ways.items():
        if len(of_way) > 1:
            found[f"{start} avg"] = "AverageRunner", _each(results, of_way, fmean)
            found[f"{start} sum"] = "SumRunner", _each(results, of_way, math.fsum)
            found[f"{start} fairness"] = "FairnessRunner", _each(results, of_way, jain)
    both = [name for of_way in ways.values() for name in of_way]
    if all(len(of_way) > 1 for of_way in ways.values()) and not summed:
        found["TCP totals"] = "SumRunner", _each(results, both, math.fsum)
    if len(pings) > 1:
        found["Ping (ms) avg"] = "AverageRunner", _each(results, pings, fmean)
    return found


def _each(
    results: Mapping[str, Values], names: Sequence[str], combine: Callable[[list[float]], float | None]
) -> Values:
    rows = zip(*(results[name] for name in names), strict=True)
    known = ([value for value in row if value is not None] for row in rows)
    return [combine(values) if values else None for values in known]


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _units(name: str) -> str:
    return "ms" if name.startswith("Ping") else "Mbits/s"
