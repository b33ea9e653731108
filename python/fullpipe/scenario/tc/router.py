"""Shapers of a router, one for each direction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Table = dict[str, Any]


@dataclass(frozen=True)
class Shaper:
    """A queue, its rate and the wire behind it, as a router has them in one direction."""

    queue: Mapping[str, Any] = field(default_factory=dict)
    """Empty: it never holds a packet."""
    rate_bps: int | None = None
    """Rate at which the queue is served, if it does not shape by itself."""
    wire: Mapping[str, Any] = field(default_factory=dict)
    """Delay, jitter, loss and the like behind the queue, by the keys of a link."""

    @property
    def link(self) -> Table:
        """A link that does the same."""
        return {
            **({} if self.rate_bps is None else {"rate": f"{self.rate_bps} bit/s"}),
            **self.wire,
            **({"queue": dict(self.queue)} if self.queue else {}),
        }


@dataclass
class Router:
    """The shapers of a configuration; None where it has none."""

    up: Shaper | None = None
    down: Shaper | None = None
    notes: list[str] = field(default_factory=list)
    """One line each: what of the configuration is left out, or was taken for granted."""
