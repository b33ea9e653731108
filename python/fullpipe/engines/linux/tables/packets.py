"""Makes the rows of tables about datagrams, and the table `packets`."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.engines.linux.departures import has_accecn
from fullpipe.engines.linux.layout.network import FlowLayout, NetworkLayout
from fullpipe.engines.linux.script import MOST_CAPTURED, POINTS
from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.capture import segments_of
from fullpipe.engines.pcap.connections import Sent, ends_of
from fullpipe.engines.pcap.headers import ACK, AE, CWR, ECE, FIN, NONE, PSH, SYN, Segments
from fullpipe.engines.pcap.window import is_duplicate
from fullpipe.errors import EngineError
from fullpipe.runs import TABLES, frame
from fullpipe.scenario import RoutedFlow, Scenario
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

# Rows of the tables `flows`, `probes` and `series` for flows of datagrams.


_JITTER_GAIN = 16
_QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


@dataclass(frozen=True)
class ProbeRecords:
    """Departure and arrival times of a flow's datagrams and of their replies. The time of a lost packet is
    null."""

    rows: pl.DataFrame
    routed: RoutedFlow
    workload: Datagrams
    start_ns: int


def read_datagrams(path: Path, network: NetworkLayout) -> dict[int, ProbeRecords]:
    """Read the times of all datagrams, by the index of their flow."""
    names = ("number", "sent", "arrived", "returned")
    rows = pl.read_csv(path, has_header=False, new_columns=list(names), schema=dict.fromkeys(names, pl.Int64))
    seen = [pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("arrived", "returned")]
    rows = rows.with_columns(*seen)
    return {
        number: ProbeRecords(
            rows.filter(pl.col("number") == number), laid.routed, laid.routed.flow.datagrams, laid.start_ns
        )
        for number, laid in enumerate(network.flows)
        if laid.routed.flow.datagrams
    }


def flow(records: ProbeRecords, scenario: Scenario) -> dict[str, Any]:
    """Return a flow's row of the table `flows`. Datagrams that arrive after the stop of the flow also
    count."""
    routed, rows, workload = records.routed, records.rows, records.workload
    duration_ns, stop_s = to_nanoseconds(scenario.duration_s), routed.flow.stop_s
    begin_ns = max(to_nanoseconds(scenario.warmup_s), records.start_ns)
    end_ns = duration_ns if stop_s is None else min(duration_ns, to_nanoseconds(stop_s))
    span_s = (end_ns - begin_ns) / NANOSECONDS
    arrived = rows.filter(pl.col("arrived") >= begin_ns).sort("arrived", maintain_order=True)
    delivered = arrived.height * workload.payload_bytes
    sent = rows.filter(pl.col("sent") >= begin_ns).height
    lost = _lost(records, begin_ns)
    wire = sent * (workload.payload_bytes + workload.headers_bytes + routed.tcp.link_overhead_bytes)
    return {
        "flow": routed.name,
        "cca": None,
        "protocol": workload.protocol,
        "start_s": records.start_ns / NANOSECONDS,
        "end_s": end_ns / NANOSECONDS,
        "delivered_bytes": delivered,
        "goodput_bps": delivered * BITS / span_s if span_s > 0 else None,
        "wire_bps": wire * BITS / span_s if span_s > 0 else None,
        "sent_packets": sent,
        "retransmitted_packets": 0,
        "lost_packets": lost,
        "dropped_packets": lost,
        "marked_packets": 0,
        **_times("rtt", rows.filter(pl.col("returned") >= begin_ns), "returned"),
        **_times("owd", arrived, "arrived"),
        "jitter_s": _jitter_s(rows, begin_ns),
    }


def _lost(records: ProbeRecords, begin_ns: int) -> int:
    """Return the number of datagrams that were lost after the start of the measurement.

    A datagram that did not arrive counts as lost if a later datagram arrived (RFC 3550, section 6.4.1). The
    number of datagrams that already counted as lost at the start of the measurement is subtracted.
    """
    seen = records.rows["returned" if records.workload.echo else "arrived"]
    return max(0, _missing(seen.is_not_null()) - _missing((seen <= begin_ns).fill_null(value=False)))


def _missing(came: pl.Series) -> int:
    """Return the number of missing datagrams before the last datagram that arrived."""
    last = came.arg_true().max()
    return last + 1 - int(came.sum()) if isinstance(last, int) else 0


def _times(name: str, rows: pl.DataFrame, until: str) -> dict[str, float | None]:
    keys = [f"{name}_{which}_s" for which in ("min", "mean", *(label for label, _ in _QUANTILES))]
    if rows.is_empty():
        return dict.fromkeys(keys)
    took_s = ((rows[until] - rows["sent"]) / NANOSECONDS).sort()
    values = [
        took_s[0],
        took_s.mean(),
        *(took_s[min(len(took_s) - 1, int(q * len(took_s)))] for _, q in _QUANTILES),
    ]
    return dict(zip(keys, values, strict=True))


def _jitter_s(rows: pl.DataFrame, begin_ns: int) -> float | None:
    """Return the mean of the interarrival jitter (RFC 3550, section 6.4.1) over arrivals from `begin_ns`
    on."""
    smoothed, measured, last = 0.0, list[float](), None
    arrived = rows.drop_nulls("arrived").sort("arrived", maintain_order=True)
    for sent_ns, arrived_ns in arrived.select("sent", "arrived").iter_rows():
        took_s = (arrived_ns - sent_ns) / NANOSECONDS
        if last is not None:
            smoothed += (abs(took_s - last) - smoothed) / _JITTER_GAIN
            if arrived_ns >= begin_ns:
                measured.append(smoothed)
        last = took_s
    return sum(measured) / len(measured) if measured else None


def probes(of_flows: Sequence[ProbeRecords]) -> dict[str, list[Any]]:
    """Return the table `probes`, with one row per datagram of the workloads ping, probe and voip."""
    told = [records for records in of_flows if records.workload.each]
    rows = [(records.routed.name, *row) for records in told for row in records.rows.iter_rows()]
    return {
        "time_s": [sent / NANOSECONDS for _, _, sent, _, _ in rows],
        "flow": [name for name, *_ in rows],
        "owd_s": [_took_s(sent, arrived) for _, _, sent, arrived, _ in rows],
        "rtt_s": [_took_s(sent, returned) for _, _, sent, _, returned in rows],
    }


def _took_s(sent_ns: int, seen_ns: int | None) -> float | None:
    return None if seen_ns is None else (seen_ns - sent_ns) / NANOSECONDS


def series(records: ProbeRecords, interval_ns: int, duration_ns: int) -> list[dict[str, Any]]:
    """Return a flow's rows of the table `series`: one per interval, with the arrivals and the mean RTT of
    replies in the interval."""
    stop_s = records.routed.flow.stop_s
    stop_ns = duration_ns + 1 if stop_s is None else to_nanoseconds(stop_s)
    counts = _by_interval(records.rows, "arrived", interval_ns, pl.len())
    took = (pl.col("returned") - pl.col("sent")).mean() / NANOSECONDS
    replies = _by_interval(records.rows, "returned", interval_ns, took)
    made = []
    for n in range(1, duration_ns // interval_ns + 1):
        at_ns = n * interval_ns
        begun = "done" if at_ns >= stop_ns else "open"
        arrived = counts.get(n, 0) * records.workload.payload_bytes
        made.append(
            {
                "time_s": at_ns / NANOSECONDS,
                "flow": records.routed.name,
                "goodput_bps": arrived * BITS * NANOSECONDS / interval_ns,
                "srtt_s": replies.get(n),
                "retransmitted_packets": 0,
                "state": "waiting" if at_ns < records.start_ns else begun,
            }
        )
    return made


def _by_interval(rows: pl.DataFrame, when: str, interval_ns: int, what: pl.Expr) -> dict[int, Any]:
    """Return the value of the expression `what` over the rows of every interval, by the interval's end in
    units of `interval_ns`. A row belongs to the interval that contains the row's time in the column `when`.
    Intervals without rows are left out."""
    came = rows.drop_nulls(when).with_columns(interval=(pl.col(when) - 1) // interval_ns + 1)
    return dict(came.group_by("interval").agg(value=what).iter_rows())


# The table `packets`: TCP packets from captures at the guest's hosts, and datagrams from their recorded
# times.


_TABLE = TABLES["packets"]
_ETHERNET_BYTES = 14
_ECN = ("not_ect", "ect1", "ect0", "ce")
"""Names of the values 0 to 3 of the ECN field in the IP header (RFC 3168, section 5)."""
_COUNTER, _FIRST = 8, 5
"""The number of values, 8, and the initial value, 5, of the counter ACE (RFC 9768, section 3.2.2)."""


def read(
    folder: Path, scenario: Scenario, network: NetworkLayout, records: Mapping[int, ProbeRecords]
) -> pl.DataFrame:
    """Read the table `packets`, with one row per packet and capture point, in order of time.

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
    """Read the packets of TCP connections at a capture point, in the order of the capture file."""
    if not path.exists():  # no flow is a TCP connection
        return frame(_TABLE, {})
    segments, records, _ = segments_of(path, MOST_CAPTURED + 1)
    if records.damage:
        raise EngineError(f"{path.name}: {records.damage}")
    if segments is None:
        return frame(_TABLE, {})
    parts = [sent.with_columns(row=rows) for sent, rows in _ends(segments, point, network)]
    return pl.concat(parts).sort("row").drop("row")


def _ends(segments: Segments, point: str, network: NetworkLayout) -> Iterator[tuple[pl.DataFrame, Ints]]:
    """Yield the packets that each end of each connection sent, with their positions in the capture file."""
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
    """Return two arrays with one item per segment: the index of its flow, and whether the flow's sender sent
    it."""
    flows = network.flows
    hosts = (*(flow.sender for flow in flows), *(flow.receiver for flow in flows))
    addresses = np.array([int(ipaddress.IPv4Address(host.address)) for host in hosts])
    order = np.argsort(addresses)
    sources = (segments.source[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    found = order[np.searchsorted(addresses, sources, sorter=order)]
    return found % len(flows), found < len(flows)


def _columns(sent: Sent, source: str, laid: FlowLayout) -> dict[str, Any]:
    """Return the columns of the packets that one end sent, except the time and the capture point."""
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
    """Return every packet's SACK blocks in the order of its header, such as "1448-2896 5792-7240"."""
    found = [""] * sent.seq.size
    for row, left, right in zip(
        sent.sack_row.tolist(), sent.sack_left.tolist(), sent.sack_right.tolist(), strict=True
    ):
        found[row] += f"{' ' if found[row] else ''}{left}-{right}"
    return found


def _flags(sent: Sent, *, is_accurate: bool) -> list[str]:
    """Return every packet's flags, separated by spaces. With AccECN, ECE and CWR are bits of the counter ACE,
    so they are not flags."""
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
    """Return, for each packet that the receiver sent, the number of CE-marked packets that it had counted
    until then.

    The 3-bit counter ACE wraps, so the number is the sum of the increases of ACE, each modulo 8. A receiver
    sends an ACK after a few marks at most (RFC 9768, section 3.2.2.5.1). So ACE increases by less than 8 from
    one ACK to the next, unless several consecutive ACKs are lost.
    """
    high, middle, low = (((sent.flags & bit) != 0).astype(np.int64) for bit in (AE, CWR, ECE))
    counter = np.where((sent.flags & SYN) != 0, _FIRST, high * 4 + middle * 2 + low)
    return np.cumsum(np.mod(np.diff(counter, prepend=_FIRST), _COUNTER))


def _datagrams(records: ProbeRecords, point: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a flow's datagrams and replies at a capture point, with the times recorded by the
    flow's application."""
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
