"""Runs the study: its experiments again, and its printed results recomputed from the published data."""

from __future__ import annotations

from fullpipe.studies import tables
from fullpipe.studies.ahsan2025 import rerun
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.experiments import Measurements, measured
from fullpipe.studies.plan import Plan, jobs_of
from fullpipe.studies.report import Report, Settings, seeds_of
from fullpipe.studies.transcription import of_package
from fullpipe.sweeps import Job

transcription = of_package(__package__)

REMARKS = ". What is printed of one run is held against runs of ours."


def plan(*, quick: bool) -> Plan:
    """Every experiment with its algorithms."""
    return rerun.plan(quick=quick)


def checker(found: Measurements) -> ClaimChecker:
    """What holds its claims against measurements."""
    return rerun.checker(found)


def jobs(settings: Settings) -> list[Job]:
    """Every run of the study."""
    seeds = settings.seeds_or(rerun.SEEDS, rerun.QUICK_SEEDS)
    return jobs_of(plan(quick=settings.quick), seeds)


def run(settings: Settings) -> Report:
    """Run what is missing, and write tables and verdicts."""
    source, todo = transcription(), jobs(settings)
    runs = settings.run(todo)
    found = measured([experiment for experiment, _ in plan(quick=settings.quick)], todo, runs)
    checked = checker(found).check_all(source.claims)
    written = tables.write(settings, found, checked, seeds_of(todo))
    told = tables.report(source, checked, seeds_of(todo), REMARKS, quick=settings.quick)
    return Report(told, tuple(written), settings.folder)
