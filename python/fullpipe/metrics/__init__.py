"""Metrics: pure functions on the tables of a run, each with its formula and its source."""

from fullpipe.metrics.fairness import jain, starved_flows
from fullpipe.metrics.summary import summary
from fullpipe.metrics.throughput import (
    mean_goodput_bps,
    retransmission_rate,
    standard_deviation_bps,
    throughput_percentiles_bps,
    total_goodput_bps,
    utilisation,
)
from fullpipe.metrics.variables import numbers, states
from fullpipe.metrics.voice import mos, mouth_to_ear_s, opinion, rating

__all__ = [
    "jain",
    "mean_goodput_bps",
    "mos",
    "mouth_to_ear_s",
    "numbers",
    "opinion",
    "rating",
    "retransmission_rate",
    "standard_deviation_bps",
    "starved_flows",
    "states",
    "summary",
    "throughput_percentiles_bps",
    "total_goodput_bps",
    "utilisation",
]
