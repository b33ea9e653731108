"""Limits of a page, so that it can be sent and opened anywhere. The page says what exceeds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """The most that a page has of everything that grows with the runs."""

    samples: int = 300_000
    """Numbers of all time series; 8/3 bytes each."""
    runs_over_time: int = 8
    """Runs of which time series are drawn."""
    traces: int = 12
    """Flows or links in a figure over time."""
    rows: int = 1_000
    """Rows of a table."""
    figures: int = 12
    """Over points, of a scenario."""
    csv_bytes: int = 600_000
    """Bytes of the table of values."""
    scenarios: int = 12
    """Scenarios of other names."""
