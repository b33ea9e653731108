"""Workers of Dask, and commands, that are killed at random times: nothing finished is lost or made again."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import forkserver
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fullpipe import Scenario, sweeps
from fullpipe.cluster.connect import connection
from fullpipe.cluster.dask import Dask
from fullpipe.runs import Store
from fullpipe.runs.executor import Update
from tests.children import started
from tests.cluster.test_kills import made_twice
from tests.engines.test_stopping import until
from tests.kills.noted import noted

distributed = pytest.importorskip("distributed", reason="pip install 'fullpipe[dask]'")
dask_config = pytest.importorskip("dask.config")

KILLS = 100
RUNS = 60
MOST_DELAY_S = 1.0


class Noting(distributed.WorkerPlugin):  # type: ignore[misc]
    """Lets every worker, also one that takes the place of another, note the runs that it begins and keeps."""

    def __init__(self, log: str) -> None:
        self.log = log

    def setup(self, worker: Any) -> None:
        noted(self.log)


def workers(client: Any) -> list[int]:
    """The processes of the workers that the scheduler has; others are on their way."""
    there, nannies = client.nthreads(), list(client.cluster.workers.values())
    return [nanny.pid for nanny in nannies if nanny.pid and nanny.worker_address in there]


@contextmanager
def killer(client: Any, most: int, chosen: random.Random) -> Iterator[Counter[str]]:
    """Kill up to `most` workers at random times, and count them."""
    over, hits = Event(), Counter[str]()

    def kill() -> None:
        while hits["workers"] < most and not over.wait(chosen.uniform(0, MOST_DELAY_S)):
            try:
                os.kill(chosen.choice(workers(client)), signal.SIGKILL)
            except (IndexError, ProcessLookupError):  # none has come back yet, or it has just ended
                continue
            hits["workers"] += 1

    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill)
        try:
            yield hits
        finally:
            over.set()
            killing.result()


@pytest.fixture
def warm_workers() -> Iterator[None]:
    """Workers are forks of a process that has imported what they need: others replace them at once."""
    fork = "forkserver"
    multiprocessing.get_context(fork).set_forkserver_preload(
        ["distributed", "tests.kills.noted", "fullpipe.cluster.dask", "fullpipe.engines.native"]
    )
    forkserver.ensure_running()
    with dask_config.set({"distributed.worker.multiprocessing-method": fork}):
        yield


@pytest.mark.usefixtures("warm_workers")
def test_workers(small: Scenario, tmp_path: Path, cases: Callable[[int], int]) -> None:
    long = small.with_values({"duration": "60 s"})
    todo, chosen, killed, rounds = sweeps.jobs(long, range(1, RUNS // 2 + 1)), random.Random(1), 0, 0
    connect = connection("dask", 2)
    assert connect
    with connect() as client:
        while killed < cases(KILLS):
            root, log = tmp_path / str(rounds), tmp_path / f"log-{rounds}"
            client.register_plugin(Noting(str(log)), name="noting")
            runs = Dask(lambda: nullcontext(client), root)
            with killer(client, cases(KILLS) - killed, chosen) as hits:
                outcomes = list(sweeps.stream(todo, store=Store(root), executor=runs))
            assert [outcome.error for outcome in outcomes] == [None] * len(todo)
            assert [outcome.job for outcome in outcomes] == todo
            assert len(list(Store(root))) == len(todo)
            assert made_twice(log, hits["workers"]) == []
            killed, rounds = killed + hits["workers"], rounds + 1
            shutil.rmtree(root)
    print(f"{killed} workers killed in {rounds} sweeps of {len(todo)} runs")


@pytest.mark.usefixtures("warm_workers")
def test_a_result_that_is_lost_before_it_is_read_is_computed_again(small: Scenario, tmp_path: Path) -> None:
    todo, root, lost = sweeps.jobs(small, [1]), tmp_path / "runs", list[int]()
    connect = connection("dask", 1)
    assert connect
    with connect() as client:

        def states() -> set[str]:
            return {future.status for future in list(client.futures.values())}

        def lose_the_others(_: Update) -> None:
            if lost:
                return
            until(lambda: states() == {"finished"})
            lost.extend(workers(client))
            os.kill(lost[0], signal.SIGKILL)
            until(lambda: states() == {"lost"})

        runs = Dask(lambda: nullcontext(client), root)
        outcomes = list(sweeps.stream(todo, store=Store(root), executor=runs, progress=lose_the_others))
    assert lost
    assert [outcome.error for outcome in outcomes] == [None] * len(todo)


def test_commands(small: Scenario, tmp_path: Path, cases: Callable[[int], int]) -> None:
    (tmp_path / "small.toml").write_text(small.with_values({"duration": "60 s"}).to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "fullpipe", "run", "small.toml", "--on", "dask", "--jobs", "2"]
    chosen, kept = random.Random(1), dict[Path, bytes]()
    for number in range(cases(KILLS // 5)):
        seeds = ["--seeds", str(RUNS * (number + 1)), "--json"]
        with started([*command, *seeds], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
            for _ in range(len(kept) + 1):  # until it has made a run
                process.stdout.readline()
            time.sleep(chosen.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
        found = {
            run.folder: (run.folder / "meta.json").read_bytes()
            for run in Store(tmp_path / "runs")
            if run.folder
        }
        assert {folder: found.get(folder) for folder in kept} == kept
        kept = found
    assert kept
