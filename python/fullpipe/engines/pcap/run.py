"""Runs from captures, and their tables."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from fullpipe import files
from fullpipe.engines.imported.measurement import (
    Columns,
    not_measured,
    of_file,
    origin_of,
    spread,
    table_of,
)
from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.capture import Capture, read
from fullpipe.engines.pcap.connections import Floats
from fullpipe.engines.pcap.described import (
    ALL,
    algorithm_of,
    grid_s,
    one_way_of,
    remarks_of,
    scenario_of,
)
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.pieces import PIECE, source_of
from fullpipe.errors import InputFileError, UnknownNameError
from fullpipe.runs import SCHEMA_VERSION, TABLES, EngineId, Meta, Run
from fullpipe.runs.meta import READERS

# Tables of a run, made from the flows of a capture. Values that the capture does not contain are null.


_SMOOTHING = 1 / 8
"""Gain of the smoothed RTT (RFC 6298, section 2)."""


def tables_of(
    flows: Sequence[Flow], grid_s: Floats, algorithms: Mapping[str, str]
) -> Mapping[str, pl.DataFrame]:
    """Return all tables of a run."""
    made = {
        "flows": [_flow(flow, algorithms) for flow in flows],
        "series": [_series(flow, grid_s) for flow in flows],
        "variables": [part for flow in flows for part in _variables(flow, grid_s)],
    }
    return {name: table_of(name, made.get(name, ())) for name in TABLES}


def _flow(flow: Flow, algorithms: Mapping[str, str]) -> Columns:
    begin_s, end_s = flow.span_s
    _, front = flow.delivered
    delivered = int(front[-1]) if front.size else 0
    took_s = end_s - begin_s
    again = flow.retransmissions
    _, rtts_s = flow.rtts_s
    one_way = one_way_of(flow)
    return {
        "flow": [flow.name],
        "cca": [algorithm_of(flow, algorithms)],
        "protocol": ["tcp"],
        "start_s": [begin_s],
        "end_s": [end_s],
        "delivered_bytes": [delivered],
        "goodput_bps": [delivered * 8 / took_s if took_s > 0 else None],
        "wire_bps": [_wire_bytes(flow) * 8 / took_s if took_s > 0 and flow.rows.size else None],
        "sent_packets": [int(flow.packets.sum()) if flow.rows.size else None],
        "retransmitted_packets": [None if again is None else again.total],
        "timeouts": [_timeouts(flow)],
        "limited_receiver": [flow.receiver_share],
        **({**spread("rtt", rtts_s), "rtt_min_s": [flow.least_rtt_s]} if rtts_s.size else {}),
        **(spread("owd", one_way.there_s) if one_way and not one_way.early_s else {}),
    }


def _timeouts(flow: Flow) -> int | None:
    """Return the number of timeouts.

    The result is None unless the capture was taken at the sender: other captures lack the packets lost before
    the capture point.
    """
    is_far = flow.side.name in ("middle", "receiver")
    return None if flow.window is None or is_far else int(flow.window.timeouts.size)


def _wire_bytes(flow: Flow) -> int:
    """Return the bytes on the wire. A super-packet counts with the headers of all packets into which it is
    split."""
    data = flow.data
    headers = data.wire_bytes[flow.rows] - data.payload[flow.rows]
    return int((data.payload[flow.rows] + headers * flow.packets).sum())


def _series(flow: Flow, grid_s: Floats) -> Columns:
    begin_s, end_s = flow.span_s
    step_s = grid_s[0]
    outside = (grid_s <= begin_s) | (grid_s - step_s >= end_s)
    columns: Columns = {"time_s": grid_s, "flow": [flow.name] * grid_s.size}
    columns["goodput_bps"] = np.where(outside, math.nan, _goodput_bps(flow, grid_s))
    seen_s, rtts_s = flow.rtts_s
    smoothed = list(accumulate(rtts_s.tolist(), lambda known, one: known + (one - known) * _SMOOTHING))
    columns["srtt_s"] = np.where(outside, math.nan, held(seen_s, np.array(smoothed), grid_s))
    _, least_s = flow.newest_rtts_s
    columns["min_rtt_s"] = np.where(
        outside, math.nan, held(flow.newest_rtts_s[0], np.minimum.accumulate(least_s), grid_s)
    )
    if flow.window is not None:
        known = held(flow.window.time_s, flow.window.in_flight, grid_s)
        columns["in_flight_bytes"] = np.where(outside, math.nan, known)
        columns["cwnd_bytes"] = np.where(outside, math.nan, held(*flow.window.estimate, grid_s))
    if flow.retransmissions is not None and flow.retransmissions.total is not None:
        place = np.minimum(np.searchsorted(grid_s, flow.sent_s), grid_s.size - 1)
        counts = np.bincount(place, flow.retransmissions.packets, grid_s.size)
        columns["retransmitted_packets"] = np.where(outside, math.nan, counts)
    return columns


def _goodput_bps(flow: Flow, grid_s: Floats) -> Floats:
    """Return the goodput in every step of a time grid. The sum of the goodput over time equals the delivered
    bytes exactly."""
    times_s, front = flow.delivered
    edges = np.concatenate([[0.0], grid_s])
    values = np.concatenate([[0], front])[np.searchsorted(times_s, edges, side="right")]
    values[0] = 0
    found: Floats = np.diff(values) * 8 / np.diff(edges)
    return found


def _variables(flow: Flow, grid_s: Floats) -> list[Columns]:
    """Return two variables: the receive window as known to the sender, and the selectively acknowledged
    bytes."""
    found: list[tuple[str, Floats]] = []
    acks = flow.acks
    windows = np.where(acks.window_bytes >= 0, acks.window_bytes, math.nan)
    if not np.isnan(windows).all():
        found.append(("receive_window", held(flow.acked_s, windows, grid_s)))
    if flow.window is not None and flow.window.sacked.any():
        found.append(("sacked", held(flow.window.time_s, flow.window.sacked, grid_s)))
    return [_variable(flow, name, values, grid_s) for name, values in found]


def _variable(flow: Flow, name: str, values: Floats, grid_s: Floats) -> Columns:
    begin_s, end_s = flow.span_s
    known = ~np.isnan(values) & (grid_s > begin_s) & (grid_s - grid_s[0] < end_s)
    count = int(known.sum())
    return {
        "time_s": grid_s[known],
        "flow": [flow.name] * count,
        "connection": [1] * count,
        "name": [name] * count,
        "value": values[known],
        "unit": ["bytes"] * count,
        "state": [""] * count,
    }


def held(times_s: Floats, values: Floats | Ints, grid_s: Floats) -> Floats:
    """Return the latest value at each time of a grid, shape (m,); NaN before the first value.

    Args:
        times_s: Times of the values, ascending, shape (n,).
        values: The values, shape (n,).
        grid_s: Times of the grid, shape (m,).
    """
    if not times_s.size:
        return np.full(grid_s.size, math.nan)
    place = np.searchsorted(times_s, grid_s, side="right") - 1
    return np.where(place >= 0, values[np.maximum(place, 0)].astype(np.float64), math.nan)


# Import of a capture as a run.


ENGINE = "pcap"
MOST_FLOWS = 64
_BY_TWO_CLOCKS = (
    "the delay of TCP segments from one capture to the other, computed from the clocks of both captures"
)


@dataclass(frozen=True)
class Captured:
    """The flows of a file."""

    capture: Capture
    flows: list[Flow]
    """Flows in descending order of delivered payload."""
    left_out: int
    """Number of directions of connections that are omitted because they are too short, or have less payload
    than every flow in `flows`."""


def read_flows(path: Path, algorithms: Mapping[str, str] | None = None) -> Captured:
    """Return the flows of a capture.

    Raises:
        InputFileError: If the file is not a capture, or has no flow.
        UnknownNameError: If an algorithm is given for a flow that does not exist.
    """
    capture = read(path)
    flows, short = flows_of(capture.connections)
    if not flows:
        raise InputFileError(
            f"{path}: no direction of a connection has ten segments or more;"
            f" {short:,} directions with payload have fewer"
        )
    for name in algorithms or ():
        if name != ALL and name not in [flow.name for flow in flows]:
            raise UnknownNameError("flow", name, [ALL, *(flow.name for flow in flows)])
    return Captured(capture, flows[:MOST_FLOWS], short + len(flows[MOST_FLOWS:]))


def read_run(path: Path, algorithms: Mapping[str, str] | None = None) -> Run:
    """Return a capture as a run of the engine `pcap` with seed 1.

    Args:
        path: A pcap or pcapng file, also as gzip.
        algorithms: Algorithms by the names of flows; `all` applies to flows that are not named.

    Raises:
        InputFileError: If the file is not a capture, or has no flow; the message has one line.
        UnknownNameError: If an algorithm is given for a flow that does not exist.
    """
    captured = read_flows(path, algorithms)
    capture, flows = captured.capture, captured.flows
    with of_file(path, "capture"):
        scenario = scenario_of(path, flows, capture.duration_s, algorithms or {})
    tables = tables_of(flows, grid_s(capture.duration_s), algorithms or {})
    meta = Meta(
        schema_version=SCHEMA_VERSION,
        scenario=scenario.to_dict(),
        digest=scenario.digest,
        engine=EngineId(name=ENGINE, version="1", model_version=READERS[ENGINE], code=_fingerprint(path)),
        seed=1,
        duration_s=scenario.duration_s,
        wall_s=scenario.duration_s,
        cpu_s=0.0,
        data_packets=sum(int(flow.packets.sum()) for flow in flows),
        packet_hops=capture.segments,
        not_measured=not_measured(tables),
        otherwise=_otherwise(tables),
        remarks=remarks_of(capture, flows, captured.left_out),
        started=datetime.fromtimestamp(capture.began_ns // 10**9, UTC).isoformat(timespec="seconds"),
        host=origin_of(path, algorithms or {}),
        versions={},
    )
    return Run(meta, tables)


def _otherwise(tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Return the columns whose meaning in imported captures differs from the schema, with their meaning
    there."""
    names = [f"owd_{which}_s" for which in ("min", "mean", "p50", "p95", "p99")]
    return {f"flows.{name}": _BY_TWO_CLOCKS for name in names if tables["flows"][name].count()}


def _fingerprint(path: Path) -> str:
    """Return a hash of the content of a file. The content of a gzip file is decompressed first."""
    digest = hashlib.sha256()
    with files.open_regular(path) as file:
        source = source_of(file)
        while part := source.some(PIECE):
            digest.update(part)
    return digest.hexdigest()[:16]
