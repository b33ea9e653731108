"""A run whose samples can be had before its end."""

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
    """A scenario without a sweep that is run in steps. The same tables come out as of `NativeEngine.run`.

    Raises:
        EngineError: If its plan is refused.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario, self._seed = scenario, seed
        self._took, self._cpu_s = Stopwatch(), 0.0
        with described(scenario, seed):
            self._simulation = simulation_of(scenario, seed, samples=True)
        self.end_s = self._simulation.duration_ns / NANOSECONDS
        """Simulated time of the whole run."""

    def advance(self) -> float:
        """Run for some ten milliseconds of real time; the simulated time reached, in seconds.

        Raises:
            EngineError: If the simulator stops on an error of its own.
            ScenarioError: If it captures too many packets.
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
        """The tables `series` and `links` of what was sampled since the last call."""
        return Encoded(self._simulation.sampled())

    def finish(self) -> Run:
        """Run to the end. Then there is nothing more to do with it.

        Raises:
            EngineError: If the simulator stops on an error of its own.
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
