"""The base class of algorithms written in Python."""

import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import get_annotations
from random import Random
from traceback import extract_tb
from typing import Any, ClassVar, Literal

from fullpipe._native import Ack, Episode, LostPacket, Path, Sent, Undo
from fullpipe._native import judge as _judge
from fullpipe._native import round_trips as _round_trips
from fullpipe.errors import ControllerError, suggestion

_ALIKE = 0.8
"""Similarity (0 to 1) from which a method's name counts as a mistyped hook."""


class Controller:
    """Computes the window and the rate of a flow, like the Rust trait `CongestionControl`.

    Define the methods that you need and set the attributes `cwnd`, `ssthresh`, `pacing_bps` and so on. The
    attributes are read after every call. Before a call, `cwnd` and `ssthresh` are updated if the transport or
    the law has changed them. Windows and counts are in packets, times in seconds, rates in bits of payload
    per second.

    By default, `on_ack` is called once per round trip with the sum of the ACKs in the round trip. Between two
    calls, the window follows the law that the class declares with `slow_start` and `increase`. With `per_ack
    = True`, `on_ack` is called for every ACK, which costs about a microsecond per ACK.

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
    """Call `on_send` for every burst, not only for bursts that end an idle time."""
    ecn: ClassVar[Literal["classic", "every_mark", "l4s"]] = "classic"
    """ECN mode. "classic": a mark is like a loss, once per round. "every_mark": every mark is echoed, as for
    DCTCP. "l4s": marks are counted and packets sent as ECT(1), as for Prague."""
    traced: ClassVar[Mapping[str, str]] = {}
    """Attributes to record as variables, and their units."""

    cwnd: float = 10
    """Congestion window in packets, at least 1; the transport rounds the window down."""
    ssthresh: float = math.inf
    """Slow-start threshold in packets. The transport reduces the window to this threshold. Values below 2
    count as 2."""
    slow_start: float = 0.0
    """Growth of the window per acknowledged packet while it is below `ssthresh`, in packets."""
    increase: float = 0.0
    """Growth of the window per window of acknowledged packets from `ssthresh` on, in packets."""
    pacing_bps: float | None = None
    """Pacing rate; None: the transport chooses the rate."""
    wakeup_s: float | None = None
    """Time at which to call `on_wakeup`. The call resets this attribute to None."""
    hide_samples: bool = False
    """Mark packets sent from now on as application-limited, as BBR does in ProbeRTT."""
    reduce: bool = False
    """Ask the transport to begin an episode ("delay") and to reduce the window; reset to False in
    `on_congestion`."""
    state: str | None = None
    """Name of the state for traces; None: slow start or congestion avoidance, by the window."""
    rng: Random
    """Random number generator of this flow, seeded by the run. Use no other random generator."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse methods whose names resemble a hook or begin with `on_`, since such methods would never be
        called.

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
        """Set the parameters. A subclass with its own `__init__` must call this `__init__` first.

        Raises:
            ValueError: If a parameter is unknown, or differs in type from its default.
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
        """A packet was marked lost. Calls of `on_congestion`, if an episode begins, and of `on_ack`
        follow."""

    def on_congestion(self, episode: Episode, path: Path) -> None:
        """An episode begins: set `ssthresh`. The transport then reduces the window to `ssthresh`, or to 1 on
        a timeout."""

    def on_undo(self, undo: Undo, path: Path) -> None:
        """The episode was spurious. Unless this method is overridden, window and threshold are restored."""

    def on_recovery_exit(self, path: Path) -> None:
        """All data that was in flight when the episode began has been delivered."""

    def on_send(self, sent: Sent, path: Path) -> None:
        """A burst that ends an idle time is about to be sent, or any burst with `watches_sends`."""

    def on_wakeup(self, path: Path) -> None:
        """The time `wakeup_s` has come."""

    def _events(self) -> list[str]:
        """Return the methods that the subclass defines. Other methods are never called."""
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


# Conformance checks of classes, without a network. The algorithms of the registry pass the same checks.


_LONGEST = 600

_REMEDIES = {
    "variables are finite, each named once": "initialise the attributes in `traced` with finite numbers",
    "same seed and events, same outcome": "draw from self.rng only, and store all state in self",
    "an unused window does not grow": "let cwnd grow only if ack.may_grow and path.cwnd_limited",
    "a repeated timeout does not reduce again": "set ssthresh in on_congestion only if episode.first",
    "undo restores the window and the threshold": "set cwnd and ssthresh in on_undo to undo.prior_cwnd and "
    "undo.prior_ssthresh at least, or leave on_undo out",
}
"""Remedies by invariant, for the invariants that a class can break."""


def judge(cls: type[Controller], *, cases: int = 100, seed: int = 1, **params: Any) -> list[str]:
    """Check the invariants of every algorithm on a class with sequences of random events.

    Args:
        cls: The algorithm.
        cases: Number of sequences of events.
        seed: Seed of the events. Equal seeds give equal events.
        params: Parameters of the algorithm.

    Returns:
        One line per failed sequence: a broken invariant, an exception, or an invalid attribute, with a remedy
        if one is known. The list is empty if all sequences pass.

    Raises:
        TypeError: If `cls` is not a subclass of `Controller`, or a parameter in `params` is unknown.
        ValueError: If `cases` is below 1.
    """
    _check(cls, params)
    if cases < 1:
        raise ValueError(f"cases: {cases} is below 1; give at least 1")
    rng = Random(seed)
    scripts = [rng.randbytes(rng.randrange(_LONGEST)) for _ in range(cases)]
    judged = [_finding(lambda: cls(Random(seed), **params), script) for script in scripts]
    return [line for line in judged if line]


def _check(cls: type[Controller], params: dict[str, Any]) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Controller)):
        raise TypeError(f"{cls!r} is no subclass of fullpipe.algorithms.Controller")
    if cls.__init__ is not Controller.__init__:
        return  # its own `__init__` checks the parameters
    known = parameters(cls)
    for key in params:
        if key not in known:
            raise TypeError(f'unknown parameter "{key}" of {cls.__name__}{suggestion(key, known)}')


def _finding(factory: Callable[[], Controller], script: bytes) -> str | None:
    """Run one sequence of events, and return a line about its failure; None if the sequence passes."""
    try:
        broken = _judge(factory, script)
    except ControllerError as error:
        return f"{_raised(error.__cause__)}; in {error.event} at {error.time_s:g} s"
    if broken is None:
        return None
    invariant, problem, event = broken
    remedy = f"; {_REMEDIES[invariant]}" if invariant in _REMEDIES else ""
    return f"{invariant}: {problem}, after {event}{remedy}"


def _raised(error: BaseException | None) -> str:
    """Return an exception on one line, with its line and file if the class's code raised it."""
    text = " ".join(str(error).split())
    if error is None or error.__traceback__ is None:
        return text
    place = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} (line {place.lineno} of {place.filename})"


def round_trips(cls: type[Controller], count: int = 40, **params: Any) -> str:
    """Return the first round trips of a class on an ideal path of 50 packets and 40 ms, as a text table."""
    return _round_trips(lambda: cls(Random(1), **params), count)
