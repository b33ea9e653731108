"""Quality of videos over the whole run: stalls and bit rates. Functions take rows of the table of videos."""

from __future__ import annotations

from fullpipe.analysis.metrics.samples import real
from fullpipe.lazy import pl


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
    """Start-up delay of a video, s, from its start to its first picture: mean over videos that showed one.

    Formula: mean of the start-up delays.
    Source: join time, in the source of `stall_ratio`.

    >>> video_startup_s(pl.DataFrame({"startup_s": [0.5, None, 1.5]}))
    1.0
    """
    return real(videos["startup_s"].mean())


def stalls(videos: pl.DataFrame) -> float | None:
    """Number of stalls of a video, mean over videos; None without videos.

    Formula: mean of the number of stalls.
    Source: as for `stall_ratio`.
    """
    return real(videos["stalls"].mean())


def video_rate_bps(videos: pl.DataFrame) -> float | None:
    """Bit rate at which pieces were encoded, bit/s, mean over videos; None if no piece arrived.

    Formula: mean over videos of the mean over pieces.
    Source: average bit rate, in the source of `stall_ratio`.
    """
    return real(videos["bitrate_bps"].mean())
