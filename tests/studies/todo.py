"""Jobs of studies, made once per process: a study has thousands, and tests only read them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from fullpipe import studies
from fullpipe.runs import Store
from fullpipe.studies.report import Settings
from fullpipe.studies.study import Study
from fullpipe.sweeps import Job

SEEDS = 5


@cache
def _all(study: str, engine: str) -> tuple[Job, ...]:
    if engine != "native":
        return tuple(studies.jobs(study, seeds=SEEDS, engine=engine))
    # Without asking the engine about each: `test_the_native_engine_refuses_nothing` does.
    module: Study = import_module(f"fullpipe.studies.{study}")
    return tuple(module.jobs(Settings(Path(), Store(Path()), tuple(range(1, SEEDS + 1)))))


def jobs(study: str, *, seeds: int, engine: str = "native") -> list[Job]:
    """As `studies.jobs`, for at most five seeds."""
    assert seeds <= SEEDS
    return [job for job in _all(study, engine) if job.seed <= seeds]
