"""What the standards of Wi-Fi permit, and the rates of their modes, as the native engine has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fullpipe import _native


@dataclass(frozen=True)
class Standard:
    """What a standard permits."""

    bands_mhz: tuple[int, ...]
    widths_mhz: tuple[int, ...]
    guard_intervals_ns: tuple[int, ...]
    streams: int
    """At most."""
    last_mcs: int
    """The highest, counted for each number of streams."""
    ampdu_bytes: int
    """Of an aggregate at most."""
    window: int
    """Data frames that a block ACK tells of."""


@cache
def standards() -> Mapping[str, Standard]:
    """All of them by name."""
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
    """Rates of OFDM, in which control frames are sent."""
    return tuple(_native.wifi()["control_rates_bps"])


@cache
def rate_bps(standard: str, width_mhz: int, mcs: int, streams: int, guard_interval_ns: int) -> int | None:
    """Bits per second within the data field of a PPDU; none if there is no such mode."""
    return _native.wifi_rate_bps(standard, width_mhz, streams, mcs, guard_interval_ns)


def exists(standard: str, width_mhz: int, mcs: int, streams: int) -> bool:
    """Whether a standard has an MCS for so many streams in a channel."""
    guard_interval_ns = standards()[standard].guard_intervals_ns[0]
    return rate_bps(standard, width_mhz, mcs, streams, guard_interval_ns) is not None


def highest(standard: str, width_mhz: int, streams: int) -> int:
    """The highest MCS that there is."""
    every = range(standards()[standard].last_mcs + 1)
    return max(mcs for mcs in every if exists(standard, width_mhz, mcs, streams))
