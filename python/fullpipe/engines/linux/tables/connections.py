"""Makes rows of the tables about connections and links from the files that the guest wrote."""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.engines.linux.departures import accecn_option_bytes
from fullpipe.engines.linux.layout.network import FlowLayout, LinkLayout, NetworkLayout
from fullpipe.engines.linux.script import sample_ns
from fullpipe.scenario import RoutedFlow, Scenario
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

# Samples of connections in the guest: the kernel's `tcp_info`, and counts of packets with ECN mark CE.


_STATE = ("number", "time", "state", "ca_state", "mss", "cwnd", "ssthresh", "rtt", "min_rtt")
_RATES = ("pacing", "delivery")
_COUNTS = ("unacked", "sacked", "lost", "resent", "retransmitted", "sent", "delivered", "sent_bytes")
_REST = ("busy", "rwnd_limited", "sndbuf_limited", "received", "finished")
_COLUMNS = (*_STATE, *_RATES, *_COUNTS, *_REST)
_MARKS = ("number", "time", "marked")
LATE_NS = 200_000
"""Maximum delay of a sample after its nominal time in ns. A sample is late because reading the guest's clock
takes virtual time."""


def read_samples(path: Path, scenario: Scenario) -> pl.DataFrame:
    """Read the samples of all connections in order of time. A sample gets its nominal time."""
    types = {name: pl.UInt64 if name in _RATES else pl.Int64 for name in _COLUMNS}
    read = pl.read_csv(path, has_header=False, new_columns=list(_COLUMNS), schema=types)
    period_ns = sample_ns(to_nanoseconds(scenario.record.interval_s))
    early = pl.col("time") - pl.col("time") % period_ns
    marks = [to_nanoseconds(scenario.warmup_s), to_nanoseconds(scenario.duration_s)]
    meant = pl.when(pl.col("time") - early < LATE_NS).then(early).otherwise(pl.col("time"))
    for mark_ns in marks:
        near = pl.col("time").is_between(mark_ns, mark_ns + LATE_NS)
        meant = pl.when(near).then(mark_ns).otherwise(meant)
    timed = read.with_columns(time=meant)
    return timed.unique(["number", "time"], keep="last", maintain_order=True).sort("time", "number")


def read_marks(path: Path) -> pl.DataFrame:
    """Read the number of CE-marked packets that each flow's receiver had got by the end of the warm-up and of
    the run."""
    return pl.read_csv(
        path, has_header=False, new_columns=list(_MARKS), schema=dict.fromkeys(_MARKS, pl.Int64)
    )


# Rows of the tables `series`, `flows` and `transfers`, made from samples of connections.


_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_NO_MIN_RTT = 2**32 - 1
_UNLIMITED = 2**63
_US = 1e6
_QUANTILES = (0.5, 0.95, 0.99)


def series(samples: pl.DataFrame, network: NetworkLayout, interval_ns: int) -> dict[str, Any]:
    """Return the columns of the table `series` for all connections."""
    flows = network.flows
    rows = samples.filter(pl.col("time") % interval_ns == 0)
    grown = [
        pl.col(name).diff().over("number").alias(f"{name}_more") for name in ("received", "retransmitted")
    ]
    rows = rows.with_columns(*grown).filter(pl.col("time") > 0)
    begun = [flows[number].start_ns <= time for number, time in rows.select("number", "time").iter_rows()]
    on = pl.Series(begun, dtype=pl.Boolean)
    paced = pl.Series([_paces(flows[number].routed) for number in rows["number"]], dtype=pl.Boolean)
    flight = pl.col("unacked") - pl.col("sacked") - pl.col("lost") + pl.col("resent")
    values = rows.select(
        time_s=pl.col("time") / NANOSECONDS,
        goodput_bps=pl.col("received_more") * BITS / (interval_ns / NANOSECONDS),
        cwnd_bytes=pl.when(on).then(pl.col("cwnd") * pl.col("mss")),
        in_flight_bytes=pl.when(on).then(flight * pl.col("mss")),
        srtt_s=pl.when(pl.col("rtt") > 0).then(pl.col("rtt") / _US),
        min_rtt_s=pl.when((pl.col("min_rtt") > 0) & (pl.col("min_rtt") < _NO_MIN_RTT)).then(
            pl.col("min_rtt") / _US
        ),
        pacing_bps=pl.when(on & paced & (pl.col("pacing") < _UNLIMITED)).then(
            pl.col("pacing").cast(pl.Float64) * BITS
        ),
        delivery_bps=pl.when(pl.col("delivery") > 0).then(pl.col("delivery").cast(pl.Float64) * BITS),
        retransmitted_packets=pl.col("retransmitted_more"),
    ).to_dict(as_series=False)
    values["flow"] = [flows[number].routed.name for number in rows["number"]]
    values["state"] = [
        _state(row, flows[row["number"]].routed, begun=b)
        for row, b in zip(rows.iter_rows(named=True), begun, strict=True)
    ]
    return values


def _paces(routed: RoutedFlow) -> bool:
    """Whether the kernel paces a flow. The kernel also reports a pacing rate for unpaced flows."""
    return routed.tcp.pacing != "auto" or routed.flow.described.startswith(("bbr", "prague"))


def _state(row: Mapping[str, int], routed: RoutedFlow, *, begun: bool) -> str:
    stop_s = routed.flow.stop_s
    stopped = stop_s is not None and row["time"] >= to_nanoseconds(stop_s) and not row["unacked"]
    if not begun:
        return "waiting"
    return "done" if row["finished"] >= 0 or stopped else _STATES[row["ca_state"]]


def flow(laid: FlowLayout, samples: pl.DataFrame, marks: pl.DataFrame, scenario: Scenario) -> dict[str, Any]:
    """Return a connection's row of the table `flows`, computed from its samples and its counts of marked
    packets."""
    routed, start_ns = laid.routed, laid.start_ns
    warmup_ns, duration_ns = to_nanoseconds(scenario.warmup_s), to_nanoseconds(scenario.duration_s)
    finished = samples["finished"].max()
    finished_ns = finished if isinstance(finished, int) and finished >= 0 else None
    stop_ns = None if routed.flow.stop_s is None else to_nanoseconds(routed.flow.stop_s)
    end_ns = min(at for at in (finished_ns, stop_ns, duration_ns) if at is not None)
    begin_ns = max(warmup_ns, start_ns)
    span_s = (end_ns - begin_ns) / NANOSECONDS
    before = _row(samples.filter(pl.col("time") <= begin_ns).tail(1))
    after = _row(samples.filter(pl.col("time") >= end_ns).head(1)) if span_s > 0 else before
    delivered = after["received"] - before["received"]
    sent = after["sent"] - before["sent"]
    overhead_bytes = routed.tcp.overhead_bytes + accecn_option_bytes(routed)
    wire = after["sent_bytes"] - before["sent_bytes"] + sent * overhead_bytes
    marked = marks.sort("time")["marked"]
    only = not laid.receiver.is_shared
    return {
        "flow": routed.name,
        "cca": routed.flow.described,
        "protocol": "tcp",
        "start_s": start_ns / NANOSECONDS,
        "end_s": end_ns / NANOSECONDS,
        "delivered_bytes": delivered,
        "goodput_bps": delivered * BITS / span_s if span_s > 0 else None,
        "wire_bps": wire * BITS / span_s if span_s > 0 else None,
        "sent_packets": sent,
        "retransmitted_packets": after["retransmitted"] - before["retransmitted"],
        "marked_packets": marked[-1] - marked[0] if only else None,
        **_rtts(samples, begin_ns, end_ns),
        "fct_s": None if finished_ns is None else (finished_ns - start_ns) / NANOSECONDS,
        **{
            f"limited_{ours}": (after[theirs] - before[theirs]) / _US / span_s if span_s > 0 else None
            for ours, theirs in (("receiver", "rwnd_limited"), ("send_buffer", "sndbuf_limited"))
        },
    }


def transfer(row: Mapping[str, Any], samples: pl.DataFrame, size_bytes: int) -> dict[str, Any]:
    """Return the row of the table `transfers` for a flow with a size. `row` is the flow's row of the table
    `flows`."""
    last = _row(samples.tail(1))
    return {
        "flow": row["flow"],
        "number": 1,
        "connection": 1,
        "start_s": row["start_s"],
        "end_s": row["end_s"],
        "bytes": size_bytes,
        "delivered_bytes": last["received"],
        "sent_packets": last["sent"],
        "retransmitted_packets": last["retransmitted"],
        "fct_s": row["fct_s"],
    }


def _row(rows: pl.DataFrame) -> dict[str, int]:
    return dict(rows.row(0, named=True))


def _rtts(samples: pl.DataFrame, begin_ns: int, end_ns: int) -> dict[str, float | None]:
    """Return statistics of the smoothed RTT. A sample's weight is the number of packets delivered since the
    previous sample."""
    rows = samples.with_columns(weight=pl.col("delivered").diff().fill_null(0))
    rows = rows.filter((pl.col("time") > begin_ns) & (pl.col("time") <= end_ns + LATE_NS))
    rows = rows.filter((pl.col("rtt") > 0) & (pl.col("weight") > 0)).sort("rtt")
    names = ("rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s")
    lowest = samples.filter((pl.col("min_rtt") > 0) & (pl.col("min_rtt") < _NO_MIN_RTT))["min_rtt"].min()
    smallest = {"rtt_min_s": float(lowest) / _US if isinstance(lowest, int) else None}
    if rows.is_empty():
        return smallest | dict.fromkeys(names)
    weight, rtt = rows["weight"], rows["rtt"]
    share = weight.cum_sum() / weight.sum()
    quantiles = [rtt.filter(share >= q)[0] / _US for q in _QUANTILES]
    mean = float((rtt * weight).sum()) / float(weight.sum()) / _US
    return smallest | dict(zip(names, (mean, *quantiles), strict=True))


# Number of packets that a qdisc has marked, read from the statistics structure of its kind.


_WORDS = {
    "codel": (6, 8),
    "fq_codel": (3, 7),
    "pie": (9,),
    "fq_pie": (4,),
    "fq": (20,),
    "red": (3,),
    "dualpi2": (6,),
}
"""Indices of the mark counts among the 32-bit words of a qdisc's statistics. A qdisc with two indices counts
marks by its algorithm and marks by its threshold separately."""
_CAKE_TINS, _CAKE_MARKED = 10, 7
_KIND = 0x3FFF


def marked(kind: str, own: str) -> int:
    """Return the number of packets that a qdisc has marked. `own` is the statistics structure of the qdisc's
    kind, in hexadecimal."""
    data = bytes.fromhex(own)
    if kind == "cake":
        return _of_cake(data)
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    return sum(words[place] for place in _WORDS.get(kind, ()) if place < len(words))


def _of_cake(data: bytes) -> int:
    tins = [tin for kind, tins in _attributes(data) if kind == _CAKE_TINS for _, tin in _attributes(tins)]
    counts = [value for tin in tins for kind, value in _attributes(tin) if kind == _CAKE_MARKED]
    return sum(struct.unpack("<I", value)[0] for value in counts)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("<HH", data, at)
        if length < 4:
            return
        yield kind & _KIND, data[at + 4 : at + length]
        at += (length + 3) // 4 * 4


# Tables `links` and `links_summary`, made from the counters of qdiscs.


_LATE_NS = 1_000_000


@dataclass
class Totals:
    """Counters of a link since the start of the run, and the current length of its queue."""

    queue_dropped: int = 0
    """Drops of the queue. A token bucket also counts some drops of its child queue, so this is the largest of
    the numbers of all qdiscs on the device."""
    lost: int = 0
    """Packets that were lost after the queue."""
    marked: int = 0
    packets: int = 0
    size: int = 0
    waiting_packets: int | None = None
    waiting_bytes: int | None = None

    @property
    def dropped(self) -> int:
        """Packets that the queue dropped or that were lost after it."""
        return self.queue_dropped + self.lost


Tables = dict[str, dict[str, list[Any]]]


def read(path: Path, scenario: Scenario, network: NetworkLayout) -> Tables:
    """Read the tables `links` and `links_summary`."""
    links = network.links
    interval_ns, warmup_ns = to_nanoseconds(scenario.record.interval_s), to_nanoseconds(scenario.warmup_s)
    duration_ns = to_nanoseconds(scenario.duration_s)
    history = _history(path, network, sorted({0, warmup_ns, duration_ns}), interval_ns)
    rows: dict[str, list[Any]] = defaultdict(list)
    times = [t for t in sorted(history) if interval_ns and t % interval_ns == 0 and t > 0]
    for time_ns in times:
        for number, link in enumerate(links):
            now, before = history[time_ns][number], history[time_ns - interval_ns][number]
            row = {
                "time_s": time_ns / NANOSECONDS,
                "link": link.name,
                "backlog_bytes": now.waiting_bytes,
                "backlog_packets": now.waiting_packets,
                **_between(link, before, now, time_ns - interval_ns, time_ns),
            }
            for key in ("time_s", "link", "backlog_bytes", "backlog_packets", *_COUNTED):
                rows[key].append(row[key])
    summary: dict[str, list[Any]] = defaultdict(list)
    when = [t for t in sorted(history) if warmup_ns <= t <= duration_ns]
    seen = [history[t] for t in when]
    for number, link in enumerate(links):
        before, now = history[warmup_ns][number], history[duration_ns][number]
        row = {"link": link.name, **_between(link, before, now, warmup_ns, duration_ns)}
        row["utilisation"] = _mean_utilisation(link, [h[number] for h in seen], when)
        row |= {"forwarded_packets": now.packets - before.packets, "forwarded_bytes": now.size - before.size}
        for key, value in row.items():
            summary[key].append(value)
    return {"links": rows, "links_summary": summary}


_COUNTED = ("dropped_packets", "marked_packets", "utilisation")


def _between(link: LinkLayout, before: Totals, now: Totals, from_ns: int, to_ns: int) -> dict[str, Any]:
    capacity = _capacity_bits(link, from_ns, to_ns)
    return {
        "dropped_packets": now.dropped - before.dropped,
        "marked_packets": now.marked - before.marked,
        "utilisation": _utilisation(now, BITS * (now.size - before.size), capacity),
    }


def _utilisation(now: Totals, sent_bits: int, capacity_bits: float | None) -> float | None:
    """Return the share of the link's capacity that was used. During an outage, a link is busy if a packet
    waits."""
    if capacity_bits is None:
        return None
    return sent_bits / capacity_bits if capacity_bits else float(bool(now.waiting_packets))


def _mean_utilisation(link: LinkLayout, totals: list[Totals], when: list[int]) -> float | None:
    """Return the mean of the utilisation over time. If the rate of the link changes, this mean differs from
    sent bits divided by the bits that the link could have sent."""
    pieces = zip(pairwise(totals), pairwise(when), strict=True)
    shares = [
        (_between(link, before, now, from_ns, to_ns)["utilisation"], to_ns - from_ns)
        for (before, now), (from_ns, to_ns) in pieces
    ]
    if not shares or any(share is None for share, _ in shares):
        return None
    return float(sum(share * span for share, span in shares) / sum(span for _, span in shares))


def _capacity_bits(link: LinkLayout, from_ns: int, to_ns: int) -> float | None:
    """Return the bits that a link could have sent from `from_ns` to `to_ns`, or None for an unlimited
    rate."""
    if not link.rates_bps:
        return None
    bits = 0.0
    for (begin_ns, rate_bps), (end_ns, _) in pairwise((*link.rates_bps, (to_ns, 0))):
        span_ns = min(end_ns, to_ns) - max(begin_ns, from_ns)
        bits += rate_bps * max(0, span_ns) / NANOSECONDS
    return bits


def _history(
    path: Path, network: NetworkLayout, marks: list[int], interval_ns: int
) -> dict[int, list[Totals]]:
    """Read the counters of all links, by the nominal time of the sample."""
    devices = list(network.watched)
    found: dict[int, list[Totals]] = {0: [Totals() for _ in network.links]}
    for time_ns, watched, kind, handle, numbers, own in _lines(path):
        meant = _meant(time_ns, marks, interval_ns)
        if meant not in found:
            found[meant] = [Totals() for _ in network.links]
        seen = devices[watched]
        _count(found[meant][seen.link], kind, handle, numbers, own, queues=seen.queues)
    return found


def _count(total: Totals, kind: str, handle: str, numbers: list[int], own: str, *, queues: bool) -> None:
    """Add the counters of a qdisc to the counters of its link."""
    size, packets, drops, waiting_packets, waiting_bytes = numbers
    total.marked += marked(kind, own)
    if queues and kind != "ingress":
        total.queue_dropped = max(total.queue_dropped, drops)
    else:
        total.lost += drops
    if handle != "1":
        return
    if queues or total.waiting_packets is None:
        total.size, total.packets = size, packets
    if queues:
        total.waiting_packets, total.waiting_bytes = waiting_packets, waiting_bytes


def _lines(path: Path) -> Iterator[tuple[int, int, str, str, list[int], str]]:
    with path.open(encoding="ascii") as file:
        for line in file:
            watched, time, kind, handle, *numbers, own = line.rstrip("\n").split(",")
            yield int(time), int(watched), kind, handle, [int(n) for n in numbers], own


def _meant(time_ns: int, marks: list[int], interval_ns: int) -> int:
    for mark_ns in marks:
        if 0 <= time_ns - mark_ns < _LATE_NS:
            return mark_ns
    return time_ns - time_ns % interval_ns if interval_ns else time_ns
