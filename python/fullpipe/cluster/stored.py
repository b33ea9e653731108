"""Finds runs in the store before a sweep begins, and after another process has made them."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fullpipe import engines
from fullpipe.errors import ResultError
from fullpipe.runs.executor import Outcome, Progress, RunSource, Update
from fullpipe.runs.jobs import Job

_PAUSES_S = (0.0, 0.5, 1.0, 2.0)


def stored(todo: Sequence[Job], source: RunSource, progress: Progress | None) -> dict[int, Outcome]:
    """Find jobs whose runs are already stored, by index."""
    known = {}
    for index, job in enumerate(todo):
        run = source.find(job)
        if run:
            known[index] = Outcome(job, run)
            if progress:
                progress(Update(index, job, job.scenario.duration_s, "stored"))
    return known


def made_elsewhere(job: Job, source: RunSource, root: Path) -> Outcome:
    """Find a run that another process has stored. NFS may hide it until its folders are listed again."""
    for pause_s in _PAUSES_S:
        time.sleep(pause_s)
        run = source.find(job)
        if run:
            return Outcome(job, run)
        for folder in (root, root / engines.place_of(engines.engine(job.engine), job.scenario)):
            with suppress(OSError):
                os.listdir(folder)
    told = f"made, but not in {root}: workers must see the same folder; the same command makes it again"
    return Outcome(job, ResultError(told))
