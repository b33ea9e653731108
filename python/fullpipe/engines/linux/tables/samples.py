"""Samples of connections in the guest: the `tcp_info` of the kernel, and counts of marks."""

from pathlib import Path

import polars as pl

from fullpipe.engines.linux.script.script import sample_ns
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import to_nanoseconds

_STATE = ("number", "time", "state", "ca_state", "mss", "cwnd", "ssthresh", "rtt", "min_rtt")
_RATES = ("pacing", "delivery")
_COUNTS = ("unacked", "sacked", "lost", "resent", "retransmitted", "sent", "delivered", "sent_bytes")
_REST = ("busy", "rwnd_limited", "sndbuf_limited", "received", "finished")
_COLUMNS = (*_STATE, *_RATES, *_COUNTS, *_REST)
_MARKS = ("number", "time", "marked")
LATE_NS = 200_000
"""Maximum delay of a sample, since reading a clock takes time."""


def read_samples(path: Path, scenario: Scenario) -> pl.DataFrame:
    """Read samples in order of time, with their nominal times."""
    types = {name: pl.UInt64 if name in _RATES else pl.Int64 for name in _COLUMNS}
    read = pl.read_csv(path, has_header=False, new_columns=list(_COLUMNS), schema=types)
    period_ns = sample_ns(to_nanoseconds(scenario.record.interval_s))
    early = pl.col("time") - pl.col("time") % period_ns
    marks = [to_nanoseconds(scenario.warmup_s), to_nanoseconds(scenario.duration_s)]
    meant = pl.when(pl.col("time") - early < LATE_NS).then(early).otherwise(pl.col("time"))
    for mark_ns in marks:
        near = pl.col("time").is_between(mark_ns, mark_ns + LATE_NS)
        meant = pl.when(near).then(mark_ns).otherwise(meant)
    timed = read.with_columns(time=meant)
    return timed.unique(["number", "time"], keep="last", maintain_order=True).sort("time", "number")


def read_marks(path: Path) -> pl.DataFrame:
    """Read the numbers of marked packets received by every flow, at the boundaries of intervals."""
    return pl.read_csv(
        path, has_header=False, new_columns=list(_MARKS), schema=dict.fromkeys(_MARKS, pl.Int64)
    )
