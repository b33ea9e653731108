"""The parts of a published study: the transcription of its claims, its plan of experiments, and its jobs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from fullpipe.scenario.remembered import Remembered
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.claims import Claim, parsed
from fullpipe.studies.experiments import Experiment, Measurements, Value
from fullpipe.studies.report import Report, Settings
from fullpipe.studies.settings import Setting
from fullpipe.sweeps import Job

# The plan of a study lists its experiments, each with its algorithms. These functions make the jobs of the
# whole study, and the jobs that one claim needs.


Algorithms = Mapping[str, Any]
Plan = Sequence[tuple[Experiment, Algorithms]]


def jobs_of(plan: Plan, seeds: Sequence[int]) -> list[Job]:
    """Return the jobs of all runs of a study."""
    return [job for experiment, algorithms in plan for job in experiment.jobs(algorithms, seeds)]


def jobs_for(
    claim: Claim, setting: Setting, plan: Plan, checker: ClaimChecker, seeds: Sequence[int]
) -> Iterator[Job]:
    """Yield the jobs that a claim needs under a setting.

    Args:
        claim: The claim.
        setting: Changes of the study's scenarios and algorithms; an empty setting changes nothing.
        plan: Experiments and algorithms of the study.
        checker: Checker of the study. This function uses the checker's readings, not its measurements.
        seeds: The seeds of every run.
    """
    needed = _needed(claim, setting.reading or next(iter(checker.readings), ""), checker)
    on = Remembered(setting.on)  # jobs that differ only in their seeds share a scenario

    def is_needed(point: Mapping[str, Value]) -> bool:
        return all(point[key] in values for key, values in needed.items() if key in point)

    for experiment, algorithms in plan:
        if experiment.name != claim.experiment:
            continue
        chosen = {
            name: cca for name, cca in algorithms.items() if name in needed.get("algorithm", algorithms)
        }
        chosen |= {name: cca for name, cca in setting.algorithms.items() if name in chosen}
        for job in experiment.jobs(chosen, seeds, is_needed):
            yield Job(on(job.scenario), job.seed, point=job.point)


def _needed(claim: Claim, reading: str, checker: ClaimChecker) -> dict[str, set[Value]]:
    """Return the values that a claim names, by condition. For a condition that is not in the result, the
    claim needs all values."""
    needed: dict[str, set[Value]] = {}
    against = claim.against.where if claim.against else {}
    compared = claim.what if claim.kind in ("higher", "lower") else {}
    for table in (claim.where, claim.each, claim.lower, compared, against):
        for key, value in table.items():
            needed.setdefault(key, set()).update(value if isinstance(value, list | tuple) else (value,))
    algorithms = needed.setdefault("algorithm", set())
    if claim.kind == "change":
        algorithms |= {claim.what["of"], claim.what["against"]}
    if claim.kind in ("lowest", "highest"):
        algorithms |= {*checker.others}
    if checker.key:
        needed[checker.key] = {reading}
    elif checker.subject in algorithms:
        algorithms.add(reading)
    return needed


# The transcription of a study: the title, claims and set-up in `expected.toml`, and stored results of ns-3.


ELSEWHERE = "ns3_results.toml"
"""Name of the file with stored results of ns-3, in the folder of the study."""


@dataclass(frozen=True)
class Transcription:
    """The title of a study, its printed claims, and its set-up as printed and as in our scenarios."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """Read the transcription of a study. The table `default` of `expected.toml` has defaults of all
    claims."""
    data = _parsed(package, "expected.toml")
    return Transcription(data["title"], claims_in(package, "expected.toml"), tuple(data["setup"]))


def claims_in(package: str, name: str, **default: Any) -> tuple[Claim, ...]:
    """Read the claims in a file of a study. `default` adds defaults. The file's own defaults have
    priority."""
    data = _parsed(package, name)
    default, named = default | data.get("default", {}), {row["name"]: row for row in data.get("setting", [])}
    elsewhere = resources.files(package).joinpath(ELSEWHERE)
    results = parsed(elsewhere.read_text(encoding="utf-8")) if elsewhere.is_file() else {}
    claims = []
    for row in data.get("claim", []):
        whole = {
            **default,
            **row,
            "where": _where(default) | _where(row),
            "elsewhere": results.get(row["id"]),
        }
        if isinstance(row.get("setting"), str) and row["setting"] in named:
            whole["setting"] = Setting.from_row(named[row["setting"]])
        claims.append(Claim.from_row(whole))
    return tuple(claims)


def _parsed(package: str, name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))


def _where(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(row.get("where", {}))


def of_package(package: str | None) -> Callable[[], Transcription]:
    """Return a function that reads the transcription of a study, given its `__package__`."""
    return partial(transcription, package or "")


# The functions that the package of every study has.


class Study(Protocol):
    """Interface of the package of a study."""

    def transcription(self) -> Transcription:
        """Return the title, the printed claims and the set-up."""
        ...

    def plan(self, *, quick: bool) -> Plan:
        """Return the study's experiments, each with its algorithms. In the quick form, runs can be
        shorter."""
        ...

    def checker(self, found: Measurements) -> ClaimChecker:
        """Return a checker of the study's claims against measurements."""
        ...

    def jobs(self, settings: Settings) -> list[Job]:
        """Return the jobs of all runs of the study."""
        ...

    def run(self, settings: Settings, todo: Sequence[Job]) -> Report:
        """Run the jobs that are not stored yet, and return the report."""
        ...


class PublishedStudy(Study, Protocol):
    """Interface of a study that can also recompute printed numbers from its paper's published data."""

    def published_in(self, folder: Path) -> object:
        """Read the published data in a folder, and return the value for `Settings.data`. Raises
        InputFileError."""
        ...
