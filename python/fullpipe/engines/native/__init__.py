"""The native engine: it converts a scenario to a plan for the simulator `fullpipe._native`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, ClassVar, get_args

from fullpipe._native import MODEL_VERSION, PROFILE, SOURCES, PlanError, Simulation, SimulationPanic
from fullpipe.algorithms import own
from fullpipe.engines.base import Capabilities, Problem, Progress, Requirement, Stopwatch, digest_of, origin
from fullpipe.engines.native.plan import plan_text
from fullpipe.engines.overtime import threads
from fullpipe.errors import ControllerError, EngineError
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.runs.encoding import Encoded
from fullpipe.runs.meta import version
from fullpipe.scenario import Scenario, catalogue
from fullpipe.scenario.checks.sizes import check_grown
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import NANOSECONDS
from fullpipe.scenario.remembered import Remembered, own_algorithms_of

if TYPE_CHECKING:
    from fullpipe._native import Results

__all__ = ["NativeEngine"]


# The native engine, which calls the Rust simulator `fullpipe._native`.


_SLOWER = Requirement(
    "fast build",
    present=False,
    detail="this build takes 4 to 15 % more instructions; for long sweeps: make build PROFILE=release",
    needed=False,
)

_plan = Remembered(plan_text, size=len)
"""Cache of the texts of plans, because creating the text of a plan takes as long as a short run."""


class NativeEngine:
    """Packet-level simulation in Rust, on one or several threads per run."""

    name: ClassVar[str] = "native"
    not_measured: ClassVar[frozenset[str]] = frozenset()
    """Columns that the engine does not measure. The set is empty. With this attribute, the slow imports of
    `capabilities` are avoided."""

    def version(self) -> str:
        """Return the package version and a fingerprint of the simulator's sources."""
        return f"{version('fullpipe')}+{SOURCES}"

    def model_version(self) -> str:
        """Return the model version, which changes whenever results can change."""
        return MODEL_VERSION

    def capabilities(self) -> Capabilities:
        """Return the capabilities: every feature that a scenario can have."""
        return _capabilities()

    def doctor(self) -> list[Requirement]:
        """Return the compiled simulator as a requirement, with a note if it was not built with the profile
        `release`."""
        simulator = Requirement("simulator", present=True, detail=f"model {MODEL_VERSION}, sources {SOURCES}")
        return [simulator] if PROFILE == "release" else [simulator, _SLOWER]

    def check(self, scenario: Scenario) -> list[Problem]:
        """Return the reasons why the simulator refuses the plan of a scenario."""
        try:
            simulation_of(scenario, seed=0)
        except PlanError as error:
            return [Problem(_as_described(path, scenario), message) for path, message in error.problems]
        return []

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep. The same scenario and seed give the same tables, byte for byte.

        Raises:
            EngineError: If the plan is refused, or the simulator has an internal error.
            ScenarioError: If the run captures too many packets.
        """
        # With several threads, the CPU time is that of the whole process, including parallel runs.
        cpu_clock = time.process_time if threads() > 1 else time.thread_time
        took, cpu_s = Stopwatch(), cpu_clock()
        measured = _measure(scenario, seed, progress)
        meta = origin(
            self,
            scenario,
            seed,
            took,
            cpu_s=cpu_clock() - cpu_s,
            data_packets=measured["data_packets"],
            hops=measured["packet_hops"],
        )
        return Run(meta, Encoded(measured["tables"]))


@cache
def _capabilities() -> Capabilities:
    from fullpipe.scenario.model.routing import (
        Policy,
    )  # imported here, because most scenarios have no route controller
    from fullpipe.scenario.model.workloads import workload_models

    return Capabilities(
        ccas=frozenset(catalogue.controllers()),
        queues=frozenset(catalogue.queues()),
        losses=frozenset(catalogue.family("losses")),
        impairments=frozenset(catalogue.family("impairments")),
        media=frozenset(catalogue.family("media")),
        workloads=frozenset(workload_models()),
        route_policies=frozenset(get_args(Policy)),
        own_algorithms=True,
        ends_tcp=True,
    )


def _as_described(path: str, scenario: Scenario) -> str:
    """Convert a key path in the plan to the key path in the scenario."""
    found = re.match(r"(links|media|flows)\[(\d+)\](\.(forward|reverse|reroutes)\b.*)?", path)
    if not found:
        return path
    network, number = resolve(scenario), int(found[2])
    if found[1] == "media":
        return network.media[number].where
    if found[1] == "flows":
        if relayed := network.flows[number].relayed:
            return f"{relayed.where}{path[found.end() :]}"
        described = network.flows[number].flow
        place = next(i for i, flow in enumerate(scenario.flows) if flow is described)
        return f"flows[{place}]{path[found.end() :]}"  # without the route, as scenarios have no keys for it
    link = network.links[number]
    written = (
        not link.shapes and link.trace is None
    )  # otherwise the changes in the plan differ from those in the scenario
    return link.where + (path[found.end() :] if written else "")


def _measure(scenario: Scenario, seed: int, progress: Progress | None) -> Results:
    with described(scenario, seed):
        simulation = simulation_of(scenario, seed)
        _advance(simulation, progress)
        return simulation.finish()


@contextmanager
def described(scenario: Scenario, seed: int) -> Iterator[None]:
    """Convert exceptions of the simulator to errors that name the scenario and the seed.

    Raises:
        EngineError: If the plan is refused, or the simulator has an internal error.
        ControllerError: If an algorithm of the user fails.
    """
    try:
        yield
    except PlanError as error:
        raise EngineError(str(error)) from error
    except ControllerError as error:
        import traceback

        cause = error.__cause__
        trace = "".join(traceback.format_exception(cause)) if cause else ""
        message = f"scenario {digest_of(NativeEngine(), scenario)}, seed {seed}: {error}\n{trace}".rstrip()
        raise ControllerError(message, error.controller, error.flow, error.event, error.time_s) from cause
    except SimulationPanic as error:
        digest = digest_of(NativeEngine(), scenario)
        raise EngineError(f"scenario {digest}, seed {seed}: {error}") from error


def _advance(simulation: Simulation, progress: Progress | None) -> None:
    """Run to the end, in parts of about 10 ms of real time."""
    reached_ns, end_ns = -1, simulation.duration_ns
    while reached_ns < end_ns:
        reached_ns = simulation.advance(end_ns)
        check_grown(simulation.captured, simulation.observed, reached_ns / 1e9)
        _tell(progress, reached_ns)


def _tell(progress: Progress | None, reached_ns: int) -> None:
    if progress:
        progress(reached_ns / 1e9)


def simulation_of(scenario: Scenario, seed: int, *, samples: bool = False) -> Simulation:
    """Return the simulation of a scenario. If `samples` is true, samples can be read before the run ends.

    Raises:
        PlanError: If the plan is refused.
    """
    kinds = [kind for kind in own_algorithms_of(scenario) if own.is_known(kind)]
    makers = {kind: own.maker(kind) for kind in kinds}
    return Simulation(_plan(scenario), seed, makers, threads(), samples)


# A run whose samples can be read before the run ends.


class LiveRun:
    """A stepwise run of a scenario without a sweep. The tables of a stepwise run equal the tables of
    `NativeEngine.run`.

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
