"""Colours and dashes, and which of them an algorithm has, for figures of every kind; nothing here draws."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's palette in the order of its use, without its yellow, which is lost on paper."""
Dash = Literal["-", "--", ":", "-."]
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")
STROKES = ((), (7, 4), (2, 3), (8, 3, 2, 3))
"""The same on a screen: lengths of strokes and of gaps in turn, in pixels."""

_ALGORITHMS = (
    *("cubic", "bbr1", "bbr3", "reno", "bbr2", "prague", "dctcp"),
    *("ad_bbr", "bbr_n_plus", "bbq", "da_bbr", "copa", "vegas", "ledbat"),
    *("htcp", "illinois", "westwood", "bic", "scalable", "yeah", "ledbat_plus_plus"),
    *("highspeed", "hybla", "veno", "nv", "cdg", "lp", "compound"),
)
"""Each has a colour and dashes of its own, the same in every figure over many runs."""


_SHADES = (0.0, 0.45, -0.4, 0.65)
"""Shades of the labels of an algorithm in turn: towards white, or towards black if negative."""


def look_of(label: str, number: int) -> dict[str, Any]:
    """The colour and dashes of a label: those of its algorithm if it begins with one, else by its number.

    >>> look_of("bbr3", 0) == look_of("bbr3-1", 5)
    True
    """
    known = _place_of(label)
    place = number if known is None else known
    return _look(place % len(COLOURS), place // len(COLOURS))


def looks(labels: Sequence[str], algorithms: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The colour and dashes of every label of a figure. No two are alike while there are enough.

    The colour is that of the algorithm, in every figure. Several labels of one algorithm differ in shade and
    dashes. Labels without an algorithm have colours that no algorithm of the figure has.

    Args:
        labels: In the order of the legend.
        algorithms: The algorithm of each label, by its name; a label that begins with one needs none.

    >>> found = looks(["mine", "cubic-1", "bottleneck"], {"mine": "cubic"})
    >>> [found[label]["color"] for label in ("mine", "cubic-1", "bottleneck")]
    ['#0072B2', '#73B1D5', '#D55E00']
    """
    of = algorithms or {}
    places = {label: _place_of(of.get(label, label)) for label in labels}
    used = {place % len(COLOURS) for place in places.values() if place is not None}
    grid = [(colour, dash) for dash, colour in product(range(len(DASHES)), range(len(COLOURS)))]
    free = [(colour, dash) for colour, dash in grid if colour not in used] or grid
    seen: dict[int, int] = {}
    found, others = dict[str, dict[str, Any]](), 0
    for label, place in places.items():
        if place is None:
            found[label] = _look(*free[others % len(free)])
            others += 1
            continue
        number = seen[place] = seen.get(place, -1) + 1
        dash = place // len(COLOURS) + number + number // len(_SHADES)
        found[label] = _look(place % len(COLOURS), dash, _SHADES[number % len(_SHADES)])
    return found


def _place_of(label: str) -> int | None:
    """The place of the algorithm that a label begins with."""
    return next((n for n, name in enumerate(_ALGORITHMS) if re.match(rf"{name}(?![\w+])", label)), None)


def _look(colour: int, dash: int, shade: float = 0.0) -> dict[str, Any]:
    return {"color": _shaded(COLOURS[colour], shade), "linestyle": DASHES[dash % len(DASHES)]}


def _shaded(colour: str, shade: float) -> str:
    """A colour mixed with white, or with black if the shade is negative."""
    end = 255 if shade > 0 else 0
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(shade) * (end - part)):02X}" for part in parts)
