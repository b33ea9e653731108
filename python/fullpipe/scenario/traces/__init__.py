"""Recorded paths: Mahimahi's packet-delivery traces, and rate, delay and loss over time as CSV."""

from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.scenario.traces.files import OPPORTUNITY_BYTES, TraceError
from fullpipe.scenario.traces.steps import Steps, parse_steps, read_steps, write_steps

if TYPE_CHECKING:
    from fullpipe.scenario.traces.mahimahi import (
        Mahimahi,
        from_rates,
        parse_mahimahi,
        read_mahimahi,
        to_rates,
        write_mahimahi,
    )

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

# Packet-delivery traces need numpy, which most scenarios do not.
__getattr__ = lazy.names(
    __name__,
    dict.fromkeys(
        ("Mahimahi", "from_rates", "parse_mahimahi", "read_mahimahi", "to_rates", "write_mahimahi"),
        "mahimahi",
    ),
)
