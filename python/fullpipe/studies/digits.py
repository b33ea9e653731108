"""Printed numbers: their digits, and whether another number looks the same in print."""

from __future__ import annotations

ZERO = "0"
"""Printed zero, which is no rounded number: the value underflowed on the computer that printed it."""


def as_printed(value: float, printed: str) -> str:
    """Return a number with as many digits as a printed one.

    >>> as_printed(162_530_024.0, "1.63E+08")
    '1.63E+08'
    >>> as_printed(2.31999, "2.3200")
    '2.3200'
    """
    digits, exponent, _ = printed.upper().partition("E")
    if printed == ZERO:
        return ZERO if value == 0 else f"{value:.2E}"
    places = len(digits.partition(".")[2])
    return f"{value:.{places}{'E' if exponent else 'f'}}"


def is_as_printed(value: float, printed: str) -> bool:
    """Whether a number equals a printed one to its last digit.

    >>> is_as_printed(92.09931076, "92.0993107"), is_as_printed(92.09931074, "92.0993107")
    (False, True)
    """
    return as_printed(value, printed) == printed


def is_cut_off(value: float, printed: str) -> bool:
    """Whether a number is as printed if it is truncated instead of rounded.

    >>> is_cut_off(92.09931076, "92.0993107"), is_cut_off(1.23461e-173, "1.2346E-17")
    (True, True)
    >>> is_cut_off(92.09931066, "92.0993107")
    False
    """
    digits, exponent, _ = printed.upper().partition("E")
    places = len(digits.partition(".")[2])
    whole = as_printed(value, printed) if exponent else f"{value:.{places + 6}f}"
    return whole.startswith(printed) and not is_as_printed(value, printed)
