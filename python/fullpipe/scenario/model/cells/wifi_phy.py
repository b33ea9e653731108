"""Limits of the Wi-Fi standards and the bit rates of their modes, from the native engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fullpipe import _native


@dataclass(frozen=True)
class Standard:
    """Limits of a standard."""

    bands_mhz: tuple[int, ...]
    widths_mhz: tuple[int, ...]
    guard_intervals_ns: tuple[int, ...]
    streams: int
    """Largest number of spatial streams."""
    last_mcs: int
    """Highest MCS, numbered per stream."""
    ampdu_bytes: int
    """Largest aggregate."""
    window: int
    """Data frames covered by a block ACK."""


@cache
def standards() -> Mapping[str, Standard]:
    """Return all standards by name."""
    return {
        found["name"]: Standard(
            bands_mhz=tuple(found["bands"]),
            widths_mhz=tuple(width for width, _ in found["widths"]),
            guard_intervals_ns=tuple(found["guard_intervals"]),
            streams=found["streams"],
            last_mcs=found["mcs"],
            ampdu_bytes=found["ampdu_bytes"],
            window=found["window"],
        )
        for found in _native.wifi()["standards"]
    }


@cache
def control_rates_bps() -> tuple[int, ...]:
    """Return the OFDM rates for control frames."""
    return tuple(_native.wifi()["control_rates_bps"])


@cache
def rate_bps(standard: str, width_mhz: int, mcs: int, streams: int, guard_interval_ns: int) -> int | None:
    """Return the bit rate within the data field of a PPDU, or None if the mode does not exist."""
    return _native.wifi_rate_bps(standard, width_mhz, streams, mcs, guard_interval_ns)


def exists(standard: str, width_mhz: int, mcs: int, streams: int) -> bool:
    """Whether a standard has an MCS with this channel width and number of streams."""
    guard_interval_ns = standards()[standard].guard_intervals_ns[0]
    return rate_bps(standard, width_mhz, mcs, streams, guard_interval_ns) is not None


def highest(standard: str, width_mhz: int, streams: int) -> int:
    """Return the highest MCS with this channel width and number of streams."""
    every = range(standards()[standard].last_mcs + 1)
    return max(mcs for mcs in every if exists(standard, width_mhz, mcs, streams))
