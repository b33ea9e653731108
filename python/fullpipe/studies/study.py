"""A published study: its transcription, plan and runs."""

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

# The plan of a study: its experiments, each with its algorithms. The runs of the study, and the runs that one
# claim needs, are made from the plan.


Algorithms = Mapping[str, Any]
Plan = Sequence[tuple[Experiment, Algorithms]]


def jobs_of(plan: Plan, seeds: Sequence[int]) -> list[Job]:
    """Return every run of a study."""
    return [job for experiment, algorithms in plan for job in experiment.jobs(algorithms, seeds)]


def jobs_for(
    claim: Claim, setting: Setting, plan: Plan, checker: ClaimChecker, seeds: Sequence[int]
) -> Iterator[Job]:
    """Yield the runs that a claim needs under a setting.

    Args:
        claim: The claim.
        setting: Changes of the study; an empty setting changes nothing.
        plan: Experiments and algorithms of the study.
        checker: Checker of the study. Only its readings are used, not its measurements.
        seeds: The seeds of every run.
    """
    needed = _needed(claim, setting.reading or next(iter(checker.readings), ""), checker)
    on = Remembered(setting.on)  # seeds share a scenario

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
    """Return the values of each condition that a claim names. The claim needs all values of the conditions
    that it does not name."""
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


# Transcription of a study: title, claims and set-up in `expected.toml`, and stored results of another engine.


ELSEWHERE = "ns3_results.toml"
"""Name of the file with results of ns-3, in the folder of the transcription."""


@dataclass(frozen=True)
class Transcription:
    """The printed claims, and the set-up as printed and as used here."""

    title: str
    claims: tuple[Claim, ...]
    setup: tuple[Mapping[str, Any], ...]


@cache
def transcription(package: str) -> Transcription:
    """Read the transcription of a study. Its table `default` has the defaults of all claims."""
    data = _parsed(package, "expected.toml")
    return Transcription(data["title"], claims_in(package, "expected.toml"), tuple(data["setup"]))


def claims_in(package: str, name: str, **default: Any) -> tuple[Claim, ...]:
    """Read the claims in a file of a study. `default` has defaults in addition to those of the file."""
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


# Interface of the packages of studies.


class Study(Protocol):
    """A study."""

    def transcription(self) -> Transcription:
        """Return the printed title, claims and set-up."""
        ...

    def plan(self, *, quick: bool) -> Plan:
        """Return the study's experiments, each with its algorithms. The quick form may have shorter runs."""
        ...

    def checker(self, found: Measurements) -> ClaimChecker:
        """Return a checker of the study's claims against measurements."""
        ...

    def jobs(self, settings: Settings) -> list[Job]:
        """Return every run of the study."""
        ...

    def run(self, settings: Settings, todo: Sequence[Job]) -> Report:
        """Run the jobs that are not stored yet, and return the report."""
        ...


class PublishedStudy(Study, Protocol):
    """A study that can recompute printed numbers from its paper's published data."""

    def published_in(self, folder: Path) -> object:
        """Read the published data in a folder, as the value of `Settings.data`. Raises InputFileError."""
        ...
