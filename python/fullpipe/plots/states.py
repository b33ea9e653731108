"""Colours and hatches of states: light, so that lines stay readable on them, and the same in every figure.

Hatches tell them apart in print, and for all who do not see the colours."""

from __future__ import annotations

import hashlib
from colorsys import hls_to_rgb
from typing import Any

from matplotlib.colors import to_hex, to_rgba

_SLOW_START, _STEADY = ("#F5D58F", "////"), ("#EDEFF0", "")
_USUAL = {
    "Startup": _SLOW_START,
    "SlowStart": _SLOW_START,
    "Drain": ("#85BBDA", "\\\\\\\\"),
    "ProbeBW": _STEADY,
    "ProbeBW:Cruise": _STEADY,
    "Avoidance": _STEADY,
    "ProbeBW:Up": ("#F8F2A6", "++++"),
    "ProbeBW:Down": ("#B1DCF5", "----"),
    "ProbeBW:Refill": ("#EBB085", "||||"),
    "ProbeRTT": ("#E6BED5", "xxxx"),
    "Recovery": ("#C8C8C8", "\\\\"),
}
"""The colours and hatches of what algorithms of the registry go through: Okabe and Ito's, mixed with white.
States of different algorithms that mean the same look it."""
_HATCHES = ("//", "xx", "||", "--", "++", "///", "xxx", "\\\\\\", "|||", "---")
"""Hatches of other states in turn: lines, as circles would make an SVG large."""
_HUES = 24
_LIGHT, _STRONG = 0.8, 0.7
_INK = "#777777"
"""Colour of hatches."""


def state_colour(state: str, taken: dict[str, str]) -> str:
    """The colour of a state, which is remembered in `taken`: two states of one figure never share one.

    A name that is not usual has the hue that its letters come to, or the next one that is free.
    """
    if state not in taken:
        used = set(taken.values())
        first = hashlib.sha256(state.encode()).digest()[0]
        others = (_hue(first + step, ring) for ring in range(8) for step in range(_HUES))
        wanted = [_USUAL[state][0]] if state in _USUAL else []
        free = (colour for colour in (*wanted, *others) if colour not in used)
        taken[state] = next(free, "#ffffff")
    return taken[state]


def _hue(number: int, ring: int) -> str:
    """One of the hues around the circle; a ring further in is a little darker."""
    return to_hex(hls_to_rgb(number % _HUES / _HUES, _LIGHT - 0.03 * ring, _STRONG))


def state_patch(state: str, taken: dict[str, str], alpha: float = 1.0) -> dict[str, Any]:
    """The fill and the hatch of a band of a state, as arguments of its artist; see `state_colour`."""
    colour = state_colour(state, taken)
    others = [name for name, own in taken.items() if own != _USUAL.get(name, ("", ""))[0]]
    hatch = _HATCHES[others.index(state) % len(_HATCHES)] if state in others else _USUAL[state][1]
    return {"facecolor": to_rgba(colour, alpha), "edgecolor": _INK, "hatch": hatch, "linewidth": 0}
