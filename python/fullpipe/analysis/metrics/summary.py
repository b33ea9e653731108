"""A run as one JSON object: the contract of `fullpipe run --json`."""

from typing import Any

import polars as pl

from fullpipe.analysis.metrics.connections import bulk_flows
from fullpipe.analysis.metrics.fairness import jain_among
from fullpipe.analysis.metrics.throughput import total_goodput_bps
from fullpipe.analysis.metrics.transfers import completion_percentiles_s, measured_transfers
from fullpipe.analysis.metrics.voice import call_scores
from fullpipe.runs import Run

_FLOW = (
    "flow",
    "cca",
    "protocol",
    "goodput_bps",
    "wire_bps",
    "sent_packets",
    "retransmitted_packets",
    "lost_packets",
    "refused_bytes",
    "rtt_min_s",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "owd_mean_s",
    "owd_p50_s",
    "owd_p95_s",
    "owd_p99_s",
    "jitter_s",
)
_LIMITED = ("cwnd", "pacing", "application", "receiver", "send_buffer")
_LINK = (
    "link",
    "dropped_packets",
    "marked_packets",
    "utilisation",
    "sojourn_mean_s",
    "sojourn_p95_s",
    "backlog_max_packets",
)


def summary(run: Run) -> dict[str, Any]:
    """The run as one JSON object. What was not measured is None; times are in seconds, rates in bit/s.

    Flows, links, totals and transfers leave out the warm-up. `videos`, `data_packets` and `packet_hops` are
    of the whole run. `totals.jain` is of the bulk flows, of which there are `totals.bulk_flows`, and None for
    fewer than two. Totals are of all flows, be they downloads or uploads; `measured` has both apart.
    """
    meta, flows, links, scores = run.meta, run.flows, run.links_summary, call_scores(run)
    bulk = bulk_flows(run)
    return {
        "scenario": run.name,
        "digest": meta.digest,
        "engine": {"name": meta.engine.name, "version": meta.engine.version},
        "seed": meta.seed,
        "model_version": meta.engine.model_version,
        "duration_s": meta.duration_s,
        "warmup_s": run.scenario.warmup_s,
        "wall_s": meta.wall_s,
        "cpu_s": meta.cpu_s,
        "data_packets": meta.data_packets,
        "packet_hops": meta.packet_hops,
        "flows": [_flow(row, scores.get(row["flow"])) for row in flows.iter_rows(named=True)],
        "links": [{key: row[key] for key in _LINK} for row in links.iter_rows(named=True)],
        "totals": {
            "goodput_bps": total_goodput_bps(flows),
            "jain": jain_among(bulk),
            "bulk_flows": bulk.height,
            "dropped_packets": None if links.is_empty() else links["dropped_packets"].sum(),
        },
        "transfers": _transfers(measured_transfers(run)),
        "videos": run.videos.to_dicts(),
    }


def _transfers(transfers: pl.DataFrame) -> dict[str, Any] | None:
    """How many there were, how many of them finished, and percentiles of their completion times."""
    if transfers.is_empty():
        return None
    times = completion_percentiles_s(transfers).row(0, named=True)
    return {"count": transfers.height} | {
        key: times[key] for key in ("finished", "mean_s", "p50_s", "p95_s", "p99_s")
    }


def _flow(row: dict[str, Any], score: float | None) -> dict[str, Any]:
    limited = {key: row[f"limited_{key}"] for key in _LIMITED}
    return {key: row[key] for key in _FLOW} | {"call_score": score, "limited": limited}
