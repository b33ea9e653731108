"""Sweeps: many runs, side by side, in order, and never twice."""

from fullpipe.sweeps.executor import Outcome, SweepError, Update, run, stream
from fullpipe.sweeps.jobs import Job, jobs

__all__ = ["Job", "Outcome", "SweepError", "Update", "jobs", "run", "stream"]
