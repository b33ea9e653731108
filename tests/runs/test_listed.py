"""Runs of a finished sweep are found by the index, and read when more is wanted than it says."""

import os
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from fullpipe import ResultError, Run, Scenario, sweeps
from fullpipe.engines import native
from fullpipe.runs import Store, encoding, index, listed, writer
from fullpipe.runs.encoding import encoded
from fullpipe.runs.kept import Kept, is_unchanged
from fullpipe.runs.segments import Segment, add, paths
from fullpipe.sweeps import Job, KeptRuns

SEEDS = range(1, 13)
TABLES = ("runs", "listed", "flows", "links_summary")
"""Tables that older versions wrote into files of the index."""


@pytest.fixture
def scenario() -> Scenario:
    return Scenario(
        name="listed",
        duration="0.2 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        flows=[{"cca": "cubic", "start_jitter": "10 ms"}],
    )


@pytest.fixture
def root(scenario: Scenario, tmp_path: Path) -> Path:
    """A store of twelve runs."""
    sweeps.run(sweeps.jobs(scenario, SEEDS), store=Store(tmp_path / "runs"))
    return tmp_path / "runs"


class Log:
    """The runs that were read and those that were made, by seed."""

    def __init__(self) -> None:
        self.read: list[int] = []
        self.made: list[int] = []

    def clear(self) -> None:
        self.read.clear()
        self.made.clear()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, root: Path) -> Log:
    """What is read and made after the first sweep."""
    found, read, make = Log(), Kept.read.__func__, KeptRuns.make  # type: ignore[attr-defined]

    def counted_read(cls: type[Kept], folder: Path) -> Kept:
        found.read.append(int(folder.name.rpartition("-")[2]))
        kept: Kept = read(cls, folder)
        return kept

    def counted_make(self: KeptRuns, job: Job, progress: object) -> Run:
        found.made.append(job.seed)
        return make(self, job, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(Kept, "read", classmethod(counted_read))
    monkeypatch.setattr(KeptRuns, "make", counted_make)
    return found


def again(scenario: Scenario, root: Path, check: bool = False, seeds: range = SEEDS) -> list[Run]:
    """The runs of the same sweep once more."""
    outcomes = sweeps.stream(sweeps.jobs(scenario, seeds), store=Store(root), check=check)
    return [outcome.run for outcome in outcomes]


def folder_of(root: Path, scenario: Scenario, seed: int = 5) -> Path:
    return root / scenario.digest / f"native-{seed}"


def flip(path: Path) -> None:
    """Change a byte in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_finished_sweep_reads_no_run(root: Path, scenario: Scenario, log: Log) -> None:
    assert [run.seed for run in again(scenario, root)] == [*SEEDS]
    assert (log.read, log.made) == ([], [])


def test_a_found_run_is_the_run(root: Path, scenario: Scenario) -> None:
    for found in again(scenario, root):
        truth = Run.load(found.folder or "")
        assert found.meta == truth.meta
        assert found.summary() == truth.summary()
        assert all(found.tables[name].equals(truth.tables[name]) for name in truth.tables)
        same = ("seed", "engine", "place", "root", "number", "fingerprint", "files", "name", "folder")
        assert [getattr(found, name) for name in same] == [getattr(truth, name) for name in same]


def test_a_found_run_has_the_point_and_the_name_that_were_asked_for(root: Path, scenario: Scenario) -> None:
    named = scenario.with_values({"name": "other", "sweep": {"flows.0.cca": ["cubic"]}})
    run = again(named, root)[0]
    assert (run.name, run.meta.scenario["name"]) == ("other", "other")
    assert run.meta.point == {"flows.0.cca": "cubic"}
    assert run.scenario.name == "other"


def test_a_found_run_is_one_of_another_point(root: Path, scenario: Scenario) -> None:
    found = again(scenario, root)[0]
    assert found.at({"flows.0.cca": "cubic"}).meta.point == {"flows.0.cca": "cubic"}
    assert found.named({**found.meta.scenario, "name": "other"}).name == "other"


def test_a_found_run_can_be_changed(root: Path, scenario: Scenario) -> None:
    found = again(scenario, root)[0]
    changed = replace(
        found, tables={**found.tables, "flows": found.flows.with_columns(goodput_bps=pl.lit(1.0))}
    )
    assert changed.flows["goodput_bps"].to_list() == [1.0]
    assert (changed.meta, changed.folder, changed.number) == (found.meta, found.folder, None)


def test_a_found_run_is_sent_to_another_process(root: Path, scenario: Scenario) -> None:
    found = again(scenario, root)[0]
    sent = pickle.loads(pickle.dumps(found))
    assert (sent.seed, sent.summary()) == (1, found.summary())


def lost(folder: Path) -> None:
    (folder / "tables.arrow").unlink()


def cut(folder: Path) -> None:
    os.truncate(folder / "tables.arrow", 100)


def flipped_table(folder: Path) -> None:
    flip(folder / "tables.arrow")


def flipped_meta(folder: Path) -> None:
    flip(folder / "meta.json")


def flipped_and_dated_back(folder: Path) -> None:
    path = folder / "tables.arrow"
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


HARM = (shutil.rmtree, lost, cut, flipped_table, flipped_meta, flipped_and_dated_back)


@pytest.mark.parametrize("harm", HARM)
def test_a_run_that_is_not_what_was_listed_is_made_again(
    root: Path, scenario: Scenario, log: Log, harm: Callable[[Path], object]
) -> None:
    truth = Run.load(folder_of(root, scenario)).summary()
    harm(folder_of(root, scenario))
    runs = again(scenario, root)
    assert log.made == [5]
    assert runs[4].summary()["flows"] == truth["flows"]


@pytest.mark.parametrize("is_checked", [False, True])
def test_a_copy_in_the_place_of_another_seed_is_no_run(
    root: Path, scenario: Scenario, log: Log, is_checked: bool
) -> None:
    truth = [run.summary()["flows"] for run in Store(root)]
    shutil.rmtree(folder_of(root, scenario, 5))
    shutil.copytree(folder_of(root, scenario, 4), folder_of(root, scenario, 5))
    runs = again(scenario, root, check=is_checked)
    assert log.made == [5]
    assert [run.summary()["flows"] for run in runs] == truth


def test_a_run_with_another_time_is_read_and_not_made(root: Path, scenario: Scenario, log: Log) -> None:
    os.utime(folder_of(root, scenario) / "tables.arrow", ns=(1, 1))
    again(scenario, root)
    assert (log.read, log.made) == ([5], [])


def test_bytes_that_change_unnoticed_by_the_file_system_are_noticed_when_they_are_read(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "is_unchanged", lambda *_: True)
    flip(folder_of(root, scenario) / "tables.arrow")
    run = again(scenario, root)[4]
    with pytest.raises(ResultError, match=r"tables\.arrow: damaged; delete the folder"):
        _ = [run.tables[name] for name in run.tables]
    assert log.made == []
    again(scenario, root, check=True)
    assert log.made == [5]


def test_runs_in_the_place_of_each_other_are_no_runs_of_the_index(
    root: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "is_unchanged", lambda *_: True)
    one, other = folder_of(root, scenario, 4), folder_of(root, scenario, 5)
    one.rename(root / "third")
    other.rename(one)
    (root / "third").rename(other)
    for run in again(scenario, root)[3:5]:
        with pytest.raises(ResultError, match=r"not the run that the index .* after deleting .*\.index"):
            run.summary()


def test_a_run_by_another_version_of_the_engine_is_made_again(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native.NativeEngine, "version", lambda _: "another")
    again(scenario, root)
    assert log.made == [*SEEDS]


def test_a_run_with_other_columns_is_made_again(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("kept", "store"):
        monkeypatch.setattr(f"fullpipe.runs.{module}.columns_today", lambda: "of another version")
    again(scenario, root)
    assert log.made == [*SEEDS]


def test_a_run_that_is_gone_by_the_time_it_is_read_is_one_clean_error(root: Path, scenario: Scenario) -> None:
    run = again(scenario, root)[4]
    shutil.rmtree(folder_of(root, scenario))
    with pytest.raises(ResultError, match=r"native-5: was deleted .* run the command again"):
        run.summary()


def test_an_index_of_before_is_renewed(root: Path, scenario: Scenario, log: Log) -> None:
    (path,) = paths(root)
    segment = Segment.read(path)
    tables = {name: encoded(segment.table(name)) for name in TABLES}
    path.unlink()
    add(root, root, tables)
    again(scenario, root)
    assert (sorted(log.read), log.made) == ([*SEEDS], [])
    log.clear()
    again(scenario, root)
    assert (log.read, log.made) == ([], [])


@pytest.mark.parametrize("change", [flip, Path.unlink])
def test_a_file_of_the_index_that_is_damaged_or_gone_is_renewed(
    root: Path, scenario: Scenario, log: Log, change: Callable[[Path], object]
) -> None:
    (path,) = paths(root)
    change(path)
    again(scenario, root)
    assert log.made == []
    log.clear()
    again(scenario, root)
    assert log.read == []


def test_a_run_that_was_replaced_is_found_though_the_clock_was_set_back(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root / scenario.digest)
    monkeypatch.setattr(writer.time, "time_ns", lambda: 1)
    again(scenario, root)
    log.clear()
    again(scenario, root)
    assert (log.read, log.made) == ([], [])


@pytest.mark.parametrize("copy", [shutil.copyfile, shutil.copy2])
def test_a_copy_of_a_store_is_read_once(
    root: Path, scenario: Scenario, log: Log, copy: Callable[[str, str], object]
) -> None:
    """Its index may be a stranger's: it says nothing of files that others wrote, even with their dates."""
    other = root.with_name("copy")
    shutil.copytree(root, other, copy_function=copy)
    again(scenario, other)
    assert (sorted(log.read), log.made) == ([*SEEDS], [])
    log.clear()
    again(scenario, other)
    assert log.read == []


def test_a_list_of_runs_does_not_stand_for_their_bytes(root: Path, scenario: Scenario, log: Log) -> None:
    """To list a run, its summaries are read and no other table."""
    shutil.rmtree(root / ".index")
    assert Store(root).index().runs.height == len(SEEDS)
    log.clear()
    again(scenario, root)
    assert sorted(log.read) == [*SEEDS]


def test_runs_that_were_merged_are_found_without_being_read(
    root: Path, scenario: Scenario, tmp_path: Path, log: Log
) -> None:
    other = Store(tmp_path / "other")
    other.merge(Store(root))
    log.clear()
    again(scenario, other.root)
    assert (log.read, log.made) == ([], [])


def test_few_jobs_are_looked_up_one_by_one(root: Path, scenario: Scenario, log: Log) -> None:
    again(scenario, root, seeds=range(1, 5))
    assert log.read == [1, 2, 3, 4]


def test_an_index_of_many_more_runs_is_not_read(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed, "_BYTES_A_JOB", 1)
    again(scenario, root)
    assert log.read == [*SEEDS]
    assert len(paths(root)) == 1


def test_files_of_the_index_are_made_fewer_without_losing_what_is_found(
    root: Path, scenario: Scenario, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MANY", 1)
    monkeypatch.setattr(encoding, "LARGE", 1)  # as of many thousands of runs
    for seeds in (range(13, 25), range(25, 37)):
        again(scenario, root, seeds=seeds)
    shutil.rmtree(folder_of(root, scenario, 36))
    Store(root).index()
    (path,) = paths(root)
    found = Segment.read(path).table("found")
    assert found["folder"].str.split("-").list.last().cast(pl.Int64).sort().to_list() == [*range(1, 36)]
    log.clear()
    again(scenario, root, seeds=range(1, 36))
    assert (log.read, log.made) == ([], [])


@pytest.mark.parametrize("name", ["../../.order", "", ".", "..", "meta\0.json", "meta.json" * 99])
def test_a_stamp_names_no_file_elsewhere(root: Path, scenario: Scenario, name: str) -> None:
    folder, found = folder_of(root, scenario), (root / ".order").stat()
    assert not is_unchanged(str(folder), f"{name}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}")


def test_a_table_that_can_be_much_larger_than_its_bytes_is_not_read(
    root: Path, scenario: Scenario, log: Log
) -> None:
    (path,) = paths(root)
    segment = Segment.read(path)
    tables = {name: encoded(segment.table(name)) for name in TABLES}
    segment.table("found").head(1).select(pl.all().repeat_by(100_000).explode()).write_parquet(
        large := BytesIO()
    )
    path.unlink()
    add(root, root, {**tables, "found": large.getbuffer()})
    again(scenario, root)
    assert (sorted(log.read), log.made) == ([*SEEDS], [])


NO_ROWS: list[pl.Expr] = [
    pl.lit(1 << 63, pl.UInt64).alias("id"),
    pl.lit(None, pl.Int64).alias("id"),
    pl.lit(1.0).alias("id"),
    pl.lit(True).alias("noted_ns"),
    pl.concat_list("stamp"),
]


@pytest.mark.parametrize("wrong", NO_ROWS, ids=str)
def test_rows_that_no_index_has_find_no_run(root: Path, scenario: Scenario, log: Log, wrong: pl.Expr) -> None:
    (path,) = paths(root)
    segment = Segment.read(path)
    tables = {name: encoded(segment.table(name)) for name in TABLES}
    tables["found"] = encoded(segment.table("found").with_columns(wrong))
    path.unlink()
    add(root, root, tables)
    again(scenario, root)
    assert (sorted(log.read), log.made) == ([*SEEDS], [])


def test_the_order_of_scenarios_is_noted_without_reading_runs(
    root: Path, scenario: Scenario, log: Log
) -> None:
    (root / ".order").unlink()
    again(scenario, root)
    assert (root / ".order").read_text() == f"{scenario.digest}\n"
    assert log.read == []
