"""Recorded paths: Mahimahi's packet-delivery traces, and rate, delay and loss over time as CSV."""

from fullpipe.io.traces.files import TraceError
from fullpipe.io.traces.mahimahi import (
    OPPORTUNITY_BYTES,
    Mahimahi,
    from_rates,
    parse_mahimahi,
    read_mahimahi,
    to_rates,
    write_mahimahi,
)
from fullpipe.io.traces.steps import Steps, parse_steps, read_steps, write_steps

__all__ = [
    "OPPORTUNITY_BYTES",
    "Mahimahi",
    "Steps",
    "TraceError",
    "from_rates",
    "parse_mahimahi",
    "parse_steps",
    "read_mahimahi",
    "read_steps",
    "to_rates",
    "write_mahimahi",
    "write_steps",
]
