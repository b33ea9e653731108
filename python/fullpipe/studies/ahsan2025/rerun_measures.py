"""Quantities of a run of a Flent test, with samples of 0.2 s as in Flent and in the paper."""

from __future__ import annotations

from math import ceil

import numpy as np
import polars as pl

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.flent.families import DELAY_S, STEP_S
from fullpipe.scenario.model.topology import Graph
from fullpipe.studies.ahsan2025.rerun_wired import LAN, LENGTH_S, NAT, UPLINK

MBPS, MS = 1e-6, 1e3


def of_test(run: Run) -> dict[str, float]:
    """Means and variances of the sums of uploads and downloads, in Mbit/s, and of pings, in ms.

    Uploads and downloads are measured at the client, as by netperf: if a host ends TCP, on the connections
    between client and host. A short run leaves out the time in which the buffers of that host fill. Pings
    count from the start to the end of the run, as in the printed tables; `median` is over the time under
    load.
    """
    return {**_sums(run), **_pings(run)}


def of_pair(run: Run) -> dict[str, float]:
    """The quantities of `of_test`, with the share of the first of two streams."""
    rates = _rates(run, "upload").group_by("flow", maintain_order=True).agg(pl.col("goodput_bps").mean())
    first, second = rates["goodput_bps"]
    return {**of_test(run), "share": first / (first + second)}


def of_classes(run: Run) -> dict[str, float]:
    """The quantities of `of_test`, and per class the upload in Mbit/s and the median of its UDP probe in
    ms."""
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
    """The quantities of `of_test`, with the shares of packets that the uplink marked and dropped, in per
    cent."""
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
    """Return the samples of the streams in one direction, while they run."""
    names = set(run.flows["flow"])
    chosen = [name for name in names if name.startswith(f"TCP {way}") and not name.endswith(f"-{NAT}")]
    if way == "download":  # what reaches the client
        chosen = [f"{name}-{NAT}" if f"{name}-{NAT}" in names else name for name in chosen]
    left_out_s = filling_s(run.scenario, len(chosen)) if way == "upload" else 0.0
    return run.series.filter(pl.col("flow").is_in(sorted(chosen)) & _under_load(run, left_out_s))


def filling_s(scenario: Scenario, uploads: int) -> float:
    """Return the time in which uploads fill the buffers of a host that ends them, s, in whole samples.

    It is the size of the buffers over the difference of arrival and departure rates. In a run of full length
    it is 0: netperf counted this time.
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
    """Return the answered pings of the flows whose names begin with `start`."""
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
