"""Import of a capture as a run."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from fullpipe import files
from fullpipe.engines.flent.run import FILE, NAMES
from fullpipe.engines.flent.tables import not_measured
from fullpipe.engines.pcap.capture import Capture, read
from fullpipe.engines.pcap.described import ALL, grid_s, of_file, scenario_of
from fullpipe.engines.pcap.flow import Flow, flows_of
from fullpipe.engines.pcap.pieces import PIECE, source_of
from fullpipe.engines.pcap.remarks import remarks_of
from fullpipe.engines.pcap.tables import tables_of
from fullpipe.errors import InputFileError, UnknownNameError, brief
from fullpipe.runs import SCHEMA_VERSION, EngineId, Meta, Run
from fullpipe.runs.meta import CAPTURED

ENGINE = "pcap"
MOST_FLOWS = 64
_BY_TWO_CLOCKS = "that of TCP segments from one capture to the other, by the clocks of both"


@dataclass(frozen=True)
class Captured:
    """The flows of a file."""

    capture: Capture
    flows: list[Flow]
    """Flows, those with the most payload first."""
    left_out: int
    """Number of omitted directions of connections: too short, or with less payload than all flows here."""


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
            f"{path}: no connection sends as much as ten segments;"
            f" {short:,} directions with payload are shorter"
        )
    for name in algorithms or ():
        if name != ALL and name not in [flow.name for flow in flows]:
            raise UnknownNameError("flow", name, [ALL, *(flow.name for flow in flows)])
    return Captured(capture, flows[:MOST_FLOWS], short + len(flows[MOST_FLOWS:]))


def read_run(path: Path, algorithms: Mapping[str, str] | None = None) -> Run:
    """Return a capture as a run of the engine `pcap`, seed 1.

    Args:
        path: A pcap or pcapng file, also as gzip.
        algorithms: Algorithms by the names of flows; `all` applies to flows that are not named.

    Raises:
        InputFileError: If the file is not a capture, or has no flow, in one line.
        UnknownNameError: If an algorithm is given for a flow that does not exist.
    """
    captured = read_flows(path, algorithms)
    capture, flows = captured.capture, captured.flows
    with of_file(path):
        scenario = scenario_of(path, flows, capture.duration_s, algorithms or {})
    tables = tables_of(flows, grid_s(capture.duration_s), algorithms or {})
    said = " ".join(f"{name}={algorithm}" for name, algorithm in sorted((algorithms or {}).items()))
    meta = Meta(
        schema_version=SCHEMA_VERSION,
        scenario=scenario.to_dict(),
        digest=scenario.digest,
        engine=EngineId(name=ENGINE, version="1", model_version=CAPTURED, code=_fingerprint(path)),
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
        host={FILE: brief(path.name), **({NAMES: brief(said)} if said else {})},
        versions={},
    )
    return Run(meta, tables)


def _otherwise(tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Return the columns whose meaning differs from the schema's, with their meaning here."""
    names = [f"owd_{which}_s" for which in ("min", "mean", "p50", "p95", "p99")]
    return {f"flows.{name}": _BY_TWO_CLOCKS for name in names if tables["flows"][name].count()}


def _fingerprint(path: Path) -> str:
    """Return a hash of the content, uncompressed if it is gzip."""
    digest = hashlib.sha256()
    with files.open_regular(path) as file:
        source = source_of(file)
        while part := source.some(PIECE):
            digest.update(part)
    return digest.hexdigest()[:16]
