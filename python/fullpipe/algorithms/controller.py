"""The base class of algorithms written in Python."""

import math
from collections.abc import Mapping
from difflib import get_close_matches
from inspect import get_annotations
from random import Random
from typing import Any, ClassVar, Literal

from fullpipe._native import Ack, Episode, LostPacket, Path, Sent, Undo
from fullpipe.errors import suggestion

_ALIKE = 0.8
"""Similarity (0 to 1) from which a method's name counts as a mistyped hook."""


class Controller:
    """Computes the window and the rate of a flow, like the Rust trait `CongestionControl`.

    Define the methods that you need and set the attributes `cwnd`, `ssthresh`, `pacing_bps` and so on. They
    are read after every call. Before a call, `cwnd` and `ssthresh` are updated if the transport or the law
    has changed them. Windows and counts are in packets, times in seconds, rates in bits of payload per
    second.

    `on_ack` is called once per round trip with the sum of its ACKs, which costs little. In between, the
    window follows the law that the class declares with `slow_start` and `increase`. With `per_ack = True`,
    `on_ack` is called for every ACK, which costs about a microsecond each.

    Annotated attributes of a subclass are its parameters, with their defaults:

    >>> class Reno(Controller):
    ...     slow_start = 1.0
    ...     increase = 1.0
    ...     beta: float = 0.5
    ...
    ...     def on_congestion(self, episode, path):
    ...         if episode.first:
    ...             self.ssthresh = self.cwnd * self.beta
    """

    per_ack: ClassVar[bool] = False
    """Call `on_ack` for every ACK."""
    owns_recovery: ClassVar[bool] = False
    """Let the algorithm set the window during loss recovery, too, like BBR; otherwise the transport reduces
    it to `ssthresh` by proportional rate reduction."""
    needs_pacing: ClassVar[bool] = False
    """Pace the flow, at `pacing_bps` or at the transport's rate."""
    watches_sends: ClassVar[bool] = False
    """Call `on_send` for every burst, not only for those that end an idle time."""
    ecn: ClassVar[Literal["classic", "every_mark", "l4s"]] = "classic"
    """ECN mode. "classic": a mark is like a loss, once per round. "every_mark": every mark is echoed, as for
    DCTCP. "l4s": marks are counted and packets sent as ECT(1), as for Prague."""
    traced: ClassVar[Mapping[str, str]] = {}
    """Attributes to record as variables, and their units."""

    cwnd: float = 10
    """Window in packets, at least 1; the transport rounds it down."""
    ssthresh: float = math.inf
    """Slow-start threshold in packets, to which the transport reduces. Less than 2 counts as 2."""
    slow_start: float = 0.0
    """Growth of the window per acknowledged packet while it is below `ssthresh`, in packets."""
    increase: float = 0.0
    """Growth of the window per window of acknowledged packets from `ssthresh` on, in packets."""
    pacing_bps: float | None = None
    """Pacing rate; None leaves it to the transport."""
    wakeup_s: float | None = None
    """Time at which to call `on_wakeup`; it is cleared when the call is made."""
    hide_samples: bool = False
    """Mark packets sent from now on as application-limited, as BBR does in ProbeRTT."""
    reduce: bool = False
    """Ask the transport to begin an episode ("delay") and to reduce; set it to False in `on_congestion`."""
    state: str | None = None
    """Name of the state for traces; None: slow start or congestion avoidance, by the window."""
    rng: Random
    """Random numbers of this flow, from the seed of the run: draw from no other."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse methods whose names are close to a hook, or begin with `on_`: they would never be called.

        Raises:
            TypeError: If there is such a method.
        """
        super().__init_subclass__(**kwargs)
        hooks = _hooks()
        for name, value in vars(cls).items():
            if not callable(value) or name.startswith("_") or hasattr(Controller, name):
                continue
            meant = get_close_matches(name.lower(), hooks, n=1, cutoff=_ALIKE)
            if meant or name.lower().startswith("on_"):
                hint = f'; did you mean "{meant[0]}"?' if meant else f"; there is {', '.join(hooks)}"
                raise TypeError(f"{cls.__name__}.{name}: no such method is ever called{hint}")

    def __init__(self, rng: Random, **params: Any) -> None:
        """Set the parameters. A subclass with its own `__init__` calls this one first.

        Raises:
            ValueError: If a parameter is unknown, or has another type than its default.
        """
        self.rng = rng
        known = parameters(type(self))
        for key, value in params.items():
            if key not in known:
                raise ValueError(f'unknown parameter "{key}"{suggestion(key, known)}')
            if not _alike(known[key], value):
                raise ValueError(f"{key}: expected a value like {known[key]!r}, got {value!r}")
            setattr(self, key, value)

    def on_established(self, path: Path) -> None:
        """The handshake is over; `path` has the first RTT sample."""

    def on_ack(self, ack: Ack, path: Path) -> None:
        """A round trip is over, or with `per_ack` an ACK arrived. The law has already been applied."""

    def on_lost(self, lost: LostPacket, path: Path) -> None:
        """A packet was marked lost. The calls for the episode that it may begin and for its ACK follow."""

    def on_congestion(self, episode: Episode, path: Path) -> None:
        """An episode begins: set `ssthresh`. The transport moves the window there, or to 1 on a timeout."""

    def on_undo(self, undo: Undo, path: Path) -> None:
        """The episode was spurious. Unless overridden, window and threshold are restored."""

    def on_recovery_exit(self, path: Path) -> None:
        """All data that was in flight when the episode began has been delivered."""

    def on_send(self, sent: Sent, path: Path) -> None:
        """A burst is about to be sent: one that ends an idle time, or with `watches_sends` any."""

    def on_wakeup(self, path: Path) -> None:
        """The time `wakeup_s` has come."""

    def _events(self) -> list[str]:
        """Return the methods that the subclass defines: the others are never called."""
        return [name for name in _hooks() if getattr(type(self), name) is not getattr(Controller, name)]


def _hooks() -> list[str]:
    """Return the names of the hooks, the methods that the transport calls."""
    return [name for name in vars(Controller) if name.startswith("on_")]


def parameters(cls: type[Controller]) -> dict[str, Any]:
    """Return the parameters of a class with their defaults: annotated attributes below `Controller`."""
    own = [base for base in reversed(cls.__mro__) if issubclass(base, Controller) and base is not Controller]
    names = [name for base in own for name in get_annotations(base)]
    return {
        name: getattr(cls, name) for name in names if hasattr(cls, name) and not hasattr(Controller, name)
    }


def _alike(default: object, value: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return default is None or isinstance(value, type(default))
