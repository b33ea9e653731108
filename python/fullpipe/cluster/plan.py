"""The plan of a sweep: its jobs in a form that other machines can read, with the versions to use."""

import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fullpipe import engines
from fullpipe.algorithms import own
from fullpipe.errors import ScenarioError, VersionError
from fullpipe.runs import EngineId, version
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.scenario.quantities import MAX_SEED
from fullpipe.scenario.read.files import located
from fullpipe.sweeps import Job

# Differences between two trees of plain data as JSON merge patches (RFC 7396), where null removes a key.


def patch(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the patch that turns `before` into `after`. Lists are replaced completely. No value may be None.

    >>> patch({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 5, "c": 2}, "e": [1]})
    {'d': None, 'a': {'b': 5}, 'e': [1]}
    """
    changed: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = patch(old, value)
            if inner:
                changed[key] = inner
        elif key not in before or old != value or type(old) is not type(value):
            changed[key] = value
    return changed


def patched(tree: Any, changed: dict[str, Any]) -> dict[str, Any]:
    """Apply a patch to a tree (RFC 7396, section 2).

    >>> patched({"a": {"b": 1, "c": 2}, "d": 3}, {"d": None, "a": {"b": 5}, "e": [1]})
    {'a': {'b': 5, 'c': 2}, 'e': [1]}
    """
    result = dict(tree) if isinstance(tree, dict) else {}
    for key, value in changed.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value) if isinstance(value, dict) else value
    return result


# The plan: the scenario of the first point; and for every point, its differences from the first point, its
# digest, engine and seeds.


_DIGITS = 16
_KEPT = 64
"""Maximum number of scenarios in memory. The jobs of a point are consecutive, so few scenarios are needed."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Point(_Frozen):
    """A point of the sweep: a scenario, its engine and its seeds."""

    at: dict[str, Any]
    """The swept paths and their values."""
    differs: dict[str, Any]
    """Merge patch (RFC 7396) from the plan's scenario to the scenario of this point."""
    digest: str
    """Digest of the scenario. Workers refuse the plan if they compute another digest."""
    engine: Annotated[int, Field(strict=True, ge=0)]
    """Index of the engine in `Plan.engines`."""
    seeds: tuple[Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)], ...]


class Plan(_Frozen):
    """The jobs of a sweep in order, and the versions to run them with."""

    fullpipe: str
    engines: tuple[EngineId, ...]
    scenario: dict[str, Any]
    """Scenario of the first point, as plain data."""
    points: tuple[Point, ...]
    cca_timeout_s: Annotated[float, Field(allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _has_the_engines(self) -> Self:
        if any(point.engine >= len(self.engines) for point in self.points):
            raise ValueError("the engine index of a point is beyond the end of the list of engines")
        return self

    @classmethod
    def for_jobs(cls, jobs: Iterable[Job], cca_timeout_s: float | None = None) -> "Plan":
        """Make a plan for jobs. Paths of files in scenarios become absolute."""
        here = Path(os.getcwd())
        base: dict[str, Any] | None = None
        used, points = dict[EngineId, int](), list[tuple[Job, Point, list[int]]]()
        for job in jobs:
            last = points[-1][0] if points else None
            if last and last.engine == job.engine and (last.scenario is job.scenario):
                points[-1][2].append(job.seed)
                continue
            tree = located(job.scenario.to_dict(), here)
            base = tree if base is None else base
            number = used.setdefault(_identity(job), len(used))
            digest = job.scenario.digest
            differs, at = patch(base, tree), dict(job.point)
            points.append(
                (job, Point(at=at, differs=differs, digest=digest, engine=number, seeds=()), [job.seed])
            )
        return cls(
            fullpipe=version("fullpipe"),
            engines=tuple(used),
            scenario=base or {},
            points=tuple(point.model_copy(update={"seeds": tuple(seeds)}) for _, point, seeds in points),
            cca_timeout_s=cca_timeout_s,
        )

    @classmethod
    def from_json(cls, data: bytes, where: str) -> "Plan":
        """Read a plan that `to_json` wrote.

        Raises:
            VersionError: If the data are not a plan, or are from an incompatible version.
        """
        try:
            return cls.model_validate_json(data)
        except ValidationError:
            told = "not a plan that this version of fullpipe can read"
            raise VersionError(
                f"{where}: {told}; use the version of fullpipe that wrote the plan, or remove the file"
            ) from None

    def to_json(self) -> bytes:
        """Return the plan as JSON."""
        return self.model_dump_json().encode()

    @property
    def id(self) -> str:
        """Hash of the jobs and versions, 16 hexadecimal digits. Equal commands have equal IDs, and work on
        the same sweep."""
        content = self.model_copy(update={"cca_timeout_s": None}).to_json()
        return hashlib.sha256(content).hexdigest()[:_DIGITS]

    @cached_property
    def _ends(self) -> Sequence[int]:
        """For each point, the number of jobs up to and including its last job."""
        return list(accumulate(len(point.seeds) for point in self.points))

    @property
    def runs(self) -> int:
        """Number of jobs."""
        return self._ends[-1] if self._ends else 0

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.scenario.get("name", ""))

    def job(self, index: int, allow_python: bool = False) -> Job:
        """Make a job from the plan, by its index.

        Raises:
            VersionError: If the scenario, the engine or an algorithm on this machine differs from the plan.
        """
        place = bisect_right(self._ends, index)
        point = self.points[place]
        planned = self.engines[point.engine]
        scenario = self._scenario(place, planned.name, allow_python)
        seed = point.seeds[index - self._ends[place] + len(point.seeds)]
        return Job(scenario, seed, planned.name, point.at)

    def check(self, allow_python: bool = False) -> None:
        """Check that this version can run the plan.

        Raises:
            VersionError: If Fullpipe, the scenario, an engine or an algorithm has another version on this
                machine.
        """
        here = version("fullpipe")
        if self.fullpipe != here:
            told = f"planned by fullpipe {self.fullpipe}, but this machine has {here}"
            raise VersionError(f"sweep {self.id}: {told}; install the version that planned the sweep")
        firsts = {point.engine: place for place, point in reversed(list(enumerate(self.points)))}
        for number, place in firsts.items():
            self._scenario(place, self.engines[number].name, allow_python)

    def _scenario(self, place: int, engine: str, allow_python: bool) -> Scenario:
        found = self._known.get(place)
        if found is None:
            found = self._verified(self.points[place], engine, allow_python)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[place] = found
        return found

    @cached_property
    def _known(self) -> dict[int, Scenario]:
        return {}

    def _verified(self, point: Point, engine: str, allow_python: bool) -> Scenario:
        try:
            scenario = Scenario(**patched(self.scenario, point.differs))
        except (ScenarioError, TypeError) as error:
            first = str(error).partition("\n")[0]
            raise VersionError(
                f"sweep {self.id}: its scenario cannot be read on this machine: {first}"
            ) from error
        for kind in own_algorithms(scenario.flows):
            if allow_python:
                own.permit(kind)
            elif not own.is_known(kind):
                raise VersionError(
                    f"sweep {self.id}: runs {kind}, which also needs --allow-python on this machine"
                )
        if scenario.digest != point.digest:
            told = f"the scenario {point.digest} has the digest {scenario.digest} on this machine"
            raise VersionError(
                f"sweep {self.id}: {told}; files of the scenario or versions of fullpipe differ"
            )
        found, planned = _identity(Job(scenario, 0, engine)), self.engines[point.engine]
        if found != planned:
            raise VersionError(
                f"sweep {self.id}: planned with {_shown(planned)}; this machine has {_shown(found)}"
            )
        return scenario


def _identity(job: Job) -> EngineId:
    return engines.identity(engines.engine(job.engine), job.scenario)


def _shown(engine: EngineId) -> str:
    code = f", algorithm {engine.code}" if engine.code else ""
    return f"{engine.name} {engine.version}, model {engine.model_version}{code}"
