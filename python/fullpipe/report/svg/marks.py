"""Marks, colours and axes of charts in SVG."""

from __future__ import annotations

import math
import re
import warnings
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from fullpipe.palette import COLOURS, DASHES, SHADES, look_of
from fullpipe.report.content import Look, Series, Trace
from fullpipe.report.text import lines_visible

# Elements of SVG, and the axes of all charts. Coordinates are in pixels.


WIDTH, NARROW = 720, 360
"""Width of a drawing, and of a drawing for phones, which has letters of the same size."""
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 44
_TICKS = 5
_ROOM = 44.0
"""Pixels between ticks."""
_LEAST_SPAN = 1e-300
"""Smallest span of an axis with several ticks; smaller floats have too few significant digits."""


def element(name: str, content: str = "", **attributes: object) -> str:
    """An element. Each `_` in the name of an attribute becomes a hyphen, and a trailing `_` is dropped.

    >>> element("text", "<b>", x=1.25, class_="a")
    '<text x="1.2" class="a">&lt;b&gt;</text>'
    """
    return _tag(name, escape(lines_visible(content)), attributes)


def group(name: str, inner: Iterable[str], **attributes: object) -> str:
    """An element with inner elements."""
    return _tag(name, "".join(inner), attributes)


def _tag(name: str, inner: str, attributes: dict[str, object]) -> str:
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(lines_visible(_text(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


def _text(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)


def classes(look: Look, *more: str) -> str:
    """The classes of a line or a box."""
    return " ".join([f"c{look.colour}", f"d{look.dash}", *more])


def verdict_class(verdict: str) -> str:
    """The class of a verdict, from its words.

    >>> verdict_class("not reproduced (x 0.02)"), verdict_class('"><b>')
    ('v-not-reproduced', 'v-b')
    """
    words = re.findall(r"[a-z]+", verdict.partition("(")[0])
    return f"v-{'-'.join(words)}"


def drawing(height: float, inner: Iterable[str], label: str, width: int = WIDTH) -> str:
    """The SVG drawing, with a label for screen readers. The style sheet shows narrow drawings on phones."""
    box, kind = f"0 0 {width} {height:g}", "chart narrow" if width == NARROW else "chart"
    return group("svg", inner, viewBox=box, role="img", aria_label=label, class_=kind)


def cut(text: str, longest: int) -> str:
    """The text with at most this many characters.

    >>> cut("fq_codel", 8), cut("fq_codel", 5)
    ('fq_codel', 'fq_c…')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@dataclass(frozen=True)
class Scale:
    """Map from numbers to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the range."""
        return ticks(self.low, self.high)


@dataclass(frozen=True)
class LogScale(Scale):
    """Map from positive numbers to pixels on a logarithmic scale."""

    def __call__(self, value: float) -> float:
        """The place of a number."""
        width = math.log(self.high / self.low) or 1.0
        return self.start + math.log(value / self.low) / width * (self.end - self.start)


def apart(values: Sequence[float], scale: Scale) -> list[float]:
    """The ascending values without those whose texts on an axis would overlap others; the last value is
    always included."""
    found: list[float] = []
    for value in values[:-1]:
        is_far = not found or scale(value) - scale(found[-1]) >= _ROOM
        if is_far and scale(values[-1]) - scale(value) >= _ROOM:
            found.append(value)
    return [*found, values[-1]]


def ticks(low: float, high: float, about: int = _TICKS) -> list[float]:
    """Round numbers from low to high.

    >>> ticks(0, 9)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    if not _LEAST_SPAN < high - low < math.inf:
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 12) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def span(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis: from 0 if 0 is near, and slightly beyond the extremes."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and low < 0.6 * high:
        low = 0.0
    room = 0.05 * (high - low) or abs(high) * 0.1 or 1.0
    return (low if low == 0 else low - room), high + room


def number(value: float) -> str:
    """A number at a tick or in a cell.

    >>> number(-1250.0), number(0.25)
    ('−1,250', '0.25')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def tick_texts(values: Sequence[float]) -> list[str]:
    """The numbers at ticks, with as many digits as tell them apart.

    >>> tick_texts([4.388, 4.389, 4.39])
    ['4.388', '4.389', '4.390']
    """
    step = min((abs(b - a) for a, b in pairwise(values)), default=0.0)
    digits = max(0, math.ceil(-math.log10(step) - 1e-9)) if step else 3
    return [f"{value:,.{digits}f}".replace("-", "−") for value in values]


def left_axis(scale: Scale, label: str, right: float = WIDTH - RIGHT) -> str:
    """The left axis with horizontal grid lines."""
    ticks = scale.ticks
    parts = [
        element("line", x1=LEFT, x2=right, y1=scale(tick), y2=scale(tick), class_="grid")
        + element("text", text, x=LEFT - 6, y=scale(tick) + 4, class_="tick end")
        for tick, text in zip(ticks, tick_texts(ticks), strict=True)
    ]
    middle = (scale.start + scale.end) / 2
    turn = f"rotate(-90 14 {middle:.1f})"
    return "".join([*parts, element("text", label, x=14, y=middle, transform=turn, class_="label middle")])


def bottom_axis(
    scale: Scale,
    label: str,
    y: float,
    ends: tuple[float, float] = (LEFT, WIDTH - RIGHT),
    at: Sequence[float] | None = None,
) -> str:
    """The bottom axis, with ticks at round numbers or at the places in `at`."""
    values = scale.ticks if at is None else at
    texts = tick_texts(values) if at is None else map(number, values)
    parts = [element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="axis")]
    parts += [
        element("text", text, x=scale(tick), y=y + 16, class_="tick middle")
        for tick, text in zip(values, texts, strict=True)
    ]
    middle = (scale.start + scale.end) / 2
    return "".join([*parts, element("text", label, x=middle, y=y + 34, class_="label middle")])


def tip(text: str) -> str:
    """Tooltip text of an element."""
    return element("title", text)


# Time series with two bytes per number: samples, or minima and maxima of groups if samples are too many.


Values = npt.NDArray[np.float64]
NOTHING = 0xFFFF
"""Code of a missing sample."""
_STEPS = NOTHING - 1


@dataclass(frozen=True)
class Quantised:
    """Numbers as whole steps from the smallest: value = low + step * number."""

    low: float
    step: float
    values: str
    """Whole numbers in base64, two bytes each, low byte first."""


def extremes(values: Values, size: int) -> Values:
    """The smallest and the largest of every `size` values, ignoring NaN.

    Returns:
        An array of shape (groups, 2); NaN where a group has no value.
    """
    groups = -(-len(values) // size)
    padded = np.full(groups * size, np.nan)
    padded[: len(values)] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # warnings about groups without a value
        parts = padded.reshape(groups, size)
        return np.column_stack([np.nanmin(parts, axis=1), np.nanmax(parts, axis=1)])


def quantised(values: Values, size: int) -> Quantised:
    """Quantise the minimum and the maximum of every `size` samples, or the samples if `size` is 1."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / _STEPS or 1.0
    chosen = values if size == 1 else extremes(values, size).ravel()
    numbers = np.where(np.isfinite(chosen), np.rint((chosen - low) / step), NOTHING)
    return Quantised(low, step, b64encode(numbers.astype("<u2").tobytes()).decode())


# The colours of labels: the colours of their algorithms, as in every figure.


def look(label: str, number: int) -> Look:
    """The look of a label: see `fullpipe.palette.look_of`."""
    found = look_of(label, number)
    return Look(COLOURS.index(found.color), DASHES.index(found.linestyle))


def of_flows(algorithms: Sequence[str | None]) -> list[Look]:
    """Return a look for every flow, given the flow's algorithm. The colour is the colour of the algorithm.

    Flows without an algorithm, such as calls, have the last colours, regardless of the other flows.
    """
    is_other = [algorithm is None for algorithm in algorithms]
    numbers = [len(COLOURS) - sum(is_other[: n + 1]) if other else n for n, other in enumerate(is_other)]
    return distinct([algorithm or "" for algorithm in algorithms], numbers)


def distinct(labels: list[str], numbers: Sequence[int] | None = None) -> list[Look]:
    """A look for every label; further flows of the same algorithm differ in shade and dashes."""
    found: list[Look] = []
    for number, label in zip(numbers or range(len(labels)), labels, strict=True):
        wanted = look(label, number)
        places = [
            (
                wanted.colour + len(COLOURS) * (turn % SHADES),
                (wanted.dash + turn + turn // SHADES) % len(DASHES),
            )
            for turn in range(SHADES * len(DASHES))
        ]
        places += [(colour, dash) for dash in range(len(DASHES)) for colour in range(len(COLOURS))]
        free = next((place for place in places if Look(*place) not in found), places[0])
        found.append(Look(*free))
    return found


# Samples of several flows or links at common times.


_NOTHING: Mapping[str, str] = MappingProxyType({})


def series(
    label: str,
    names: Sequence[str],
    parts: Sequence[tuple[np.ndarray, pl.Series]],
    algorithms: Mapping[str, str] = _NOTHING,
) -> Series:
    """Samples of several flows or links at common, equidistant times; the step is the median interval.

    At a time without a sample, the last earlier sample counts. Flows have the colours of their `algorithms`.
    """
    times = [part[0] for part in parts]
    gaps = np.concatenate([np.diff(each) for each in times]) if times else np.empty(0)
    gaps = gaps[gaps > 0]
    step = float(np.median(gaps)) if len(gaps) else 1.0
    start = min((float(each[0]) for each in times if len(each)), default=0.0)
    end = max((float(each[-1]) for each in times if len(each)), default=0.0)
    places = start + step * np.arange(round((end - start) / step) + 1)
    looks = distinct([algorithms.get(name, name) for name in names])
    traces = [
        Trace(name, look, _held(places, part, step))
        for name, look, part in zip(names, looks, parts, strict=True)
    ]
    return Series(label, start, step, traces)


def _held(places: np.ndarray, part: tuple[np.ndarray, pl.Series], step: float) -> np.ndarray:
    """Return the last sample before every time of `places`; NaN where this sample is more than 1.5 steps
    old."""
    times, values = part[0], part[1].fill_null(float("nan")).to_numpy().astype(float)
    if not len(times):
        return np.full(len(places), np.nan)
    last = np.searchsorted(times, places + step / 4, side="right") - 1
    found = values[np.maximum(last, 0)]
    found[(last < 0) | (places - times[np.maximum(last, 0)] > 1.5 * step)] = np.nan
    return found
