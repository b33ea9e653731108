"""Departure times of a flow's datagrams, which equal those of the simulator."""

from fullpipe.engines.streams import Stream
from fullpipe.scenario.model.workloads.datagrams import Datagrams, Udp
from fullpipe.scenario.quantities import to_nanoseconds


def departures_ns(workload: Datagrams, stream: str, start_ns: int, end_ns: int, seed: int) -> list[int]:
    """Return all departure times from the start until before the end, using the random stream `stream`.

    Datagrams leave at a constant interval or as a Poisson process, continuously or in active periods. An
    active period begins with a datagram, except in a Poisson process.
    """
    poisson = isinstance(workload, Udp) and workload.spacing == "poisson"
    gaps = Stream(seed, f"departures/{stream}") if poisson else None
    interval_ns = workload.interval_ns

    def gap() -> int:
        return gaps.exponential_ns(interval_ns) if gaps else interval_ns

    def first(at_ns: int) -> int:
        return at_ns + gap() if gaps else at_ns

    periods = _Periods(workload, Stream(seed, f"periods/{stream}")) if _has_periods(workload) else None
    until_ns = start_ns + periods.on() if periods else None
    found: list[int] = []
    next_ns = first(start_ns)
    while True:
        while periods and until_ns is not None and until_ns <= next_ns and until_ns <= end_ns:
            begin_ns = until_ns + periods.off()  # silent until then
            until_ns = begin_ns + periods.on()
            next_ns = first(begin_ns)
        if next_ns >= end_ns:
            return found
        found.append(next_ns)
        next_ns += gap()


def _has_periods(workload: Datagrams) -> bool:
    return isinstance(workload, Udp) and workload.on_s is not None


class _Periods:
    """Durations of alternating active and silent periods."""

    def __init__(self, workload: Datagrams, stream: Stream) -> None:
        assert isinstance(workload, Udp)
        self._on_ns = to_nanoseconds(workload.on_s or 0)
        self._off_ns = to_nanoseconds(workload.off_s or 0)
        self._stream = stream if workload.periods == "exponential" else None

    def on(self) -> int:
        return self._draw(self._on_ns)

    def off(self) -> int:
        return self._draw(self._off_ns)

    def _draw(self, mean_ns: int) -> int:
        return self._stream.exponential_ns(mean_ns) if self._stream else mean_ns
