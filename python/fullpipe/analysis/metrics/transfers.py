"""Transfers: completion times, and slowdowns relative to an empty path.

The metrics take rows of the table of transfers: one per transfer. A flow may make several in turn."""

from __future__ import annotations

from collections.abc import Sequence

from fullpipe.lazy import pl
from fullpipe.runs import Run


def measured_transfers(run: Run) -> pl.DataFrame:
    """Return the transfers that began after the warm-up, which all summaries use."""
    made = run.transfers
    return made if made.is_empty() else made.filter(pl.col("start_s") >= run.scenario.warmup_s)


def completion_percentiles_s(
    transfers: pl.DataFrame, percentiles: Sequence[float] = (50, 95, 99), *, by: str | None = None
) -> pl.DataFrame:
    """Percentiles of the flow completion times, s; unfinished transfers are counted but left out.

    Formula: the p-th percentile of fct_s over the transfers that finished, by linear interpolation.
    Source: Dukkipati and McKeown, "Why flow-completion time is the right metric for congestion control", ACM
    CCR 2006.

    Args:
        transfers: Rows of the table of transfers, such as `measured_transfers` gives. Transfers of the
            warm-up count if they are included.
        percentiles: From 0 to 100.
        by: A column to group by, such as "flow". Left out: one row for all transfers.

    Returns:
        The columns finished, unfinished, mean_s, p50_s and so on, one row per group.
    """
    fct = pl.col("fct_s")
    quantiles = [fct.quantile(p / 100, "linear").alias(f"p{p:g}_s") for p in percentiles]
    columns = [
        fct.count().cast(pl.Int64).alias("finished"),
        fct.null_count().cast(pl.Int64).alias("unfinished"),
        fct.mean().alias("mean_s"),
        *quantiles,
    ]
    return transfers.group_by(by, maintain_order=True).agg(columns) if by else transfers.select(columns)


def slowdowns(transfers: pl.DataFrame) -> pl.DataFrame:
    """The finished transfers with a column `slowdown`: the completion time over the ideal one.

    The ideal time ignores slow start, so that short transfers are above 1 on an empty path, too.

    Formula: fct / ideal. The ideal time is the least number of round trips on the empty path, plus
    8 · (bytes + headers) over the rate of the slowest link.
    Source: slowdown in Montazeri, Li, Alizadeh and Ousterhout, "Homa", SIGCOMM 2018; normalised completion
    time in Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013.

    >>> slowdowns(pl.DataFrame({"fct_s": [0.3, None], "ideal_s": [0.1, 0.1]}))["slowdown"].round(6).to_list()
    [3.0]
    """
    return transfers.drop_nulls("fct_s").with_columns(slowdown=pl.col("fct_s") / pl.col("ideal_s"))


def page_times_s(transfers: pl.DataFrame) -> pl.Series:
    """Load times of web pages, s; pages with an unfinished object are left out.

    Formula: the largest end_s less the smallest start_s of the transfers of a page.
    Source: page load time, W3C Navigation Timing (from the start of navigation to `loadEventEnd`), without
    the browser's own processing time.

    Args:
        transfers: Rows of the table of transfers, such as `measured_transfers` gives. If the first objects of
            a page are not among them, its time counts from the first object that is.
    """
    return begun_pages_s(transfers).drop_nulls()


def begun_pages_s(transfers: pl.DataFrame) -> pl.Series:
    """Return the load time of every web page as in `page_times_s`; null if an object did not finish."""
    if transfers.is_empty():
        return pl.Series("time_s", [], pl.Float64)
    pages = transfers.drop_nulls("page").group_by("flow", "page", maintain_order=True)
    took = pl.col("end_s").max() - pl.col("start_s").min()
    return pages.agg(time_s=pl.when(pl.col("fct_s").is_not_null().all()).then(took))["time_s"]
