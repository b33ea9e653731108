"""Numbers as text for people: with a readable unit and as many digits as are significant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from typing import TYPE_CHECKING, Any

from fullpipe.analysis.limits import bounds_of_difference, unfinished_shown
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.scenario.labels import Labels

if TYPE_CHECKING:
    from fullpipe.analysis.statistics import Interval

_COUNTED = ("packets", "flows", "transfers", "pages")
"""Units that labels of metrics already contain, so that no unit is added."""
_SHOWN = {
    "bit/s": ("Mbit/s", 1e-6, 2),
    "bit/s²": ("Gbit/s²", 1e-9, 3),
    "s": ("ms", 1e3, 2),
    "1": ("", 1.0, 2),
}
_PERCENT, POINTS = ("%", 100.0, 1), "pp"
"""Unit, scale and decimals of parts of a whole, and the unit of their differences: percentage points."""
_SECONDS = ("s", 1.0, 2)
"""Unit, scale and decimals of times that are shown in seconds."""
_RELATIVE = ("bit/s", "bit/s²", "s")
"""Units whose differences are shown in per cent of the reference: rates and times."""
LONGEST = 35
"""Maximum number of words of a sentence: see `words_in`."""
_INTERVAL = re.compile(r"\[[^\]]*\]")
_SMALLEST_P = 0.0001
"""Smallest p value that is shown as a number; smaller values are shown as a bound."""
_FINE = 2
"""An interval that has at least this many decimals gets no further decimal."""
_MOST_DIGITS = 5
"""Maximum number of digits of a number in the cells of a heat map."""
_COARSE, _RESOLUTION = "(within 0.8 %)", 0.008
"""Words in the meaning of a metric whose values are percentiles from a histogram, and their relative
resolution."""
LARGER_PART = "whichever is larger"
"""Meaning of a margin of two parts, as in "15 % or 1.00 ms"."""
_MOST_MORE = 4
"""Maximum number of decimals that a half-width has in addition to the decimals of its metric."""


def _form(unit: str, metric: str) -> tuple[str, float, int]:
    """Return the unit, the scale and the decimals in which values of a metric are shown."""
    measure = BY_NAME.get(metric)
    shown, scale, digits = _SHOWN.get(unit, (unit, 1.0, 0))
    if measure and measure.is_percent:
        shown, scale, digits = _PERCENT
    elif measure and measure.is_in_seconds:
        shown, scale, digits = _SECONDS
    own = measure.digits if measure else None
    return shown, scale, digits if own is None else own


def unit_shown(unit: str, metric: str = "") -> str:
    """The unit in which a quantity is shown.

    >>> unit_shown("1", "loss_rate"), unit_shown("1", "jain"), unit_shown("s"), unit_shown("s", "convergence")
    ('%', '', 'ms', 's')
    """
    return _form(unit, metric)[0]


def is_relative(unit: str, metric: str, reference: float, margin: Margin | None = None) -> bool:
    """Whether differences are shown in per cent of the reference: for rates and times whose margin is a
    share.

    Differences of parts of a whole, scores and counts are in the unit of the metric.

    Args:
        unit: The base unit.
        metric: Name of the metric; may be empty.
        reference: Mean of the reference, in the base unit.
        margin: The stated margin; default: the margin of the metric.
    """
    known = margin if margin and (margin.relative or margin.absolute) else None
    known = known or (BY_NAME[metric].margin if metric in BY_NAME else None)
    return unit in _RELATIVE and bool(reference) and (known is None or bool(known.relative))


def difference_unit_shown(unit: str, metric: str = "") -> str:
    """The unit of differences that are not relative: percentage points for parts of a whole."""
    shown = unit_shown(unit, metric)
    return POINTS if shown == _PERCENT[0] else shown


def shown_in(name: str, unit: str, metric: str = "") -> tuple[float, str]:
    """Return the factor from the base unit to the unit shown, and the title of an axis.

    >>> shown_in("goodput", "bit/s"), shown_in("loss", "1", "loss_rate")
    ((1e-06, 'goodput (Mbit/s)'), (100.0, 'loss (%)'))
    """
    shown, scale, _ = _form(unit, metric)
    return scale, f"{name} ({shown})" if shown else name


def axis_shown(metric: str, of: str = "", *, in_percent: bool = True) -> tuple[float, str]:
    """Return the factor from the base unit of a metric to the unit shown, and the title of its axis.

    Figures of `fullpipe plot` show parts of a whole from 0 to 1, like their CSV files.

    >>> axis_shown("page_p50", "readers"), axis_shown("convergence")
    ((1000.0, 'median page load time of readers (ms)'), (1.0, 'convergence time (s)'))
    """
    named, unit = metric_shown(metric, of), BY_NAME[metric].unit
    is_part = BY_NAME[metric].is_percent and not in_percent
    scale, label = shown_in(named, unit, "" if is_part else metric)
    return scale, named if unit in _COUNTED else label


def base_axis_shown(metric: str, of: str = "") -> str:
    """The heading of a column of a metric in its base unit.

    >>> base_axis_shown("page_p50", "readers")
    'median page load time of readers (s)'
    """
    named, unit = metric_shown(metric, of), BY_NAME[metric].unit
    return named if unit in (*_COUNTED, "1") else f"{named} ({unit})"


def metric_shown(metric: str, of: str = "") -> str:
    """Return the label of a metric, with its group of flows or link.

    >>> metric_shown("page_p50", "readers")
    'median page load time of readers'
    """
    name = BY_NAME[metric].label or metric
    return f"{name} of {of}" if of else name


def number_shown(value: float | None, unit: str, metric: str = "") -> str:
    """A value in its displayed unit, with the decimals of the metric if it defines them; a dash for unknown
    values.

    >>> number_shown(0.0405, "s"), number_shown(4.3935, "1", "call_score")
    ('40.50', '4.4')
    >>> number_shown(0.0004, "1", "loss_rate")
    '0.04'
    """
    scale, digits = scale_and_digits(unit, metric)
    return "-" if value is None else _rounded(value * scale, digits)


def decimals_between(low: float, high: float, unit: str, metric: str = "", *, in_percent: bool = True) -> int:
    """Decimals of all numbers from `low` to `high`, in the displayed unit: usually the decimals of the
    metric.

    There are more decimals if both ends would look equal, and fewer if numbers would have over five digits.
    Without `in_percent`, parts of a whole are from 0 to 1.

    >>> decimals_between(0.8, 12.35, "bit/s"), decimals_between(4.38, 4.41, "1", "call_score")
    (2, 2)
    >>> decimals_between(0.8, 12_350.0, "bit/s"), decimals_between(0.1, 0.9, "1", "share", in_percent=False)
    (0, 3)
    >>> decimals_between(12.3, 640.0, "s", "rtt_mean"), decimals_between(12.3, 640.0, "s", "rtt_p95")
    (2, 0)
    """
    scale, digits = scale_and_digits(unit, metric)
    digits = resolved(digits, max(abs(low), abs(high)), metric)
    if not in_percent and unit_shown(unit, metric) == _PERCENT[0]:
        digits += round(log10(scale))
    while f"{low:.{digits}f}" == f"{high:.{digits}f}" and f"{low:.3g}" != f"{high:.3g}":
        digits += 1
    return max(0, min(digits, _MOST_DIGITS - len(f"{max(abs(low), abs(high)):.0f}")))


def resolved(digits: int, largest: float, metric: str) -> int:
    """At most `digits` decimals for values up to `largest`, in the displayed unit: for percentiles with a
    resolution, the last decimal is at least a tenth of the resolution.

    >>> resolved(2, 640.0, "rtt_p95"), resolved(2, 36.5, "rtt_p95"), resolved(2, 640.0, "rtt_mean")
    (0, 1, 2)
    """
    resolution = resolution_of(metric)
    if not resolution or not largest:
        return digits
    return max(0, min(digits, floor(-log10(resolution * largest / 10))))


def resolution_of(metric: str) -> float:
    """The relative resolution of percentiles from a histogram; 0 for other metrics.

    >>> resolution_of("rtt_p95"), resolution_of("rtt_mean")
    (0.008, 0.0)
    """
    return _RESOLUTION if metric in BY_NAME and _COARSE in BY_NAME[metric].meaning else 0.0


def _rounded(value: float, digits: int, sign: str = "") -> str:
    """A number with this many decimals and, with `sign` "+", always a sign; 0 has no sign.

    >>> _rounded(-0.04, 1), _rounded(-0.04, 2, "+")
    ('0.0', '-0.04')
    """
    text = f"{value:{sign},.{digits}f}"
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")


def widths_shown(widths: Sequence[float], unit: str, metric: str) -> list[str]:
    """Half-widths of intervals with the decimals of their metric; with more decimals if a half-width would be
    shown as 0 or as equal to another half-width.

    >>> widths_shown([0.12, 0.0215], "1", "call_score"), widths_shown([5e5, 2e5], "bit/s", "goodput")
    (['0.12', '0.02'], ['0.50', '0.20'])
    """
    scale, digits = scale_and_digits(unit, metric)
    texts: list[str] = []
    for more in range(_MOST_MORE + 1):
        texts = [f"{width * scale:,.{digits + more}f}" for width in widths]
        if _are_told(texts):
            break
    return texts


def _are_told(texts: Sequence[str]) -> bool:
    """Whether all texts differ, and no text is 0."""
    return len(set(texts)) == len(texts) and all(text.strip("0.") for text in texts)


def scale_and_digits(unit: str, metric: str) -> tuple[float, int]:
    """Return the factor from the base unit to the unit shown, and the decimals."""
    return _form(unit, metric)[1:]


def decimals_of(rows: Iterable[Mapping[str, Any]]) -> int:
    """Decimals of the means of a metric in a column, from rows of `over_seeds`: see `mean_shown`. Percentiles
    have a resolution: see `resolved`."""
    every = list(rows)
    if not every:
        return 0
    unit, metric = every[0].get("unit", ""), every[0].get("metric", "")
    largest = max((abs(row["mean"]) for row in every if row["mean"] is not None), default=0.0)
    return resolved(max(map(_decimals, every)), largest * scale_and_digits(unit, metric)[0], metric)


def _decimals(row: Mapping[str, Any]) -> int:
    """Decimals of a mean; one more decimal if both ends of its interval would look equal."""
    scale, digits = scale_and_digits(row.get("unit", ""), row.get("metric", ""))
    is_coarse = _has_interval(row) and _is_coarse(row["low"] * scale, row["high"] * scale, digits)
    return digits + is_coarse


def _has_interval(row: Mapping[str, Any]) -> bool:
    return row.get("low") is not None and not row["alike"]


def mean_shown(row: Mapping[str, Any], unit: str = "", digits: int | None = None) -> str:
    """The mean of a row of `over_seeds`, its interval if known, and the number of unfinished transfers.

    In a column, all means have the same decimals, `digits`: see `decimals_of`.

    >>> row = {"mean": 1e6, "low": 0.0, "high": 3e6, "alike": False, "unit": "bit/s"}
    >>> mean_shown(row, "Mbit/s")
    '1.00 [0.00, 3.00] Mbit/s'

    A metric with at most one decimal gets one more decimal if both ends of its interval would look equal:

    >>> mean_shown({"mean": 4.382, "low": 4.375, "high": 4.389, "alike": False, "metric": "call_score"})
    '4.38 [4.38, 4.39]'
    """
    scale, _ = scale_and_digits(row.get("unit", ""), row.get("metric", ""))
    places = decimals_of([row]) if digits is None else digits
    found = (row.get(key) for key in ("mean", "low", "high"))
    mean, *ends = ("-" if value is None else _rounded(value * scale, places) for value in found)
    shown = f"{mean} [{', '.join(ends)}]" if _has_interval(row) else mean
    return f"{shown} {unit}".rstrip() + unfinished_shown(row)


def _is_coarse(low: float, high: float, digits: int) -> bool:
    """Whether both ends of an interval look equal because the interval has fewer than `_FINE` decimals."""
    return digits < _FINE and low != high and _rounded(low, digits) == _rounded(high, digits)


def interval_shown(
    interval: Interval | None, relative: Interval | None, metric: str, reference: float, *, is_share: bool
) -> Interval | None:
    """The interval of a difference that is shown, in the unit of the metric, truncated at its bounds.

    Args:
        interval: Interval of the absolute difference.
        relative: Interval of the relative change: see `fullpipe.statistics.relative_interval`.
        metric: Name of the metric; may be empty.
        reference: Mean of the reference.
        is_share: Whether the difference is shown in per cent of the reference, with `relative` as its
            interval.
    """
    shown = interval
    if is_share and interval and relative:
        whole = abs(reference)
        shown = replace(relative, low=whole * relative.low, high=whole * relative.high)
    return shown and shown.clipped(*bounds_of_difference(metric, reference))


def difference_shown(
    difference: float,
    interval: Interval | None,
    reference: float,
    unit: str,
    metric: str = "",
    margin: Margin | None = None,
    relative: Interval | None = None,
    *,
    has_unit: bool = False,
) -> str:
    """A difference with its interval: in per cent of the reference if `is_relative`, else in the unit of the
    metric.

    Per cent have the interval of the relative change, `relative`. A difference with an interval of the
    absolute difference alone is in the unit of the metric. The interval is truncated at the bounds of the
    metric, such as -100 %. Per cent and percentage points are always written; other units are written only
    with `has_unit`.

    >>> difference_shown(1e6, None, 10e6, "bit/s"), difference_shown(1.16, None, 3.2, "1", "call_score")
    ('+10.0 %', '+1.2')
    >>> difference_shown(0.0011, None, 0.0005, "1", "loss_rate")
    '+0.11 pp'
    >>> difference_shown(-5e6, None, 0.0, "bit/s", "goodput", has_unit=True)
    '-5.00 Mbit/s'
    """
    is_share = is_relative(unit, metric, reference, margin) and (interval is None or relative is not None)
    scale, digits = scale_and_digits(unit, metric)
    own = difference_unit_shown(unit, metric)
    told = _PERCENT[0] if is_share else own if has_unit or own == POINTS else ""

    within = interval_shown(interval, relative, metric, reference, is_share=is_share)
    if within and not is_share and _is_coarse(within.low * scale, within.high * scale, digits):
        digits += 1

    def text(value: float) -> str:
        if not is_share:
            return _rounded(value * scale, digits, "+") if value else "0"
        percent = 100 * value / abs(reference)
        return _rounded(percent, 1 if abs(percent) < 100 else 0, "+")

    ends = f" [{text(within.low)}, {text(within.high)}]" if within else ""
    return f"{f'{text(difference)} {told}'.rstrip()}{ends}"


def margin_shown(margin: Margin, unit: str, metric: str = "", *, has_unit: bool = False) -> str:
    """A margin in the displayed unit of its quantity; the unit is written with `has_unit`, or if it is
    percentage points.

    The larger part of a margin of two parts applies: see `LARGER_PART`.

    >>> margin_shown(Margin(0.15, 0.001), "s", "rtt_mean", has_unit=True)
    '15 % or 1.00 ms'
    """
    parts = [f"{100 * margin.relative:g} %"] if margin.relative else []
    shown = difference_unit_shown(unit, metric)
    shown = shown if has_unit or shown == POINTS else ""
    absolute = [f"{number_shown(margin.absolute, unit, metric)} {shown}".rstrip()] if margin.absolute else []
    return " or ".join([*parts, *absolute]) or "0"


def point_shown(point: Mapping[str, Any], labels: Labels | None = None) -> list[str]:
    """A point of a sweep in words: every path with its value.

    >>> point_shown({"topology.bottleneck.queue": {"kind": "drop_tail", "packets": 50}, "flows.0.count": 2})
    ['queue drop_tail 50 packets', 'number of flows 2']
    """
    return (labels or Labels()).point(point)


def p_shown(value: float | None) -> str:
    """A p value as text; None means that there is no test.

    >>> p_shown(0.0123), p_shown(2e-7), p_shown(0.999), p_shown(None)
    ('0.012', '<0.0001', '1.0', '-')
    """
    if value is None:
        return "-"
    text = f"{value:.2g}"
    return f"<{_SMALLEST_P}" if value < _SMALLEST_P else "1.0" if text == "1" else text


def p_in_words(value: float | None) -> str:
    """A p value in a sentence.

    >>> p_in_words(0.0123), p_in_words(2e-7)
    ('p = 0.012', 'p < 0.0001')
    """
    text = p_shown(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def begun(sentence: str) -> str:
    """A sentence with a capital first letter, unless its first word is a name such as iBBR.

    >>> begun("mean RTT rises."), begun("p95 RTT rises."), begun("iBBR matters.")
    ('Mean RTT rises.', 'p95 RTT rises.', 'iBBR matters.')
    """
    first = sentence.partition(" ")[0]
    is_name = not first.islower() or any(map(str.isdigit, first))
    return sentence if is_name else f"{sentence[0].upper()}{sentence[1:]}"


def words_in(text: str) -> int:
    """Number of words and numbers, without intervals and signs such as "=" and "->".

    >>> words_in("goodput of cubic -> vegas (buffer = 4 BDP) falls by 71 % [67, 74]")
    10
    """
    return sum(any(map(str.isalnum, word)) for word in _INTERVAL.sub("", text).split())


def listed(words: Iterable[str]) -> str:
    """Words joined by commas and "and".

    >>> listed(["goodput", "jain", "share"])
    'goodput, jain and share'
    """
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last
