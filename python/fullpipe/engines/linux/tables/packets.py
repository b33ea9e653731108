"""Packets seen at hosts: TCP packets from captures in the guest, datagrams from their recorded times."""

import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.engines.linux.layout.network import FlowLayout, NetworkLayout
from fullpipe.engines.linux.layout.sizes import has_accecn
from fullpipe.engines.linux.script.network_lines import MOST_CAPTURED, POINTS
from fullpipe.engines.linux.tables.datagrams import ProbeRecords
from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.capture import segments_of
from fullpipe.engines.pcap.cells import is_duplicate
from fullpipe.engines.pcap.connections import Sent, ends_of
from fullpipe.engines.pcap.headers import ACK, AE, CWR, ECE, FIN, NONE, PSH, SYN, Segments
from fullpipe.errors import EngineError
from fullpipe.runs import TABLES, frame
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import to_nanoseconds

_TABLE = TABLES["packets"]
_ETHERNET_BYTES = 14
_ECN = ("not_ect", "ect1", "ect0", "ce")
"""Names of the two ECN bits of the IP header (RFC 3168, section 5)."""
_COUNTER, _FIRST = 8, 5
"""Range and first value of the counter ACE (RFC 9768, section 3.2.2)."""


def read(
    folder: Path, scenario: Scenario, network: NetworkLayout, records: Mapping[int, ProbeRecords]
) -> pl.DataFrame:
    """Read the table `packets`, with one row per packet and point of capture, in order of time.

    Raises:
        EngineError: If a capture is damaged.
    """
    parts = [frame(_TABLE, {})]
    for point in POINTS:
        if point in (scenario.record.packets or ()):
            parts.append(_segments(folder / f"packets.{point}", point, network))
            parts += [part for of_flow in records.values() for part in _datagrams(of_flow, point)]
    seen = pl.concat(parts).filter(pl.col("time_ns") <= to_nanoseconds(scenario.duration_s))
    return seen.sort("time_ns", pl.col("point").cast(pl.Enum(POINTS)), maintain_order=True)


def _segments(path: Path, point: str, network: NetworkLayout) -> pl.DataFrame:
    """Read packets that connections sent and received at a point, in the order of the file."""
    if not path.exists():  # no flow is a connection
        return frame(_TABLE, {})
    segments, records, _ = segments_of(path, MOST_CAPTURED + 1)
    if records.damage:
        raise EngineError(f"{path.name}: {records.damage}")
    if segments is None:
        return frame(_TABLE, {})
    parts = [sent.with_columns(row=rows) for sent, rows in _ends(segments, point, network)]
    return pl.concat(parts).sort("row").drop("row")


def _ends(segments: Segments, point: str, network: NetworkLayout) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """Yield the packets sent by either end of every connection, with their positions in the file."""
    numbers, is_first = _flows_of(segments, network)
    order = np.argsort(numbers, kind="stable")
    begins = np.searchsorted(numbers[order], np.arange(len(network.flows) + 1))
    sack_begins = segments.sack_begins
    for number in np.unique(numbers):
        rows = order[begins[number] : begins[number + 1]]
        ends = ends_of(segments, rows, is_first[rows], sack_begins)
        for source, sent, of in zip(POINTS, ends, (is_first[rows], ~is_first[rows]), strict=True):
            columns = _columns(sent, source, network.flows[number])
            columns |= {"point": [point] * sent.seq.size, "time_ns": segments.time_ns[rows[of]]}
            yield frame(_TABLE, columns), rows[of]


def _flows_of(segments: Segments, network: NetworkLayout) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the number of every segment's flow, and whether the flow's sender sent it, shape (n,) each."""
    flows = network.flows
    hosts = (*(flow.sender for flow in flows), *(flow.receiver for flow in flows))
    addresses = np.array([int(ipaddress.IPv4Address(host.address)) for host in hosts])
    order = np.argsort(addresses)
    sources = (segments.source[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    found = order[np.searchsorted(addresses, sources, sorter=order)]
    return found % len(flows), found < len(flows)


def _columns(sent: Sent, source: str, laid: FlowLayout) -> dict[str, Any]:
    """Return columns of the packets that one end sent, except time and place."""
    routed, is_receiver, count = laid.routed, source == "receiver", sent.seq.size
    is_accurate = has_accecn(routed.tcp, routed.flow.cca.kind if routed.flow.cca else "")
    return {
        "flow": [routed.name] * count,
        "connection": [1] * count,
        "source": [source] * count,
        "kind": _kinds(sent, is_receiver=is_receiver),
        "seq": np.maximum(sent.seq, 0),
        "len": sent.payload,
        "ack": np.maximum(np.where((sent.flags & ACK) != 0, sent.ack, 0), 0) * is_receiver,
        "window": sent.window_bytes * is_receiver,
        "sacks": _sacks(sent),
        "ts_val": _known(sent.ts_val),
        "ts_ecr": _known(sent.ts_ecr),
        "ce_count": _marks_counted(sent) if is_accurate and is_receiver else [None] * count,
        "flags": _flags(sent, is_accurate=is_accurate),
        "ecn": [_ECN[bits] for bits in sent.ecn.tolist()],
        "size": sent.wire_bytes - _ETHERNET_BYTES + routed.tcp.link_overhead_bytes,
    }


def _known(stamps: Ints) -> pl.Series:
    return pl.Series(stamps).replace(NONE, None)


def _kinds(sent: Sent, *, is_receiver: bool) -> list[str]:
    is_opening, has_data = (sent.flags & SYN) != 0, (sent.payload > 0) | ((sent.flags & FIN) != 0)
    kinds = np.where(is_opening, "syn_ack" if is_receiver else "syn", np.where(has_data, "data", "ack"))
    found: list[str] = kinds.tolist()
    if not is_receiver and "ack" in found:
        found[found.index("ack")] = "handshake_ack"
    return found


def _sacks(sent: Sent) -> list[str]:
    """Return SACK blocks in the order of the header, such as "1448-2896 5792-7240"."""
    found = [""] * sent.seq.size
    for row, left, right in zip(
        sent.sack_row.tolist(), sent.sack_left.tolist(), sent.sack_right.tolist(), strict=True
    ):
        found[row] += f"{' ' if found[row] else ''}{left}-{right}"
    return found


def _flags(sent: Sent, *, is_accurate: bool) -> list[str]:
    """Return flags in the order of the table's declaration. With AccECN, ECE and CWR belong to a counter."""
    duplicates = np.zeros(sent.seq.size, dtype=bool)
    duplicates[sent.sack_row[is_duplicate(sent)]] = True
    bits = {"psh": PSH, **({} if is_accurate else {"cwr": CWR, "ece": ECE}), "fin": FIN}
    is_later = (sent.flags & SYN) == 0
    is_set = {name: is_later & ((sent.flags & bit) != 0) for name, bit in bits.items()} | {
        "dsack": duplicates
    }
    rows = zip(*is_set.values(), strict=True)
    return [" ".join(name for name, on in zip(is_set, row, strict=True) if on) for row in rows]


def _marks_counted(sent: Sent) -> Ints:
    """Return the numbers of marked packets that the receiver counted, by unwrapping its counter ACE.

    The receiver sends an ACK after a few marks at most (RFC 9768, section 3.2.2.5.1). So ACE grows by less
    than 8 from one ACK to the next, unless several consecutive ACKs are lost.
    """
    high, middle, low = (((sent.flags & bit) != 0).astype(np.int64) for bit in (AE, CWR, ECE))
    counter = np.where((sent.flags & SYN) != 0, _FIRST, high * 4 + middle * 2 + low)
    return np.cumsum(np.mod(np.diff(counter, prepend=_FIRST), _COUNTER))


def _datagrams(records: ProbeRecords, point: str) -> Iterator[pl.DataFrame]:
    """Yield datagrams and their replies at a point, as seen by their applications."""
    routed, workload = records.routed, records.workload
    rows = records.rows.with_columns(seq=pl.int_range(pl.len()))
    times = ("sent", "returned") if point == "sender" else ("arrived", "arrived")
    kinds = [*zip(("datagram", "reply"), POINTS, times, strict=True)]
    for kind, source, time in kinds if workload.echo else kinds[:1]:
        seen = rows.drop_nulls(time)
        same: dict[str, Any] = {"point": point, "flow": routed.name, "source": source, "kind": kind}
        same |= {
            "len": workload.payload_bytes,
            "ack": 0,
            "window": 0,
            "sacks": "",
            "flags": "",
            "ecn": _ECN[0],
        }
        same["size"] = workload.payload_bytes + workload.headers_bytes + routed.tcp.link_overhead_bytes
        columns = {name: [value] * seen.height for name, value in same.items()}
        yield frame(_TABLE, columns | {"time_ns": seen[time], "seq": seen["seq"]})
