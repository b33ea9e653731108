"""A log of the runs that a process begins and keeps."""

from __future__ import annotations

import os
from typing import Any

from fullpipe.sweeps import Job, KeptRuns


def noted(log: str) -> None:
    """Write a line when a run is begun, and one when it is kept."""
    file, make = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), KeptRuns.make

    def made(runs: KeptRuns, job: Job, progress: Any) -> Any:
        os.write(file, f"begun {job.scenario.digest} {job.seed}\n".encode())
        run = make(runs, job, progress)
        os.write(file, f"kept {job.scenario.digest} {job.seed}\n".encode())
        return run

    KeptRuns.make = made  # type: ignore[method-assign]
