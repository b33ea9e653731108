"""Packets as pcapng, and delivery opportunities as a Mahimahi trace."""

import struct
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.analysis.export.headers import FRAME_BYTES, SNAP_BYTES, Flow, Frames, frames
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import NANOSECONDS
from fullpipe.scenario.traces import from_deliveries

# IPv4 identification of captured packets: a counter per connection and end.
#
# Linux counts the packets of a connection in the same way (`inet_id`; include/net/ip.h,
# `ip_select_ident_segs`). The capture lacks this counter, so packets are numbered in the order of their TCP
# timestamps, and packets with equal timestamps in the order of their sequence numbers. A packet then has the
# same number at every capture point.


_OF_STREAM = ("flow", "connection", "source")
_OF_PACKET = (*_OF_STREAM, "ts_val", "kind", "seq", "ack", "len", "sacks", "window")


def identities(packets: pl.DataFrame) -> pl.Series:
    """Return the IPv4 identification of every row of the table `packets`, modulo 65,536; 0 for rows without a
    timestamp."""
    keys = packets.select(*_OF_PACKET, "point").with_columns(
        pl.int_range(pl.len()).over("point", *_OF_PACKET).alias("copy")
    )
    order = ["ts_val", "seq", "ack", "copy"]
    known = keys.select(*_OF_PACKET, "copy").unique(maintain_order=True).sort(order, maintain_order=True)
    numbered = known.with_columns(
        (pl.int_range(1, pl.len() + 1).over(_OF_STREAM) % (1 << 16)).alias("number")
    )
    on = [*_OF_PACKET, "copy"]
    found = keys.join(numbered, on=on, how="left", nulls_equal=True, maintain_order="left")
    return found.select(pl.when(pl.col("ts_val").is_not_null()).then("number").otherwise(0))["number"]


# Captured packets as a pcapng file: headers and times in nanoseconds, without payload.
#
# Layout: draft-ietf-opsawg-pcapng, with one interface per capture point. Packets are Ethernet, IPv4 and TCP,
# UDP or ICMP. The snap length cuts off the payload, which counts as zeros in checksums.


_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_ETHERNET = 1
_NAME, _RESOLUTION, _APPLICATION = 2, 9, 4
_NANOSECONDS = 9
_PACKET_BLOCK = np.dtype(
    [
        *(("kind", "<u4"), ("length", "<u4"), ("interface", "<u4"), ("high", "<u4"), ("low", "<u4")),
        *(("captured", "<u4"), ("wire", "<u4"), ("headers", "u1", (FRAME_BYTES,)), ("last", "<u4")),
    ]
)
"""An Enhanced Packet Block with the longest headers. In a block with shorter headers, the word `last`
directly follows the headers."""
_FIXED_BYTES = _PACKET_BLOCK.itemsize - FRAME_BYTES
_BATCH = 16_384
"""Number of packets whose blocks are built in one step, about 10 MB."""


def pcapng(run: Run, points: Sequence[str] = ()) -> bytes:
    """Return the packets that a run captured as a pcapng file, from all capture points or only from `points`.

    Raises:
        ResultError: If the run captured no packets.
        UnknownNameError: If the run captured no packets at one of the points.
    """
    if run.packets.is_empty():
        raise ResultError('no packets to export; run with record.packets = ["sender"], or [NAME] of a link')
    captured = run.packets["point"].unique(maintain_order=True).to_list()
    for point in points:
        if point not in captured:
            raise UnknownNameError("point of capture", point, captured)
    wanted = [point for point in captured if point in points or not points]
    return b"".join(_blocks(run, wanted))


def _blocks(run: Run, points: list[str]) -> Iterator[bytes]:
    yield _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1) + _option(_APPLICATION, b"fullpipe"))
    for point in points:
        options = _option(_NAME, point.encode()) + _option(_RESOLUTION, bytes([_NANOSECONDS]))
        yield _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, SNAP_BYTES) + options + _option(0, b""))
    flows = {
        routed.name: Flow(
            number,
            routed.tcp.mss_bytes,
            routed.tcp.timestamps,
            routed.tcp.ecn,
            routed.flow.datagrams.protocol if routed.flow.datagrams else "tcp",
        )
        for number, routed in enumerate(resolve(run.scenario).flows)
    }
    numbers = {point: number for number, point in enumerate(points)}
    packets = run.packets.with_columns(identities(run.packets).alias("identity"))
    chosen = packets.filter(pl.col("point").is_in(points))
    for batch in chosen.iter_slices(_BATCH):
        interfaces = batch["point"].replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
        yield _packet_blocks(interfaces, batch["time_ns"].to_numpy(), frames(batch, flows))


def _packet_blocks(
    interfaces: npt.NDArray[np.int64], times_ns: npt.NDArray[np.int64], packets: Frames
) -> bytes:
    """Return an Enhanced Packet Block for every packet."""
    blocks = np.zeros(times_ns.size, _PACKET_BLOCK)
    words = blocks.view("<u4").reshape(blocks.size, -1)
    sizes = (_FIXED_BYTES + packets.captured_bytes + 3) // 4
    blocks["kind"], blocks["interface"], blocks["length"] = _PACKET, interfaces, 4 * sizes
    blocks["high"], blocks["low"] = times_ns >> 32, times_ns & 0xFFFFFFFF
    blocks["captured"], blocks["wire"] = packets.captured_bytes, packets.wire_bytes
    blocks["headers"] = packets.headers
    words[np.arange(blocks.size), sizes - 1] = 4 * sizes
    return words[np.arange(words.shape[1]) < sizes[:, np.newaxis]].tobytes()


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


# Deliveries of a link or a port of a cell, as a packet-delivery trace of Mahimahi.


_TUN_BYTES = 4
"""Header that a TUN device puts before an IP packet. Mahimahi includes this header in packet sizes."""
_ENDS = ("sender", "receiver")


def deliveries(run: Run, point: str | None = None) -> bytes:
    """Return a packet-delivery trace of the packets that a run captured as they left a link or port.

    The trace begins at the end of the warm-up. The trace has only the packets of the run, so it shows
    the capacity of the path only if the flows keep the path busy.

    Args:
        run: A run with `record.packets`.
        point: Name of the link or port; None if the run captured packets at only one.

    Raises:
        ResultError: If the run captured nothing at a link or port, or at several and `point` is None.
        UnknownNameError: If the run captured nothing at this link or port.
        TraceError: If no trace can be made of these packets.
    """
    points = [name for name in run.packets["point"].unique(maintain_order=True) if name not in _ENDS]
    if not points:
        raise ResultError("no deliveries to export; run with record.packets = [NAME] of a link or port")
    if point is None and len(points) > 1:
        raise ResultError(f"packets were captured at {', '.join(points)}; choose one with --point")
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
