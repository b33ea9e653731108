"""Runs a chunk on a worker of a cluster."""

from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

from fullpipe.cluster.failures import Told, told
from fullpipe.cluster.plan import Plan
from fullpipe.errors import DiskFullError, FolderError, VersionError
from fullpipe.runs import Store
from fullpipe.sweeps import KeptRuns

FATAL = (VersionError, FolderError, DiskFullError)
"""Errors that would affect all other runs as well."""


def make_chunk(plan: bytes, ranges: list[tuple[int, int]], root: str, allow_python: bool) -> dict[str, Any]:
    """Find or make the runs of a chunk. Returns the errors of failed runs and the time per run."""
    jobs, began_s, failed = _read(plan, allow_python), monotonic(), dict[int, Told]()
    indices = [index for start, stop in ranges for index in range(start, stop)]
    with Store(Path(root)).batch() as store:
        source = KeptRuns(store, jobs.cca_timeout_s)
        for index in indices:
            try:
                job = jobs.job(index, allow_python)
                source.find(job) or source.make(job, None)
            except FATAL:
                raise
            except Exception as error:
                failed[index] = told(error)
    return {"failed": failed, "run_s": (monotonic() - began_s) / len(indices)}


@lru_cache(maxsize=4)
def _read(plan: bytes, allow_python: bool) -> Plan:
    """Read and check a plan, once per worker."""
    read = Plan.from_json(plan, "the plan")
    read.check(allow_python)
    return read
