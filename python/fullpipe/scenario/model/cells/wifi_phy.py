"""Rates of IEEE 802.11n, 802.11ac and 802.11ax: what a modulation and coding scheme (MCS) carries.

Tables 19-27 ff. (HT), 21-30 ff. (VHT) and 27-61 ff. (HE) of IEEE 802.11 are computed here: subcarriers that
carry data, times bits on each, times the rate of the code, times spatial streams, per symbol.
"""

from dataclasses import dataclass
from fractions import Fraction

NANOSECONDS = 10**9


@dataclass(frozen=True)
class Standard:
    """What a standard has."""

    subcarriers: dict[int, int]
    """That carry data, by the width of the channel in MHz."""
    symbol_ns: int
    """Without the guard interval."""
    guard_intervals_ns: tuple[int, ...]
    bands_mhz: tuple[int, ...]
    streams: int
    """At most."""
    schemes: int
    """MCS 0 and so many less one above it; of 802.11n, per stream."""
    ampdu_bytes: int
    """Of an aggregate at most."""
    window: int
    """Data frames that a block ACK tells of."""


_HT = {20: 52, 40: 108, 80: 234, 160: 468}
STANDARDS = {
    "802.11n": Standard({20: 52, 40: 108}, 3_200, (400, 800), (2_400, 5_000), 4, 8, 65_535, 64),
    "802.11ac": Standard(_HT, 3_200, (400, 800), (5_000,), 8, 10, 1_048_575, 64),
    "802.11ax": Standard(
        {20: 234, 40: 468, 80: 980, 160: 1_960},
        12_800,
        (800, 1_600, 3_200),
        (2_400, 5_000),
        8,
        12,
        6_500_631,
        256,
    ),
}
_SCHEMES = (
    *(
        (1, Fraction(1, 2)),
        (2, Fraction(1, 2)),
        (2, Fraction(3, 4)),
        (4, Fraction(1, 2)),
        (4, Fraction(3, 4)),
    ),
    *(
        (6, Fraction(2, 3)),
        (6, Fraction(3, 4)),
        (6, Fraction(5, 6)),
        (8, Fraction(3, 4)),
        (8, Fraction(5, 6)),
    ),
    *((10, Fraction(3, 4)), (10, Fraction(5, 6))),
)
"""Bits on a subcarrier and rate of the code, by MCS."""
_MISSING = {
    20: {(9, streams) for streams in (1, 2, 4, 5, 7, 8)},
    80: {(6, 3), (6, 7), (9, 6)},
    160: {(9, 3)},
}
"""MCS and streams, by the width of a channel of 802.11ac, whose bits do not fall evenly on its encoders:
Tables 21-30 to 21-61."""


def bits_per_symbol(standard: str, width_mhz: int, mcs: int, streams: int) -> Fraction:
    """Data bits in a symbol of all streams."""
    coded, code = _SCHEMES[mcs]
    return Fraction(STANDARDS[standard].subcarriers[width_mhz] * coded * streams) * code


def exists(standard: str, width_mhz: int, mcs: int, streams: int) -> bool:
    """Whether a standard has an MCS for so many streams."""
    missing = _MISSING.get(width_mhz, set()) if standard == "802.11ac" else set()
    return mcs < STANDARDS[standard].schemes and (mcs, streams) not in missing


def highest(standard: str, width_mhz: int, streams: int) -> int:
    """The highest MCS that there is."""
    schemes = range(STANDARDS[standard].schemes)
    return max(mcs for mcs in schemes if exists(standard, width_mhz, mcs, streams))


def rate_bps(standard: str, width_mhz: int, mcs: int, streams: int, guard_interval_ns: int) -> int:
    """Bits per second within the data field of a PPDU."""
    symbol_ns = STANDARDS[standard].symbol_ns + guard_interval_ns
    return int(bits_per_symbol(standard, width_mhz, mcs, streams) * NANOSECONDS / symbol_ns)
