"""The conformance kit for classes, without a network; the registry's algorithms pass the same checks."""

from collections.abc import Callable
from random import Random
from traceback import extract_tb
from typing import Any

from fullpipe._native import judge as _judge
from fullpipe._native import round_trips as _round_trips
from fullpipe.algorithms.controller import Controller, parameters
from fullpipe.errors import ControllerError, suggestion

_LONGEST = 600

_REMEDIES = {
    "variables are finite, each named once": "initialise the attributes in `traced` with finite numbers",
    "same seed and events, same outcome": "draw from self.rng only, and store all state in self",
    "an unused window does not grow": "let cwnd grow only if ack.may_grow and path.cwnd_limited",
    "a repeated timeout does not reduce again": "set ssthresh in on_congestion only if episode.first",
    "undo restores the window and the threshold": "set cwnd and ssthresh in on_undo to undo.prior_cwnd and "
    "undo.prior_ssthresh at least, or leave on_undo out",
}
"""Remedies by invariant, for those that a class can break."""


def judge(cls: type[Controller], *, cases: int = 100, seed: int = 1, **params: Any) -> list[str]:
    """Check the invariants of every algorithm on a class with sequences of random events.

    Args:
        cls: The algorithm.
        cases: Number of sequences of events.
        seed: The same seed gives the same events.
        params: Parameters of the algorithm.

    Returns:
        One line per failed sequence: a broken invariant, an exception, or an invalid attribute, with a remedy
        if one is known. The list is empty if all sequences pass.

    Raises:
        TypeError: If `cls` is no subclass of `Controller`, or has no such parameter.
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
    """Run one sequence of events, and return a line about its failure; None if it passes."""
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
    """Return an exception with its place on one line; without a place if it is not from the class's code."""
    text = " ".join(str(error).split())
    if error is None or error.__traceback__ is None:
        return text
    place = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} (line {place.lineno} of {place.filename})"


def round_trips(cls: type[Controller], count: int = 40, **params: Any) -> str:
    """Return the first round trips of a class on an ideal path of 50 packets and 40 ms, as a text table."""
    return _round_trips(lambda: cls(Random(1), **params), count)
