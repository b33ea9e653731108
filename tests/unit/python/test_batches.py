"""Files of a sweep become durable once, however the sweep ends."""

import shutil
from pathlib import Path

import pytest

import fullpipe
from fullpipe import Scenario, files, sweeps
from fullpipe.runs import Store


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Paths that were synchronised with the disk."""
    waited: list[Path] = []
    for name in ("sync", "sync_disk"):
        monkeypatch.setattr(files, name, waited.append)
    return waited


def test_a_sweep_is_made_durable_once(small: Scenario, tmp_path: Path, synced: list[Path]) -> None:
    sweeps.run(sweeps.jobs(small, range(1, 21)), workers=2, store=Store(tmp_path))
    assert synced == [tmp_path]


def test_a_sweep_that_makes_nothing_waits_for_nothing(
    small: Scenario, tmp_path: Path, synced: list[Path]
) -> None:
    todo = sweeps.jobs(small, range(1, 21))
    sweeps.run(todo, store=Store(tmp_path))
    synced.clear()
    sweeps.run(todo, store=Store(tmp_path))
    assert synced == []


def test_a_few_runs_do_not_wait_for_the_whole_disk(
    small: Scenario, tmp_path: Path, synced: list[Path]
) -> None:
    folder = fullpipe.run(small, out=tmp_path).folder
    assert folder
    assert set(synced) == {
        *(folder / name for name in ("meta.json", "tables.arrow")),
        folder,
        folder.parent,
        tmp_path,
    }


def test_leaving_a_sweep_early_makes_it_durable(small: Scenario, tmp_path: Path, synced: list[Path]) -> None:
    outcomes = sweeps.stream(sweeps.jobs(small, range(1, 31)), store=Store(tmp_path))
    next(outcomes)
    assert synced == []
    outcomes.close()  # type: ignore[attr-defined]
    assert synced != []


def test_a_batch_leaves_no_hidden_folder(small: Scenario, tmp_path: Path) -> None:
    with Store(tmp_path).batch() as batch:
        batch.save(fullpipe.run(small))
        assert len(list((tmp_path / ".writing").iterdir())) == 1
    assert list((tmp_path / ".writing").iterdir()) == []


def test_runs_of_a_batch_are_seen_by_others_before_it_ends(small: Scenario, tmp_path: Path) -> None:
    with Store(tmp_path).batch() as batch:
        batch.save(fullpipe.run(small))
        assert [run.meta.seed for run in Store(tmp_path)] == [1]


def test_a_run_says_its_point(small: Scenario, tmp_path: Path) -> None:
    swept = small.with_values({"sweep": {"flows.0.cca": ["cubic", "reno"]}})
    fullpipe.sweep(swept, out=tmp_path)
    assert sorted(run.meta.point["flows.0.cca"] for run in Store(tmp_path)) == ["cubic", "reno"]


def test_a_run_that_is_found_says_the_point_at_which_it_was_asked_for(
    small: Scenario, tmp_path: Path
) -> None:
    fullpipe.run(small.with_values({"flows.0.cca": "reno"}), out=tmp_path)
    (found,) = fullpipe.sweep(small.with_values({"sweep": {"flows.0.cca": ["reno"]}}), out=tmp_path)
    assert found.meta.point == {"flows.0.cca": "reno"}
    assert fullpipe.load(found.folder or "").meta.point == {}


def test_a_hidden_folder_that_another_machine_removed_is_made_again(small: Scenario, tmp_path: Path) -> None:
    with Store(tmp_path).batch() as batch:
        batch.save(fullpipe.run(small, 1))
        shutil.rmtree(tmp_path / ".writing")
        batch.save(fullpipe.run(small, 2))
    assert [run.meta.seed for run in Store(tmp_path)] == [1, 2]
    assert list((tmp_path / ".writing").iterdir()) == []
