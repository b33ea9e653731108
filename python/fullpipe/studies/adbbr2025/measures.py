"""Quantities of the paper, computed from the tables of a run. Rates are in Mbit/s, RTTs and delays in ms."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullpipe.analysis import metrics
from fullpipe.analysis.metrics import between, jain, retransmission_rate, total_goodput_bps
from fullpipe.runs import Run

Vector = NDArray[np.float64]

MBPS = 1e-6
MS = 1e3

SETTLED_S = 5.0
"""End of start-up. Steep drops before this time are not counted."""
DROP = 0.7
"""A sample belongs to a steep drop if the utilisation of the bottleneck is below this value."""
APART_S = 1.0
"""Samples of steep drops that are at most this time apart count as one drop."""

REGULAR_S = (9.0, 11.0)
"""Smallest and largest time between two consecutive drops that counts as "every ten seconds"."""

JITTER_S = 0.1
"""Maximum delay of a flow's start after the printed start time. The seed determines the delay."""

SPANS_S = {
    "jain_alone": (0, 30),
    "jain_after_30": (30, 40),
    "jain_before_60": (50, 60),
    "jain_after_60": (60, 70),
    "jain_three": (60, 90),
    "jain_shared": (30, 120),
}
"""Spans of time in s over which Jain's index is averaged in the experiment "join-leave"."""


def lone_flow(run: Run) -> dict[str, float]:
    """Measure the goodput and the mean RTT of one flow."""
    return {
        "goodput_mbps": total_goodput_bps(run.flows, run.scenario.warmup_s) * MBPS,
        "rtt_ms": MS * float(run.flows["rtt_mean_s"][0]),
    }


def two_flows(run: Run) -> dict[str, float]:
    """Measure the rates of the flows with RTTs of 10 ms and 50 ms, Jain's index, and steep drops."""
    return {
        **shares(run),
        "drops_per_100s": drops_per_100s(run.links),
        "regular_drops_percent": regular_drops_percent(run.links),
    }


def shares(run: Run) -> dict[str, float]:
    """Measure the rates of the flows with RTTs of 10 ms and 50 ms, and Jain's index."""
    short, long = (float(rate) * MBPS for rate in run.flows["goodput_bps"])
    return {
        "short_mbps": short,
        "long_mbps": long,
        "total_mbps": short + long,
        "gap_mbps": abs(long - short),
        "lead_mbps": long - short,
        "short_share": short / (short + long),
        "jain": jain([short, long]) or math.nan,
    }


def joining_flows(run: Run) -> dict[str, float]:
    """Return the mean of Jain's index over each span in `SPANS_S`."""
    index = jain_over_time(run)
    spans = {name: between(index, *span)["jain"].drop_nulls() for name, span in SPANS_S.items()}
    return {name: float(values.to_numpy().mean()) for name, values in spans.items() if len(values)}


def many_flows(run: Run) -> dict[str, float]:
    """Measure the share of retransmitted packets, the mean RTT of all flows, and the mean queueing delay,
    which is NaN if the engine does not measure it."""
    (waited_s,) = run.links_summary.filter(pl.col("link") == "bottleneck")["sojourn_mean_s"]
    return {
        "retransmitted_percent": 100 * (retransmission_rate(run.flows) or 0.0),
        "rtt_ms": MS * float(run.flows["rtt_mean_s"].to_numpy().mean()),
        "queue_ms": math.nan if waited_s is None else MS * float(waited_s),
    }


def jain_over_time(run: Run) -> pl.DataFrame:
    """Return Jain's index over time. A flow counts from the sample during which it starts."""
    return metrics.jain_over_time(run.series, run.flows, slack_s=JITTER_S)


def drops_per_100s(links: pl.DataFrame) -> float:
    """Return the number of steep drops after start-up per 100 s; NaN without samples after start-up."""
    end_s = float(links["time_s"].to_numpy().max()) if links.height else SETTLED_S
    return 100 * len(drops_s(links)) / (end_s - SETTLED_S) if end_s > SETTLED_S else math.nan


def regular_drops_percent(links: pl.DataFrame) -> float:
    """Return the percentage of the intervals between consecutive drops that last 9 to 11 s; 0 for fewer than
    two drops."""
    apart_s = np.diff(drops_s(links))
    regular = (apart_s >= REGULAR_S[0]) & (apart_s <= REGULAR_S[1])
    return 100 * float(regular.mean()) if apart_s.size else 0.0


def drops_s(links: pl.DataFrame) -> Vector:
    """Return the times in s of steep drops after start-up."""
    samples = links.filter((pl.col("link") == "bottleneck") & (pl.col("time_s") > SETTLED_S))
    times = samples.filter(pl.col("utilisation") < DROP)["time_s"].to_numpy()
    return times[np.diff(times, prepend=-np.inf) > APART_S]
