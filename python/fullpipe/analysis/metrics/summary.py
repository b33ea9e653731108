"""A run as one JSON object: the contract of `fullpipe run --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.metrics.applications import call_scores, completion_percentiles_s, measured_transfers
from fullpipe.analysis.metrics.groups import bulk_names, flow_directions
from fullpipe.analysis.metrics.samples import compared
from fullpipe.analysis.metrics.throughput import jain_of_some
from fullpipe.runs import Run
from fullpipe.runs.spans import rows_together_bps

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
    "dropped_packets",
    "refused_bytes",
    "rtt_min_s",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "owd_min_s",
    "owd_mean_s",
    "owd_p50_s",
    "owd_p95_s",
    "owd_p99_s",
    "in_order_mean_s",
    "in_order_p95_s",
    "jitter_s",
    "fct_s",
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
    """Return the run as one JSON object. Unmeasured values are None. Times are in s, rates in bit/s.

    Flows, links, totals and transfers leave out the warm-up. `videos`, `data_packets`, `packet_hops` and
    `fct_s` of a flow cover the whole run. `fct_s` is None if the flow has no size or did not finish.

    `totals.jain` is Jain's index of the bulk flows, which `totals.bulk_flows` counts. The index is None for
    fewer than two bulk flows, and if some flows download and others upload, as flows in different directions
    do not compete. `measured` has the index per direction.

    Other totals cover all flows, downloads and uploads together. `totals.goodput_bps` covers the time from
    the first start, or the end of the warm-up if that is later, to the last end. `share` and `totals.jain`
    cover the time in which all bulk flows are active, and are None if there is no such time.
    """
    meta, scores = run.meta, call_scores(run)
    flows, links = run.rows("flows"), run.rows("links_summary")
    ways = _delivered(run, flows)
    shares = _shares(ways)
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
        "flows": [_flow(row, scores.get(row["flow"]), shares.get(row["flow"])) for row in flows],
        "links": [{key: row[key] for key in _LINK} for row in links],
        "totals": {
            "goodput_bps": _total_bps(run, flows),
            "jain": jain_of_some(ways[0], frozenset(bulk_names(run))) if len(ways) == 1 else None,
            "bulk_flows": _bulk_count(run, flows),
            "dropped_packets": sum(row["dropped_packets"] or 0 for row in links) if links else None,
        },
        "transfers": None if run.is_empty("transfers") else _transfers(measured_transfers(run)),
        "videos": run.rows("videos"),
    }


def _total_bps(run: Run, flows: Sequence[dict[str, Any]]) -> float | None:
    """Return the goodput of all flows together over one span, bit/s; 0 if no flow has a goodput."""
    if all(row["goodput_bps"] is None for row in flows):
        return 0.0
    return rows_together_bps(flows, "goodput_bps", run.scenario.warmup_s)


def _bulk_count(run: Run, flows: Sequence[dict[str, Any]]) -> int:
    names = frozenset(bulk_names(run))
    return sum(row["flow"] in names and row["goodput_bps"] is not None for row in flows)


def _delivered(run: Run, flows: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the amounts that flows deliver in the same time span, per direction: see `samples.compared`."""
    bulk = frozenset(bulk_names(run))
    ways = flow_directions(run).values() or [[row["flow"] for row in flows]]
    rows = [[row for row in flows if row["flow"] in names] for names in map(frozenset, ways)]
    return [compared(own, bulk, lambda: run.series, run.scenario.warmup_s) for own in rows]


def _shares(ways: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return every flow's share of the amount that all flows of its direction deliver in the same time
    span."""
    totals = [sum(delivered.values()) for delivered in ways]
    each = zip(ways, totals, strict=True)
    return {name: amount / total for delivered, total in each if total for name, amount in delivered.items()}


def _transfers(transfers: pl.DataFrame) -> dict[str, Any] | None:
    """Return the number of transfers, how many finished, and percentiles of their completion times."""
    if transfers.is_empty():
        return None
    times = completion_percentiles_s(transfers).row(0, named=True)
    return {"count": transfers.height} | {
        key: times[key] for key in ("finished", "mean_s", "p50_s", "p95_s", "p99_s")
    }


def _flow(row: dict[str, Any], score: float | None, share: float | None) -> dict[str, Any]:
    limited = {key: row[f"limited_{key}"] for key in _LIMITED}
    return {key: row[key] for key in _FLOW} | {"share": share, "call_score": score, "limited": limited}
