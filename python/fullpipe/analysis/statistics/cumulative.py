"""Confidence band around an empirical distribution function."""

import math

from fullpipe.analysis.statistics.intervals import check_level


def dkw_half_width(n: int, level: float = 0.95) -> float:
    """Half-width of a band around a sample's distribution function that covers the true one everywhere.

    Formula: sqrt(ln(2 / (1 - level)) / (2 n)).
    Source: Dvoretzky, Kiefer and Wolfowitz 1956; with the constant of Massart 1990, "The tight constant in
    the Dvoretzky-Kiefer-Wolfowitz inequality".

    Args:
        n: Number of independent values, one per run.
        level: Probability that the whole function is inside the band.

    Raises:
        ValueError: If there is no value, or `level` is not between 0 and 1.

    >>> round(dkw_half_width(100), 4)
    0.1358
    """
    check_level(level)
    if n < 1:
        raise ValueError(f"n: {n} is below 1")
    return math.sqrt(math.log(2 / (1 - level)) / (2 * n))
