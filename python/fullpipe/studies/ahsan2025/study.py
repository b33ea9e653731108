"""The study: its experiments are rerun, and its printed results recomputed from the published data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullpipe.studies import tables
from fullpipe.studies.ahsan2025 import (
    effective,
    misprints,
    printed,
    published,
    published_figures,
    rerun,
    rerun_claims,
    rerun_figures,
    rerun_text,
    testbed,
)
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.experiments import Measurements, measured
from fullpipe.studies.plan import Plan, jobs_of
from fullpipe.studies.report import Report, Settings, seeds_of
from fullpipe.studies.transcription import Transcription, claims_in, of_package
from fullpipe.sweeps import Job

PACKAGE = __package__ or ""

REMARKS = ". Numbers that are printed for one run are compared with runs of ours."


def transcription() -> Transcription:
    """Return the set-up, claims about runs, claims in words about the published data, and printed results."""
    said, of = of_package(PACKAGE)(), printed.results()
    words = claims_in(PACKAGE, "words.toml", experiment=printed.EXPERIMENT, published=of.published)
    return replace(said, claims=(*said.claims, *words, *printed.claims(), *rerun_claims.claims(PACKAGE)))


def plan(*, quick: bool) -> Plan:
    """Return every experiment with its algorithms."""
    return rerun.plan(quick=quick)


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker of its claims."""
    return rerun.checker(found)


def jobs(settings: Settings) -> list[Job]:
    """Return every run of the study."""
    seeds = settings.seeds_or(rerun.SEEDS, rerun.QUICK_SEEDS)
    return jobs_of(plan(quick=settings.quick), seeds)


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, recompute printed results, and write tables and verdicts."""
    source = transcription()
    data = settings.data if isinstance(settings.data, published.Published) else published.NOTHING
    runs = settings.run(todo)
    experiments = [experiment for experiment, _ in plan(quick=settings.quick)]
    found = measured(experiments, todo, map(rerun.unread, runs))
    recomputed = data.measure()
    found.update(recomputed)
    checked = misprints.named(printed.results(), recomputed, checker(found).check_all(source.claims))
    written = tables.write(settings, found, checked, seeds_of(todo))
    analyses = effective.analyses(data.groups)
    written += effective.write(analyses, settings.folder)
    written += published_figures.draw(data, analyses, settings.folder)
    drawn = [(job, made) for job, made in zip(todo, runs, strict=True) if made]
    written += rerun_figures.draw(found, drawn, settings.folder)
    sections = [*misprints.text(checked), *effective.text(analyses), *testbed.text(data.files)]
    sections += rerun_text.sections(found)
    told = tables.report(source, checked, seeds_of(todo), REMARKS, sections=sections, quick=settings.quick)
    return Report(told, tuple(written), settings.folder)
