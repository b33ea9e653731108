"""The measures of links."""

from fullpipe.analysis.metrics.loss import drop_rate
from fullpipe.analysis.metrics.margins import PACKETS, RATE, SHARE, SHARE_OF_PACKETS, WAIT, Margin
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, PART, Better, Bounds, LinkMeasure, View
from fullpipe.analysis.metrics.shapers import shaper_bps, shaper_utilisation


def _of_link(
    name: str,
    unit: str,
    better: Better,
    margin: Margin,
    meaning: str,
    column: str,
    label: str = "",
    bounds: Bounds = NO_LESS_THAN_0,
    *,
    is_percent: bool = False,
) -> LinkMeasure:
    return LinkMeasure(
        name,
        unit,
        better,
        margin,
        meaning,
        lambda row, _: row[column],
        f"links_summary.{column}",
        label=label,
        bounds=bounds,
        is_percent=is_percent,
    )


LINK_MEASURES = (
    _of_link(
        "utilisation",
        "1",
        "higher",
        SHARE,
        "share of the time in which it sent, at its own rate, not that of a shaper in its queue",
        "utilisation",
        bounds=PART,
        is_percent=True,
    ).leads(View.COMPARISON | View.REPORT, rank=10),
    LinkMeasure(
        "shaper_rate",
        "bit/s",
        "",
        RATE,
        "the rate to which its queue shapes or polices; none without such a queue",
        lambda row, run: shaper_bps(run, str(row["link"])),
        "links_summary.forwarded_bytes",
        event="its queue shapes or polices",
        label="shaper rate",
    ).leads(View.REPORT),
    LinkMeasure(
        "shaper_utilisation",
        "1",
        "higher",
        SHARE,
        "bytes that left the link, with all headers, over the rate of the shaper in its queue",
        lambda row, run: shaper_utilisation(run, row),
        "links_summary.forwarded_bytes",
        event="its queue shapes or polices",
        label="shaper utilisation",
        is_percent=True,
    ).leads(View.REPORT),
    _of_link(
        "sojourn_mean",
        "s",
        "lower",
        WAIT,
        "mean sojourn time",
        "sojourn_mean_s",
        "mean sojourn time",
    ).leads(View.COMPARISON | View.REPORT, rank=9),
    _of_link(
        "sojourn_p95",
        "s",
        "lower",
        WAIT,
        "95th percentile of the sojourn time",
        "sojourn_p95_s",
        "p95 sojourn time",
    ).leads(View.REPORT),
    _of_link(
        "dropped",
        "packets",
        "lower",
        PACKETS,
        "packets dropped by its queue or at random on the wire",
        "dropped_packets",
        "packets dropped",
    ).leads(View.COMPARISON | View.REPORT),
    LinkMeasure(
        "drop_rate",
        "1",
        "lower",
        SHARE_OF_PACKETS,
        "share of arriving packets that it dropped",
        lambda row, run: drop_rate(run.links_summary, str(row["link"])),
        "links_summary.dropped_packets",
        label="dropped packet share",
        bounds=PART,
        is_percent=True,
        digits=2,
    ).leads(View.REPORT),
    _of_link(
        "marked", "packets", "", PACKETS, "packets marked by its queue", "marked_packets", "packets marked"
    ),
)
"""Measures per busy link (see `busy_links`); they leave out the warm-up."""
