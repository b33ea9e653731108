"""Recorded paths: packet-delivery traces of Mahimahi, packet trains of CellReplay, and rate, delay and loss
over time as CSV."""

from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.scenario.traces.files import (
    OPPORTUNITY_BYTES,
    Steps,
    TraceError,
    parse_delays,
    parse_steps,
    read_steps,
    write_steps,
)

if TYPE_CHECKING:
    from fullpipe.scenario.traces.mahimahi import (
        Mahimahi,
        from_deliveries,
        from_rates,
        parse_mahimahi,
        read_mahimahi,
        to_rates,
        write_mahimahi,
    )
    from fullpipe.scenario.traces.trains import Trains, parse_trains, read_trains

__all__ = [
    "OPPORTUNITY_BYTES",
    "Mahimahi",
    "Steps",
    "TraceError",
    "Trains",
    "from_deliveries",
    "from_rates",
    "parse_delays",
    "parse_mahimahi",
    "parse_steps",
    "parse_trains",
    "read_mahimahi",
    "read_steps",
    "read_trains",
    "to_rates",
    "write_mahimahi",
    "write_steps",
]

# Imports are lazy, as packet-delivery traces and trains import numpy, which most scenarios do not need.
_MAHIMAHI = ("Mahimahi", "from_deliveries", "from_rates", "parse_mahimahi", "read_mahimahi", "to_rates",
             "write_mahimahi")  # fmt: skip
__getattr__, __dir__ = lazy.names(
    __name__,
    dict.fromkeys(_MAHIMAHI, "mahimahi") | dict.fromkeys(("Trains", "parse_trains", "read_trains"), "trains"),
)
