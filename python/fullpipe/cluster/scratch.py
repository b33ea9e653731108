"""Runs that are made in a local folder and copied into the shared store when they are complete."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from fullpipe.runs import Run
from fullpipe.runs.jobs import Job
from fullpipe.sweeps import KeptRuns


@dataclass(frozen=True)
class ScratchRuns:
    """Finds runs in a shared store, and makes missing ones in a local store before copying them there."""

    shared: KeptRuns
    local: KeptRuns

    def find(self, job: Job) -> Run | None:
        """Find the run of a job in the shared store, or in the local one if it was not copied yet."""
        found = self.shared.find(job)
        if found:
            return found
        left = self.local.find(job)
        return self._publish(left) if left else None

    def make(self, job: Job, progress: Callable[[float], None] | None) -> Run:
        """Run a job locally and copy the run into the shared store."""
        return self._publish(self.local.make(job, progress))

    def _publish(self, run: Run) -> Run:
        """Copy a run into the shared store and remove the local one."""
        assert self.shared.store
        shared = self.shared.store.save(run)
        if run.folder:
            shutil.rmtree(run.folder, ignore_errors=True)
        return shared
