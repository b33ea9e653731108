"""Runs made in a folder of this machine alone, and copied into the shared store when they are complete."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from fullpipe.runs import Run
from fullpipe.runs.jobs import Job
from fullpipe.sweeps import KeptRuns


@dataclass(frozen=True)
class ScratchRuns:
    """Finds runs in a shared store; makes them in a store of this machine and copies them over."""

    shared: KeptRuns
    local: KeptRuns

    def find(self, job: Job) -> Run | None:
        """The run of a job, if it is shared already, or was made here and not copied yet."""
        found = self.shared.find(job)
        if found:
            return found
        left = self.local.find(job)
        return self._publish(left) if left else None

    def make(self, job: Job, progress: Callable[[float], None] | None) -> Run:
        """Run a job here, and copy the run into the shared store."""
        return self._publish(self.local.make(job, progress))

    def _publish(self, run: Run) -> Run:
        """Copy a run: written under a hidden name, renamed when complete. Then remove the one here."""
        assert self.shared.store
        shared = self.shared.store.save(run)
        if run.folder:
            shutil.rmtree(run.folder, ignore_errors=True)
        return shared
