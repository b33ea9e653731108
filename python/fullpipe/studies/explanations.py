"""Explains verdicts: runs the experiments of a claim unchanged, and with the setting that the claim names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fullpipe import engines, sweeps
from fullpipe.api import refusals
from fullpipe.errors import EngineError
from fullpipe.runs import Run
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Measurements, measured
from fullpipe.studies.report import Settings
from fullpipe.studies.settings import Setting
from fullpipe.studies.study import Plan, Study, jobs_for
from fullpipe.studies.text import Aligned, fitted, written
from fullpipe.studies.verdicts import Cause, Verdict
from fullpipe.sweeps import Job

SEEDS, QUICK_SEEDS = 5, 3
PLAIN = Setting()
BETTER = (Verdict.REPRODUCED, Verdict.SAME_DIRECTION, Verdict.NOT_REPRODUCED)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of a claim in the unchanged study, and the result with the setting that should improve the
    verdict."""

    claim: Claim
    plain: ClaimResult
    changed: ClaimResult | None
    """Result with the setting; None if the claim names no setting, or no engine can run the claim with it."""
    refused: str = ""
    """Reason why the engine cannot run the claim with the setting; empty if the engine can run it."""
    caveat: str = ""
    """Sentence that warns of few seeds or shorter runs; empty for the full form."""

    @property
    def turns(self) -> bool:
        """Whether the verdict with the setting is better than the verdict without the setting."""
        if self.changed is None or self.changed.verdict not in BETTER or self.plain.verdict not in BETTER:
            return False
        return BETTER.index(self.changed.verdict) < BETTER.index(self.plain.verdict)

    def text(self, columns: int | None = None) -> str:
        """Return the printed value, our value without and with the setting, and whether the setting improves
        the verdict.

        Args:
            columns: Width of the terminal in characters. None gives tables their full width.
        """
        head = [f"{self.claim.id}: {self.claim.says}", *self._cause()]
        rows = [["", "ours", "verdict"], _row("as the study has it", self.plain)]
        setting = self.claim.setting
        if setting and self.changed:
            rows.append(_row(str(setting), self.changed))
        if setting and setting.name:
            head.append(f"{setting.name}: {', '.join(setting.parts())}")
        parts: list[str | Aligned] = ["\n".join(head), Aligned(rows), "\n".join(self._conclusion())]
        return written(parts) if columns is None else fitted(parts, columns)

    def _cause(self) -> list[str]:
        """Return a line with the cause of the difference; no line if the claim is reproduced."""
        if self.plain.verdict is Verdict.REPRODUCED or self.claim.published:
            return []
        if self.plain.verdict is Verdict.CONTRADICTED:
            return [f"Cause: {Cause.OWN_ERROR}"]
        if self.claim.uncounted and not self.claim.why:
            return [f"Not counted: {self.claim.uncounted}"]
        return [f"Cause: {self.claim.why or Cause.UNKNOWN}"]

    def _conclusion(self) -> list[str]:
        return [*self._verdict(), *([self.caveat] if self.caveat and self.plain.parts else [])]

    def _verdict(self) -> list[str]:
        stored = self.claim.elsewhere
        if self.plain.verdict is Verdict.REPRODUCED:
            return ["The claim is reproduced without a setting, so there is no difference to explain."]
        if self.claim.published:
            return [
                f"The claim is judged by published data, not by runs: give --data ({self.claim.published})."
            ]
        if self.plain.verdict is Verdict.CONTRADICTED:
            return ["The printed numbers contradict each other, so no run can reproduce the claim."]
        if self.claim.setting is None:
            return ["The study names no setting for this claim."]
        if self.changed:
            return [f"The setting {'turns' if self.turns else 'does not turn'} the verdict."]
        lines = [f"The claim could not be run with {self.claim.setting}: {self.refused}"]
        return lines + ([f"Stored result of {stored.source}: {stored.shown}."] if stored else [])


def jobs(study: Study, claim: Claim, settings: Settings) -> list[Job]:
    """Return the jobs of an explanation. Raises EngineError if the engine cannot run the claim as in the
    study."""
    plain, changed, _ = _jobs(study, study.plan(quick=settings.quick), claim, settings)
    return plain + changed


def explain(study: Study, claim: Claim, settings: Settings) -> Explanation:
    """Run a claim as in the study, and with the setting that the claim names.

    Raises:
        EngineError: If the engine cannot run the claim as in the study.
        SweepError: If a run failed.
    """
    plan = study.plan(quick=settings.quick)
    plain, changed, refused = _jobs(study, plan, claim, settings)
    experiments = [experiment for experiment, _ in plan]
    runs = sweeps.run(
        plain + changed, workers=settings.workers, store=settings.store, progress=settings.progress
    )

    def check(todo: Sequence[Job], made: Sequence[Run], setting: Setting) -> ClaimResult:
        checker = study.checker(measured(experiments, todo, made))
        reading = setting.reading or next(iter(checker.readings), "")
        return next(r for r in checker.check(claim) if r.reading in (reading, ""))

    as_it_is = check(plain, runs[: len(plain)], PLAIN)
    turned = check(changed, runs[len(plain) :], claim.setting) if claim.setting and not refused else None
    caveat = tables.caveat(len(seeds_for(settings)), quick=settings.quick)
    return Explanation(claim, as_it_is, turned, refused, caveat)


def seeds_for(settings: Settings) -> tuple[int, ...]:
    """Return the seeds of an explanation: the chosen seeds, or by default fewer seeds than in a study."""
    return settings.seeds_or(SEEDS, QUICK_SEEDS)


def _jobs(study: Study, plan: Plan, claim: Claim, settings: Settings) -> tuple[list[Job], list[Job], str]:
    """Return the jobs of the unchanged study, the jobs with the setting, and the reason if the engine refuses
    the jobs with the setting."""
    checker, seeds = study.checker(Measurements()), seeds_for(settings)

    def under(setting: Setting) -> list[Job]:
        found = jobs_for(claim, setting, plan, checker, seeds)
        return [replace(job, engine=setting.engine or settings.engine) for job in found]

    plain = under(PLAIN)
    if refused := _refused(plain):
        raise EngineError(refused)
    changed = under(claim.setting) if claim.setting else []
    refused = _refused(changed)
    return plain, [] if refused else changed, refused


def _refused(todo: Sequence[Job]) -> str:
    """Return the first reason why a job's engine refuses the job; empty if the engines can run all jobs."""
    different = {
        (job.engine, id(job.scenario)): job for job in todo
    }.values()  # jobs that differ only in their seeds share a scenario
    lines = (line for job in different for line in refusals(engines.engine(job.engine), job.scenario))
    return next(lines, "")


def _row(what: str, result: ClaimResult) -> list[str]:
    return [what, tables.ours_shown(result), tables.verdict_shown(result)]
