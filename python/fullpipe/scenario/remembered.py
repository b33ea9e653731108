"""What is worked out of a scenario once for many runs: the seeds of a sweep share one scenario."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.scenario import Scenario

T = TypeVar("T")
_KEPT = 64


class Remembered(Generic[T]):
    """A function of a scenario, and its values for the last few; a scenario never changes.

    An equal scenario that is another object is another one: to compare two takes as long as most functions.
    """

    def __init__(self, function: Callable[[Scenario], T]) -> None:
        self._function = function
        self._kept: OrderedDict[int, tuple[Scenario, T]] = OrderedDict()

    def __call__(self, scenario: Scenario) -> T:
        known = self._kept.get(id(scenario))  # which is of no other one as long as this one is kept
        if known and known[0] is scenario:
            return known[1]
        value = self._function(scenario)
        self._kept[id(scenario)] = scenario, value
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return value


own_algorithms_of = Remembered(lambda scenario: own_algorithms(scenario.flows))
"""The algorithms of users that a scenario names."""
