"""The worker of `fullpipe work`: runs jobs of all sweeps of a store until none are left."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from fullpipe.cluster.crew import Crew
from fullpipe.cluster.folder import SweepFolder, sweeps_in
from fullpipe.cluster.plan import Plan
from fullpipe.cluster.scratch import ScratchRuns
from fullpipe.errors import VersionError
from fullpipe.runs import Store
from fullpipe.runs.executor import Outcome, RunSource
from fullpipe.sweeps import KeptRuns

_PULSE_S = 0.1
_LOOK_S = 1.0


@dataclass
class Counts:
    """Numbers of jobs that a process has run."""

    finished: int = 0
    failed: int = 0
    refused: list[str] = field(default_factory=list)
    """Reasons for refusing whole sweeps, one line each."""

    def __post_init__(self) -> None:
        self._lock = Lock()

    def count(self, outcome: Outcome) -> None:
        """Count a job. Can be called from any thread."""
        with self._lock:
            self.failed += outcome.error is not None
            self.finished += outcome.error is None


@dataclass(frozen=True)
class Worker:
    """Works on the sweeps of a store.

    Args:
        root: The folder of the store.
        workers: Maximum number of simultaneous runs.
        scratch: Local folder in which runs are made before they are copied to the store.
        allow_python: Import the classes of `python:module:Class`.
        wait_s: Maximum time to wait for new work.
        say: Called with one line for every sweep that is begun.
    """

    root: Path
    workers: int = 1
    scratch: Path | None = None
    allow_python: bool = False
    wait_s: float = 0.0
    say: Callable[[str], None] = print

    def work(self, counts: Counts) -> None:
        """Work until no jobs are left and none have come for `wait_s`.

        Raises:
            FolderError: If the store or the scratch folder cannot be written.
            DiskFullError: If a disk is full.
        """
        refused, end_s = set[str](), time.monotonic() + self.wait_s
        while True:
            for folder in sweeps_in(self.root):
                if folder.path.name not in refused and folder.chunks.pending():
                    self._one(folder, counts, refused)
                    end_s = time.monotonic() + self.wait_s
            left = [f for f in sweeps_in(self.root) if f.path.name not in refused and f.chunks.pending()]
            if not left and time.monotonic() >= end_s:
                return
            time.sleep(_PULSE_S)

    def _one(self, folder: SweepFolder, counts: Counts, refused: set[str]) -> None:
        try:
            plan = folder.plan()
            plan.check(self.allow_python)
            self._join(folder, plan, counts)
        except FileNotFoundError:  # the sweep is finished
            return
        except VersionError as error:
            refused.add(folder.path.name)
            counts.refused.append(str(error))

    def _join(self, folder: SweepFolder, plan: Plan, counts: Counts) -> None:
        self.say(f'working on sweep {plan.id} of "{plan.name}": {plan.runs:,} runs')
        with Store(self.root).batch() as store, self._crew(folder, plan, store, counts) as crew:
            look_at_s = time.monotonic() + _LOOK_S
            while not crew.error:
                time.sleep(_PULSE_S)
                if crew.is_idle and time.monotonic() >= look_at_s:
                    if not folder.chunks.pending():
                        break
                    look_at_s = time.monotonic() + _LOOK_S
        if crew.error:
            raise crew.error

    def _crew(self, folder: SweepFolder, plan: Plan, store: Store, counts: Counts) -> Crew:
        source: RunSource = KeptRuns(store, plan.cca_timeout_s)
        if self.scratch:
            source = ScratchRuns(KeptRuns(store), KeptRuns(Store(self.scratch), plan.cca_timeout_s))
        return Crew(
            folder,
            lambda index: plan.job(index, self.allow_python),
            source,
            self.workers,
            None,
            lambda _, outcome: counts.count(outcome),
        )
