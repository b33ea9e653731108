"""Shapers of a router, one per direction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Table = dict[str, Any]


@dataclass(frozen=True)
class Shaper:
    """A queue, its rate and the wire behind it, for one direction of a router."""

    queue: Mapping[str, Any] = field(default_factory=dict)
    """Table of the queue. Empty: no packet ever waits."""
    rate_bps: int | None = None
    """Rate at which the queue is served. None: the queue shapes by itself, or nothing limits the rate."""
    wire: Mapping[str, Any] = field(default_factory=dict)
    """Delay, jitter, loss and the like behind the queue, as keys of a link."""

    @property
    def link(self) -> Table:
        """The equivalent link of a scenario."""
        return {
            **({} if self.rate_bps is None else {"rate": f"{self.rate_bps} bit/s"}),
            **self.wire,
            **({"queue": dict(self.queue)} if self.queue else {}),
        }


@dataclass
class Router:
    """The shapers of a configuration. None: the direction has none."""

    up: Shaper | None = None
    down: Shaper | None = None
    notes: list[str] = field(default_factory=list)
    """Notes on omitted parts of the configuration and on assumptions, one line each."""
