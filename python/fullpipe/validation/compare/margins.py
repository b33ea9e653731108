"""The margins of equivalence, metric by metric."""

import re
from collections.abc import Mapping
from math import inf

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.errors import ScenarioError, shown, suggestion

MARGINS: Mapping[str, Margin] = {name: measure.margin for name, measure in BY_NAME.items()}
"""The margin of every measure. Those of goodput, mean RTT and retransmissions hold for the native engine."""


def check_margin(metric: str, margin: Margin) -> None:
    """Raise ValueError if there is no such metric, or the margin is negative or no number."""
    if metric not in MARGINS:
        raise ValueError(f'margins: unknown metric "{metric}"{suggestion(metric, MARGINS)}')
    if not all(0 <= part < inf for part in (margin.relative, margin.absolute)):
        raise ValueError(f'margins: "{metric}" has {margin}; give numbers from 0 on')


def read_margin(text: str) -> tuple[str, Margin]:
    """Read `metric=margin`: a percentage, an amount in the base unit of the metric, or both.

    >>> read_margin("retransmitted=40%,20")
    ('retransmitted', Margin(relative=0.4, absolute=20.0))

    Raises:
        ScenarioError: If there is no such metric, or the margin cannot be read.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in MARGINS:
        raise ScenarioError([f'--margin "{text}": unknown metric "{name}"{suggestion(name, MARGINS)}'])
    try:
        return name, margin_of(value)
    except ValueError as error:
        raise ScenarioError([f'--margin "{text}": {error}']) from None


def margin_of(text: str) -> Margin:
    """Read a percentage, an amount in the base unit of the metric, or both.

    >>> margin_of("2 %")
    Margin(relative=0.02, absolute=0.0)

    Raises:
        ValueError: If it cannot be read.
    """
    relative = absolute = 0.0
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", part)
        if not found:
            how = "write it as 5%, as an amount in base units, or as both, such as 40%,20"
            raise ValueError(f"{shown(part.strip())} is no margin; {how}")
        if found[2]:
            relative = float(found[1]) / 100
        else:
            absolute = float(found[1])
    return Margin(relative, absolute)
