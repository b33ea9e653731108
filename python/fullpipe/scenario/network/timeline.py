"""Changes, shapes and trace of a link as one list of steps in the order of time."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.link import LinkModel
from fullpipe.scenario.model.link.changes import Cycle, MarkovChannel, Ramp, Spike, State, Wave
from fullpipe.scenario.model.link.losses import plan_of
from fullpipe.scenario.model.link.trace import Trace
from fullpipe.scenario.network.recorded import recorded
from fullpipe.scenario.quantities import to_nanoseconds

Values = Mapping[str, Any]
"""Values of a link in the format of the plan: rate_bps, delay_ns, loss, limit."""
Step = tuple[int, Values]
"""A time in nanoseconds and the values of a link from then on. Missing values do not change."""
_WAVES: Mapping[str, Callable[[float], float]] = {
    "sine": lambda phase: (1 + math.sin(2 * math.pi * phase)) / 2,
    "triangle": lambda phase: 1 - abs(2 * phase - 1),
    "sawtooth": lambda phase: phase,
    "square": lambda phase: float(phase < 0.5),
}


def values_of(state: State) -> Values:
    """Return a state in the format of the plan."""
    found: dict[str, Any] = {}
    if state.rate_bps is not None:
        found["rate_bps"] = state.rate_bps
    if state.delay_s is not None:
        found["delay_ns"] = to_nanoseconds(state.delay_s)
    if state.loss is not None:
        found["loss"] = plan_of(state.loss)
    if (state.packets, state.limit_bytes) != (None, None):
        found["limit"] = {"packets": state.packets, "bytes": state.limit_bytes}
    return found


def timeline(link: LinkModel, first: Values, duration_s: float, where: str) -> list[Step]:
    """Return every step of a link until the end of the run, in the order of time.

    If the run ends during an outage, the step that ends the outage is included. `step_counts` estimates the
    number of steps beforehand.

    Args:
        link: The link.
        first: Initial values of the link. Unknown values are left out.
        duration_s: Duration of the run.
        where: Path of the link in the scenario, for messages.

    Raises:
        ProblemsError: If a shape needs a value that is unknown.
    """
    end = to_nanoseconds(duration_s)
    steps = [(to_nanoseconds(change.at_s), values_of(change)) for change in link.changes or ()]
    if link.trace is not None:
        steps = [*_recorded(link.trace, end), *steps]
    spikes: list[tuple[str, Spike]] = []
    for i, shape in enumerate(link.shapes or ()):
        here = f"{where}.shapes[{i}]"
        if isinstance(shape, Spike):
            spikes.append((here, shape))
        elif isinstance(shape, Ramp):
            steps += _ramp(shape, _History(first, steps), here)
        elif isinstance(shape, Cycle):
            steps += _until(_cycle(shape), end)
        elif isinstance(shape, Wave):
            steps += _until(_wave(shape, here), end)
    history = _History(first, steps if spikes else ())
    for here, spike in spikes:
        steps = [*steps, *_spikes(spike, history, end, here)]
    return sorted(steps, key=itemgetter(0))


def step_counts(link: LinkModel, duration_s: float) -> Iterator[tuple[str, float]]:
    """Yield the approximate number of steps of each part of a link, without generating them."""
    yield "changes", len(link.changes or ())
    rows = None if link.trace is None else link.trace.steps
    if link.trace is not None and rows is not None:
        rounds = duration_s / rows.time_s[-1] if link.trace.repeat else 1.0
        yield "trace", max(1.0, rounds) * len(rows.time_s)
    for i, shape in enumerate(link.shapes or ()):
        if isinstance(shape, Ramp):
            yield f"shapes[{i}]", _steps_of(shape)
        else:
            yield f"shapes[{i}]", max(0.0, duration_s - shape.at_s) / _between_steps_s(shape)


def _steps_of(ramp: Ramp) -> int:
    return max(1, round(ramp.over_s / ramp.step_s))


def _between_steps_s(shape: Spike | Cycle | Wave | MarkovChannel) -> float:
    """Return the mean time between two steps; infinity for a single spike."""
    match shape:
        case Spike():
            return math.inf if shape.every_s is None else shape.every_s / 2
        case Cycle():
            return shape.every_s
        case Wave():
            return shape.period_s / 2 if shape.step_s is None else shape.step_s
        case MarkovChannel():
            return shape.mean_s


class _History:
    """The values of a link at any time, derived from a list of steps."""

    def __init__(self, first: Values, steps: Iterable[Step]) -> None:
        self._times: dict[str, list[int]] = {}
        self._values: dict[str, list[Any]] = {}
        for at, values in [(-1, first), *sorted(steps, key=itemgetter(0))]:
            for key, value in values.items():
                self._times.setdefault(key, []).append(at)
                self._values.setdefault(key, []).append(value)

    def at(self, key: str, time_ns: int, where: str) -> Any:
        """Return a value at a time, including steps at that time. Raises ProblemsError if the value is
        unknown."""
        n = bisect_right(self._times.get(key, []), time_ns)
        if n == 0:
            name = {"rate_bps": "rate", "delay_ns": "delay", "limit": "limit of the queue"}.get(key, key)
            raise ProblemsError(
                f"{where}: the {name} is not known at this time; set the {name} in an earlier change"
            )
        return self._values[key][n - 1]


@lru_cache(maxsize=8)
def _recorded(trace: Trace, end_ns: int) -> Sequence[Step]:
    """Return the rows of a CSV as steps. Cached, as a scenario is resolved several times."""
    rows = trace.steps
    return [] if rows is None else [*_until(recorded(trace, rows), end_ns, len(rows.time_s))]


def _ramp(ramp: Ramp, history: _History, where: str) -> Iterator[Step]:
    begin, to = to_nanoseconds(ramp.at_s), values_of(ramp.target)
    given = values_of(ramp.source) if ramp.source else {}
    start = {key: given[key] if key in given else history.at(key, begin, where) for key in to}
    number = _steps_of(ramp)
    for n in range(number + 1):
        yield begin + to_nanoseconds(ramp.over_s) * n // number, _between(start, to, n / number, where)


def _spikes(spike: Spike, history: _History, end_ns: int, where: str) -> Iterator[Step]:
    first, lasts = to_nanoseconds(spike.at_s), to_nanoseconds(spike.lasts_s)
    state = values_of(spike.state)
    every = None if spike.every_s is None else to_nanoseconds(spike.every_s)
    begins = (first,) if every is None else range(first, max(end_ns, first + 1), every)
    for begin in begins:
        yield begin, state
        yield begin + lasts, {key: history.at(key, begin + lasts, where) for key in state}


def _cycle(cycle: Cycle) -> Iterator[Step]:
    begin, every = to_nanoseconds(cycle.at_s), to_nanoseconds(cycle.every_s)
    states = [values_of(state) for state in cycle.states]
    return ((begin + n * every, states[n % len(states)]) for n in count())


def _wave(wave: Wave, where: str) -> Iterator[Step]:
    begin, period = to_nanoseconds(wave.at_s), to_nanoseconds(wave.period_s)
    step = period // 2 if wave.step_s is None else to_nanoseconds(wave.step_s)
    low, high, form = values_of(wave.low), values_of(wave.high), _WAVES[wave.shape]
    if low.keys() != high.keys():
        raise ProblemsError(f"{where}: low and high set different quantities; write the same keys in both")
    for n in count():
        yield begin + n * step, _between(low, high, form(n * step % period / period), where)


def _until(steps: Iterator[Step], end_ns: int, grace: int = 10_000) -> Iterator[Step]:
    """Yield the steps before the end of the run. If the run ends in an outage, also yield the later steps up
    to the end of the outage, at most `grace` steps."""
    late = 0
    outage = False
    for at, values in steps:
        if at >= end_ns:
            late += 1
            if not outage or late > grace:
                return
        outage = values["rate_bps"] == 0 if "rate_bps" in values else outage
        yield at, values


def _between(low: Values, high: Values, share: float, where: str) -> Values:
    """Return the values at `share` (0 to 1) of the way from one state to another."""
    return {key: _mixed(low[key], high[key], share, where) for key in high}


def _mixed(low: Any, high: Any, share: float, where: str) -> Any:
    if isinstance(low, dict) and isinstance(high, dict) and low.keys() == high.keys():
        return {key: _mixed(low[key], high[key], share, where) for key in high}
    if low == high:
        return low
    if isinstance(low, int | float) and isinstance(high, int | float):
        value = low + (high - low) * share
        return round(value) if isinstance(high, int) else value
    raise ProblemsError(f"{where}: cannot change gradually from {low} to {high}")
