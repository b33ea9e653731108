"""Makes rows of the tables from samples of connections."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from fullpipe.engines.linux.layout.network import FlowLayout, NetworkLayout
from fullpipe.engines.linux.layout.sizes import accecn_option_bytes
from fullpipe.engines.linux.tables.samples import LATE_NS
from fullpipe.scenario import RoutedFlow, Scenario
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

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
    """Whether the kernel paces a flow. It also has a rate for other flows, which is not used."""
    return routed.tcp.pacing != "auto" or routed.flow.described.startswith(("bbr", "prague"))


def _state(row: Mapping[str, int], routed: RoutedFlow, *, begun: bool) -> str:
    stop_s = routed.flow.stop_s
    stopped = stop_s is not None and row["time"] >= to_nanoseconds(stop_s) and not row["unacked"]
    if not begun:
        return "waiting"
    return "done" if row["finished"] >= 0 or stopped else _STATES[row["ca_state"]]


def flow(laid: FlowLayout, samples: pl.DataFrame, marks: pl.DataFrame, scenario: Scenario) -> dict[str, Any]:
    """Return a flow's row of the table `flows`, from its samples and marks."""
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
    """Return the row of the table `transfers` for a flow with a size. `row` is its row of `flows`."""
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
    """Return statistics of the smoothed RTT. Samples are weighted by packets acknowledged since the last."""
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
