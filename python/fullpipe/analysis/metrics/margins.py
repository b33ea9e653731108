"""Differences that do not matter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Margin:
    """A difference that does not matter: a share of the reference, or an amount, whichever is larger."""

    relative: float = 0.0
    absolute: float = 0.0
    """Amount in the unit of the metric."""

    def allowed(self, reference: float) -> float:
        """Return the allowed difference from a reference value, in the unit of that value."""
        return max(self.relative * abs(reference), self.absolute)

    def __str__(self) -> str:
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        return " or ".join([*parts, f"{self.absolute:g}"] if self.absolute else parts) or "0"


RATE, DELAY = Margin(0.03), Margin(0.08)
PACKETS, SHARE_OF_PACKETS = Margin(0.40, 20), Margin(0.40, 0.001)
SHARE = Margin(absolute=0.03)
FLOWS = Margin(absolute=0.5)
BEGAN = Margin(0.03, 0.5)
WAIT = Margin(0.15, 0.001)
