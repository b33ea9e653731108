"""Jobs of studies, made once per process: a study has thousands, and tests only read them."""

from __future__ import annotations

from functools import cache

from fullpipe import studies
from fullpipe.sweeps import Job

SEEDS = 5


@cache
def _all(study: str, engine: str) -> tuple[Job, ...]:
    return tuple(studies.jobs(study, seeds=SEEDS, engine=engine))


def jobs(study: str, *, seeds: int, engine: str = "native") -> list[Job]:
    """As `studies.jobs`, for at most five seeds."""
    assert seeds <= SEEDS
    return [job for job in _all(study, engine) if job.seed <= seeds]
