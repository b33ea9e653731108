"""Prepared studies: published data are read, jobs are made, and refusals of the engine are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from fullpipe import engines
from fullpipe.api import refusals
from fullpipe.errors import EngineError
from fullpipe.report.write import write
from fullpipe.studies import document
from fullpipe.studies.report import Report, Settings, digest_of
from fullpipe.studies.study import Study
from fullpipe.sweeps import Job, Progress


@dataclass(frozen=True)
class Prepared:
    """A study ready to run."""

    name: str
    study: Study
    settings: Settings
    todo: tuple[Job, ...]
    """Every run of the study, including those that the engine refuses."""
    scenarios: int
    refused: Mapping[str, tuple[str, str]]
    """Refused scenarios by digest: the name with its conditions, and the reason."""

    @property
    def jobs(self) -> list[Job]:
        """Jobs that the engine can run."""
        return self.settings.possible(self.todo)

    def run(self, progress: Progress | None = None, echo: Callable[[str], None] | None = None) -> Report:
        """Run the jobs that are not stored yet, and write the report; see `fullpipe.studies.run`."""
        engine, quick = self.settings.engine, self.settings.quick
        if self.scenarios and len(self.refused) == self.scenarios:
            raise EngineError("\n".join(dict.fromkeys(why for _, why in self.refused.values())))
        report = self.study.run(replace(self.settings, progress=progress), self.todo)
        if engine != "native":
            lines = tuple(dict.fromkeys(f"{where}: {why}" for where, why in self.refused.values()))
            report = replace(report, head=self._head(), refused=lines)
        page = report.folder / document.FILE
        made = document.of_report(
            report,
            engines.engine(engine),
            name=self.name,
            quick=quick,
            seeds=self.settings.seeds,
            has_data=self.settings.data is not None,
        )
        write(made, page)
        report = replace(report, files=(*report.files, page))
        if echo is not None:
            echo(f"{report.text}\n\n{document.ending(self.name, report, quick=quick)}")
        return report

    def _head(self) -> str:
        left_out = (
            f"; it cannot run {len(self.refused)} of {self.scenarios} scenarios" if self.refused else ""
        )
        version = engines.engine(self.settings.engine).version()
        return f"Our numbers are by the {self.settings.engine} engine, {version}{left_out}."


def prepared(name: str, study: Study, settings: Settings) -> Prepared:
    """Make the jobs of a study, and find those that the engine refuses."""
    todo = study.jobs(settings)
    scenarios = _by_digest(todo)
    refused = _refused(settings.engine, scenarios)
    settings = replace(settings, refused=frozenset(refused))
    return Prepared(name, study, settings, tuple(todo), len(scenarios), refused)


def _by_digest(todo: Iterable[Job]) -> dict[str, Job]:
    """Return one job per scenario, by digest."""
    return {digest_of(job.scenario): job for job in todo}


def _refused(engine: str, todo: Mapping[str, Job]) -> Mapping[str, tuple[str, str]]:
    """Return the scenarios that an engine refuses, by digest: name with conditions, and the reason."""
    chosen, found = engines.engine(engine), {}
    for digest, job in todo.items():
        why = refusals(chosen, job.scenario)
        if why:
            where = ", ".join(f"{key} {value}" for key, value in job.point.items())
            found[digest] = f"{job.scenario.name}, {where}", "; ".join(why)
    return found
