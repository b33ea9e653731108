"""Colours and dashes, and which of them an algorithm has, for figures of every kind; nothing here draws."""

from __future__ import annotations

import re
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


def look_of(label: str, number: int) -> dict[str, Any]:
    """The colour and dashes of a label: those of its algorithm if it begins with one, else by its number.

    >>> look_of("bbr3", 0) == look_of("bbr3-1", 5)
    True
    """
    found = (n for n, name in enumerate(_ALGORITHMS) if re.match(rf"{name}(?![\w+])", label))
    algorithm = next(found, number)
    dashes = DASHES[algorithm // len(COLOURS) % len(DASHES)]
    return {"color": COLOURS[algorithm % len(COLOURS)], "linestyle": dashes}
