"""Sweeps that several processes share by a folder."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fullpipe import FullpipeError, Run, Scenario, sweep, sweeps
from fullpipe.cluster import Files
from fullpipe.cluster.crew import Counts, Worker
from fullpipe.cluster.folder import SweepFolder, begin, pieces
from fullpipe.cluster.leases import Chunks, Claim
from fullpipe.cluster.plan import Plan
from fullpipe.errors import FolderError, UnknownNameError
from fullpipe.runs import TABLES, Store
from fullpipe.sweeps import SweepError
from tests.children import started
from tests.cluster.conftest import Unlucky


def tables(root: Path) -> dict[Path, Any]:
    """The tables of all runs of a store."""
    return {
        Path(*run.folder.parts[-2:]): [run.tables[name] for name in TABLES]
        for run in Store(root)
        if run.folder
    }


def same(one: Path, other: Path) -> bool:
    """Whether two stores have equal runs."""
    a, b = tables(one), tables(other)
    return a.keys() == b.keys() and all(x.equals(y) for key in a for x, y in zip(a[key], b[key], strict=True))


def planned(root: Path, todo: list[sweeps.Job]) -> SweepFolder:
    """A sweep that is begun, and that none works on yet."""
    return begin(root, Plan.for_jobs(todo), range(len(todo)))


def worked(root: Path, **more: Any) -> Counts:
    counts = Counts()
    Worker(root, say=lambda _: None, **more).work(counts)
    return counts


def test_results_are_those_of_threads(small: Scenario, tmp_path: Path) -> None:
    here = sweep(small, [1, 2, 3], workers=2, out=tmp_path / "here")
    shared = sweep(small, [1, 2, 3], workers=2, out=tmp_path / "shared", on="files")
    assert [(run.meta.digest, run.meta.seed) for run in here] == [
        (run.meta.digest, run.meta.seed) for run in shared
    ]
    assert same(tmp_path / "here", tmp_path / "shared")


def test_nothing_is_left_of_a_sweep_that_is_over(small: Scenario, tmp_path: Path) -> None:
    sweep(small, [1, 2], out=tmp_path, on="files")
    assert [path.name for path in tmp_path.iterdir() if path.name == ".work"] == []


def test_a_sweep_that_is_over_is_not_made_again(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    for _ in range(2):
        sweep(small, [1, 2], engine="unlucky", out=tmp_path, on="files")
    assert sorted(unlucky.made) == [1, 1, 2, 2]


def test_what_is_stored_already_is_not_made_again(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    sweep(small, [2], engine="unlucky", out=tmp_path)
    sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on="files")
    assert sorted(unlucky.made) == [1, 1, 2, 2, 3, 3]


def test_a_run_that_fails_is_reported_with_the_others_finished(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    unlucky.fails = {2}
    with pytest.raises(SweepError, match=r"2 of 6 runs failed; .*unlucky seed 2"):
        sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on="files")
    assert len(list(Store(tmp_path))) == 4


def test_what_failed_is_tried_again_when_the_command_is_repeated(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    unlucky.fails = {2}
    with pytest.raises(SweepError):
        sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on="files")
    unlucky.fails = set()
    unlucky.made = []
    assert len(sweep(small, [1, 2, 3], engine="unlucky", out=tmp_path, on="files")) == 6
    assert unlucky.made == [2, 2]


def test_a_failure_elsewhere_is_reported_here(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    todo = sweeps.jobs(small, [1, 2], "unlucky")
    folder = planned(tmp_path, todo)
    unlucky.fails = {2}
    assert worked(tmp_path).failed == 2
    assert [(failure.index, str(failure.error)) for failure in folder.failures()] == [
        (1, "unlucky seed 2"),
        (3, "unlucky seed 2"),
    ]


def test_two_commands_at_the_same_time_share_the_work(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    def command(_: int) -> list[tuple[str, int]]:
        runs = sweep(small, range(1, 31), engine="unlucky", out=tmp_path, on="files")
        return [(run.meta.digest, run.meta.seed) for run in runs]

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(command, range(2))
    assert one == two
    assert sorted(unlucky.made) == sorted([*range(1, 31), *range(1, 31)])


def test_a_worker_makes_all_runs_of_a_sweep(small: Scenario, tmp_path: Path) -> None:
    folder = planned(tmp_path, sweeps.jobs(small, range(1, 11)))
    assert worked(tmp_path, workers=2).finished == 20
    assert len(list(Store(tmp_path))) == 20
    assert folder.chunks.pending() == []


def test_a_command_takes_what_workers_have_made(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    planned(tmp_path, sweeps.jobs(small, [1, 2], "unlucky"))
    worked(tmp_path)
    unlucky.made = []
    assert len(sweep(small, [1, 2], engine="unlucky", out=tmp_path, on="files")) == 4
    assert unlucky.made == []


def test_leaving_early_gives_the_chunks_back(small: Scenario, tmp_path: Path) -> None:
    todo = sweeps.jobs(small.with_values({"duration": "20 s"}), range(1, 201))
    outcomes = Files(tmp_path, 2).stream(todo, sweeps.KeptRuns(Store(tmp_path)))
    next(iter(outcomes))
    outcomes.close()  # type: ignore[attr-defined]
    chunks = SweepFolder.of_plan(tmp_path, Plan.for_jobs(todo)).chunks
    assert chunks.claimed() == []
    assert chunks.open()


def test_workers_of_two_machines_with_folders_of_their_own_share_a_store(
    small: Scenario, tmp_path: Path
) -> None:
    todo = sweeps.jobs(small.with_values({"duration": "5 s"}), range(1, 41))
    planned(tmp_path / "store", todo)
    command = [sys.executable, "-m", "fullpipe", "work", str(tmp_path / "store"), "--jobs", "1", "--scratch"]
    with started([*command, str(tmp_path / "one")]) as one, started([*command, str(tmp_path / "two")]) as two:
        told = [worker.communicate()[0] for worker in (one, two)]
    assert sum(int(text.split()[0]) for text in told) == len(todo)
    sweeps.run(todo, store=Store(tmp_path / "alone"))
    assert same(tmp_path / "store", tmp_path / "alone")
    assert [list(Store(tmp_path / name)) for name in ("one", "two")] == [[], []]


def test_what_a_worker_made_and_had_not_copied_when_it_was_killed_is_not_lost(
    small: Scenario, tmp_path: Path, unlucky: type[Unlucky]
) -> None:
    todo = sweeps.jobs(small, [1], "unlucky")
    sweeps.run(todo[:1], store=Store(tmp_path / "scratch"))
    planned(tmp_path / "store", todo)
    worked(tmp_path / "store", scratch=tmp_path / "scratch")
    assert unlucky.made == [1, 1]
    assert len(list(Store(tmp_path / "store"))) == 2


def test_an_executor_of_ones_own(small: Scenario, tmp_path: Path) -> None:
    class Backwards:
        """Runs jobs from the last to the first."""

        def stream(self, jobs: Any, source: sweeps.RunSource, progress: sweeps.Progress | None = None) -> Any:
            todo = list(jobs)
            made = [source.find(job) or source.make(job, None) for job in reversed(todo)]
            return (sweeps.Outcome(job, run) for job, run in zip(todo, reversed(made), strict=True))

    runs = sweep(small, [1, 2], out=tmp_path, on=Backwards())
    assert [run.meta.seed for run in runs] == [1, 2, 1, 2]


def test_only_threads_work_without_a_store(small: Scenario) -> None:
    with pytest.raises(FolderError, match="--on files: processes share runs through a store"):
        sweep(small, on="files")


def test_places_that_there_are_not_are_refused(small: Scenario, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match='unknown place to run on "fils"; did you mean "files"'):
        sweep(small, out=tmp_path, on="fils")


def test_chunks_cover_what_is_missing_and_no_more() -> None:
    missing = [index for index in range(1000) if index % 50 < 30]
    found = pieces(missing, 7)
    assert [index for piece in found for index in range(piece.start, piece.stop)] == missing
    assert max(piece.runs for piece in found) == 7


class Command:
    """The command line, with what it prints as JSON."""

    def __init__(self, fullpipe: Callable[..., Any]) -> None:
        self.run = fullpipe

    def lines(self, *arguments: Any, status: int = 0) -> list[dict[str, Any]]:
        result = self.run(*arguments, "--json")
        assert result.exit_code == status, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]


def plain(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in ("wall_s", "cpu_s", "folder")}


def test_every_run_has_a_line_in_the_order_of_the_jobs(
    fullpipe: Callable[..., Any], small_file: Path
) -> None:
    command = Command(fullpipe)
    here = command.lines("run", small_file, "--seeds", 3, "--out", "here")
    command.lines("run", small_file, "--seed", 2, "--out", "shared")
    shared = command.lines("run", small_file, "--seeds", 3, "--out", "shared", "--on", "files")
    assert [plain(line) for line in shared] == [plain(line) for line in here]
    assert all(Run.load(line["folder"]) for line in shared)


def test_a_comparison_says_the_same_wherever_its_runs_are_made(
    fullpipe: Callable[..., Any], small_file: Path
) -> None:
    words = ("compare", small_file, "--over", "flows.0.cca=cubic,reno", "--seeds", 2, "--json")
    here = fullpipe(*words, "--out", "here")
    shared = fullpipe(*words, "--out", "shared", "--on", "files")
    assert shared.exit_code in (0, 1)
    assert (shared.exit_code, shared.stdout) == (here.exit_code, here.stdout)
    assert len(list(Path("shared").glob("*/*/meta.json"))) == 4


def test_failures_have_the_exit_status_that_they_have_here(
    fullpipe: Callable[..., Any], small_file: Path, unlucky: type[Unlucky]
) -> None:
    unlucky.fails = {1}
    for place in ("local", "files"):
        result = fullpipe("run", small_file, "--engine", "unlucky", "--on", place)
        assert (result.exit_code, result.stderr.count("unlucky seed 1")) == (1, 1)


def test_status_says_what_is_open_claimed_and_failed(
    fullpipe: Callable[..., Any], small: Scenario, tmp_path: Path
) -> None:
    folder = planned(tmp_path / "runs", sweeps.jobs(small, range(1, 11)))
    folder.chunks.claim()
    folder.fail(3, FullpipeError("of no use\x1b[2J"))
    (told,) = Command(fullpipe).lines("sweep", "status")
    (claim,) = told["claimed"]
    assert (told["runs"], told["open"]["runs"], claim["runs"]) == (20, 19, 1)
    assert told["failed"] == [{"run": 3, "error": "of no use\\x1b[2J"}]
    text = fullpipe("sweep", "status").output
    assert f"  claimed  1 runs by {claim['host']}:{claim['pid']}, renewed " in text
    assert "failed   run 3: of no use\\x1b[2J" in text


def test_status_of_a_store_without_sweeps(fullpipe: Callable[..., Any]) -> None:
    assert fullpipe("sweep", "status", "nothing").output == "no unfinished sweep in nothing\n"


def test_a_worker_refuses_the_sweep_of_another_version_and_works_on_the_others(
    fullpipe: Callable[..., Any], small: Scenario, tmp_path: Path
) -> None:
    todo = sweeps.jobs(small, [1])
    planned(tmp_path / "runs", todo)
    begin(tmp_path / "runs", Plan.for_jobs(todo).model_copy(update={"fullpipe": "0.0.1"}), range(2))
    result = fullpipe("work")
    assert result.exit_code == 2
    assert "planned by fullpipe 0.0.1" in result.stderr
    assert result.stdout == "2 runs finished\n"


def test_a_worker_without_work_ends(fullpipe: Callable[..., Any]) -> None:
    result = fullpipe("work", "nothing")
    assert (result.exit_code, result.output) == (0, "0 runs finished\n")


def test_no_store_is_for_threads_only(fullpipe: Callable[..., Any], small_file: Path) -> None:
    result = fullpipe("run", small_file, "--no-store", "--on", "files")
    assert result.exit_code == 2
    assert (
        result.stderr
        == "fullpipe: --on files: processes share runs through a store; name its folder with --out\n"
    )


def test_a_folder_that_cannot_be_used_any_more_ends_the_command_in_one_line(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*_: object) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Chunks, "finish", stale)
    with pytest.raises(FolderError, match="Stale file handle; repeat the command to continue"):
        sweep(small, [1, 2], out=tmp_path, on="files")


def test_a_chunk_that_takes_too_long_gives_its_rest_back(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unlucky: type[Unlucky]
) -> None:
    monkeypatch.setattr("fullpipe.cluster.crew.chunk_runs", lambda *_: 20)
    monkeypatch.setattr("fullpipe.cluster.crew._TOO_LONG", 0.0)
    monkeypatch.setattr("fullpipe.cluster.folder.FIRST_CHUNKS", 1)
    finished = list[int]()
    finish = Chunks.finish

    def counted(chunks: Chunks, claim: Claim) -> None:
        finished.append(claim.range.runs)
        finish(chunks, claim)

    monkeypatch.setattr(Chunks, "finish", counted)
    sweep(small, range(1, 6), engine="unlucky", out=tmp_path, on="files")
    assert finished == [1] * 10
    assert sorted(unlucky.made) == sorted([*range(1, 6), *range(1, 6)])
