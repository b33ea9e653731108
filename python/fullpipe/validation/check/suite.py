"""A suite: scenarios, the metrics that count, and the margins within which a change does not matter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Better, Margin
from fullpipe.analysis.metrics.table import headlines, metric_suggestion
from fullpipe.errors import ScenarioError, UnknownNameError, shown
from fullpipe.scenario import Scenario
from fullpipe.scenario.read import files
from fullpipe.scenario.read.dotted import paths_of
from fullpipe.validation.baseline import Strict
from fullpipe.validation.compare.contrast import MARGINS, margin_of
from fullpipe.validation.over import HEADLINES

MOST_SEEDS = 1_000


class Demand(Strict):
    """The demand on a metric, written as a margin such as "2 %", or as a table."""

    margin: str | None = None
    """Largest difference that does not matter; default: the margin of the metric."""
    better: Better | None = None
    """Better direction; default: the direction of the metric. If there is none, a difference in either
    direction is a regression."""
    least: float | None = None
    """Least allowed value of every run of the change, in the base unit of the metric."""
    most: float | None = None
    """Largest allowed value of every run of the change, in the base unit of the metric."""


def _table(value: object) -> object:
    return {"margin": value} if isinstance(value, str) else value


class _File(Strict):
    name: Annotated[str, Field(max_length=1_000)] = ""
    scenarios: Annotated[list[str], Field(min_length=1, max_length=1_000)]
    seeds: Annotated[int, Field(ge=2, le=MOST_SEEDS)] = 10
    most_seeds: Annotated[int, Field(ge=2, le=MOST_SEEDS)] = 80
    metrics: dict[str, Annotated[Demand, BeforeValidator(_table)]] = Field({})
    set: dict[str, Any] = Field({})


@dataclass(frozen=True)
class Case:
    """A scenario of a suite, and its name in the suite."""

    name: str
    scenario: Scenario


@dataclass(frozen=True)
class Suite:
    """Scenarios, and the demands on the metrics of a change."""

    name: str
    file: Path
    cases: Sequence[Case]
    demands: Mapping[str, Demand]
    """The demands on the metrics that count; other metrics have no demands."""
    seeds: int
    """Number of seeds at the first look."""
    most_seeds: int
    """Largest number of seeds, for cases that stay undecided with fewer."""
    named: tuple[str, ...] = ()
    """Metrics that the file of the suite names; empty if the suite uses the metrics of `HEADLINES`."""
    free: tuple[str, ...] = ()
    """Paths that the command sets in all scenarios of one side or of both sides."""

    @property
    def margins(self) -> dict[str, Margin]:
        """The margins of the metrics that count."""
        return {
            name: MARGINS[name] if demand.margin is None else margin_of(demand.margin)
            for name, demand in self.demands.items()
        }

    def with_values(self, values: Mapping[str, Any]) -> Suite:
        """The suite with these values in every scenario.

        Raises:
            ScenarioError: If a scenario lacks one of these paths, or a value is invalid.
        """
        cases = [Case(case.name, case.scenario.with_values(values)) for case in self.cases]
        return replace(self, cases=cases, free=(*self.free, *chain.from_iterable(map(paths_of, values))))

    def with_free(self, paths: Iterable[str]) -> Suite:
        """Return the suite with further paths in which its scenarios may differ between base and change."""
        return replace(self, free=(*self.free, *chain.from_iterable(map(paths_of, paths))))

    def only(self, names: Collection[str]) -> Suite:
        """The suite with only these cases.

        Raises:
            UnknownNameError: If a case is unknown.
        """
        known = [case.name for case in self.cases]
        for name in names:
            if name not in known:
                raise UnknownNameError("case", name, known)
        return replace(self, cases=[case for case in self.cases if case.name in names])

    def with_seeds(self, seeds: int) -> Suite:
        """The suite with exactly this number of seeds."""
        return replace(self, seeds=seeds, most_seeds=seeds)

    @property
    def looks(self) -> list[int]:
        """Numbers of seeds of the looks. The number doubles from look to look, up to `most_seeds`."""
        found = [min(self.seeds, self.most_seeds)]
        while found[-1] < self.most_seeds:
            found.append(min(2 * found[-1], self.most_seeds))
        return found


def read(path: Path) -> Suite:
    """The suite of a TOML file.

    Raises:
        ScenarioError: If the file is not a suite, or one of its scenarios or metrics is invalid.
    """
    tree = files.parse_toml(files.read_text(path, "suite"), str(path))
    if "topology" in tree:
        how = f'a suite has a list of scenarios, as in scenarios = ["{path.name}"]'
        raise ScenarioError([f"{path}: is a scenario, not a suite; {how}"])
    try:
        found = _File.model_validate(tree)
    except ValidationError as error:
        raise ScenarioError([_problem(path, first) for first in error.errors()[:10]]) from None
    for name, demand in found.metrics.items():
        _check(path, name, demand)
    cases = [_case(path, name) for name in found.scenarios]
    suite = Suite(
        found.name or path.stem,
        path,
        cases,
        found.metrics or {name: Demand() for name in headlines(HEADLINES, (case.scenario for case in cases))},
        found.seeds,
        max(found.seeds, found.most_seeds),
        tuple(found.metrics),
    )
    names = [case.name for case in suite.cases]
    for name in names:
        if names.count(name) > 1:
            raise ScenarioError([f"{path}: scenarios: {shown(name)} is given twice; write it once"])
    return suite.with_values(found.set)


def _case(path: Path, name: str) -> Case:
    if not name.endswith(".toml"):
        return Case(name, Scenario.named(name))
    return Case(Path(name).stem, Scenario.from_file(path.parent / name))


def _check(path: Path, name: str, demand: Demand) -> None:
    if name not in MARGINS:
        raise ScenarioError([f"{path}: metrics: unknown metric {shown(name)}{metric_suggestion(name)}"])
    where = f"{path}: metrics.{name}"
    try:
        margin_of(demand.margin or "0")
    except ValueError as error:
        raise ScenarioError([f"{where}: {error}"]) from None
    lowest, highest = BY_NAME[name].bounds
    least = lowest if demand.least is None else max(lowest, demand.least)
    most = highest if demand.most is None else min(highest, demand.most)
    if least > most:
        none = f"no value is at least {least:g} (least) and at most {most:g} (most)"
        raise ScenarioError([f"{where}: {none}; correct one of the two"])


def _problem(path: Path, error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"][:3])
    message = str(error["msg"])
    return f"{path}: {where}: {message[:1].lower()}{message[1:]}"
