"""Experiments of a study: their scenarios and conditions, and the quantities measured in their runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import polars as pl

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.studies.text import interval_of
from fullpipe.sweeps import Job

Value = str | int | float
Condition = tuple[str, Value]
Conditions = tuple[Condition, ...]
Variants = Mapping[Value, Mapping[str, Any]]
"""Changes of a scenario for every value of a condition: new values by their paths in the scenario."""

MEASURED = {
    "experiment": pl.String,
    "algorithm": pl.String,
    "conditions": pl.String,
    "quantity": pl.String,
    "runs": pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}

_Of = tuple[str, str, str]
"""Experiment, quantity and algorithm."""
_Row = tuple[frozenset[Condition], list[float]]
"""A set of conditions, and one measured value per seed."""


@dataclass(frozen=True)
class Experiment:
    """A scenario with the conditions under which it is run, and the function that measures a run."""

    name: str
    scenario: Scenario
    keys: Mapping[str, str]
    """Names of conditions, such as "buffer", by the paths that the scenario sweeps."""
    measure: Callable[[Run], Mapping[str, float]]
    variants: Mapping[str, Variants] = field(default_factory=dict)
    """Conditions that are not swept by the scenario, by name. One value can change several paths."""
    flows: tuple[int, ...] | None = None
    """Indices of the flows that use the algorithm. None means all flows."""

    def has(self, point: Mapping[str, Value]) -> bool:
        """Whether a job with this point belongs to the experiment. Several experiments can share a
        name if the values of their conditions differ."""
        return point["experiment"] == self.name and all(
            point.get(key) in values for key, values in self.variants.items()
        )

    def jobs(
        self,
        algorithms: Mapping[str, Any],
        seeds: Sequence[int],
        is_needed: Callable[[Mapping[str, Value]], bool] = lambda _: True,
    ) -> list[Job]:
        """Return the jobs for every combination of algorithm, conditions and seed whose point is needed.

        `is_needed` is first called with points that lack the swept conditions, so that no scenario is made in
        vain. For such a partial point, it must return True if it returns True for any complete point with the
        same values.
        """

        def is_used(condition: Mapping[str, Value]) -> bool:
            return any(
                is_needed({"experiment": self.name, "algorithm": name, **condition}) for name in algorithms
            )

        conditions = list(self._conditions(is_used))
        return [
            Job(chosen, seed, point=dict(point))
            for name, cca in algorithms.items()
            for scenario, condition in conditions
            for point in [{"experiment": self.name, "algorithm": name, **condition}]
            if is_needed(point)
            for chosen in [self._with(scenario, cca)]
            for seed in seeds
        ]

    def _conditions(
        self, is_used: Callable[[Mapping[str, Value]], bool]
    ) -> Iterator[tuple[Scenario, dict[str, Value]]]:
        for values in product(*self.variants.values()):
            point = dict(zip(self.variants, values, strict=True))
            if not is_used(point):
                continue
            laid_over = [self.variants[key][value] for key, value in point.items()]
            base = self.scenario.with_values({path: v for paths in laid_over for path, v in paths.items()})
            for scenario, swept in zip(base.expand(), base.points(), strict=True):
                yield scenario, {**point, **{self.keys[path]: value for path, value in swept.items()}}

    def _with(self, scenario: Scenario, cca: Any) -> Scenario:
        flows = range(len(scenario.flows)) if self.flows is None else self.flows
        return scenario.with_values({f"flows.{i}.cca": cca for i in flows})


@dataclass
class Measurements:
    """Lists with one number per run, in the order of the seeds, by experiment, quantity, algorithm and
    conditions.

    NaN means that the quantity was not measured. Infinity is the time of an event that never happened."""

    _values: dict[tuple[str, str, str, Conditions], list[float]] = field(default_factory=dict)
    _under: dict[_Of, dict[Conditions, _Row]] = field(init=False, default_factory=dict)
    """The lists in `_values`, grouped by experiment, quantity and algorithm."""
    _asked: dict[tuple[_Of, frozenset[Condition]], list[_Row]] = field(
        init=False, default_factory=dict, compare=False
    )
    """Cache of the results of `_rows`, because claims read the same rows many times."""
    _parts: dict[frozenset[Condition], Measurements] = field(init=False, default_factory=dict, compare=False)
    """Cache of the results of `under`."""
    _choices: dict[tuple[str, str], dict[Value, None]] = field(init=False, default_factory=dict)
    """Values of each condition in the order in which they were added, by experiment and name of the
    condition."""

    def __post_init__(self) -> None:
        for (experiment, quantity, algorithm, conditions), values in self._values.items():
            self._note((experiment, quantity, algorithm), conditions, values)

    def _put(self, of: _Of, conditions: Conditions, values: list[float]) -> list[float]:
        self._values[(*of, conditions)] = values
        self._note(of, conditions, values)
        return values

    def _note(self, of: _Of, conditions: Conditions, values: list[float]) -> None:
        self._under.setdefault(of, {})[conditions] = frozenset(conditions), values
        self._asked.clear()
        self._parts.clear()
        for key, value in conditions:
            self._choices.setdefault((of[0], key), {}).setdefault(value)

    def add(self, job: Job, found: Mapping[str, float]) -> None:
        """Add the quantities `found` in the run of a job."""
        self.put(job.point, found)

    def put(self, point: Mapping[str, Value], found: Mapping[str, float]) -> None:
        """Add quantities measured at a point, which has the experiment, the algorithm and the conditions."""
        point = dict(point)
        experiment, algorithm = str(point.pop("experiment")), str(point.pop("algorithm"))
        for quantity, value in found.items():
            of, conditions = (experiment, quantity, algorithm), tuple(sorted(point.items()))
            known = self._values.get((*of, conditions))
            (self._put(of, conditions, []) if known is None else known).append(value)

    def update(self, others: Measurements) -> None:
        """Add the measurements of other experiments."""
        for (*of, conditions), values in others._values.items():
            self._put((of[0], of[1], of[2]), conditions, values)

    def at(self, experiment: str, quantity: str, algorithm: str, where: Mapping[str, Value]) -> list[float]:
        """Return one number per seed: the mean over the values of all conditions that are not in `where`.

        The mean is infinite if one of the averaged values is infinite. The list is empty if nothing was
        measured, or a value is NaN.
        """
        rows = [values for _, values in self._rows((experiment, quantity, algorithm), where)]
        means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
        return [] if any(map(math.isnan, means)) else means

    def open(self, experiment: str, quantity: str, algorithm: str, where: Mapping[str, Value]) -> set[str]:
        """Return the conditions that are not in `where` and have several values."""
        rows = [dict(conditions) for conditions, _ in self._rows((experiment, quantity, algorithm), where)]
        keys = {key for row in rows for key in row}
        return {key for key in keys if len({row.get(key) for row in rows}) > 1}

    def _rows(self, of: _Of, where: Mapping[str, Value]) -> list[_Row]:
        wanted = frozenset(where.items())
        rows = self._asked.get((of, wanted))
        if rows is None:
            rows = [row for row in self._under.get(of, {}).values() if wanted <= row[0]]
            self._asked[of, wanted] = rows
        return rows

    def under(self, where: Mapping[str, Value]) -> Measurements:
        """Return the measurements under the conditions in `where`. The result is cached and must not be
        changed."""
        wanted = frozenset(where.items())
        if wanted not in self._parts:
            self._parts[wanted] = Measurements(
                {key: values for key, values in self._values.items() if wanted <= {*key[3]}}
            )
        return self._parts[wanted]

    def choices(self, experiment: str, key: str) -> list[Value]:
        """Return the values of the condition `key` in the order in which they were added."""
        return list(self._choices.get((experiment, key), ()))

    def subtract(self, experiment: str, quantity: str, key: str, of: Value, less: Value, name: str) -> None:
        """Add the quantity `name`: the value of `quantity` if the condition `key` is `of`, minus its value if
        `key` is `less`."""
        for (e, q, algorithm, conditions), values in list(self._values.items()):
            rest = {k: v for k, v in conditions if k != key}
            if (e, q, dict(conditions).get(key)) == (experiment, quantity, of):
                others = self.at(experiment, quantity, algorithm, {**rest, key: less})
                differences = [a - b for a, b in zip(values, others, strict=True)] if others else []
                self._put((e, name, algorithm), tuple(sorted(rest.items())), differences)

    def table(self) -> pl.DataFrame:
        """Return the mean and the 95 % interval of every quantity that has a finite value in all runs.
        Intervals are truncated at the smallest and largest possible value of the quantity."""
        rows = []
        for (experiment, quantity, algorithm, conditions), values in self._values.items():
            if not values or not all(map(math.isfinite, values)):
                continue
            where = ", ".join(f"{key} {value}" for key, value in conditions)
            interval = interval_of(quantity, values)
            ends = (interval.low, interval.high) if interval else (None, None)
            mean = sum(values) / len(values)
            rows.append((experiment, algorithm, where, quantity, len(values), mean, *ends))
        return pl.DataFrame(rows, schema=MEASURED, orient="row")


def measured(
    experiments: Collection[Experiment], jobs: Iterable[Job], runs: Iterable[Run | None]
) -> Measurements:
    """Measure every run with the function of its experiment. The quantities of a missing run are NaN."""
    values = [
        (job, None if run is None else next(e for e in experiments if e.has(job.point)).measure(run))
        for job, run in zip(jobs, runs, strict=True)
    ]
    known = {job.point["experiment"]: dict.fromkeys(has, math.nan) for job, has in values if has}
    found = Measurements()
    for job, has in values:
        found.add(job, has or known.get(job.point["experiment"], {}))
    return found


def dumbbell_of(scenario: Scenario) -> Dumbbell:
    """Return the topology of a dumbbell scenario. Raises TypeError for another topology."""
    if not isinstance(scenario.topology, Dumbbell):
        raise TypeError(f"{scenario.name} is not a dumbbell")
    return scenario.topology
