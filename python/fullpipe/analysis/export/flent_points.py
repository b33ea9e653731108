"""Raw values of a Flent series, from the tables of a run."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import polars as pl

from fullpipe.runs import Run

MS, _MBPS = 1e3, 1e-6
_BBR = {"bw": "tcp_bbr_bw", "min_rtt": "tcp_bbr_mrtt", "pacing_gain": "tcp_bbr_pacing_gain"} | {
    "cwnd_gain": "tcp_bbr_cwnd_gain"
}


@dataclass(frozen=True)
class Points:
    """Raw values in the order of time, their unit, and Flent's metadata of the series."""

    raw: list[dict[str, Any]]
    units: str
    meta: dict[str, Any] = field(default_factory=dict)


def points_of(run: Run, flow: str, series: str, origin_s: float) -> Points:
    """Return the points of a flow; `origin_s` is the start of the run in seconds since 1970."""
    if series.startswith("UDP"):
        mean = {"MEAN_VALUE": _row(run, flow)["goodput_bps"] * _MBPS}
        return at(list(_rates(run, flow)), origin_s, "Mbits/s", {"RUNNER": "IperfCsvRunner", **mean})
    if series.startswith("TCP"):
        raw = sorted([*_rates(run, flow), *_sockets(run, flow)], key=lambda point: point["t"])
        return at(raw, origin_s, "Mbits/s", _of_stream(run, flow))
    if series.startswith("HTTP"):
        return at(list(_pages(run, flow)), origin_s, "ms", {"RUNNER": "HttpGetterRunner"})
    runner = "IrttRunner" if "UDP" in series else "PingRunner"
    replies = list(_replies(run, flow, is_probe="UDP" in series))
    values = [point["val"] for point in replies if "val" in point]
    mean = {"MEAN_VALUE": math.fsum(values) / len(values)} if values else {}
    return at(replies, origin_s, "ms", {"RUNNER": runner, **mean})


def at(raw: list[dict[str, Any]], origin_s: float, units: str, meta: dict[str, Any]) -> Points:
    """Shift points from times since the start of the run to times since 1970."""
    return Points([{**point, "t": origin_s + point["t"]} for point in raw], units, meta)


def _row(run: Run, flow: str) -> dict[str, Any]:
    (row,) = run.flows.filter(pl.col("flow") == flow).to_dicts()
    return row


def _rates(run: Run, flow: str) -> Iterator[dict[str, Any]]:
    """Yield the rates that netperf reports: one at the end of every step in which the stream ran."""
    row = _row(run, flow)
    begin_s, end_s = row["start_s"], row["end_s"]
    samples = run.series.filter((pl.col("flow") == flow) & pl.col("goodput_bps").is_not_null())
    before_s = 0.0
    for time_s, goodput in samples.select("time_s", "goodput_bps").iter_rows():
        from_s, to_s = max(before_s, begin_s), min(time_s, end_s)
        step_s, before_s = time_s - before_s, time_s
        if to_s - from_s > 0:
            # bits delivered in the step, divided by the time in which the stream ran in this step
            yield {"t": to_s, "val": goodput * _MBPS * step_s / (to_s - from_s), "dur": to_s - from_s}


def _sockets(run: Run, flow: str) -> Iterator[dict[str, Any]]:
    """Yield the fields that `ss` shows, at every sample in which the stream has a window."""
    row = _row(run, flow)
    mss = _mss(run, flow)
    samples = run.series.filter((pl.col("flow") == flow) & pl.col("cwnd_bytes").is_not_null())
    internal = _bbr(run, flow, mss)
    columns = ("time_s", "cwnd_bytes", "srtt_s", "pacing_bps", "delivery_bps")
    for time_s, cwnd, srtt_s, pacing, delivery in samples.select(columns).iter_rows():
        if not row["start_s"] <= time_s <= row["end_s"]:
            continue
        shown = {
            "tcp_cwnd": cwnd / mss,
            "tcp_rtt": None if srtt_s is None else srtt_s * MS,
            "tcp_pacing_rate": None if pacing is None else pacing * _MBPS,
            "tcp_delivery_rate": None if delivery is None else delivery * _MBPS,
            **internal.get(round(time_s, 6), {}),
        }
        yield {"t": time_s, **{key: value for key, value in shown.items() if value is not None}}


def _bbr(run: Run, flow: str, mss: int) -> dict[float, dict[str, float]]:
    """Return BBR's recorded variables by time; empty for other algorithms or if they were not recorded."""
    mine = run.variables.filter((pl.col("flow") == flow) & pl.col("name").is_in(list(_BBR)))
    factors = {"bw": 8 * mss * _MBPS, "min_rtt": MS}
    found: dict[float, dict[str, float]] = {}
    for time_s, name, value in mine.select("time_s", "name", "value").drop_nulls().iter_rows():
        found.setdefault(round(time_s, 6), {})[_BBR[name]] = value * factors.get(name, 1.0)
    return found


def _mss(run: Run, flow: str) -> int:
    known = {one.name: run.scenario.tcp_of(one).mss_bytes for one in run.scenario.flows}
    return known.get(flow, run.scenario.tcp.mss_bytes)


def _of_stream(run: Run, flow: str) -> dict[str, Any]:
    row = _row(run, flow)
    goodput, mss = row["goodput_bps"] or 0.0, _mss(run, flow)
    dscp = next((one.dscp for one in run.scenario.flows if one.name == flow), None) or 0
    sent = row["sent_packets"]
    return {
        "RUNNER": "NetperfDemoRunner",
        "MEAN_VALUE": goodput * _MBPS,
        "CONG_CONTROL": row["cca"] or "",
        "TCPMSS": mss,
        "BYTES_RECVD": row["delivered_bytes"],
        "BYTES_SENT": None if sent is None else sent * mss,
        "ELAPSED_TIME": row["delivered_bytes"] * 8 / goodput if goodput else None,
        "TCP_RETRANSMIT": row["retransmitted_packets"],
        "UPSTREAM_TOS": dscp << 2,
        "DOWNSTREAM_TOS": dscp << 2,
        "DATA_TOS": dscp << 2,
    }


def _replies(run: Run, flow: str, *, is_probe: bool) -> Iterator[dict[str, Any]]:
    """Yield replies at their arrival times. Lost probes are included. Lost pings are left out, because fping
    does not report them."""
    mine = run.probes.filter(pl.col("flow") == flow).select("time_s", "owd_s", "rtt_s")
    for seq, (time_s, owd_s, rtt_s) in enumerate(mine.iter_rows()):
        if rtt_s is not None:
            ways = {"owd_up": owd_s * MS, "owd_down": (rtt_s - owd_s) * MS} if is_probe and owd_s else {}
            yield {"t": time_s + rtt_s, "val": rtt_s * MS, "seq": float(seq), **ways}
        elif is_probe:
            lost = "up" if owd_s is None else "down"
            yield {"t": time_s, "seq": float(seq), "lost": True, "lost_dir": lost}


def _pages(run: Run, flow: str) -> Iterator[dict[str, Any]]:
    """Yield the load time of every page whose objects all finished."""
    mine = run.transfers.filter(pl.col("flow") == flow)
    if mine.is_empty():
        return
    whole = mine.group_by("page", maintain_order=True).agg(
        pl.col("start_s").min(), pl.col("end_s").max(), pl.col("fct_s").is_not_null().all().alias("is_whole")
    )
    for start_s, end_s in whole.filter("is_whole").sort("end_s").select("start_s", "end_s").iter_rows():
        yield {"t": end_s, "val": (end_s - start_s) * MS}


# Series of a call in a Flent file: one-way delay, jitter, loss and rate.


_KBPS = 1e-3


def call_points(run: Run, flow: str, origin_s: float) -> Mapping[str, Points]:
    """Return every series of a call; `origin_s` is the start of the run in seconds since 1970.

    As in irtt and Flent, jitter is the absolute delay variation between consecutive packets (RFC 3393,
    section 4.6), and loss is the number of lost packets in every step.
    """
    packets = run.probes.filter(pl.col("flow") == flow).select("time_s", "owd_s").rows()
    rows = run.series.filter(pl.col("flow") == flow)
    ends_s = rows["time_s"].to_list()
    rates = zip(ends_s, (rows["goodput_bps"].fill_null(0.0) * _KBPS).to_list(), strict=True)
    made = {
        "VoIP": (list(_packets(packets)), "ms"),
        "VoIP::delay": ([{"t": t + owd, "val": owd * MS} for t, owd in packets if owd is not None], "ms"),
        "VoIP::jitter": (list(_jitters(packets)), "ms"),
        "VoIP::loss": (list(_losses(packets, ends_s)), "count"),
        "VoIP::bitrate": ([{"t": time_s, "val": rate} for time_s, rate in rates], "Kbits/s"),
    }
    return {name: at(raw, origin_s, unit, {"RUNNER": _runner(name)}) for name, (raw, unit) in made.items()}


def _runner(name: str) -> str:
    return "NullRunner" if "::" in name else "IrttRunner"


def _packets(packets: list[tuple[float, float | None]]) -> Iterator[dict[str, Any]]:
    """Yield every packet with the fields that irtt reports for one direction."""
    for seq, (time_s, owd_s) in enumerate(packets):
        if owd_s is None:
            yield {"t": time_s, "seq": float(seq), "lost": True, "lost_dir": "up"}
        else:
            yield {"t": time_s + owd_s, "seq": float(seq), "owd_up": owd_s * MS}


def _jitters(packets: list[tuple[float, float | None]]) -> Iterator[dict[str, Any]]:
    for (_, before_s), (time_s, owd_s) in pairwise(packets):
        if before_s is not None and owd_s is not None:
            yield {"t": time_s + owd_s, "val": abs(owd_s - before_s) * MS}


def _losses(packets: list[tuple[float, float | None]], ends_s: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the number of lost packets of every step, at the end of the step."""
    lost_s = iter([time_s for time_s, owd_s in packets if owd_s is None])
    next_s = next(lost_s, None)
    for end_s in ends_s:
        count = 0
        while next_s is not None and next_s < end_s:
            count, next_s = count + 1, next(lost_s, None)
        yield {"t": end_s, "val": float(count)}
