"""How evenly flows share."""

from collections.abc import Iterable

import polars as pl


def jain(rates: Iterable[float | None]) -> float | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything.

    Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.

    Returns:
        None if there is no rate, or all of them are zero.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    """
    known = [rate for rate in rates if rate is not None]
    squares = sum(rate * rate for rate in known)
    return sum(known) ** 2 / (len(known) * squares) if squares else None


def starved_flows(flows: pl.DataFrame, below_bps: float = 1e6) -> int:
    """How many flows have a goodput below a threshold, 1 Mbit/s if not given.

    Source: the count of starved flows in Kato et al., AFIN 2025.
    """
    return flows.filter(pl.col("goodput_bps") < below_bps).height
