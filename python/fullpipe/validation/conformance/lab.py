"""Cases of conformance tests, and the lab, which runs an algorithm in their scenarios."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import states as spans_of
from fullpipe.engines import engine
from fullpipe.errors import FullpipeError, ScenarioError
from fullpipe.runs import Run, Store
from fullpipe.scenario import Scenario
from fullpipe.sweeps import Job, run

# The set-up of conformance tests: a path, an algorithm on this path, and observations in the draft's terms.


WIRE_BYTES, PAYLOAD_BYTES = 1514, 1448
FLOW = "subject"

ALIASES: Mapping[str, tuple[str, ...]] = {
    "full_bw_reached": ("full_bw_reached", "filled_pipe"),
    "full_bw_count": ("full_bw_count", "full_bw_cnt"),
    "max_bw": ("max_bw", "bw"),
    "inflight_longterm": ("inflight_longterm", "inflight_hi"),
    "inflight_shortterm": ("inflight_shortterm", "inflight_lo"),
    "bw_shortterm": ("bw_shortterm", "bw_lo"),
}
"""Names that implementations use for a variable, by the name of the variable in the draft."""
_STATES = {
    "startup": "Startup",
    "drain": "Drain",
    "probertt": "ProbeRTT",
    "probebwup": "ProbeBW_UP",
    "probebwdown": "ProbeBW_DOWN",
    "probebwcruise": "ProbeBW_CRUISE",
    "probebwrefill": "ProbeBW_REFILL",
}
_NOWHERE = float("nan")


def state_name(published: str) -> str:
    """A state as the draft spells it: "ProbeBW:Up", "PROBE_BW_UP" and "ProbeUp" are ProbeBW_UP."""
    plain = "".join(letter for letter in published.lower() if letter.isalnum())
    for key in (plain, plain.replace("probe", "probebw", 1)):
        if key in _STATES:
            return _STATES[key]
    return published


class ObservedRun:
    """One run of the algorithm under test. Times are in seconds, windows in packets, rates in packets/s."""

    def __init__(self, result: Run) -> None:
        self.run = result
        own = result.variables.filter(pl.col("flow") == FLOW)
        self.names = set(own["name"].unique())
        self.states: list[tuple[str, float, float]] = []
        if not own.filter((pl.col("name") == "state") & (pl.col("state") != "")).is_empty():
            self.states = [(state_name(s), a, b) for a, b, s in spans_of(own, FLOW).iter_rows()]
        self._own = own
        self._series = result.series.filter(pl.col("flow") == FLOW)

    def first(self, state: str, after_s: float = 0.0) -> tuple[float, float, str]:
        """Return start and end of the first stay in a state that begins at or after a time, and the next
        state.

        The next state is "" if the run ends before the state changes.

        Raises:
            StuckError: If the algorithm is not in the state after that time.
        """

        for number, (name, start_s, end_s) in enumerate(self.states):
            if name == state and start_s >= after_s - 1e-9:
                following = self.states[number + 1][0] if number + 1 < len(self.states) else ""
                return start_s, end_s, following
        raise StuckError(f"never in {state} after {after_s:.2f} s; its states are {self.path(after_s)}")

    def path(self, after_s: float = 0.0, most: int = 8) -> str:
        """The sequence of states from a time on."""
        names = [name for name, _, end_s in self.states if end_s > after_s]
        return " -> ".join(names[:most]) + (" ..." if len(names) > most else "")

    def state_at(self, time_s: float) -> str:
        """The state at a time; "" before and after the flow."""
        return next((name for name, start_s, end_s in self.states if start_s <= time_s < end_s), "")

    def has(self, name: str) -> bool:
        """Whether the algorithm published a number under this name of the draft, or an alias."""
        return any(alias in self.names for alias in ALIASES.get(name, (name,)))

    def numbers(self, name: str, start_s: float = 0.0, end_s: float = 1e9) -> pl.DataFrame:
        """A variable over time: time_s, value. Times at which the variable is not set are left out."""
        found = next((alias for alias in ALIASES.get(name, (name,)) if alias in self.names), name)
        rows = self._own.filter((pl.col("name") == found) & pl.col("time_s").is_between(start_s, end_s))
        return rows.select("time_s", "value").drop_nulls().filter(pl.col("value").is_finite())

    def at(self, name: str, time_s: float) -> float:
        """The last value of a variable at or before a time; NaN if the variable was not set."""
        every = self._own.filter(pl.col("time_s") <= time_s + 1e-9)["time_s"]
        last_s = every.max() if every.len() else None
        rows = self.numbers(name, 0.0, time_s + 1e-9)
        if rows.is_empty() or last_s is None or rows["time_s"][-1] < last_s:
            return _NOWHERE
        return float(rows["value"][-1])

    def series(self, column: str, start_s: float, end_s: float) -> pl.Series:
        """A column of the samples of the flow between two times, without nulls."""
        return self._series.filter(pl.col("time_s").is_between(start_s, end_s))[column].drop_nulls()

    def in_flight(self, time_s: float) -> float:
        """Packets in flight at the last sample at or before a time."""
        found = self.series("in_flight_bytes", 0.0, time_s)
        return float(found[-1]) / PAYLOAD_BYTES if found.len() else 0.0

    def bdp(self, time_s: float) -> float:
        """max_bw times min_rtt, in packets."""
        return self.at("max_bw", time_s) * self.at("min_rtt", time_s)

    def goodput(self, start_s: float, end_s: float) -> float:
        """Mean goodput in packets per second."""
        found = self.series("goodput_bps", start_s, end_s).mean()
        return float(found or 0.0) / 8 / PAYLOAD_BYTES  # type: ignore[arg-type]

    def retransmitted(self, start_s: float, end_s: float) -> int:
        """Packets retransmitted between two times."""
        return int(self.series("retransmitted_packets", start_s, end_s).sum())

    def dropped(self) -> int:
        """Packets that the path lost, in the whole run."""
        return int(self.run.links_summary["dropped_packets"].sum())


def rate_pps(mbps: float) -> float:
    """A link rate in full packets per second."""
    return mbps * 1e6 / 8 / WIRE_BYTES


class Lab:
    """Runs each scenario once with the algorithm under test, and records the variables that the algorithm
    published."""

    def __init__(
        self,
        cca: str | Mapping[str, Any],
        store: Store | None = None,
        seed: int = 1,
        engine_name: str = "native",
    ) -> None:
        self.cca = cca
        self.published: set[str] = set()
        """Names of variables and of states; states have the spelling of the draft."""
        self._store, self._seed, self._engine = store, seed, engine_name
        self._known: dict[str, ObservedRun] = {}
        self._lock = Lock()

    def path(
        self,
        duration_s: float,
        *,
        rate_mbps: float = 10,
        rtt_ms: float = 40,
        queue: Mapping[str, Any] | int = 200,
        changes: Sequence[Mapping[str, Any]] = (),
        application: Sequence[Mapping[str, Any]] = (),
        reordering: Mapping[str, Any] | None = None,
        ack_batch_ms: float | None = None,
        receive_packets: int | None = None,
        interval_ms: float = 5,
    ) -> ObservedRun:
        """A flow over one bottleneck. Without options: 10 Mbit/s, 40 ms, a buffer of six BDP, no loss."""
        there: dict[str, Any] = {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": f"{rtt_ms / 2} ms",
            "queue": {"kind": "drop_tail", "packets": queue} if isinstance(queue, int) else dict(queue),
        }
        if changes:
            there["changes"] = [dict(change) for change in changes]
        if reordering:
            there["reordering"] = dict(reordering)
        back: dict[str, Any] = {"delay": f"{rtt_ms / 2} ms"}
        if ack_batch_ms:
            back["aggregation"] = f"{ack_batch_ms} ms"
        flow: dict[str, Any] = {"name": FLOW, "cca": self.cca}
        if receive_packets:
            flow["tcp"] = {"receive_buffer": f"{receive_packets * PAYLOAD_BYTES} B"}
        if application:
            flow["application"] = [dict(pace) for pace in application]
        return self.observe(
            Scenario(
                name="conformance",
                duration=f"{duration_s} s",
                topology={"kind": "dumbbell", "bottleneck": there, "reverse": back},
                flows=[flow],
                record={"interval": f"{interval_ms} ms", "variables": True},
            )
        )

    def observe(self, scenario: Scenario) -> ObservedRun:
        """Return the run of a scenario. The flow under test has the name "subject".

        Raises:
            ScenarioError: If the engine cannot run the scenario.
        """
        if self._engine != "native":  # other engines cannot record variables
            scenario = scenario.with_values({"record.variables": False})
        if refused := [str(problem) for problem in engine(self._engine).check(scenario)]:
            raise ScenarioError(refused)
        key = scenario.digest
        with self._lock:
            if key in self._known:
                return self._known[key]
        found = ObservedRun(run([Job(scenario, self._seed, self._engine)], store=self._store)[0])
        with self._lock:
            self.published |= found.names | {name for name, _, _ in found.states}
            return self._known.setdefault(key, found)


def at(time_s: float, **what: Any) -> dict[str, Any]:
    """An entry of `changes` or `application` at a time."""
    return {"at": f"{time_s:.6f} s", **what}


def loss(probability: float) -> dict[str, Any]:
    """Random loss."""
    return {"kind": "bernoulli", "probability": probability}


# A case of the conformance tests, and its result.


DRAFT = "draft-ietf-ccwg-bbr-06"


class StuckError(FullpipeError):
    """A test cannot continue because an expected event never happened."""


@dataclass(frozen=True)
class Step:
    """A requirement of the draft, and the observation."""

    expected: str
    seen: str
    holds: bool


Steps = Callable[[Lab], Iterator[Step]]


class DraftVerdict(StrEnum):
    """Outcome of a test."""

    passed = "passed"
    failed = "failed"
    not_applicable = "not applicable"


@dataclass(frozen=True)
class DraftTest:
    """One example test of the draft."""

    name: str
    section: str
    """Section of the draft's appendix."""
    title: str
    why: str
    """Purpose of the test, and its deviations from the procedure of the draft."""
    tolerance: str
    """Allowed deviations of numbers, with the reason."""
    needs: tuple[str, ...]
    """States and variables, by their names in the draft, without which the test does not apply."""
    steps: Steps


@dataclass(frozen=True)
class Result:
    """Outcome of a test for one algorithm."""

    case: DraftTest
    verdict: DraftVerdict
    steps: tuple[Step, ...] = ()
    reason: str = ""
    """Reason why the test does not apply or could not be finished."""
    seconds: float = field(default=0.0, compare=False)

    @property
    def explanation(self) -> str:
        """The failed steps, or the reason why the test does not apply; empty if the test passed."""
        broken = [f"{step.expected}: {step.seen}" for step in self.steps if not step.holds]
        return "; ".join([*broken, *([self.reason] if self.reason else [])])


def case(
    section: str, name: str, title: str, *, why: str, tolerance: str, needs: tuple[str, ...]
) -> Callable[[Steps], DraftTest]:
    """Decorator that makes a case of the function with its steps."""

    def make(steps: Steps) -> DraftTest:
        return DraftTest(name, section, title, why, tolerance, needs, steps)

    return make
