"""Wired and wireless scenarios of the rerun, and the quantities measured in their runs."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.build import Choices, declared, path_of, scenario_of
from fullpipe.scenario.flent.families import DELAY_S, STEP_S, extra_rtt_ms
from fullpipe.scenario.model.topology import Graph
from fullpipe.studies.experiments import Experiment, Value, Variants

# The wired testbed and Flent's tests on it: a client, a host with NAT, a switch, and near and distant
# servers.


SERVERS_CCA = "cubic"
"""Algorithm with which the servers sent all downloads."""
LAN_S, UPLINK_S, NEAR_S = 0.000_15, 0.000_5, 0.000_1
"""One-way delays in s: client to host (sockets measured an RTT of 0.3 ms), host to switch, and switch to a
near server."""
NAT, SWITCH, CLIENT = "nat", "switch", "client"
LAN, UPLINK = 0, 1
"""Indices of the link from client to host, and of the link from host to switch. Links to servers follow."""
MAXIMA = {"receive_memory_most": "6 MiB", "send_memory_most": "4 MiB"}
"""Limits of socket memory at the client, from `tcp_rmem` and `tcp_wmem` in the published files."""
LENGTH_S, QUICK_LENGTH_S = 60.0, 12.0
"""Duration of the load in s, in the full form and in the quick form."""

_UPLINK_QUEUE = f"topology.links.{UPLINK}.queue"
_SENDER_QUEUE = "hosts.0.nic.queue"
_BEHIND_NAT = {"tcp.mss": "1460 B", "tcp.timestamps": False}
"""TCP settings of connections that a host splits into two, from the published files."""


def _fifo(**limit: Any) -> dict[str, Any]:
    return {"kind": "drop_tail", **limit}


def _ended(buffer: str = "1 MiB") -> dict[str, Any]:
    nat = {"name": NAT, "terminated": True, "proxy_buffer": buffer, "proxy_cca": SERVERS_CCA}
    return {"hosts.1": nat, **_BEHIND_NAT}


DIRECT, ENDED, ENDED_FQ_CODEL = "direct", "ended", "ended, fq_codel"
PATHS: Mapping[Value, Mapping[str, Any]] = {
    DIRECT: {},
    "direct, 100 packets": {_UPLINK_QUEUE: _fifo(packets=100)},
    "direct, 250 ms": {_UPLINK_QUEUE: _fifo(size="250 ms")},
    "direct, 500 ms": {_UPLINK_QUEUE: _fifo(size="500 ms")},
    "direct, 1.2 s": {_UPLINK_QUEUE: _fifo(size="1.2 s")},
    "direct, fq_codel": {_UPLINK_QUEUE: {"kind": "fq_codel"}},
    "direct, sender fq_codel": {_SENDER_QUEUE: {"kind": "fq_codel"}},
    "direct, sender CAKE": {_SENDER_QUEUE: {"kind": "cake"}},
    ENDED: _ended(),
    "ended, 256 KiB": _ended("256 KiB"),
    "ended, 16 MiB": _ended("16 MiB"),
    "ended, 1.2 s": {**_ended("16 MiB"), _UPLINK_QUEUE: _fifo(size="1.2 s")},
    ENDED_FQ_CODEL: {**_ended(), _UPLINK_QUEUE: {"kind": "fq_codel"}},
}
"""Settings of the path and its hosts. The paper does not print these settings.

In settings that begin with "direct", connections go from client to server, as in the paper. In settings that
begin with "ended", the host splits every connection into two, as the published files show, by default with a
buffer of 1 MiB. By default, the queue of the uplink has 1,000 packets as in Linux, and the sender has the
qdisc fq."""
SERVERS_ALIKE = ", servers alike"
"""Suffix of settings in which downloads use the algorithm under test."""


def scenario(test: str, *, length_s: float) -> Scenario:
    """Return the scenario of a Flent test on the testbed. Uploads and downloads use CUBIC by default."""
    path = path_of(Scenario.named("ethernet-100m"))
    chosen = Choices(ccas=(SERVERS_CCA,), server_cca=SERVERS_CCA, length_s=length_s)
    tree = scenario_of(declared(test), path, chosen).to_dict()
    servers = dict.fromkeys(host for flow in tree["flows"] for host in flow["hosts"] if host != CLIENT)
    tree["flows"] = [_in_graph(flow) for flow in tree["flows"]]
    tree["topology"] = _graph({name: _extra_s(name) for name in servers})
    tree["hosts"] = [{"name": CLIENT, "nic": {"rate": "1 Gbit/s", "queue": {"kind": "fq"}}}, {"name": NAT}]
    tree["tcp"] = {**tree["tcp"], **MAXIMA}
    return Scenario(**tree)


def streams(of: Scenario, way: str) -> tuple[int, ...]:
    """Return the indices of the TCP streams in one direction, "upload" or "download"."""
    return tuple(n for n, flow in enumerate(of.flows) if (flow.name or "").startswith(f"TCP {way}"))


def _extra_s(server: str) -> float:
    """Return the additional one-way delay of a server, in s."""
    number = server.removeprefix("server")
    return extra_rtt_ms(int(number) - 1) / 2e3 if number else 0.0


def _in_graph(flow: Mapping[str, Any]) -> dict[str, Any]:
    source, target = flow["hosts"]
    kept = {key: value for key, value in flow.items() if key not in ("hosts", "direction", "access")}
    return {**kept, "from": source, "to": target}


def _graph(servers: Mapping[str, float]) -> dict[str, Any]:
    delay, queue = f"{UPLINK_S} s", _fifo(packets=1000)
    links = [
        {"from": CLIENT, "to": NAT, "rate": "1 Gbit/s", "delay": f"{LAN_S} s", "duplex": True},
        {"from": NAT, "to": SWITCH, "rate": "100 Mbit/s", "delay": delay, "duplex": True, "queue": queue},
        *(
            {"from": SWITCH, "to": name, "rate": "1 Gbit/s", "delay": f"{NEAR_S + extra_s} s", "duplex": True}
            for name, extra_s in servers.items()
        ),
    ]
    return {"kind": "graph", "nodes": [CLIENT, NAT, SWITCH, *servers], "links": links}


# Quantities measured in a run of a Flent test, from samples of 0.2 s as in Flent and in the paper.


MBPS, MS = 1e-6, 1e3


def of_test(run: Run) -> dict[str, float]:
    """Return means and variances of the sum of uploads and of the sum of downloads, in Mbit/s, and of pings,
    in ms.

    Uploads and downloads are measured at the client, as by netperf. If a host splits connections, uploads
    and downloads are measured on the connections between client and host. In a short run with such a host,
    the measurement excludes the time in which the host's buffers fill. Pings count from the start to the end
    of the run, as in the printed tables. `median` is the median ping during the time under load.
    """
    return {**_sums(run), **_pings(run)}


def of_pair(run: Run) -> dict[str, float]:
    """Return the quantities of `of_test`, and the share of the first of two streams in the sum of their
    rates."""
    rates = _rates(run, "upload").group_by("flow", maintain_order=True).agg(pl.col("goodput_bps").mean())
    first, second = rates["goodput_bps"]
    return {**of_test(run), "share": first / (first + second)}


def of_classes(run: Run) -> dict[str, float]:
    """Return the quantities of `of_test`, and for every class the rate of its upload in Mbit/s and the median
    RTT of its UDP probe in ms."""
    rates = _rates(run, "upload").group_by("flow", maintain_order=True).agg(pl.col("goodput_bps").mean())
    classes = {f"upload_{name.split()[-1]}": rate * MBPS for name, rate in rates.iter_rows()}
    probes = _answers(run, "Ping UDP").filter(_under_load(run))
    medians = probes.group_by("flow", maintain_order=True).agg(pl.col("rtt_s").median())
    return {
        **of_test(run),
        **classes,
        **{f"udp_{name.split()[-1]}": rtt * MS for name, rtt in medians.iter_rows()},
    }


def of_marks(run: Run) -> dict[str, float]:
    """Return the quantities of `of_test`, and the shares of packets that the uplink marked and dropped, in
    per cent."""
    (link,) = run.links_summary.filter(pl.col("link") == f"{NAT}-switch").iter_rows(named=True)
    sent = link["forwarded_packets"]
    shares = {what: 100 * link[f"{what}_packets"] / sent for what in ("marked", "dropped")}
    return {**of_test(run), **shares}


def _sums(run: Run) -> dict[str, float]:
    found: dict[str, float] = {}
    for way in ("upload", "download"):
        by_time = _rates(run, way).group_by("time_s", maintain_order=True).agg(pl.col("goodput_bps").sum())
        if len(by_time):
            sums = by_time["goodput_bps"].to_numpy() * MBPS
            found |= {way: float(sums.mean()), f"{way}_variance": float(sums.var(ddof=1))}
    return found


def _rates(run: Run, way: str) -> pl.DataFrame:
    """Return the samples of the streams in one direction ("upload" or "download") during the load."""
    names = set(run.flows["flow"])
    chosen = [name for name in names if name.startswith(f"TCP {way}") and not name.endswith(f"-{NAT}")]
    if way == "download":  # streams from the host to the client, if the host splits connections
        chosen = [f"{name}-{NAT}" if f"{name}-{NAT}" in names else name for name in chosen]
    left_out_s = filling_s(run.scenario, len(chosen)) if way == "upload" else 0.0
    return run.series.filter(pl.col("flow").is_in(sorted(chosen)) & _under_load(run, left_out_s))


def filling_s(scenario: Scenario, uploads: int) -> float:
    """Return the time in s, a multiple of 0.2 s, in which uploads fill the buffers of a host that splits
    connections.

    The time is the size of the buffers divided by the difference of their arrival and departure rates. The
    function returns 0 for a run of full length, because netperf counted this time in the paper's runs.
    """
    buffers = [host.proxy_buffer_bytes for host in scenario.hosts or () if host.terminated]
    if scenario.duration_s - 2 * DELAY_S >= LENGTH_S or not buffers:
        return 0.0
    assert isinstance(scenario.topology, Graph)
    comes_bps, leaves_bps = (scenario.topology.links[link].rate_bps or 0 for link in (LAN, UPLINK))
    return STEP_S * ceil(8 * uploads * (buffers[0] or 0) / (comes_bps - leaves_bps) / STEP_S)


def _under_load(run: Run, left_out_s: float = 0.0) -> pl.Expr:
    end_s = run.scenario.duration_s - DELAY_S
    return (pl.col("time_s") > DELAY_S + left_out_s + STEP_S / 2) & (pl.col("time_s") < end_s + STEP_S / 2)


def _answers(run: Run, start: str) -> pl.DataFrame:
    """Return the pings with a reply, of the flows whose names begin with `start`."""
    return run.probes.filter(pl.col("flow").str.starts_with(start) & pl.col("rtt_s").is_not_null())


def _pings(run: Run) -> dict[str, float]:
    answers = _answers(run, "Ping ICMP")
    steps = answers.select(
        (pl.col("time_s") / STEP_S).floor().alias("step"), (pl.col("rtt_s") * MS).alias("ms"), "flow"
    )
    means = steps.group_by("step", maintain_order=True).agg(pl.col("ms").mean())["ms"].to_numpy()
    loaded = steps.filter(answers.select(_under_load(run)).to_series())
    medians = loaded.group_by("flow").agg(pl.col("ms").median()).sort("flow")["ms"]
    found = {"ping": float(means.mean()), "ping_variance": float(means.var(ddof=1))}
    found["median"] = float(np.median(loaded["ms"].to_numpy()))
    hosts = {f"host {number}": float(ms) for number, ms in enumerate(medians, start=1)}
    return found | (hosts if len(hosts) > 1 else {})


# The wireless experiment: uploads over a Wi-Fi cell whose parameters come from the published files.


NAME = "wifi upload"
STREAMS = (1, 4, 8, 12, 16)


def experiment(*, length_s: float) -> Experiment:
    """Return the experiment with 1 to 16 uploads and a neighbouring station, with Flent's start and end
    times."""
    named = {"flows.0.name": "TCP upload", "flows.1.name": "Ping ICMP"}
    times = {
        "flows.0.start": "5 s",
        "flows.0.stop": f"{5 + length_s:g} s",
        "duration": f"{10 + length_s:g} s",
    }
    tree = Scenario.named("wifi-p4-streams").to_dict()
    plain = Scenario(**{key: value for key, value in tree.items() if key != "sweep"})
    scenario = plain.with_values({**named, **times, "record.interval": "200 ms"})
    streams: Variants = {count: {"flows.0.count": count} for count in STREAMS}
    return Experiment(NAME, scenario, {}, of_test, {"streams": streams}, flows=(0,))
