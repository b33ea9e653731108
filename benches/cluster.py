"""Cost of a sweep on Dask and on files, besides its runs: `python -m benches.cluster`.

Two workers in separate processes make the same short runs in chunks of several sizes. Bytes are counted by
the kernel on all connections of the scheduler, with the client and with the workers.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fullpipe import Scenario, sweeps
from fullpipe.cluster.dask import Dask
from fullpipe.cluster.leases import Chunks, FileSystemClock, Owner, Range
from fullpipe.cluster.plan import Plan
from fullpipe.runs import Store

RUNS = 1_000
_BYTES = re.compile(r"bytes_sent:(\d+)")


def scenario(points: int) -> Scenario:
    """A sweep of runs of a few milliseconds, with this number of points."""
    short = {"duration": "1 s", "record.interval": "off", "topology.bottleneck.rate": "5 Mbit/s"}
    return Scenario.named("single-cubic").with_values(
        short | {"sweep": {"tcp.initial_window": list(range(1, points + 1))}}
    )


def carried(port: int) -> int:
    """Bytes sent by both ends of all connections of a port on this machine."""
    shown = subprocess.run(
        ["ss", "-tinH", f"( sport = :{port} or dport = :{port} )"], capture_output=True, check=True
    )
    return sum(int(found) for found in _BYTES.findall(shown.stdout.decode()))


@contextmanager
def chunks_of(runs: int) -> Iterator[None]:
    """Make every chunk of this number of runs."""
    with patch("fullpipe.cluster.dask.chunk_runs", lambda *_: runs):
        yield


def dask(client: Any, todo: list[sweeps.Job], runs: int) -> tuple[float, float, int]:
    """Wall and processor time of the client's and the scheduler's process, and bytes."""
    port = int(client.scheduler.address.rpartition(":")[2])
    with tempfile.TemporaryDirectory() as root, chunks_of(runs):
        before, began_s, cpu_s = carried(port), time.perf_counter(), time.process_time()
        executor = Dask(lambda: nullcontext(client), Path(root))
        outcomes = list(sweeps.stream(todo, store=Store(Path(root)), executor=executor))
        assert all(outcome.error is None for outcome in outcomes)
        return time.perf_counter() - began_s, time.process_time() - cpu_s, carried(port) - before


def files(chunks: int) -> float:
    """Processor time to claim this number of chunks, release their rest and finish them, on this disk."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        for state in ("open", "claimed"):
            (folder / state).mkdir()
        here = Chunks(folder, Owner.here(), FileSystemClock(folder, "clock"))
        here.add(Range(0, chunks))
        began_s = time.process_time()
        for number in range(chunks):
            claim = here.claim()
            assert claim
            here.finish(here.shorten(claim, number + 1))
        return time.process_time() - began_s


def main() -> None:
    """Measure and print."""
    for points in (1, 36, 1000):
        size = len(Plan.for_jobs(sweeps.jobs(scenario(points), range(1, 1 + RUNS // points))).to_json())
        print(f"plan of {RUNS} runs at {points} points: {size:,} bytes")
    todo = sweeps.jobs(scenario(10), range(1, 1 + RUNS // 10))
    distributed = import_module("distributed")
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        dask(client, todo[:20], 1)  # the workers import what they need
        for runs in (1, 10, 100, 250):
            wall_s, cpu_s, carried = dask(client, todo, runs)
            each = f"{carried / (len(todo) / runs):,.0f} bytes per chunk, {carried / len(todo):,.0f} per run"
            print(f"chunks of {runs}: {wall_s:.2f} s, {cpu_s:.2f} CPU-s here, {carried:,} bytes, {each}")
    print(f"files: {files(1_000):.3f} CPU-ms per chunk")


if __name__ == "__main__":
    main()
