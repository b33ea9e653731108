"""Deliveries of a link or a port of a cell, as a packet-delivery trace of Mahimahi."""

import polars as pl

from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import NANOSECONDS
from fullpipe.scenario.traces import from_deliveries

_TUN_BYTES = 4
"""Header that a TUN device puts before an IP packet; Mahimahi counts it."""
_ENDS = ("sender", "receiver")


def deliveries(run: Run, point: str | None = None) -> bytes:
    """Return a packet-delivery trace of the packets that a run captured behind a link or port.

    The trace begins at the end of the warm-up. It has the deliveries to this traffic; for the capacity of the
    path, flows must keep it busy.

    Args:
        run: A run with `record.packets`.
        point: Name of the link or port; None: the only one.

    Raises:
        ResultError: If the run captured nothing at a link or port, or at several and `point` is None.
        UnknownNameError: If the run captured nothing at this link or port.
        TraceError: If no trace can be made of these packets.
    """
    points = [name for name in run.packets["point"].unique(maintain_order=True) if name not in _ENDS]
    if not points:
        raise ResultError("no deliveries to export; run with record.packets = [NAME] of a link or port")
    if point is None and len(points) > 1:
        raise ResultError(f"deliveries at {', '.join(points)}; choose one with --point")
    if point is not None and point not in points:
        raise UnknownNameError("link or port with captured packets", point, points)
    overheads = {routed.name: routed.tcp.link_overhead_bytes for routed in resolve(run.scenario).flows}
    begin_ns = round(run.scenario.warmup_s * NANOSECONDS)
    here = run.packets.filter(pl.col("point") == (point or points[0]), pl.col("time_ns") > begin_ns)
    outside = pl.col("flow").replace_strict(overheads, return_dtype=pl.Int64)
    found = here.select(
        time_s=(pl.col("time_ns") - begin_ns) / NANOSECONDS, size=pl.col("size") - outside + _TUN_BYTES
    )
    return from_deliveries(found["time_s"].to_numpy(), found["size"].to_numpy()).content
