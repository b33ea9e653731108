"""The plan of a study: its experiments and the algorithms of each; and the runs that a claim needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fullpipe.scenario.remembered import Remembered
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Value
from fullpipe.studies.settings import Setting
from fullpipe.sweeps import Job

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
        setting: The changes; an empty setting is the study as it is.
        plan: Experiments and algorithms of the study.
        checker: Checker of the study, for its readings only; measurements are not used.
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
    """Return the values of each condition that a claim names; it needs all values of other conditions."""
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
