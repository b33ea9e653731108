"""Description of a Flent file: hosts, algorithms, queues, totals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from fullpipe.engines.flent.document import Document, number, text
from fullpipe.engines.flent.series import ECHOES, RATES, Floats, Series, Timing, latest
from fullpipe.engines.imported.measurement import STAND_IN, UNKNOWN, registered
from fullpipe.errors import brief
from fullpipe.runs import TABLES
from fullpipe.runs.encoding import empty
from fullpipe.runs.schema import frame
from fullpipe.scenario import Scenario, catalogue
from fullpipe.scenario.flent.families import flow_of

# Totals of a flow after the warm-up: bytes, packets and losses.


@dataclass(frozen=True)
class Totals:
    """Totals of a flow for the table of flows; None if the file does not contain a value."""

    start_s: float
    end_s: float
    delivered_bytes: int | None = None
    goodput_bps: float | None = None
    sent_packets: int | None = None
    retransmitted_packets: int | None = None
    lost_packets: int | None = None


def totals_of(one: Series, timing: Timing) -> Totals:
    """Return the totals of a flow: a stream, a ping or a call."""
    if one.kind in RATES:
        return _of_stream(one, timing)
    lost = _lost(one)
    sent = None if lost is None else lost + len(one.values)
    return Totals(0.0, timing.duration_s, sent_packets=sent, lost_packets=lost)


def _of_stream(one: Series, timing: Timing) -> Totals:
    """Return the totals of a stream: from the bytes and the time that netperf reports at its end, otherwise
    from the samples."""
    start_s = one.first_s - timing.origin_s
    times_s = one.column("t", one.values)
    lasts_s = np.nan_to_num(one.column("dur", one.values), nan=timing.step_s)
    sampled_bytes = float((one.column("val", one.values) * 1e6 / 8 * lasts_s).sum())
    end_s = float(timing.since(times_s)[-1]) if times_s.size else start_s
    received, took_s = (number(one.meta.get(key)) for key in ("BYTES_RECVD", "ELAPSED_TIME"))
    if received is not None and received >= 0 and took_s and 0 < took_s <= 2 * timing.duration_s:
        end_s, delivered = start_s + took_s, received
    else:
        took_s, delivered = end_s - start_s, sampled_bytes
    goodput = delivered * 8 / took_s if took_s > 0 else None
    resent = retransmissions(one) if one.kind == "tcp" else None
    sent = _segments(one, resent or 0)
    return Totals(start_s, end_s, round(delivered), goodput, sent, resent)


def mss_of(one: Series) -> int | None:
    """Return the MSS of a stream's socket, or None if it is missing or impossible."""
    mss = one.meta.get("TCP_MSS")
    return mss if isinstance(mss, int) and not isinstance(mss, bool) and 1 <= mss <= 9_000 else None


def _segments(one: Series, resent: int) -> int | None:
    """Return the sent packets of a stream: all bytes divided by the MSS, plus retransmissions."""
    mss, sent_bytes = mss_of(one), number(one.meta.get("BYTES_SENT"))
    if mss is None or sent_bytes is None or sent_bytes < 0:
        return None
    return math.ceil(sent_bytes / mss) + resent


def retransmissions(one: Series) -> int | None:
    """Return the retransmitted packets, or None if the number is impossible, as when netperf could not read
    it."""
    said = number(one.meta.get("TCP_RETRANSMIT"))
    sent = number(one.meta.get("BYTES_SENT"))
    if said is None or said < 0 or said != math.floor(said):
        return None
    if sent is not None and said > max(sent, 1.0):
        return None
    return int(said)


def _lost(one: Series) -> int | None:
    """Return the number of lost packets: packets without a reply that are followed by a packet with a
    reply."""
    if one.kind not in (*ECHOES, "call"):
        return None
    said = sum(bool(point.get("lost")) for point in one.points)
    numbers = one.column("seq", one.values)
    if said or not numbers.size or np.isnan(numbers).any():
        return said or None
    gaps = round(numbers.max() - numbers.min()) + 1 - np.unique(numbers).size
    return gaps if gaps <= 100 * numbers.size else None


# Mapping from kernels' names of algorithms to names in Fullpipe.


_FELL_BACK = {"dctcp-reno": "reno"}
"""The algorithm that Linux runs instead of DCTCP if ECN was not negotiated, by the kernel's name for that
case (net/ipv4/tcp_dctcp.c)."""


@dataclass(frozen=True)
class Names:
    """Fullpipe's algorithms by the names that kernels use in a test."""

    bbr: str
    """Algorithm meant by "bbr", which is the kernel name of every version of BBR."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Algorithms that the user gave for kernel names."""
    default: str = ""
    """Default algorithm of the test host, by its kernel name, or ""."""

    def known(self, name: str) -> str | None:
        """Return Fullpipe's algorithm for a kernel name, or None if there is none."""
        if name in self.given:
            return self.given[name]
        if name == "bbr":
            return self.bbr
        found = _FELL_BACK.get(name, name)
        return registered().get(found)

    def algorithm(self, series: Series) -> str | None:
        """Return the algorithm of a stream, or the kernel name if Fullpipe lacks the algorithm.

        The result is None if the file does not name an algorithm.
        """
        return self.known(series.algorithm) or series.algorithm or None


def names_of(document: Document, given: Mapping[str, str]) -> Names:
    """Return Fullpipe's algorithms for the kernel names in a file. "bbr" means BBRv3 if the kernel's release
    contains "v3", as the releases of Google's kernels do."""
    release = document.text("KERNEL_RELEASE")
    bbr = "bbr3" if "v3" in release.replace("-", "+").split("+") else "bbr1"
    return Names(bbr, given, text(document.table("SYSCTLS"), "net.ipv4.tcp_congestion_control"))


# Links from statistics of `tc` during a test, and the queue discipline of the test host.


_OF_DEVICES = ("mq", "noqueue")
"""Root qdiscs of devices with several queues; their children are the actual queue disciplines."""


def links(series: Sequence[Series], timing: Timing) -> dict[str, pl.DataFrame]:
    """Return the tables of links, with one link for every sampled qdisc."""
    if not series:
        return {}
    samples = [_samples(one, timing) for one in series]
    summaries = [_summary(one, timing) for one in series]
    return {
        "links": pl.concat([frame(TABLES["links"], of) for of in samples] or [empty("links")]),
        "links_summary": pl.concat([frame(TABLES["links_summary"], of) for of in summaries]),
    }


def _samples(one: Series, timing: Timing) -> Mapping[str, object]:
    grid_s, times_s = timing.grid_s, timing.since(one.column("t"))
    return {
        "time_s": grid_s,
        "link": [one.flow] * grid_s.size,
        "backlog_bytes": latest(times_s, one.column("backlog_bytes"), grid_s),
        "backlog_packets": latest(times_s, one.column("backlog_pkts"), grid_s),
        "dropped_packets": _in_steps(times_s, one.column("dropped"), grid_s),
        "marked_packets": _in_steps(times_s, one.column("ecn_mark"), grid_s),
    }


def _summary(one: Series, timing: Timing) -> Mapping[str, object]:
    after = timing.since(one.column("t")) >= timing.delay_s
    backlog = one.column("backlog_pkts")[after]
    return {
        "link": [one.flow],
        "dropped_packets": [_total(one.column("dropped")[after])],
        "marked_packets": [_total(one.column("ecn_mark")[after])],
        "forwarded_packets": [_grown(one.column("sent_pkts")[after])],
        "forwarded_bytes": [_grown(one.column("sent_bytes")[after])],
        "backlog_max_packets": [_most(backlog)],
    }


def _in_steps(times_s: Floats, values: Floats, grid_s: Floats) -> list[int | None]:
    """Return the sum of the values in every step, or None in every step if the file has no values."""
    if np.isnan(values).all():
        return [None] * grid_s.size
    place = np.searchsorted(grid_s, times_s)
    inside = place < grid_s.size
    sums = np.bincount(place[inside], weights=np.nan_to_num(values[inside]), minlength=grid_s.size)
    return [round(value) for value in sums.tolist()]


def _total(values: Floats) -> int | None:
    return None if np.isnan(values).all() else round(float(np.nansum(values)))


def _most(values: Floats) -> int | None:
    return None if np.isnan(values).all() else round(float(np.nanmax(values)))


def _grown(values: Floats) -> int | None:
    """Return the increase of a counter, or None if it was reset."""
    known = values[~np.isnan(values)]
    return round(float(known[-1] - known[0])) if known.size and known[-1] >= known[0] else None


def discipline(document: Document) -> str:
    """Return the name of the test host's queue in `tc`, or ""."""
    given = document.table("EGRESS_INFO").get("qdiscs")
    names = [one.get("name") for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    known = [brief(name) for name in names if isinstance(name, str) and name not in _OF_DEVICES]
    return known[0] if known else ""


def queue_of(document: Document) -> str | None:
    """Return the test host's queue if scenarios support it, else None."""
    found = discipline(document)
    return found if found in catalogue.queues() else None


# The scenario of a test: its flows and the queue of its host, on a path that is unknown.


CLIENT = "client"


def scenario_of(document: Document, series: Sequence[Series], timing: Timing, names: Names) -> Scenario:
    """Return the scenario of a test, with placeholders for its unknown path. Repetitions of a test have equal
    scenarios."""
    flows = [one for one in series if one.kind != "qdisc"]
    servers = _servers(flows)
    return Scenario(
        name=flow_of(document.text("NAME")),
        duration=_seconds(timing.duration_s),
        warmup=_seconds(min(timing.delay_s, timing.duration_s / 2)),
        topology={"kind": "dumbbell", "bottleneck": UNKNOWN},
        **hosts_of(document),
        flows=[_flow(one, timing, names, servers[one.host]) for one in flows],
        record={"interval": _seconds(timing.step_s)},
    )


def hosts_of(document: Document) -> dict[str, Any]:
    """Return the test host with the queue of its network interface, if scenarios support that queue."""
    queue = queue_of(document)
    if queue is None:
        return {}
    speed = text(document.table("EGRESS_INFO", "link_params"), "speed")
    mbps = number(speed.removesuffix("Mb/s")) or 0.0
    rate = {"rate": f"{mbps:.0f} Mbit/s"} if 1 <= mbps <= 1e6 else {}
    return {"hosts": [{"name": CLIENT, "nic": {**rate, "queue": {"kind": queue}}}]}


def _servers(flows: Sequence[Series]) -> Mapping[str, str]:
    """Return the names of the hosts at the other end."""
    hosts = list(dict.fromkeys(one.host for one in flows))
    known = [host for host in hosts if host]
    numbered = {host: f"server {n}" if len(known) > 1 else "server" for n, host in enumerate(known, 1)}
    return {"": next(iter(numbered.values()), "server"), **numbered}


def _flow(one: Series, timing: Timing, names: Names, server: str) -> dict[str, Any]:
    is_upload = one.is_upload if one.kind in RATES else one.kind != "http"
    ends = {"hosts": [CLIENT, server], "direction": "reverse"} if is_upload else {"hosts": [server, CLIENT]}
    mark = {} if one.mark is None else {"dscp": one.mark}
    return {"name": one.flow, **ends, **mark, **_OF_KIND[one.kind](one, timing, names)}


def cca_of(one: Series, names: Names) -> str:
    """Return the algorithm of a stream in the scenario.

    An upload without a recorded algorithm gets the test host's default, if Fullpipe has that algorithm.
    """
    own = names.known(one.algorithm)
    if own is None and one.is_upload and not one.algorithm:
        own = names.known(names.default)
    return own or STAND_IN


def _stream(one: Series, timing: Timing, names: Names) -> dict[str, Any]:
    begin_s, end_s = timing.span_of(one)
    mss = mss_of(one)
    said = {"tcp": {"mss": f"{mss} B"}} if mss else {}
    return {"cca": cca_of(one, names), "start": _seconds(begin_s), "stop": _seconds(end_s), **said}


def _datagrams(one: Series, timing: Timing, names: Names) -> dict[str, Any]:
    begin_s, end_s = timing.span_of(one)
    rate_bps = totals_of(one, timing).goodput_bps or 0.0
    workload = {"kind": "udp", "rate": f"{max(rate_bps, 1.0):.0f} bit/s"}
    return {"workload": workload, "start": _seconds(begin_s), "stop": _seconds(end_s)}


def _regular(one: Series, timing: Timing, names: Names) -> dict[str, Any]:
    return {"workload": {"kind": one.kind, "interval": _seconds(timing.step_s)}}


def _fetches(one: Series, timing: Timing, names: Names) -> dict[str, Any]:
    return {"cca": STAND_IN, "workload": {"kind": "web"}}


def _call(one: Series, timing: Timing, names: Names) -> dict[str, Any]:
    return {"workload": {"kind": "voip"}}


_OF_KIND = {
    "tcp": _stream,
    "udp": _datagrams,
    "ping": _regular,
    "probe": _regular,
    "http": _fetches,
    "call": _call,
}


def _seconds(time_s: float) -> str:
    return f"{time_s:.6g} s"
