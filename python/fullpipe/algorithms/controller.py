"""The base class of algorithms written in Python, and checks of such algorithms."""

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
"""Smallest similarity (0 to 1) of a method's name and a hook's name at which the method's name counts as
mistyped."""


class Controller:
    """Computes the congestion window and the pacing rate of a flow, like the Rust trait `CongestionControl`.

    A subclass defines the methods that it needs. These methods set attributes such as `cwnd`, `ssthresh` and
    `pacing_bps`, which the transport reads after every call. Before a call, `cwnd` and `ssthresh` are updated
    if the transport or the growth law has changed them. Windows and counts are in packets, times in seconds,
    rates in bits of payload per second.

    By default, `on_ack` is called once per round trip, with the sum of the ACKs in the round trip. Between
    two calls, the window follows the growth law that the class declares with `slow_start` and `increase`.
    With `per_ack = True`, `on_ack` is called for every ACK, which takes about 1 us per ACK.

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
    """If true, the algorithm also sets the window during loss recovery, as BBR does. If false, the transport
    reduces the window to `ssthresh` by proportional rate reduction (PRR)."""
    needs_pacing: ClassVar[bool] = False
    """Pace the flow at `pacing_bps` or, if this is None, at the transport's rate."""
    watches_sends: ClassVar[bool] = False
    """Call `on_send` for every burst; by default, only for bursts that end an idle period."""
    ecn: ClassVar[Literal["classic", "every_mark", "l4s"]] = "classic"
    """ECN mode. "classic": a mark has the effect of a loss, at most once per round trip. "every_mark": the
    receiver echoes every mark, as for DCTCP. "l4s": the receiver counts marks, and packets are sent as
    ECT(1), as for Prague."""
    traced: ClassVar[Mapping[str, str]] = {}
    """Attributes that are recorded as variables (`record.variables`), each with its unit."""

    cwnd: float = 10
    """Congestion window in packets, at least 1; the transport rounds the window down."""
    ssthresh: float = math.inf
    """Slow-start threshold in packets. In an episode of congestion, the transport reduces the window to this
    threshold. Values below 2 count as 2."""
    slow_start: float = 0.0
    """Growth of the window per acknowledged packet while the window is below `ssthresh`, in packets."""
    increase: float = 0.0
    """Growth of the window per acknowledged window while the window is at least `ssthresh`, in packets."""
    pacing_bps: float | None = None
    """Pacing rate in bits of payload per second. None: the transport chooses the rate."""
    wakeup_s: float | None = None
    """Time in s at which `on_wakeup` is called. The call resets this attribute to None."""
    hide_samples: bool = False
    """If true, rate samples of packets sent from now on are marked application-limited, as in BBR's
    ProbeRTT."""
    reduce: bool = False
    """If set to true, the transport begins an episode of congestion of the kind "delay", and reduces the
    window. The transport resets the attribute to False when it calls `on_congestion`."""
    state: str | None = None
    """Name of the state to record. None: slow start or congestion avoidance, depending on the window."""
    rng: Random
    """Random number generator of the flow, seeded by the run. Algorithms must use no other generator."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse methods whose names resemble the name of a hook or begin with `on_`. The transport would
        never call such methods.

        Raises:
            TypeError: If the class has such a method.
        """
        super().__init_subclass__(**kwargs)
        hooks = _hooks()
        for name, value in vars(cls).items():
            if not callable(value) or name.startswith("_") or hasattr(Controller, name):
                continue
            meant = get_close_matches(name.lower(), hooks, n=1, cutoff=_ALIKE)
            if meant or name.lower().startswith("on_"):
                hint = f'; did you mean "{meant[0]}"?' if meant else f"; it calls {', '.join(hooks)}"
                raise TypeError(f"{cls.__name__}.{name}: fullpipe calls no method of this name{hint}")

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
        """Called when the handshake is over. `path` has the first RTT sample."""

    def on_ack(self, ack: Ack, path: Path) -> None:
        """Called once per round trip or, with `per_ack`, for every ACK. The growth law has already been
        applied."""

    def on_lost(self, lost: LostPacket, path: Path) -> None:
        """Called when a packet is marked lost. Calls come in this order: `on_lost`, `on_congestion` if an
        episode begins, `on_ack`."""

    def on_congestion(self, episode: Episode, path: Path) -> None:
        """Called when an episode of congestion begins. The method should set `ssthresh`. The transport then
        reduces the window to `ssthresh`, or to 1 packet after a timeout."""

    def on_undo(self, undo: Undo, path: Path) -> None:
        """Called when the last episode turns out to be spurious, as no packet was lost. Unless a class
        defines this method, `cwnd` and `ssthresh` are restored."""

    def on_recovery_exit(self, path: Path) -> None:
        """Called when all data that was in flight at the beginning of the episode has been delivered."""

    def on_send(self, sent: Sent, path: Path) -> None:
        """Called before a burst is sent after an idle period or, with `watches_sends`, before every burst."""

    def on_wakeup(self, path: Path) -> None:
        """Called at the time `wakeup_s`."""

    def _events(self) -> list[str]:
        """Return the names of the hooks that the subclass defines. The transport calls only these hooks."""
        return [name for name in _hooks() if getattr(type(self), name) is not getattr(Controller, name)]


def _hooks() -> list[str]:
    """Return the names of the hooks, the methods that the transport calls."""
    return [name for name in vars(Controller) if name.startswith("on_")]


def parameters(cls: type[Controller]) -> dict[str, Any]:
    """Return the parameters of a class with their defaults: annotated attributes that `Controller` lacks."""
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


# Conformance checks of users' `Controller` classes, without a network. The algorithms of the registry pass
# the same checks.


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
    """Check with sequences of random events whether a class keeps the invariants that every algorithm must
    keep.

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
        raise TypeError(
            f"{cls!r} is not a subclass of fullpipe.algorithms.Controller; derive it from Controller"
        )
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
    """Return an exception as one line of text, with the line and the file if the code of the class raised
    it."""
    text = " ".join(str(error).split())
    if error is None or error.__traceback__ is None:
        return text
    place = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} (line {place.lineno} of {place.filename})"


def round_trips(cls: type[Controller], count: int = 40, **params: Any) -> str:
    """Return the first round trips of a class as a text table. The path has a BDP of 50 packets, an RTT of 40
    ms, and no loss."""
    return _round_trips(lambda: cls(Random(1), **params), count)
