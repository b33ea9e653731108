"""Names of algorithms as papers write them, and looks of labels in figures: colours, dashes, markers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, NamedTuple
from zlib import crc32

from fullpipe._native import registry

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette in the order of use, without yellow, which is hard to see on paper."""
_NEUTRAL = ("#882255", "#332288", "#999933", "#661100", "#5B5B5B", "#AA4499", "#A0A0A0")
"""Colours of labels without an algorithm, such as links: colours of P. Tol's muted scheme and greys, none of
which is the colour of an algorithm."""
STROKES = ((), (7, 3), (8, 3, 2, 3), (16, 3), (8, 3, 2, 3, 2, 3), (12, 3, 5, 3), (2, 2))
"""Lengths of strokes and gaps, alternating, in screen pixels."""
_PER_WIDTH = 2.0
"""Screen pixels of a stroke that correspond to one line width in print."""
Dash = str | tuple[float, tuple[float, ...]]
DASHES: tuple[Dash, ...] = tuple(
    (0.0, tuple(length / _PER_WIDTH for length in stroke)) if stroke else "-" for stroke in STROKES
)
"""`STROKES` in matplotlib's format for dashes."""
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||", "++++")
"""Hatches of areas, in the order of `DASHES`."""
_SCALE = ("#440154", "#3B528B", "#21918C", "#5EC962")
"""Colours of viridis (S. van der Walt and N. Smith, 2015) from dark to light, without its end in yellow. The
luma rises evenly, so that the order is visible in grey and with every colour vision."""
MARKERS = "os^DvPX"
"""Marker shapes by their names in matplotlib."""
FILLS = ("full", "open", "left", "top")
"""Coloured parts of markers, used in turn. The rest of the marker is white."""

_ALGORITHMS = (
    *("cubic", "bbr1", "bbr3", "reno", "bbr2", "prague", "dctcp"),
    *("ad_bbr", "bbr_n_plus", "bbq", "da_bbr", "copa", "vegas", "ledbat"),
    *("htcp", "illinois", "westwood", "bic", "scalable", "yeah", "ledbat_plus_plus"),
    *("highspeed", "hybla", "veno", "nv", "cdg", "lp", "compound"),
)
"""Algorithms with their own colour, dashes and marker, which are the same in every figure."""
_OUTSIDE = re.compile(r"(?:python|library):\S*?:?([^\s:]+)(?:\s|$)")
"""An algorithm from outside the registry: `python:my_module:MyClass` or `library:PATH:NAME`."""
_OTHERS = 3 * len(COLOURS)
"""Number of looks of algorithms from outside."""
_TURN = 3
"""Number of steps by which dashes shift from one colour to the next in every round of colours.

With 3 steps, algorithms that share dashes differ in luma by 0.12 or more within two rounds of seven, so that
they can be distinguished in grey. All algorithms have different markers."""


_SHADES = (0.0, 0.45, -0.4, 0.65)
"""Shades of an algorithm's labels, used in turn. Positive: mixed with white; negative: mixed with black."""
_DARK_SHADES = (0.0, 0.4, 0.75, 0.6)
"""Parts of white in the shades of an algorithm's labels on a dark page."""
SHADES = len(_SHADES)
"""Number of shades of a colour."""


def shaded(colours: Sequence[str]) -> list[str]:
    """Return the colours in all shades: `colours` as they are, then in the second shade, and so on."""
    return [_shaded(colour, shade) for shade in _SHADES for colour in colours]


def shaded_on_dark(colours: Sequence[str]) -> list[str]:
    """Return the colours in all shades for a dark page, where no shade is darker than its colour.

    The last colour, which is nearly white on a dark page, has darker shades instead.
    """
    *others, last = colours
    return [
        _shaded(colour, sign * abs(shade))
        for shade in _DARK_SHADES
        for colour, sign in (*((each, 1) for each in others), (last, -1))
    ]


class Look(NamedTuple):
    """The look of a label, with values as matplotlib takes them."""

    color: str
    linestyle: Dash
    marker: str
    fill: str
    hatch: str

    @property
    def line(self) -> dict[str, Any]:
        """The look of a line without markers."""
        return {"color": self.color, "linestyle": self.linestyle}

    @property
    def point(self) -> dict[str, Any]:
        """The look of a marker."""
        is_open = self.fill == "open"
        return {
            "color": self.color,
            "marker": self.marker,
            "markerfacecolor": "white" if is_open else self.color,
            "markerfacecoloralt": "white",
            "fillstyle": "full" if is_open else self.fill,
        }

    @property
    def area(self) -> dict[str, Any]:
        """The look of a bar or of another area."""
        return {"facecolor": self.color, "edgecolor": "white", "hatch": self.hatch, "linewidth": 0}


@cache
def names_of_algorithms() -> Mapping[str, str]:
    """The name of every algorithm of the registry as papers write it, by its key: its title in the registry
    without the explanation.

    >>> [names_of_algorithms()[key] for key in ("cubic", "bbr3", "htcp", "prague")]
    ['CUBIC', 'BBRv3', 'H-TCP', 'Prague']
    """
    return {each["name"]: _short(each["title"]) for each in registry()["algorithms"]}


def _short(title: str) -> str:
    return title.partition(" (")[0].replace(" version ", "v").removeprefix("TCP ")


def look_of(label: str, number: int) -> Look:
    """The look of a label: the algorithm's look if the label begins with an algorithm, else a look by index.

    >>> look_of("bbr3", 0) == look_of("bbr3-1", 5)
    True
    """
    known = _place_of(label)
    return _look(number if known is None else known)


def is_algorithm(label: str) -> bool:
    """Whether a label begins with the name of an algorithm."""
    return _place_of(label) is not None


def looks(labels: Sequence[str], algorithms: Mapping[str, str] | None = None) -> dict[str, Look]:
    """The look of every label of a figure. All looks differ unless there are more labels than looks.

    A label has the colour, dashes and marker of its algorithm, in every figure. The look of an algorithm from
    outside the registry depends on its name only. Several labels of one algorithm differ in shade, dashes and
    marker. Labels without an algorithm, such as links, or groups whose algorithm varies, have colours that no
    algorithm has in any figure.

    Args:
        labels: In the order of the legend.
        algorithms: The algorithm of each label, by label. A label that begins with an algorithm's name needs
            no entry.

    >>> found = looks(["mine", "cubic-1", "bottleneck"], {"mine": "cubic"})
    >>> [found[label].color for label in ("mine", "cubic-1", "bottleneck")]
    ['#0072B2', '#73B1D5', '#882255']
    """
    of = algorithms or {}
    places = {label: _place_of(of.get(label, label)) for label in labels}
    seen: dict[int, int] = {}
    own: dict[str, Look] = {}
    for label, place in places.items():
        if place is not None:
            own[label] = _look(place, seen.get(place, 0))
            seen[place] = seen.get(place, 0) + 1
    free = _others([*own.values()])
    return {label: own.get(label) or next(free) for label in places}


def looks_of_numbers(labels: Sequence[str]) -> dict[str, Look]:
    """The looks of numbers in ascending order: colours from dark to light, with different dashes and markers.

    >>> [look.color for look in looks_of_numbers(["1", "2", "4"]).values()]
    ['#440154', '#2E728C', '#5EC962']
    """
    last = max(1, len(labels) - 1)
    return {
        label: Look(
            _between(_SCALE, number / last),
            DASHES[number % len(DASHES)],
            MARKERS[number % len(MARKERS)],
            FILLS[number // len(MARKERS) % len(FILLS)],
            HATCHES[number % len(HATCHES)],
        )
        for number, label in enumerate(labels)
    }


def _between(colours: Sequence[str], part: float) -> str:
    """The colour at a part of the way, from 0 to 1, along colours at equal distances."""
    steps = len(colours) - 1
    first = min(int(part * steps), steps - 1)
    rest = part * steps - first
    one, other = (_parts(colour) for colour in colours[first : first + 2])
    return "#" + "".join(f"{round(a + rest * (b - a)):02X}" for a, b in zip(one, other, strict=True))


def _others(taken: Collection[Look]) -> Iterator[Look]:
    """Yield looks in the colours of labels without an algorithm. Dashes and markers that the looks in `taken`
    do not have come first."""
    dashes = sorted(DASHES, key=[look.linestyle for look in taken].count)
    markers = [(marker, fill) for fill in FILLS for marker in MARKERS]
    markers.sort(key=[(look.marker, look.fill) for look in taken].count)
    for number in count():
        dash = dashes[(number + number // len(_NEUTRAL)) % len(dashes)]
        marker, fill = markers[number % len(markers)]
        hatch = HATCHES[DASHES.index(dash)]
        yield Look(_NEUTRAL[number % len(_NEUTRAL)], dash, marker, fill, hatch)


def _place_of(label: str) -> int | None:
    """Return the index of the algorithm whose key or name begins a label, or None.

    The index of an algorithm from outside the registry is beyond the indices of `_ALGORITHMS` and depends
    only on the last part of its name.
    """
    if outside := _OUTSIDE.match(label):
        return len(_ALGORITHMS) + crc32(outside[1].encode()) % _OTHERS
    found = re.match(_beginnings(), label)
    return _ALGORITHMS.index(_by_name()[found[0]]) if found else None


@cache
def _by_name() -> Mapping[str, str]:
    """The key of every algorithm with a look of its own, by its key and by its name."""
    known = names_of_algorithms()
    return {word: key for key in _ALGORITHMS for word in (key, known[key])}


@cache
def _beginnings() -> re.Pattern[str]:
    """A pattern for labels that begin with a key or a name of an algorithm."""
    return re.compile(rf"(?:{'|'.join(map(re.escape, _by_name()))})(?![\w+])")


def _look(place: int, number: int = 0) -> Look:
    """The look of an algorithm by its index, for the first label of the algorithm or for a later label."""
    rounds, colour = divmod(place, len(COLOURS))
    dash = (place + _TURN * rounds + number + number // len(_SHADES)) % len(DASHES)
    fill = FILLS[(rounds + number) % len(FILLS)]
    shade = _SHADES[number % len(_SHADES)]
    return Look(_shaded(COLOURS[colour], shade), DASHES[dash], MARKERS[colour], fill, HATCHES[dash])


def _shaded(colour: str, shade: float) -> str:
    """A colour mixed with white, or with black if the shade is negative."""
    end = 255 if shade > 0 else 0
    return "#" + "".join(f"{round(part + abs(shade) * (end - part)):02X}" for part in _parts(colour))


def _parts(colour: str) -> list[int]:
    """Red, green and blue of a colour."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
