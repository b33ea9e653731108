"""A cache of values computed from scenarios. The runs of a sweep point with different seeds share one
scenario object, so the cache is often hit."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.scenario import Scenario

T = TypeVar("T")
_KEPT = 64
_MOST_BYTES = 100_000_000


def _small(_: object) -> int:
    return 0


class Remembered(Generic[T]):
    """A function of a scenario that caches its last 64 values.

    Scenarios are compared by identity. A comparison by value would take as long as most of the functions.

    Args:
        function: The function to cache.
        size: Function that returns the size of a value in bytes, for large values. Above a total of 100 MB,
            the oldest values are evicted.
    """

    def __init__(self, function: Callable[[Scenario], T], size: Callable[[T], int] = _small) -> None:
        self._function, self._size = function, size
        self._kept: OrderedDict[int, tuple[Scenario, T]] = OrderedDict()

    def __call__(self, scenario: Scenario) -> T:
        known = self._kept.get(id(scenario))  # the id is unique as long as the cache holds the scenario
        if known and known[0] is scenario:
            return known[1]
        value = self._function(scenario)
        self._kept[id(scenario)] = scenario, value
        while len(self._kept) > 1 and self._has_too_much():
            self._kept.popitem(last=False)
        return value

    def _has_too_much(self) -> bool:
        if len(self._kept) > _KEPT:
            return True
        return sum(self._size(value) for _, value in list(self._kept.values())) > _MOST_BYTES


own_algorithms_of = Remembered(lambda scenario: own_algorithms(scenario.flows))
"""Function of a scenario: names of its algorithms that are not in the registry."""
