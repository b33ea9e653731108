"""The margins of equivalence, metric by metric."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from fullpipe.errors import ScenarioError, suggestion


@dataclass(frozen=True, slots=True)
class Margin:
    """A difference that does not matter: a share of the reference, or an amount, whichever is larger."""

    relative: float = 0.0
    absolute: float = 0.0
    """In the unit of the metric."""

    def allowed(self, reference: float) -> float:
        """The difference that is allowed from a reference value, in its unit."""
        return max(self.relative * abs(reference), self.absolute)

    def __str__(self) -> str:
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        return " or ".join([*parts, f"{self.absolute:g}"] if self.absolute else parts) or "0"


_RATE, _DELAY = Margin(0.03), Margin(0.08)
_PACKETS, _SHARE_OF_PACKETS = Margin(0.40, 20), Margin(0.40, 0.001)
MARGINS: Mapping[str, Margin] = {
    "goodput": _RATE,
    "wire": _RATE,
    "share": Margin(absolute=0.03),
    "jain": Margin(absolute=0.03),
    "bulk": Margin(absolute=0.5),
    "starved": Margin(absolute=0.5),
    "rtt_min": _DELAY,
    "rtt_mean": _DELAY,
    "srtt_mean": _DELAY,
    "rtt_p95": _DELAY,
    "srtt_p95": _DELAY,
    "rtt_inflation": _DELAY,
    "owd_mean": _DELAY,
    "owd_p95": _DELAY,
    "jitter": Margin(0.20, 0.0005),
    "call_score": Margin(absolute=0.1),
    "retransmitted": _PACKETS,
    "retransmission_rate": _SHARE_OF_PACKETS,
    "loss_rate": _SHARE_OF_PACKETS,
    "marking_rate": _SHARE_OF_PACKETS,
    "power": Margin(0.10),
    "convergence": Margin(0.20, 1.0),
    "fct_p50": _DELAY,
    "fct_p95": _DELAY,
    "slowdown": _DELAY,
    "utilisation": Margin(absolute=0.03),
    "sojourn_mean": Margin(0.15, 0.001),
    "sojourn_p95": Margin(0.15, 0.001),
    "dropped": _PACKETS,
    "drop_rate": _SHARE_OF_PACKETS,
    "marked": _PACKETS,
}
"""Of every measure. Those of goodput, mean RTT and retransmissions are what the native engine is held to."""


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
    relative = absolute = 0.0
    for part in value.split(","):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*", part)
        if not found:
            how = "write it as 5%, as an amount in base units, or as both, such as 40%,20"
            raise ScenarioError([f'--margin "{text}": "{part.strip()}" is no margin; {how}'])
        if found[2]:
            relative = float(found[1]) / 100
        else:
            absolute = float(found[1])
    return name, Margin(relative, absolute)
