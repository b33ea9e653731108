"""Colours of states: light, so that lines stay readable on them, and the same in every figure."""

from __future__ import annotations

import hashlib
from colorsys import hls_to_rgb

from matplotlib.colors import to_hex

_USUAL = {
    "Startup": "#fde2c8",
    "SlowStart": "#fde2c8",
    "Drain": "#c9dff0",
    "ProbeBW": "#c8e8dc",
    "ProbeBW:Cruise": "#c8e8dc",
    "Avoidance": "#c8e8dc",
    "ProbeBW:Up": "#fbeec2",
    "ProbeBW:Down": "#d6d2ee",
    "ProbeBW:Refill": "#d9ead0",
    "ProbeRTT": "#f0d9e8",
    "Recovery": "#e4e4e4",
}
"""What algorithms of the registry go through; states of different algorithms that mean the same look it."""
_HUES = 24
_LIGHT, _STRONG = 0.88, 0.7


def state_colour(state: str, taken: dict[str, str]) -> str:
    """The colour of a state, which is remembered in `taken`: two states of one figure never share one.

    A name that is not usual has the hue that its letters come to, or the next one that is free.
    """
    if state not in taken:
        used = set(taken.values())
        first = hashlib.sha256(state.encode()).digest()[0]
        others = (_hue(first + step, ring) for ring in range(8) for step in range(_HUES))
        wanted = [_USUAL[state]] if state in _USUAL else []
        free = (colour for colour in (*wanted, *others) if colour not in used)
        taken[state] = next(free, "#ffffff")
    return taken[state]


def _hue(number: int, ring: int) -> str:
    """One of the hues around the circle; a ring further in is a little darker."""
    return to_hex(hls_to_rgb(number % _HUES / _HUES, _LIGHT - 0.03 * ring, _STRONG))
