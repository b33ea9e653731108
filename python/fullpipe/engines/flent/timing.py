"""Start and end times of a test and its streams."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.document import Document
from fullpipe.engines.flent.series import RATES, Floats, Series
from fullpipe.errors import InputFileError

_DEFAULT_STEP_S = 0.2
_LONGEST_S = 86_400.0
_MOST_CELLS = 2_000_000
"""Most samples of all flows together."""
_LATE_S = 2.5
"""Deviation of a stream's start from the test's, up to which the test's is used: connections take time to
open."""


@dataclass(frozen=True)
class Timing:
    """Times of a test, counted from its first sample."""

    origin_s: float
    """Time of the first sample, since 1970."""
    duration_s: float
    delay_s: float
    """Time for which pings run before the streams; 0 without streams."""
    length_s: float
    """Duration of the streams."""
    step_s: float

    def since(self, times_s: Floats) -> Floats:
        """Convert times since 1970 to times of the run."""
        return times_s - self.origin_s

    @property
    def grid_s(self) -> Floats:
        """The ends of the steps."""
        steps = np.arange(1, round(self.duration_s / self.step_s) + 1, dtype=np.float64)
        return np.asarray(steps * self.step_s)

    def span_of(self, series: Series) -> tuple[float, float]:
        """Return start and stop of a stream, in s: those of the test, unless the data differ."""
        starts_s = series.first_s - self.origin_s
        begin_s = self.delay_s if abs(starts_s - self.delay_s) < _LATE_S else float(round(starts_s))
        last_s = float(series.values[-1]["t"]) - self.origin_s if series.values else begin_s
        end_s = begin_s + self.length_s
        if last_s < end_s - 2 * _LATE_S:
            end_s = float(math.ceil(last_s))
        return begin_s, min(end_s, self.duration_s)


def timing_of(document: Document, series: Sequence[Series], where: object) -> Timing:
    """Return the times of a test.

    Raises:
        InputFileError: If its samples span more than a day, or there are too many of them.
    """
    origin_s = min(one.first_s for one in series)
    last_s = max(float(one.points[-1]["t"]) for one in series)
    span_s = last_s - origin_s
    if not 0 < span_s <= _LONGEST_S:
        raise InputFileError(f"{where}: samples span {span_s:g} s; a test takes up to a day")
    step_s = document.number("STEP_SIZE") or _DEFAULT_STEP_S
    said_s = document.number("TOTAL_LENGTH") or span_s
    duration_s = said_s if 0.5 * span_s <= said_s <= 2 * span_s else float(math.ceil(span_s))
    if not 0 < step_s <= duration_s or duration_s / step_s * len(series) > _MOST_CELLS:
        many = f"{len(series)} series of {duration_s:g} s"
        raise InputFileError(f"{where}: metadata.STEP_SIZE: {step_s:g} s is no step for {many}")
    streams = [one for one in series if one.kind in RATES]
    length_s = document.number("LENGTH") or duration_s
    if not 0 < length_s <= duration_s:
        length_s = duration_s
    delay_s = (duration_s - length_s) / 2 if streams and len(streams) < len(series) else 0.0
    return Timing(origin_s, duration_s, delay_s, length_s, step_s)
