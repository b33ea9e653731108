"""Many runs: order, failures, the store, interrupts."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event, get_ident
from typing import ClassVar

import numpy as np
import pytest

from fullpipe import EngineError, Run, Scenario, files, sweep, sweeps
from fullpipe.engines import ENGINES, Capabilities, Problem, Progress, Requirement
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import CancelledError
from fullpipe.runs import TABLES, Store, executor, writer
from fullpipe.runs.executor import Threads
from fullpipe.runs.segments import Segment, paths
from fullpipe.sweeps import Job, KeptRuns, SweepError, Update, jobs, run, stream


class Fake:
    """The native engine, except that it fails on seed 13 and counts its runs."""

    name: ClassVar[str] = "fake"
    seeds: ClassVar[list[int]] = []

    def version(self) -> str:
        return "1"

    def model_version(self) -> str:
        return "1"

    def capabilities(self) -> Capabilities:
        return NativeEngine().capabilities()

    def doctor(self) -> list[Requirement]:
        return []

    def check(self, scenario: Scenario) -> list[Problem]:
        return []

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        if seed == 13:
            raise EngineError("an unlucky seed")
        self.seeds.append(seed)
        made = NativeEngine().run(scenario, seed=seed, progress=progress)
        engine = made.meta.engine.model_copy(update={"name": "fake", "version": "1", "model_version": "1"})
        return Run(made.meta.model_copy(update={"engine": engine}), made.tables)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "fake", Fake)  # type: ignore[misc]
    Fake.seeds.clear()


def test_the_seed_changes_fastest(small: Scenario) -> None:
    scenario = small.with_values({"sweep": {"flows.0.cca": ["cubic", "reno"]}})
    assert [(job.point["flows.0.cca"], job.seed) for job in jobs(scenario, [1, 2])] == [
        ("cubic", 1),
        ("cubic", 2),
        ("reno", 1),
        ("reno", 2),
    ]


def test_runs_come_in_the_order_of_the_jobs(small: Scenario) -> None:
    scenarios = [small.with_values({"duration": duration}) for duration in ("5 s", "1 s", "3 s")]
    runs = run([Job(scenario, seed=1) for scenario in scenarios], workers=3)
    assert [found.meta.duration_s for found in runs] == [5.0, 1.0, 3.0]


def test_the_number_of_workers_changes_nothing(small: Scenario) -> None:
    todo = jobs(small, range(1, 7))
    one, three = run(todo, workers=1), run(todo, workers=3)
    assert all(
        a.tables[name].equals(b.tables[name]) for a, b in zip(one, three, strict=True) for name in TABLES
    )


def test_a_run_that_fails_does_not_lose_the_others(small: Scenario) -> None:
    outcomes = list(stream(jobs(small, [1, 13, 2], "fake"), workers=2))
    assert [type(outcome.result) for outcome in outcomes] == [Run, EngineError, Run]


def test_a_run_that_fails_is_reported_after_all_others_finished(small: Scenario, tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="1 of 3 runs failed"):
        run(jobs(small, [13, 1, 2], "fake"), store=Store(tmp_path))
    assert [found.meta.seed for found in Store(tmp_path)] == [1, 2]


def test_a_finished_run_is_never_made_again(small: Scenario, tmp_path: Path) -> None:
    run(jobs(small, [1, 2], "fake"), store=Store(tmp_path))
    run(jobs(small, [1, 2, 3], "fake"), store=Store(tmp_path))
    assert Fake.seeds == [1, 2, 3]


def test_the_same_run_many_times_at_once_is_kept_once(small: Scenario, tmp_path: Path) -> None:
    runs = run([Job(small, 1)] * 12, workers=4, store=Store(tmp_path))
    assert {found.folder for found in runs} == {tmp_path / small.digest / "native-1"}
    assert [path.name for path in (tmp_path / small.digest).iterdir()] == ["native-1"]


def test_progress_ends_with_what_became_of_every_job(small: Scenario, tmp_path: Path) -> None:
    run(jobs(small, [1], "fake"), store=Store(tmp_path))
    updates: list[Update] = []
    list(stream(jobs(small, [1, 2, 13], "fake"), store=Store(tmp_path), progress=updates.append))
    last = {update.index: update.state for update in updates}
    assert last == {0: "stored", 1: "finished", 2: "failed"}


def test_progress_never_goes_back(small: Scenario) -> None:
    reached: list[float] = []
    run(jobs(small), progress=lambda update: reached.append(update.simulated_s))
    assert reached == sorted(reached)


def test_leaving_early_stops_what_still_runs(small: Scenario) -> None:
    long = small.with_values({"duration": "80000 s", "record.interval": "off"})
    outcomes = stream([Job(small, 1), Job(long, 1)], workers=2)
    assert next(outcomes).run.meta.seed == 1
    outcomes.close()  # type: ignore[attr-defined]


def test_a_run_may_be_stopped_from_its_progress(small: Scenario) -> None:
    def stop(_: float) -> None:
        raise CancelledError("enough")

    with pytest.raises(CancelledError):
        NativeEngine().run(small, seed=1, progress=stop)


def test_an_outcome_gives_its_run_or_raises_its_error(small: Scenario) -> None:
    failed = sweeps.Outcome(Job(small, 1), EngineError("no"))
    with pytest.raises(EngineError, match="no"):
        _ = failed.run


def test_jobs_are_handed_out_as_they_are_needed(small: Scenario) -> None:
    asked: list[int] = []

    def endless() -> Iterator[Job]:
        for seed in count(1):
            asked.append(seed)
            yield Job(small, seed, engine="fake")

    outcomes = stream(endless())
    assert next(outcomes).job.seed == 1
    outcomes.close()  # type: ignore[attr-defined]
    assert len(asked) <= 2_000


def test_a_job_that_takes_long_does_not_hold_up_others(small: Scenario) -> None:
    is_last = Event()

    class Slow(KeptRuns):
        def make(self, job: Job, progress: Progress | None) -> Run:
            if job.seed == 0:
                assert is_last.wait(30)
            elif job.seed == 9:
                is_last.set()
            return super().make(job, progress)

    outcomes = Threads(2).stream(jobs(small, range(10), "fake"), Slow(None))
    assert [outcome.run.meta.seed for outcome in outcomes] == [*range(10)]


def test_a_kept_run_is_found_here_when_it_is_needed(small: Scenario, tmp_path: Path) -> None:
    made = run(jobs(small, range(12), "fake"), store=Store(tmp_path))
    looked: list[int] = []

    class Kept(KeptRuns):
        def find(self, job: Job) -> Run | None:
            looked.append(get_ident())
            return made[job.seed]

    outcomes = Threads(3).stream(jobs(small, range(12), "fake"), Kept(Store(tmp_path)))
    assert next(iter(outcomes)).run.meta.seed == 0
    assert looked == [get_ident()] * 6
    assert [outcome.run.meta.seed for outcome in outcomes] == [*range(1, 12)]
    assert looked == [get_ident()] * 12


def test_the_address_of_a_point_is_worked_out_once(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_out: list[Scenario] = []
    identity = sweeps.engines.identity
    monkeypatch.setattr(
        sweeps.engines, "identity", lambda who, what: worked_out.append(what) or identity(who, what)
    )
    monkeypatch.setattr(executor, "_AHEAD", 10)
    monkeypatch.setattr(sweeps, "_MOST_ADDRESSES", 40)
    points = small.with_values({"sweep": {"flows.0.start": [f"{n} ms" for n in range(100)]}})
    run(jobs(points, [1], "fake"), store=Store(tmp_path))
    assert len(worked_out) == 100


@pytest.mark.parametrize(("check", "reads"), [(False, 0), (True, 2)])  # meta.json, and the tables
def test_a_finished_sweep_makes_nothing_and_reads_a_file_once_if_at_all(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: bool, reads: int
) -> None:
    todo = jobs(small.with_values({"sweep": {"flows.0.cca": ["cubic", "reno"]}}), range(1, 6), "fake")
    run(todo, store=Store(tmp_path))
    Fake.seeds.clear()
    opened: list[str] = []
    read = files.read_regular
    monkeypatch.setattr(
        files, "read_regular", lambda path, *part: opened.append(str(path)) or read(path, *part)
    )
    assert len(list(stream(todo, store=Store(tmp_path), check=check))) == len(todo)
    of_runs = [path for path in opened if Path(path).parent.name.startswith("fake-")]
    assert Fake.seeds == []
    assert len(of_runs) == len(set(of_runs)) == reads * len(todo)


def test_no_file_of_the_index_is_without_runs(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_MOST", 10)
    run(jobs(small, range(20, 40), "fake"), store=Store(tmp_path))
    assert [Segment.read(path).table("runs").height for path in paths(tmp_path)] == [10, 10]


def test_seeds_may_be_those_of_numpy(small: Scenario, tmp_path: Path) -> None:
    made = sweep(small, seeds=np.arange(1, 3), out=tmp_path)
    assert [type(each.meta.seed) for each in made] == [int] * len(made)
    assert {each.summary()["seed"] for each in Store(tmp_path)} == {1, 2}


def test_no_run_changes_the_origin_of_another(small: Scenario, tmp_path: Path) -> None:
    first, second = run(jobs(small, [1, 2]), store=Store(tmp_path))
    first.meta.host["note"] = "of the first alone"
    first.meta.scenario["name"] = "renamed"
    (third,) = run(jobs(small, [3]), store=Store(tmp_path))
    for other in (second, third, *Store(tmp_path)):
        assert "note" not in other.meta.host
        assert other.meta.scenario["name"] == small.name


def test_what_runs_of_a_point_share_is_written_as_it_is(small: Scenario, tmp_path: Path) -> None:
    (made,) = run(jobs(small, [1]))
    made.meta.host["note"] = "kept"
    Store(tmp_path / "a").save(made)
    made.meta.host["note"] = "kept later"
    kept = Store(tmp_path / "b").save(made)
    assert kept.folder
    assert Run.load(kept.folder).meta.host["note"] == "kept later"


def test_what_runs_of_a_point_share_is_encoded_once(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[object] = []
    encode = writer.to_jsonable_python
    monkeypatch.setattr(writer, "to_jsonable_python", lambda value: encoded.append(value) or encode(value))
    monkeypatch.setattr(writer, "_last", [(None, "")])
    points = small.with_values({"sweep": {"flows.0.cca": ["cubic", "reno"]}})
    run(jobs(points, range(1, 6)), store=Store(tmp_path))
    assert len(encoded) == 2
