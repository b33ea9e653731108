"""Sweeps on Dask: what is handed out, what comes back, and clusters of every kind."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from fullpipe import FullpipeError, Scenario, sweep, sweeps
from fullpipe.cluster import connect
from fullpipe.cluster.dask import Dask, make_chunk
from fullpipe.cluster.plan import Plan
from fullpipe.errors import ClusterError, FolderError, VersionError
from fullpipe.runs import Store
from tests.cluster.conftest import Unlucky
from tests.cluster.test_files import plain, same

distributed = pytest.importorskip("distributed", reason="pip install 'fullpipe[dask]'")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in threads, which see what a test puts in place."""
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def on(client: Any, root: Path) -> Dask:
    return Dask(lambda: nullcontext(client), root)


def test_results_are_those_of_threads(client: Any, small: Scenario, tmp_path: Path) -> None:
    here = sweep(small, [1, 2, 3], out=tmp_path / "here")
    shared = sweep(small, [1, 2, 3], out=tmp_path / "shared", on=on(client, tmp_path / "shared"))
    assert [(run.meta.point, run.meta.seed) for run in here] == [
        (run.meta.point, run.meta.seed) for run in shared
    ]
    assert same(tmp_path / "here", tmp_path / "shared")


def test_what_is_stored_is_not_made_again(
    client: Any, small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    sweep(small, [2], engine="unlucky", out=tmp_path)
    for _ in range(2):
        sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on=on(client, tmp_path))
    assert sorted(unlucky.made) == [1, 1, 2, 2, 3, 3]


def test_a_run_that_fails_is_reported_with_the_others_finished(
    client: Any, small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    unlucky.fails = {2}
    with pytest.raises(sweeps.SweepError, match=r"2 of 6 runs failed; .*unlucky seed 2"):
        sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on=on(client, tmp_path))
    assert len(list(Store(tmp_path))) == 4


def test_a_worker_of_another_version_is_refused(
    client: Any, small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.cluster.plan.version", lambda _: "0.0.1")
    plan = Plan.for_jobs(sweeps.jobs(small))
    monkeypatch.undo()
    monkeypatch.setattr(Plan, "for_jobs", lambda *_: plan)
    with pytest.raises(VersionError, match=r"planned by fullpipe 0\.0\.1"):
        sweep(small, out=tmp_path, on=on(client, tmp_path))


def test_a_store_that_workers_cannot_write_ends_the_sweep(
    client: Any, small: Scenario, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="cannot be written"):
        sweep(small, out=tmp_path, on=on(client, tmp_path / "file" / "runs"))


def test_runs_that_workers_keep_elsewhere_are_missed(
    client: Any, small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.cluster.folder._PAUSES_S", (0.0,))
    with pytest.raises(sweeps.SweepError, match="all workers need access to this folder"):
        sweep(small, out=tmp_path / "here", on=on(client, tmp_path / "elsewhere"))


def test_only_places_in_the_plan_cross_with_a_chunk(small: Scenario) -> None:
    assert len(pickle.dumps((make_chunk, [(0, 1000), (2000, 3000)], "/shared/runs", False))) < 200


class Future:
    """A chunk that is over as soon as it is handed out."""

    def __init__(self, answer: Any) -> None:
        self.status = "error" if isinstance(answer, Exception) else "finished"
        self._answer = answer

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)

    def result(self) -> Any:
        return self._answer

    def exception(self) -> Any:
        return self._answer


class KilledWorker(Exception):  # noqa: N818
    """Error of Dask if too many workers died over a chunk."""


class Deadly:
    """A client of a cluster whose workers die over one run, and over every chunk that has it."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.chunks = list[int]()

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def cancel(self, futures: list[Any]) -> None:
        assert futures == []

    def submit(self, call: Callable[..., Any], *arguments: Any, pure: bool) -> Any:
        if call is not make_chunk:
            return call(*arguments)
        ranges = arguments[1]
        self.chunks.append(sum(stop - start for start, stop in ranges))
        if any(start <= self.run < stop for start, stop in ranges):
            return Future(KilledWorker())
        return Future(call(*arguments))


def test_a_chunk_over_which_workers_die_is_tried_run_by_run(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.cluster.dask.chunk_runs", lambda *_: 4)
    deadly = Deadly(5)
    with pytest.raises(sweeps.SweepError, match=r"1 of 10 runs failed; .*every worker that executed"):
        sweep(small, range(1, 6), out=tmp_path, on=on(deadly, tmp_path))
    assert sorted(deadly.chunks) == [1, 1, 1, 1, 2, 4, 4]
    assert len(list(Store(tmp_path))) == 9


def test_a_scheduler_that_is_gone_is_said(small: Scenario, tmp_path: Path) -> None:
    lost = Future(None)
    lost.status = "cancelled"
    gone = Deadly(0)
    gone.submit = lambda *_, **__: lost  # type: ignore[method-assign]
    gone.cancel = lambda _: None  # type: ignore[method-assign]
    with pytest.raises(
        ClusterError, match="the Dask scheduler has ended; repeat the command to continue the sweep"
    ):
        sweep(small, out=tmp_path, on=on(gone, tmp_path))


def test_a_worker_without_fullpipe_is_said(small: Scenario, tmp_path: Path) -> None:
    lacking = Deadly(0)
    lacking.submit = lambda *_, **__: Future(ModuleNotFoundError("No module"))  # type: ignore[method-assign]
    lacking.cancel = lambda _: None  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match="install the same fullpipe on the worker"):
        sweep(small, out=tmp_path, on=on(lacking, tmp_path))


def command(folder: Path, *arguments: Any, **environment: str) -> list[dict[str, Any]]:
    """The JSON lines that a command prints in a process of its own."""
    line = [sys.executable, "-m", "fullpipe", *map(str, arguments), "--json"]
    done = subprocess.run(
        line, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(text) for text in done.stdout.splitlines()]


def test_a_cluster_on_this_machine(fullpipe: Callable[..., Any], small_file: Path, tmp_path: Path) -> None:
    shown = fullpipe("run", small_file, "--seeds", 3, "--out", "here", "--json").stdout
    here = [json.loads(line) for line in shown.splitlines()]
    there = command(tmp_path, "run", small_file, "--seeds", 3, "--out", "there", "--on", "dask", "--jobs", 2)
    assert [plain(line) for line in there] == [plain(line) for line in here]


SBATCH = """#!/bin/sh
cp "$1" {folder}/script
setsid sh {folder}/script > {folder}/log 2>&1 &
echo $! >> {folder}/pids
echo Submitted batch job $!
"""
SCANCEL = "#!/bin/sh\nkill -- -$1 2> /dev/null\nexit 0\n"


def test_jobs_of_slurm(small_file: Path, tmp_path: Path) -> None:
    """With commands that do what SLURM's do, on this machine."""
    pytest.importorskip("dask_jobqueue", reason="pip install 'fullpipe[dask]'")
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text.format(folder=tmp_path), encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    settings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DASK_JOBQUEUE__SLURM__QUEUE": "short"}
    try:
        lines = command(tmp_path, "run", small_file, "--seeds", 3, "--on", "slurm", "--jobs", 1, **settings)
    finally:
        for pid in (tmp_path / "pids").read_text(encoding="utf-8").split():
            subprocess.run(["kill", "--", f"-{pid}"], check=False, capture_output=True)
    assert len(lines) == 6
    assert "#SBATCH -p short" in (tmp_path / "script").read_text(encoding="utf-8")


def test_the_script_of_a_slurm_job() -> None:
    pytest.importorskip("dask_jobqueue", reason="pip install 'fullpipe[dask]'")
    import dask.config

    with (
        dask.config.set({"jobqueue.slurm.cores": 8, "jobqueue.slurm.walltime": "01:00:00"}),
        connect.slurm_cluster() as cluster,
    ):
        script = cluster.job_script()
    assert "#SBATCH --cpus-per-task=8" in script
    assert "#SBATCH --mem=15G" in script
    assert "#SBATCH -t 01:00:00" in script
    assert "--nthreads 8 " in script
    assert "--lifetime 3300s --lifetime-stagger 240s" in script


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 1800), ("30:30", 1830), ("01:00:00", 3600), ("2-00", 172_800), ("1-12:30", 131_400)],
)
def test_walltimes(text: str, seconds: int) -> None:
    assert connect.walltime(text) == seconds


@pytest.mark.parametrize("text", ["", "x", "1:2:3:4", "1-2-3", "1h"])
def test_what_is_no_walltime(text: str) -> None:
    with pytest.raises(ClusterError, match=r"jobqueue\.slurm\.walltime"):
        connect.walltime(text)


def test_slurm_where_there_is_none(fullpipe: Callable[..., Any], small_file: Path) -> None:
    if shutil.which("sbatch"):
        pytest.skip("this machine has SLURM")
    result = fullpipe("run", small_file, "--on", "slurm")
    assert result.exit_code == 2
    assert "fullpipe: slurm: there is no sbatch on this machine" in result.stderr


def test_a_scheduler_that_does_not_answer(
    fullpipe: Callable[..., Any], small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "_ANSWERS", "1s")
    result = fullpipe("run", small_file, "--on", "dask://127.0.0.1:1")
    assert result.exit_code == 2
    assert "fullpipe: no Dask scheduler answers at tcp://127.0.0.1:1" in result.stderr


@pytest.mark.parametrize(
    "place", ["dask:", "dask://", "dask://host", "dask://host:x", "slurmy", "dask://a b:1"]
)
def test_what_is_no_place(fullpipe: Callable[..., Any], small_file: Path, place: str) -> None:
    result = fullpipe("run", small_file, "--on", place)
    assert result.exit_code == 2
    assert f'unknown place to run on "{place}"' in result.stderr


def test_without_dask_the_command_says_what_to_install(
    fullpipe: Callable[..., Any], small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(connect, "import_module", missing)
    result = fullpipe("run", small_file, "--on", "dask")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "fullpipe: distributed is not installed; install it with: pip install 'fullpipe[dask]'\n"
    )


def test_errors_of_other_processes_keep_their_kind() -> None:
    from fullpipe.cluster.leases import error_told, told

    for error in (FullpipeError("a\x1b"), ValueError("x")):
        assert str(error_told(told(error))) == str(error)
    assert str(error_told({"no": 1})) == "failed; the reason cannot be read"
