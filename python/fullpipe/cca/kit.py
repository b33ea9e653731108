"""Judges a class without a network, as the algorithms of the registry are judged."""

from random import Random
from typing import Any

from fullpipe._native import judge as _judge
from fullpipe._native import round_trips as _round_trips
from fullpipe.cca.controller import Controller

_LONGEST = 600


def judge(cls: type[Controller], *, cases: int = 100, seed: int = 1, **params: Any) -> list[str]:
    """Play random events to a class, in any order, and check after each what must hold of every algorithm.

    Args:
        cls: The algorithm.
        cases: How many sequences of events.
        seed: The same seed gives the same events.
        params: Parameters of the algorithm.

    Returns:
        What does not hold, one line for every sequence; none if all is well.

    Raises:
        ControllerError: If the class raises an exception.
    """
    rng = Random(seed)
    scripts = [rng.randbytes(rng.randrange(_LONGEST)) for _ in range(cases)]
    judged = [_judge(lambda: cls(Random(seed), **params), script) for script in scripts]
    return [line for line in judged if line]


def round_trips(cls: type[Controller], count: int = 40, **params: Any) -> str:
    """The first round trips of a class on an ideal path of 50 packets and 40 ms, as a table to look at."""
    return _round_trips(lambda: cls(Random(1), **params), count)
