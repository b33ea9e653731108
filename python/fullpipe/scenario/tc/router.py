"""What a router does to packets before it sends them on, each way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Table = dict[str, Any]


@dataclass(frozen=True)
class Shaper:
    """What a router does before it sends on."""

    queue: Mapping[str, Any]
    rate_bps: int | None = None
    """At which it sends, if its queue does not shape."""

    @property
    def link(self) -> Table:
        """A link without a delay."""
        return {
            **({} if self.rate_bps is None else {"rate": f"{self.rate_bps} bit/s"}),
            "queue": dict(self.queue),
        }


@dataclass
class Router:
    """The shapers of a configuration; None where it has none."""

    up: Shaper | None = None
    down: Shaper | None = None
    notes: list[str] = field(default_factory=list)
    """One line each: what of the configuration is left out, or was taken for granted."""
