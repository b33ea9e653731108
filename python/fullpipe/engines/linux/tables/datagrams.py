"""Makes rows of the tables from departure and arrival times of datagrams."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.engines.linux.layout.network import NetworkLayout
from fullpipe.scenario import RoutedFlow, Scenario
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

_JITTER_GAIN = 16
_QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


@dataclass(frozen=True)
class ProbeRecords:
    """Departure and arrival times of a flow's datagrams and of their replies. Null if lost."""

    rows: pl.DataFrame
    routed: RoutedFlow
    workload: Datagrams
    start_ns: int


def read(path: Path, network: NetworkLayout) -> dict[int, ProbeRecords]:
    """Read the times of all datagrams, by the number of the flow."""
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
    """Return a flow's row of the table `flows`. Arrivals after the stop of the flow count as well."""
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
    """Return the number of lost datagrams, without those that seemed lost at the start of the measurement.

    Lost datagrams left before one that arrived (RFC 3550, section 6.4.1).
    """
    seen = records.rows["returned" if records.workload.echo else "arrived"]
    return max(0, _missing(seen.is_not_null()) - _missing((seen <= begin_ns).fill_null(value=False)))


def _missing(came: pl.Series) -> int:
    """Return the number of datagrams before the last arrived one that did not arrive."""
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
    """Return the interarrival jitter (RFC 3550, section 6.4.1), the mean of arrivals from `begin_ns` on."""
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
    """Return the table `probes`, with one row per packet of pings, probes and calls."""
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
    """Return a row per sample, with the arrivals in its interval and the mean RTT of the replies."""
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
    """Compute a value for every interval with arrivals, by the number of its end."""
    came = rows.drop_nulls(when).with_columns(interval=(pl.col(when) - 1) // interval_ns + 1)
    return dict(came.group_by("interval").agg(value=what).iter_rows())
