"""Limits of runs on the page and of its clients. Larger runs have the command line."""

from collections.abc import Iterator
from dataclasses import dataclass

from fullpipe.analysis.expected import datagrams_per_s, narrow_hops
from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario, resolve
from fullpipe.scenario.quantities import BITS

_WAY_OUT = "save the scenario and run it with fullpipe run"
MOST_POINTS = 30
"""A picture has a lane for each point of capture."""


@dataclass(frozen=True)
class Limits:
    """Of each run, and of all together."""

    duration_s: float = 600.0
    """Simulated time."""
    packets: int = 20_000_000
    """Data packets that the narrowest links can carry in that time, and datagrams, sent in any case.
    A million takes about half a second."""
    rows: int = 2_000_000
    """Samples of all flows of a run."""
    rows_in_all: int = 20_000_000
    """Of all runs of a comparison, which are in memory together; a million takes some 120 MB."""
    captured: int = 3_000_000
    """Packets that are captured, at all points together; the data alone are counted."""
    points: int = MOST_POINTS
    """At which packets are captured."""
    wall_s: float = 60.0
    """Real time of a run, sending included; and in which a client must have read what was sent."""
    memory_bytes: int = 4_000_000_000
    """Memory of the whole process, whatever makes it grow. A run stops there, and none begins above."""
    seeds: int = 50
    """Of a comparison."""
    at_once: int = 2
    """Runs at the same time; others wait for their turn."""
    waiting: int = 32
    """Requests that wait; more are turned away."""
    body_bytes: int = 1_000_000
    """Of a request."""
    request_s: float = 10.0
    """Real time until a request is complete, since its client connected or its last one was answered."""
    connections: int = 500
    """Connections at the same time; more are closed at once."""

    def check(self, scenario: Scenario, times: int = 1) -> None:
        """Refuse a scenario that is too large if it is run so many times.

        Raises:
            ScenarioError: With a line for every limit that it exceeds.
        """
        lines = list(self._exceeded(scenario, times))
        if lines:
            raise ScenarioError(lines)

    def _exceeded(self, scenario: Scenario, times: int) -> Iterator[str]:
        if scenario.sweep:
            yield f"sweep: the page runs one point at a time; take one, or {_WAY_OUT}"
            return
        if scenario.duration_s > self.duration_s:
            yield f"duration: the page runs at most {self.duration_s:g} s; {_WAY_OUT}"
        network = resolve(scenario)
        interval_s = scenario.record.interval_s
        if not interval_s:
            yield 'record.interval: is off, so there is nothing to draw; leave it out, or write "100 ms"'
        else:
            rows = len(network.flows) * scenario.duration_s / interval_s
            most = min(self.rows, self.rows_in_all / times)
            if rows > most:
                yield f"record.interval: more than {most:,.0f} samples; make it longer, or {_WAY_OUT}"
        packet_bits = BITS * min((routed.tcp.segment_bytes for routed in network.flows), default=1514)
        rate_bps = sum(hop.limit_bps or 0 for hop in narrow_hops(network))
        packets = times * scenario.duration_s * (rate_bps / packet_bits + datagrams_per_s(network))
        if packets > self.packets:
            yield (
                f"duration: up to {packets:,.0f} packets, and the page simulates {self.packets:,} at most;"
                f" make it shorter or slower, or {_WAY_OUT}"
            )
        points = len(scenario.record.packets or ())
        if points > self.points:
            yield f"record.packets: {points} points, and the page draws {self.points} at most; {_WAY_OUT}"
        captured = packets * points
        if captured > self.captured:
            yield (
                f"record.packets: up to {captured:,.0f} packets, and the page captures {self.captured:,} at"
                f" most; make it shorter or slower, or {_WAY_OUT}"
            )
