"""The index of a store: it says what the folders say, whatever has become of it or of them."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, sweeps
from fullpipe.analysis.stored import StoredRuns
from fullpipe.runs import EngineId, Store, index, segments, writer
from fullpipe.runs.encoding import encoded
from fullpipe.runs.kept import Kept
from tests.layouts import as_before


@pytest.fixture
def root(small: Scenario, tmp_path: Path) -> Path:
    """A store of twelve runs, in the index."""
    sweeps.run(sweeps.jobs(small, range(1, 13)), store=Store(tmp_path / "runs"))
    assert len(files(tmp_path / "runs")) == 1
    return tmp_path / "runs"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of runs that were opened."""
    folders: list[Path] = []
    read = Kept.read.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Kept], folder: Path) -> Kept:
        folders.append(folder)
        found: Kept = read(cls, folder)
        return found

    monkeypatch.setattr(Kept, "read", classmethod(counted))
    return folders


def files(root: Path) -> list[Path]:
    return sorted((root / ".index").iterdir())


def seeds(root: Path) -> list[int]:
    return Store(root).index().runs["seed"].to_list()


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders be trusted at once."""
    monkeypatch.setattr(index, "_SETTLED_NS", -1)


def test_a_sweep_leaves_an_index_that_opens_no_run(root: Path, opened: list[Path]) -> None:
    found = Store(root).index()
    assert found.runs["seed"].to_list() == list(range(1, 13))
    assert found.packed("flows").height == 12
    assert opened == []


def test_the_summaries_are_those_of_the_runs(root: Path) -> None:
    found = Store(root).index()
    for name in ("flows", "links_summary"):
        packed = found.packed(name)
        for row in found.runs.iter_rows(named=True):
            run = fullpipe.load(found.folder(row))
            assert packed.filter(pl.col("id") == row["id"]).drop("id").equals(run.tables[name])


def test_a_store_without_an_index_gets_one(root: Path, opened: list[Path]) -> None:
    shutil.rmtree(root / ".index")
    assert seeds(root) == list(range(1, 13))
    assert len(opened) == 12
    opened.clear()
    assert seeds(root) == list(range(1, 13))
    assert opened == []


def test_runs_of_before_are_in_the_index(root: Path) -> None:
    shutil.rmtree(root / ".index")
    whole = Store(root).index()
    shutil.rmtree(root / ".index")
    for run in list(Store(root))[:5]:
        as_before(run.folder or Path())
    found = Store(root).index()
    assert found.runs["seed"].equals(whole.runs["seed"])
    flows = [each.packed("flows").drop("id").sort("goodput_bps") for each in (found, whole)]
    assert flows[0].equals(flows[1])


@pytest.mark.parametrize("trusted", [True, False])
def test_a_run_that_is_removed_is_noticed(
    root: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    if trusted:
        settled(monkeypatch)
    assert seeds(root) == list(range(1, 13))
    shutil.rmtree(root / small.digest / "native-5")
    for _ in range(2):
        assert seeds(root) == [1, 2, 3, 4, *range(6, 13)]
    assert 5 not in Store(root).index().packed("flows").join(Store(root).index().runs, on="id")["seed"]


def test_a_run_that_comes_back_is_noticed(
    root: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    shutil.rmtree(root / small.digest / "native-5")
    assert 5 not in seeds(root)
    fullpipe.run(small, 5, out=root)
    assert seeds(root) == list(range(1, 13))


def test_a_run_without_its_meta_is_not_one(root: Path, small: Scenario) -> None:
    (root / small.digest / "native-5" / "meta.json").unlink()
    assert 5 not in seeds(root)


def test_a_digest_that_is_removed_is_noticed(
    root: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    fullpipe.run(small.with_values({"flows.0.cca": "reno"}), 99, out=root)
    assert 99 in seeds(root)
    shutil.rmtree(root / small.digest)
    assert seeds(root) == [99]


def test_another_run_of_the_same_name_is_noticed(
    root: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    assert len(seeds(root)) == 12
    run = fullpipe.run(small, 5)
    other = EngineId(name="native", version="other", model_version="other")
    Store(root).save(Run(run.meta.model_copy(update={"engine": other}), run.tables))
    found = Store(root).index().runs
    assert found.filter(pl.col("version") == "other")["seed"].to_list() == [5]
    assert found.height == 12


def test_a_copy_under_another_name_is_no_run(root: Path, small: Scenario) -> None:
    shutil.copytree(root / small.digest / "native-5", root / small.digest / "native-77")
    assert seeds(root) == list(range(1, 13))


def test_a_damaged_run_is_named_and_left_out(root: Path, small: Scenario) -> None:
    shutil.rmtree(root / ".index")
    path = root / small.digest / "native-5" / "tables.arrow"
    path.write_bytes(bytes(path.stat().st_size))
    for _ in range(2):
        found = Store(root).index()
        assert 5 not in found.runs["seed"]
        assert found.damaged == (f"{path}: damaged; delete the folder {path.parent} to run it again",)


@pytest.mark.parametrize("place", [0, 40, -100, -1])
def test_a_damaged_file_of_the_index_is_as_if_it_were_not_there(root: Path, place: int) -> None:
    (path,) = files(root)
    truth = Store(root).index().packed("links_summary").sort("id", maintain_order=True)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    found = Store(root).index()
    assert found.runs.height == 12
    assert found.packed("links_summary").sort("id", maintain_order=True).equals(truth)
    assert found.packed("flows").height == 12


def test_a_file_of_the_index_that_is_cut_short_is_as_if_it_were_not_there(root: Path) -> None:
    (path,) = files(root)
    os.truncate(path, path.stat().st_size // 2)
    assert seeds(root) == list(range(1, 13))


def test_a_file_of_another_name_is_no_index(root: Path) -> None:
    (path,) = files(root)
    path.rename(path.with_name("f" * 32 + path.suffix))
    assert seeds(root) == list(range(1, 13))


def test_files_of_the_index_become_fewer(small: Scenario, tmp_path: Path, opened: list[Path]) -> None:
    for first in range(1, 200, 10):
        sweeps.run(sweeps.jobs(small, range(first, first + 10)), store=Store(tmp_path))
    opened.clear()
    before = len(files(tmp_path))
    assert seeds(tmp_path) == list(range(1, 201))
    assert len(files(tmp_path)) < before
    found = Store(tmp_path).index()
    assert found.packed("flows").join(found.runs, on="id")["seed"].sort().to_list() == list(range(1, 201))
    assert opened == []


def test_the_same_run_in_two_files_of_the_index_counts_once(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(root, other)
    shutil.rmtree(other / ".index")
    assert len(seeds(other)) == 12
    for path in files(other):
        shutil.copy(path, root / ".index")
    assert len(files(root)) == 2
    found = Store(root).index()
    assert (found.runs.height, found.packed("flows").height) == (12, 12)


def test_a_store_that_cannot_be_written_has_an_index_in_memory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root / ".index")

    def refuse(_: object) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(writer.Writer, "open", refuse)
    found = Store(root).index()
    assert found.packed("flows").height == found.runs.height == 12
    assert not (root / ".index").exists()


def test_a_long_batch_writes_its_index_part_by_part(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Path]
) -> None:
    monkeypatch.setattr(writer, "_MOST", 10)
    sweeps.run(sweeps.jobs(small, range(1, 31)), workers=2, store=Store(tmp_path))
    assert len(files(tmp_path)) == 3
    opened.clear()
    assert seeds(tmp_path) == list(range(1, 31))
    assert opened == []


def test_a_store_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fullpipe.NoRunError, match="no folder of runs"):
        Store(tmp_path / "nothing").index()


def test_other_folders_are_no_runs(root: Path) -> None:
    (root / "figures" / "native-1").mkdir(parents=True)
    (root / "figures" / "native-1" / "meta.json").write_text("{", encoding="utf-8")
    assert Store(root).index().damaged == ()


def test_files_are_made_fewer_without_losing_what_is_gone(
    root: Path, small: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    monkeypatch.setattr(index, "_MANY", 1)
    for seed in (3, 4):
        shutil.rmtree(root / small.digest / f"native-{seed}")
        assert seed not in seeds(root)
    assert seeds(root) == [1, 2, *range(5, 13)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("engine", "../../victim/native"),
        ("engine", ".native"),
        ("engine", ""),
        ("engine", None),
        ("digest", "../victim"),
        ("digest", "0" * 15),
        ("digest", None),
        ("seed", None),
    ],
)
def test_a_file_of_the_index_that_names_no_run_is_as_if_it_were_not_there(
    root: Path, small: Scenario, column: str, value: object
) -> None:
    forged(root, lambda runs: runs.with_columns(pl.lit(value, runs.schema[column]).alias(column)))
    assert seeds(root) == list(range(1, 13))
    folders = {root / small.digest / f"native-{seed}" for seed in range(1, 13)}
    assert set(StoredRuns(root).folders) == folders


def test_a_file_of_the_index_with_other_columns_is_as_if_it_were_not_there(root: Path) -> None:
    forged(root, lambda runs: runs.drop("seed"))
    assert seeds(root) == list(range(1, 13))


def test_files_that_are_damaged_are_not_made_fewer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_MANY", 0)
    other = root.with_name("other")
    shutil.copytree(root, other)
    shutil.rmtree(other / ".index")
    assert len(seeds(other)) == 12
    for path in (*files(root), *files(other)):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        (root / ".index" / path.name).write_bytes(data)
    assert seeds(root) == list(range(1, 13))


def forged(root: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change what the only file of the index says of runs, as all can that write into a store.

    It says that the folder of their digest was listed as it is now, so that this is not done again.
    """
    (path,) = files(root)
    segment = segments.Segment.read(path)
    tables = {name: segment.table(name) for name in ("runs", "listed", "flows", "links_summary")}
    runs = tables["runs"]
    digest, noted_ns = runs["digest"][0], runs["noted_ns"].max()
    row = {"digest": digest, "changed_ns": (root / digest).stat().st_mtime_ns, "noted_ns": noted_ns}
    listed = pl.DataFrame([row], tables["listed"].schema)
    path.unlink()
    tables |= {"runs": change(runs), "listed": listed}
    segments.add(root, root, {name: encoded(table) for name, table in tables.items()})
