"""A run as one JSON object: the contract of `fullpipe run --json`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.metrics.connections import bulk_names
from fullpipe.analysis.metrics.fairness import jain
from fullpipe.analysis.metrics.throughput import total_goodput_bps
from fullpipe.analysis.metrics.transfers import completion_percentiles_s, measured_transfers
from fullpipe.analysis.metrics.voice import call_scores
from fullpipe.runs import Run

if TYPE_CHECKING:
    import polars as pl

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
_BLOCK = 128
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
    meta, scores = run.meta, call_scores(run)
    flows, links = run.rows("flows"), run.rows("links_summary")
    bulk = frozenset(bulk_names(run))
    rates = [row["goodput_bps"] for row in flows if row["flow"] in bulk and row["goodput_bps"] is not None]
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
        "flows": [_flow(row, scores.get(row["flow"])) for row in flows],
        "links": [{key: row[key] for key in _LINK} for row in links],
        "totals": {
            "goodput_bps": _total_bps(run, [row["goodput_bps"] for row in flows]),
            "jain": jain(rates) if len(rates) > 1 else None,
            "bulk_flows": len(rates),
            "dropped_packets": sum(row["dropped_packets"] or 0 for row in links) if links else None,
        },
        "transfers": None if run.is_empty("transfers") else _transfers(measured_transfers(run)),
        "videos": run.rows("videos"),
    }


def _total_bps(run: Run, rates: Sequence[float | None]) -> float:
    """Total goodput, without polars where it adds in the same order: it takes numbers in blocks of 128.

    `sum` adds otherwise from Python 3.12 on.
    """
    if len(rates) >= _BLOCK:
        return total_goodput_bps(run.flows)
    return reduce(add, (rate for rate in rates if rate is not None), 0.0)


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
