"""Captured packets as a pcapng file: true headers at true times, without payload.

Layout: draft-ietf-opsawg-pcapng, one interface per point of capture, nanoseconds. Packets are Ethernet, IPv4
and TCP, UDP or ICMP; the payload, all zeros, is cut off by the snap length, so that checksums hold."""

import struct
from collections.abc import Iterator, Sequence

import polars as pl

from fullpipe.analysis.export.headers import SNAP_BYTES, Flow, frame
from fullpipe.analysis.export.identities import identities
from fullpipe.errors import ResultError, UnknownNameError
from fullpipe.runs import Run
from fullpipe.scenario.network import resolve

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_ETHERNET = 1
_NAME, _RESOLUTION, _APPLICATION = 2, 9, 4
_NANOSECONDS = 9


def pcapng(run: Run, points: Sequence[str] = ()) -> bytes:
    """The packets that a run captured, everywhere or at some points only.

    Raises:
        ResultError: If it captured none.
        UnknownNameError: If it captured none at one of the points.
    """
    if run.packets.is_empty():
        raise ResultError('no packets to export; run with record.packets = ["sender"] or the name of a link')
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
    packets = run.packets.with_columns(identities(run.packets).alias("identity"))
    for row in packets.filter(pl.col("point").is_in(points)).iter_rows(named=True):
        headers, length = frame(row, flows[row["flow"]])
        time_ns = row["time_ns"]
        fields = (points.index(row["point"]), time_ns >> 32, time_ns & 0xFFFFFFFF, len(headers), length)
        yield _block(_PACKET, struct.pack("<IIIII", *fields) + _padded(headers))


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
