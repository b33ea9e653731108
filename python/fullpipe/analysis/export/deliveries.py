"""What a link or a port of a cell delivered, as a packet-delivery trace of Mahimahi."""

import polars as pl

from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import NANOSECONDS
from fullpipe.scenario.traces import from_deliveries

_TUN_BYTES = 4
"""What a TUN device puts before an IP packet, and Mahimahi counts."""
_ENDS = ("sender", "receiver")


def deliveries(run: Run, point: str | None = None) -> bytes:
    """A packet-delivery trace of the packets that a run captured where a link or port hands them over.

    It begins with the end of the warm-up, and says what the path gave to this traffic. Flows that keep it
    busy find out what it can give.

    Args:
        run: A run with `record.packets`.
        point: Name of the link or port; None: the only one there is.

    Raises:
        ResultError: If it captured nothing at a link or port.
        UnknownNameError: If it captured nothing at this one.
        TraceError: If these packets make no trace.
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
