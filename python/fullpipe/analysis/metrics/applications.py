"""Metrics of applications: transfers, videos, calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fullpipe.analysis.metrics.samples import real
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import Flow, flow_names
from fullpipe.scenario.remembered import Remembered

# Transfers: completion times, and slowdowns relative to an empty path.
#
# The metrics take rows of the table `transfers`: one row per transfer. A flow can make several transfers in
# turn.


def measured_transfers(run: Run) -> pl.DataFrame:
    """Return the transfers that began after the warm-up, which all summaries use."""
    made = run.transfers
    return made if made.is_empty() else made.filter(pl.col("start_s") >= run.scenario.warmup_s)


def completion_percentiles_s(
    transfers: pl.DataFrame, percentiles: Sequence[float] = (50, 95, 99), *, by: str | None = None
) -> pl.DataFrame:
    """Percentiles of the flow completion times, s. Unfinished transfers are counted, but are not in the
    percentiles.

    Formula: the p-th percentile of fct_s over the transfers that finished, by linear interpolation.
    Source: Dukkipati and McKeown, "Why flow-completion time is the right metric for congestion control", ACM
    CCR 2006.

    Args:
        transfers: Rows of the table of transfers, such as `measured_transfers` gives. Transfers that began
            within the warm-up count if the table has them.
        percentiles: From 0 to 100.
        by: A column to group by, such as "flow". Default: one row for all transfers.

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
    """The finished transfers with a column `slowdown`: completion time over ideal time.

    The ideal time ignores slow start, so the slowdown of a short transfer exceeds 1 even on an empty path.

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
            a page are missing, its load time counts from the first object in the table.
    """
    return begun_pages_s(transfers).drop_nulls()


def begun_pages_s(transfers: pl.DataFrame) -> pl.Series:
    """Return the load time of every web page as in `page_times_s`; null if an object did not finish."""
    if transfers.is_empty():
        return pl.Series("time_s", [], pl.Float64)
    pages = transfers.drop_nulls("page").group_by("flow", "page", maintain_order=True)
    took = pl.col("end_s").max() - pl.col("start_s").min()
    return pages.agg(time_s=pl.when(pl.col("fct_s").is_not_null().all()).then(took))["time_s"]


# Quality of videos over the whole run: stalls and bit rates. Functions take rows of the table of videos.


def stall_ratio(videos: pl.DataFrame) -> float | None:
    """Share of the time since the first picture in which playback stalled; None if nothing was played.

    Formula: Σ stalled time / Σ (stalled time + played time).
    Source: buffering ratio in Dobrian et al., "Understanding the impact of video quality on user engagement",
    SIGCOMM 2011.

    >>> stall_ratio(pl.DataFrame({"stalled_s": [1.0, 1.0], "played_s": [9.0, 29.0]}))
    0.05
    """
    stalled_s, played_s = (float(videos[name].sum()) for name in ("stalled_s", "played_s"))
    return stalled_s / (stalled_s + played_s) if stalled_s + played_s else None


def video_startup_s(videos: pl.DataFrame) -> float | None:
    """Start-up delay of a video, s, from its start to its first picture: mean over the videos that showed a
    picture.

    Formula: mean of the start-up delays.
    Source: join time in Dobrian et al., see `stall_ratio`.

    >>> video_startup_s(pl.DataFrame({"startup_s": [0.5, None, 1.5]}))
    1.0
    """
    return real(videos["startup_s"].mean())


def stalls(videos: pl.DataFrame) -> float | None:
    """Number of stalls of a video, mean over videos; None without videos.

    Formula: mean of the number of stalls.
    Source: Dobrian et al., see `stall_ratio`.
    """
    return real(videos["stalls"].mean())


def video_rate_bps(videos: pl.DataFrame) -> float | None:
    """Bit rate at which pieces were encoded, bit/s, mean over videos; None if no piece arrived.

    Formula: mean over videos of the mean over pieces.
    Source: average bit rate in Dobrian et al., see `stall_ratio`.
    """
    return real(videos["bitrate_bps"].mean())


# Quality of calls by the E-model (ITU-T G.107, and G.107.1 for wideband speech).


Number = TypeVar("Number", float, "pl.Expr")
"""A number, or a polars expression for many calls together."""
FRAME_S = 0.02
"""Usual duration of the speech in a packet of G.711."""

_R0 = 93.2
"""Rating without delay, loss and coding: the default values of G.107, table 3."""
_KNEE_MS = 177.3
"""Mouth-to-ear delay above which people begin to talk at the same time, ms."""

_R0_WIDEBAND = 129.0
"""Rating of wideband speech without delay, loss and coding (G.107.1, section 7.2)."""
_NOTICED_MS = 100.0
"""mT, the shortest delay that users notice, for the default class of users of G.107, table 1."""
_SENSITIVE = 6.0
"""Exponent 6 sT of the delay impairment: sT is 1 for the default class of users of G.107, table 1."""


def rating(delay_s: Number, loss: Number, *, ie: float = 0.0, bpl: float = 25.1) -> Number:
    """Transmission rating R of the E-model, as a function of delay, loss and coding only.

    Formula: R = 93.2 - Id - Ie,eff, with Id = 0.024 d + 0.11 (d - 177.3) H(d - 177.3) for a delay of d ms
    (H is 0 below zero and 1 above), and Ie,eff = Ie + (95 - Ie) Ppl / (Ppl + Bpl) for a random loss of
    Ppl percent.
    Source: ITU-T G.107 (06/2015), equations 7-1 and 7-29 with default values; Id by the approximation of Cole
    and Rosenbluth, "Voice over IP performance monitoring", ACM CCR 31(2), 2001. Bursty loss is rated as if
    it were random (BurstR = 1).

    Args:
        delay_s: From mouth to ear, seconds.
        loss: Share of the packets that are dropped, or too late, from 0 to 1.
        ie: Impairment by the coding; 0 is G.711 (ITU-T G.113, appendix I).
        bpl: Robustness of the coding against loss, percent; 25.1 is G.711 with loss concealment, 4.3 without.

    >>> round(rating(0.0, 0.0), 1)
    93.2
    """
    delay_ms, percent = 1e3 * delay_s, 100 * loss
    by_delay = 0.024 * delay_ms + 0.11 * _within(delay_ms - _KNEE_MS, 0.0)
    by_loss = ie + (95 - ie) * percent / (percent + bpl)
    return _R0 - by_delay - by_loss


def opinion(rating: Number) -> Number:
    """Mean opinion score for a rating R, from 1 to 4.5.

    Formula: 1 + 0.035 R + 7e-6 R (R - 60) (100 - R).
    Source: ITU-T G.107 (06/2015), annex B. For R under 6.5 the formula is a little below 1, and the result is
    1.

    >>> [round(opinion(r), 2) for r in (90, 80, 70, 60, 50)]
    [4.34, 4.02, 3.6, 3.1, 2.58]
    """
    r = _within(rating, 0.0, 100.0)
    return _within(1 + 0.035 * r + 7e-6 * r * (r - 60) * (100 - r), 1.0)


def _within(value: Number, low: float, high: float = math.inf) -> Number:
    return min(high, max(low, value)) if isinstance(value, int | float) else value.clip(low, high)


def mos(delay_s: Number, loss: Number, *, ie: float = 0.0, bpl: float = 25.1) -> Number:
    """Mean opinion score of a call, from 1 (bad) to 4.5, as the E-model estimates it.

    Formula: opinion(rating(delay, loss)).
    Source: ITU-T G.107 (06/2015), annex B; see `rating`.

    >>> round(mos(0.1, 0.0), 2)
    4.36
    """
    return opinion(rating(delay_s, loss, ie=ie, bpl=bpl))


def rating_wideband(delay_s: float, loss: float, *, ie: float = 8.0, bpl: float = 4.6) -> float:
    """Transmission rating R of the wideband E-model, on its own scale up to 129.

    Formula: R = 129 - Idd - Ie,eff, with Ie,eff as in `rating`, and for a delay of d ms above 100 ms
    Idd = 25 ((1 + X^6)^(1/6) - 3 (1 + (X/3)^6)^(1/6) + 2), X = log2(d / 100); Idd is 0 up to 100 ms.
    Source: ITU-T G.107.1 (06/2019), section 7 with default values: echo, noise and loudness are left out.
    Bursty loss is rated as if it were random (BurstR = 1).

    Args:
        delay_s: From mouth to ear, seconds.
        loss: Share of the packets that are dropped, or too late, from 0 to 1.
        ie: Impairment by the coding; AMR-WB has 8 at 23.05 kbit/s and 20 at 12.65 (ITU-T G.113, table IV.3,
            both ears).
        bpl: Robustness of the coding against loss, percent; AMR-WB has 4.6 at 23.05 kbit/s and 4.3 at 12.65
            (G.113, table IV.4).

    >>> rating_wideband(0.1, 0.0), round(rating_wideband(0.4, 0.0), 1)
    (121.0, 96.9)
    """
    x = math.log2(max(1e3 * delay_s / _NOTICED_MS, 1.0))
    by_delay = 25 * (_root(x) - 3 * _root(x / 3) + 2)
    percent = 100 * loss
    return _R0_WIDEBAND - by_delay - ie - (95 - ie) * percent / (percent + bpl)


def _root(x: float) -> float:
    return math.pow(1 + x**_SENSITIVE, 1 / _SENSITIVE)


def mos_wideband(delay_s: float, loss: float, *, ie: float = 8.0, bpl: float = 4.6) -> float:
    """Mean opinion score of a wideband call, from 1 to 4.5. The score cannot be compared with `mos`: people
    who rate wideband speech use another scale.

    Formula: opinion(rating_wideband(delay, loss) / 1.29).
    Source: ITU-T G.107.1 (06/2019), annex A, equations A-1 and A-2.

    >>> round(mos_wideband(0.1, 0.0), 2)
    4.42
    """
    return opinion(rating_wideband(delay_s, loss, ie=ie, bpl=bpl) / 1.29)


def mouth_to_ear_s(owd_mean_s: Number, jitter_s: Number, frame_s: Number | float = FRAME_S) -> Number:
    """Mouth-to-ear delay of speech, s: packetisation, one-way delay and playout buffer.

    Formula: frame + one-way delay + 2 · jitter.
    Source: a fixed playout buffer of two jitters is a rule of thumb; no packet is assumed to arrive too late.
    """
    return frame_s + owd_mean_s + 2 * jitter_s


def call_scores(run: Run, *, wideband: bool = False) -> dict[str, float | None]:
    """Mean opinion score of every call of a run, by the name of its flow; None if no packet arrived.

    Formula: `mos` or `mos_wideband`, with the delay of `mouth_to_ear_s` and the share of lost packets.
    Source: ITU-T G.107 and G.107.1, see `mos` and `mos_wideband`.
    """
    model = mos_wideband if wideband else mos
    frames_s = _frames_s(run.scenario)
    rows = run.rows("flows") if frames_s else ()
    return {row["flow"]: _score(model, row, frames_s[row["flow"]]) for row in rows if row["flow"] in frames_s}


@Remembered
def _frames_s(scenario: Scenario) -> Mapping[str, float]:
    return call_frames_s(scenario.flows)


def call_frames_s(flows: Sequence[Flow]) -> dict[str, float]:
    """Return the duration of the speech in a packet of every call, s, by the name of its flow."""
    if all(flow.workload is None for flow in flows):
        return {}
    from fullpipe.scenario.model.workloads.datagrams import Voip  # here: few scenarios have any

    return {
        name: flow.workload.frame_s
        for flow, names in zip(flows, flow_names(flows), strict=True)
        for name in names
        if isinstance(flow.workload, Voip)
    }


def _score(model: Callable[[float, float], float], row: Mapping[str, Any], frame_s: float) -> float | None:
    if row["owd_mean_s"] is None or row["lost_packets"] is None or not row["sent_packets"]:
        return None
    delay_s = mouth_to_ear_s(row["owd_mean_s"], row["jitter_s"] or 0.0, frame_s)
    return model(delay_s, row["lost_packets"] / row["sent_packets"])


OF_CALL = ("owd_mean_s", "jitter_s", "sent_packets", "lost_packets")
"""Columns of the table of flows that `call_score` reads."""


def call_score() -> pl.Expr:
    """Mean opinion score of the call in a row of the table of flows; null if no packet arrived.

    The table needs a column `frame_s` with the values of `call_frames_s`.

    Formula: see `call_scores`.
    Source: ITU-T G.107, see `mos`.
    """
    owd_s, jitter_s, frame_s = pl.col("owd_mean_s"), pl.col("jitter_s").fill_null(0.0), pl.col("frame_s")
    loss = pl.col("lost_packets") / pl.col("sent_packets")
    return pl.when(pl.col("sent_packets") > 0).then(mos(mouth_to_ear_s(owd_s, jitter_s, frame_s), loss))
