"""The scenario of a test: its flows and the queue of its host, on a path that is unknown."""

from collections.abc import Mapping, Sequence
from typing import Any

from fullpipe.engines.flent.algorithms import Names
from fullpipe.engines.flent.document import Document, number, text
from fullpipe.engines.flent.qdisc import queue_of
from fullpipe.engines.flent.series import RATES, Series
from fullpipe.engines.flent.timing import Timing
from fullpipe.engines.flent.totals import mss_of, totals_of
from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.names import flow_of

CLIENT = "client"
UNKNOWN = {"rate": "1 Tbit/s", "delay": "1 us"}
"""Placeholder for an unknown path, as a scenario needs a rate and a delay. They are not measured values."""
STAND_IN = "cubic"
"""Placeholder for an unknown algorithm: the default of Linux since 2.6.19 (net/ipv4/Kconfig)."""


def scenario_of(document: Document, series: Sequence[Series], timing: Timing, names: Names) -> Scenario:
    """Return the scenario of a test whose path is unknown. It is equal for repetitions of a test."""
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

    An upload without a recorded algorithm gets the default of the test host, if it is known here.
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
