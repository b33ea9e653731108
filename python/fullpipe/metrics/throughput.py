"""How much flows and links carry. Goodput counts payload once; all functions take the tables of a run."""

from collections.abc import Sequence

import polars as pl


def total_goodput_bps(flows: pl.DataFrame) -> float:
    """Sum of the goodput of all flows, bit/s: sum over i of delivered payload_i / time_i."""
    return float(flows["goodput_bps"].sum())


def mean_goodput_bps(flows: pl.DataFrame) -> float | None:
    """Mean goodput per flow, bit/s; None without flows."""
    return _real(flows["goodput_bps"].mean())


def standard_deviation_bps(flows: pl.DataFrame, ddof: int = 1) -> float | None:
    """Standard deviation of the goodput between the flows of one run, bit/s.

    Args:
        flows: Table of flows.
        ddof: 1 for a sample of flows (divide by n - 1), 0 for the population (divide by n).

    Returns:
        None with fewer than two flows, or one if `ddof` is 0.
    """
    return _real(flows["goodput_bps"].std(ddof=ddof))


def retransmission_rate(flows: pl.DataFrame) -> float | None:
    """Data packets sent again, over all data packets sent, of all flows together; None if nothing was sent.

    Source: RFC 6349, section 4.2, TCP efficiency, of which this is the complement, in packets, not bytes.
    """
    sent = int(flows["sent_packets"].sum())
    return int(flows["retransmitted_packets"].sum()) / sent if sent else None


def utilisation(links_summary: pl.DataFrame, link: str = "bottleneck") -> float | None:
    """Share of the time in which a link sent; None if its rate is unlimited.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    return _real(rows["utilisation"][0])


def throughput_percentiles_bps(
    series: pl.DataFrame, percentiles: Sequence[float] = (5, 50, 95), warmup_s: float = 0.0
) -> pl.DataFrame:
    """Percentiles over time of the goodput of every flow, bit/s, by linear interpolation between samples.

    Args:
        series: Table of samples.
        percentiles: From 0 to 100.
        warmup_s: Leaves out the samples up to this time.

    Returns:
        One row per flow in the order of the table, with the columns flow, p5_bps, p50_bps and so on.
    """
    goodput = pl.col("goodput_bps")
    columns = [goodput.quantile(p / 100, "linear").alias(f"p{p:g}_bps") for p in percentiles]
    return series.filter(pl.col("time_s") > warmup_s).group_by("flow", maintain_order=True).agg(columns)


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
