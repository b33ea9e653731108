"""Declarations of the metrics of applications and of links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fullpipe.analysis.metrics.applications import (
    slowdowns,
    stall_ratio,
    stalls,
    video_rate_bps,
    video_startup_s,
)
from fullpipe.analysis.metrics.groups import shaper_bps, shaper_utilisation
from fullpipe.analysis.metrics.loss import drop_rate
from fullpipe.analysis.metrics.measure import (
    BEGAN,
    DELAY,
    EVERYWHERE,
    NO_LESS_THAN_0,
    PACKETS,
    PART,
    RATE,
    SHARE,
    SHARE_OF_PACKETS,
    WAIT,
    Better,
    Bounds,
    LinkMeasure,
    Margin,
    Measure,
    Value,
    View,
)
from fullpipe.analysis.metrics.rows import Group
from fullpipe.analysis.metrics.samples import mean, real

if TYPE_CHECKING:
    import polars as pl


# Measures of calls.


def _call_score(group: Group) -> float | None:
    return _mean_score(group, group.whole.scores)


def _wideband_score(group: Group) -> float | None:
    return _mean_score(group, group.whole.wideband_scores)


def _mean_score(group: Group, scores: Mapping[str, float | None]) -> float | None:
    return mean([scores[flow] for flow in group.names if flow in scores])


OF_CALLS = (
    Measure(
        "call_score",
        "1",
        "higher",
        Margin(absolute=0.1),
        "mean opinion score of its calls, by the E-model",
        _call_score,
        "flows.owd_mean_s",
        label="opinion score (MOS)",
        combined="mean",
        bounds=(1.0, 4.5),
        digits=1,
    )
    .leads(EVERYWHERE, rank=1)
    .also("call_quality", "mos", "opinion_score", "voice_quality", "voip"),
    Measure(
        "call_score_wideband",
        "1",
        "higher",
        Margin(absolute=0.1),
        "mean opinion score of its calls by the wideband E-model (ITU-T G.107.1), as if speech were AMR-WB"
        " at 23.05 kbit/s; on another scale than call_score",
        _wideband_score,
        "flows.owd_mean_s",
        label="wideband opinion score",
        combined="mean",
        bounds=(1.0, 4.5),
        digits=1,
    ).also("wideband_mos"),
)
"""Opinion scores of the calls of a group of flows."""


# Measures of the applications of a group of flows: transfers, web pages and videos.


_Times = Callable[[Group], "pl.Series"]
"""Function that returns the completion times of a group, null if a transfer did not finish."""


def _percentile(times_s: _Times, percentile: float) -> Value:
    def value(group: Group) -> float | None:
        found = times_s(group)
        return real(found.quantile(percentile / 100, "linear")) if len(found) else None

    return value


def _counted(name: str, unit: str, what: str, times_s: _Times, column: str) -> tuple[Measure, Measure]:
    """Return two measures: the number of transfers or pages, and the share that did not finish."""

    def began(group: Group) -> float | None:
        return float(times_s(group).len()) or None

    def unfinished(group: Group) -> float | None:
        found = times_s(group)
        return found.null_count() / len(found) if len(found) else None

    return (
        Measure(
            f"{name}_began",
            unit,
            "",
            BEGAN,
            f"{what} that began after the warm-up",
            began,
            column,
            label=f"{what} that began",
        ),
        Measure(
            f"{name}_unfinished",
            "1",
            "lower",
            SHARE,
            f"share of the {what} that began after the warm-up and did not finish before the end of the run",
            unfinished,
            column,
            label=f"unfinished {what}",
            bounds=PART,
            is_percent=True,
        ),
    )


def _transfers_s(group: Group) -> pl.Series:
    return group.transfers_s


def _pages_s(group: Group) -> pl.Series:
    return group.pages_s


def _slowdown(group: Group) -> float | None:
    return real(slowdowns(group.transfers)["slowdown"].median()) if len(group.transfers) else None


def _of_videos(metric: Callable[[pl.DataFrame], float | None]) -> Value:
    """Return a function that applies `metric` to a group's videos; it gives None without videos."""
    return lambda group: None if group.videos.is_empty() else metric(group.videos)


_LATER = "the transfers that began after the warm-up"
_FINISHED = "any transfer that began after the warm-up finishes"
OF_APPLICATIONS = (
    Measure(
        "fct_p50",
        "s",
        "lower",
        DELAY,
        f"median completion time of {_LATER}",
        _percentile(_transfers_s, 50),
        "transfers.fct_s",
        _FINISHED,
        times="fct",
        label="median completion time",
    )
    .leads(EVERYWHERE, rank=4)
    .also("completion_time", "fct", "flow_completion_time"),
    Measure(
        "fct_p95",
        "s",
        "lower",
        DELAY,
        f"95th percentile of the completion time of {_LATER}",
        _percentile(_transfers_s, 95),
        "transfers.fct_s",
        _FINISHED,
        times="fct",
        label="p95 completion time",
    )
    .leads(View.TABLE | View.REPORT)
    .also("fct", "flow_completion_time"),
    *_counted("fct", "transfers", "transfers", _transfers_s, "transfers.fct_s"),
    Measure(
        "page_p50",
        "s",
        "lower",
        DELAY,
        "median time to load a web page that began after the warm-up",
        _percentile(_pages_s, 50),
        "transfers.page",
        "a web page that began after the warm-up is loaded",
        times="page",
        label="median page load time",
    )
    .leads(View.TABLE | View.COMPARISON | View.REPORT, rank=2)
    .also("page_load_time", "page_time", "plt"),
    Measure(
        "page_p95",
        "s",
        "lower",
        DELAY,
        "95th percentile of the time to load a web page that began after the warm-up",
        _percentile(_pages_s, 95),
        "transfers.page",
        "a web page that began after the warm-up is loaded",
        times="page",
        label="p95 page load time",
    ).also("page_load_time", "plt"),
    *_counted("page", "pages", "web pages", _pages_s, "transfers.page"),
    Measure(
        "slowdown",
        "1",
        "lower",
        DELAY,
        f"median ratio of the completion time to the ideal time on the empty path, over {_LATER}",
        _slowdown,
        "transfers.ideal_s",
        _FINISHED,
        times="fct",
        label="median slowdown",
        neutral=1.0,
    ).also("stretch"),
    Measure(
        "video_startup",
        "s",
        "lower",
        DELAY,
        "start-up delay of a video, from its start to its first picture, mean over its videos, the warm-up"
        " included",
        _of_videos(video_startup_s),
        "videos.startup_s",
        "any of its videos shows a picture",
        label="video start-up delay",
        combined="mean",
        is_in_seconds=True,
    )
    .leads(EVERYWHERE, rank=3)
    .also("join_time", "startup", "startup_delay"),
    Measure(
        "stalls",
        "1",
        "lower",
        Margin(absolute=0.5),
        "number of stalls of a video, mean over its videos, the warm-up included",
        _of_videos(stalls),
        "videos.stalls",
        label="stalls per video",
        combined="mean",
    ).also("rebuffering"),
    Measure(
        "stall_ratio",
        "1",
        "lower",
        SHARE,
        "share of the time since the first picture in which playback stalled, the warm-up included",
        _of_videos(stall_ratio),
        "videos.stalled_s",
        label="stall time share",
        bounds=PART,
        is_percent=True,
    )
    .leads(View.NOWHERE, rank=3)
    .also("rebuffering", "rebuffering_ratio"),
    Measure(
        "video_rate",
        "bit/s",
        "higher",
        RATE,
        "bit rate of the pieces of a video, mean over its videos, the warm-up included",
        _of_videos(video_rate_bps),
        "videos.bitrate_bps",
        label="video bit rate",
        combined="mean",
    ).also("video_bitrate", "video_quality"),
)
"""Measures per group of flows. All measures except those of videos leave out the warm-up."""


# The measures of links.


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
        "share of the time in which the link sent, at the link's rate, not the rate of a shaper in its queue",
        "utilisation",
        bounds=PART,
        is_percent=True,
    )
    .leads(View.COMPARISON | View.REPORT, rank=10)
    .also("utilization", "link_load", "load"),
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
        "mean time that packets spend in its queue",
        "sojourn_mean_s",
        "mean sojourn time",
    )
    .leads(View.COMPARISON | View.REPORT, rank=9)
    .also("queue", "queue_delay", "queueing_delay", "sojourn", "wait"),
    _of_link(
        "sojourn_p95",
        "s",
        "lower",
        WAIT,
        "95th percentile (within 0.8 %) of the time that packets spend in its queue",
        "sojourn_p95_s",
        "p95 sojourn time",
    )
    .leads(View.REPORT)
    .also("sojourn"),
    _of_link(
        "dropped",
        "packets",
        "lower",
        PACKETS,
        "packets dropped by its queue or at random on the wire",
        "dropped_packets",
        "packets dropped",
    )
    .leads(View.COMPARISON | View.REPORT)
    .also("drops"),
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
    )
    .leads(View.REPORT)
    .also("drops", "loss", "packet_loss"),
    _of_link(
        "marked", "packets", "", PACKETS, "packets marked by its queue", "marked_packets", "packets marked"
    ).also("ce_marks", "ecn", "marks"),
)
"""Measures per busy link (see `busy_links`); they leave out the warm-up."""
