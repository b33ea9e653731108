"""A run whose samples can be read before its end."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import polars as pl

from fullpipe.engines.base import Stopwatch, origin
from fullpipe.engines.native.engine import NativeEngine, described, simulation_of
from fullpipe.runs import Run
from fullpipe.runs.encoded import Encoded
from fullpipe.scenario import Scenario
from fullpipe.scenario.checks.limits import check_grown
from fullpipe.scenario.quantities import NANOSECONDS


class LiveRun:
    """A stepwise run of a scenario without a sweep. Its tables equal those of `NativeEngine.run`.

    Raises:
        EngineError: If the plan is refused.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario, self._seed = scenario, seed
        self._took, self._cpu_s = Stopwatch(), 0.0
        with described(scenario, seed):
            self._simulation = simulation_of(scenario, seed, samples=True)
        self.end_s = self._simulation.duration_ns / NANOSECONDS
        """Simulated time of the whole run."""

    def advance(self) -> float:
        """Run for about 10 ms of real time and return the simulated time reached, in seconds.

        Raises:
            EngineError: If the simulator has an internal error.
            ScenarioError: If the run captures too many packets.
        """
        with self._clocked():
            reached_s = self._simulation.advance(self._simulation.duration_ns) / NANOSECONDS
        check_grown(self._simulation.captured, self._simulation.observed, reached_s)
        return reached_s

    @contextmanager
    def _clocked(self) -> Iterator[None]:
        began_s = time.thread_time()
        with described(self._scenario, self._seed):
            yield
        self._cpu_s += time.thread_time() - began_s

    def sampled(self) -> Mapping[str, pl.DataFrame]:
        """Return the tables `series` and `links` with the samples since the last call."""
        return Encoded(self._simulation.sampled())

    def finish(self) -> Run:
        """Run to the end and return the run. The object cannot be used afterwards.

        Raises:
            EngineError: If the simulator has an internal error.
        """
        with self._clocked():
            measured = self._simulation.finish()
        meta = origin(
            NativeEngine(),
            self._scenario,
            self._seed,
            self._took,
            cpu_s=self._cpu_s,
            data_packets=measured["data_packets"],
            hops=measured["packet_hops"],
        )
        return Run(meta, Encoded(measured["tables"]))
