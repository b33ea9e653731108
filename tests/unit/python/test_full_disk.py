"""A full disk, and folders that cannot be written: one clear error, and nothing is lost."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fullpipe
from fullpipe import ResultError, Scenario, files, sweeps
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import DiskFullError, FolderError
from fullpipe.runs import TABLES, Store

SEEDS = range(1, 31)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that were computed."""
    seeds: list[int] = []
    run = NativeEngine.run

    def counted(self: NativeEngine, scenario: Scenario, *, seed: int, **how: Any) -> fullpipe.Run:
        seeds.append(seed)
        return run(self, scenario, seed=seed, **how)

    monkeypatch.setattr(NativeEngine, "run", counted)
    return seeds


@pytest.fixture
def full_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Function that makes the disk full after a number of files."""

    def full(count: int, number: int) -> None:
        put, left = files.put, iter(range(count))

        def limited(path: Path, data: bytes) -> None:
            if next(left, None) is None:
                Path(path).write_bytes(data[:10])
                raise OSError(number, os.strerror(number))
            put(path, data)

        monkeypatch.setattr(files, "put", limited)

    return full


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_ends_a_sweep(
    small: Scenario,
    tmp_path: Path,
    made: list[int],
    full_after: Callable[[int, int], None],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    store, todo = Store(tmp_path), sweeps.jobs(small, SEEDS)
    full_after(7, number)  # a run has two files
    with pytest.raises(DiskFullError) as raised:
        sweeps.run(todo, store=store)
    monkeypatch.undo()
    kept = {run.meta.seed for run in store}
    message = f"{tmp_path}: the disk is full; {len(kept)} runs are stored; free space and repeat the command"
    assert str(raised.value) == message
    assert kept == {1, 2, 3}
    assert made == [1, 2, 3, 4]
    assert len(sweeps.run(todo, store=store)) == len(SEEDS)
    assert [path.name for path in tmp_path.glob("*/.*")] == []


def test_one_run_raises_what_is_documented(
    small: Scenario, tmp_path: Path, full_after: Callable[[int, int], None]
) -> None:
    full_after(1, errno.ENOSPC)
    with pytest.raises(DiskFullError, match="the disk is full; 0 runs are stored"):
        fullpipe.run(small, out=tmp_path)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_indeed(
    fullpipe: Callable[..., Any], tiny: Path, tmp_path: Path, small_file: Path, made: list[int]
) -> None:
    command = ("run", small_file, "--seeds", "30", "--jobs", "1")
    result = fullpipe(*command, "--out", tiny)
    kept = list(Store(tiny))
    message = f"{tiny}: the disk is full; {len(kept)} runs are stored; free space and repeat the command"
    assert (result.exit_code, result.stderr) == (1, f"fullpipe: {message}\n")
    assert 0 < len(kept) < 30
    assert len(made) <= len(kept) + 3
    for run in kept:
        assert all(run.tables[name].schema == table.schema for name, table in TABLES.items())
    result = fullpipe("plot", kept[0].folder, "--out", tiny / "figures")
    assert result.exit_code == 2
    assert result.stderr.endswith("No space left on device\n")
    assert len(result.stderr.splitlines()) == 1
    assert [path for path in (tiny / "figures").glob("*") if not path.stat().st_size] == []


def test_a_folder_of_the_name_of_a_figure_is_one_line(
    fullpipe: Callable[..., Any], small: Scenario, tmp_path: Path
) -> None:
    folder = run_of(small, tmp_path)
    (tmp_path / "figures" / "it.png").mkdir(parents=True)
    result = fullpipe("plot", folder, "--name", "it")
    line = "fullpipe: figures/it.png: cannot be written: Is a directory\n"
    assert (result.exit_code, result.stderr) == (2, line)


def run_of(scenario: Scenario, out: Path) -> Path:
    folder = fullpipe.run(scenario, out=out).folder
    assert folder
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["run", "single-reno", "--out"],
        ["compare", "single-reno", "--plot"],
        ["paper", "kato2025", "--out"],
        ["agree", "--page"],
        ["agree", "--out"],
        ["conformance", "--junit"],
        ["conformance", "--out"],
        ["plot", "missing", "--out"],
        ["export", "missing", "--out"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(("name", "why"), [("", "is empty"), ("r\udcff", "is not Unicode text")])
def test_what_is_no_name_is_refused_before_anything_runs(
    fullpipe: Callable[..., Any], tmp_path: Path, made: list[int], command: list[str], name: str, why: str
) -> None:
    result = fullpipe(*command, name)
    assert result.exit_code == 2
    assert why in result.stderr
    assert "Traceback" not in result.stderr
    assert (made, list(tmp_path.iterdir())) == ([], [])


def test_a_folder_that_is_not_unicode_is_refused_before_anything_runs(
    small: Scenario, tmp_path: Path, made: list[int]
) -> None:
    with pytest.raises(FolderError, match=r"\\udcff: cannot be written: the name is not Unicode text"):
        fullpipe.run(small, out=f"{tmp_path}/r\udcff")
    assert made == []


def test_a_folder_of_runs_that_is_a_link_is_refused_before_anything_runs(
    small: Scenario, tmp_path: Path, made: list[int]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / small.digest).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResultError, match=rf"{small.digest}: is a symbolic link; remove it"):
        fullpipe.run(small, out=tmp_path / "runs")
    assert (made, list((tmp_path / "elsewhere").iterdir())) == ([], [])


def test_a_root_that_is_a_link_is_written_to(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "elsewhere")
    fullpipe.run(small, out=tmp_path / "runs")
    assert [run.meta.seed for run in Store(tmp_path / "elsewhere")] == [1]


def test_an_empty_name_is_no_folder(small: Scenario) -> None:
    with pytest.raises(FolderError, match="out: is empty"):
        fullpipe.run(small, out="")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_output_that_is_full_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "fullpipe", "list", "ccas"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "fullpipe: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_is_kept_whatever_standard_streams_are_closed(closed: str, tmp_path: Path) -> None:
    run = f"{sys.executable} -m fullpipe run single-cubic --set duration=1s --set warmup=0s --out {tmp_path}"
    done = subprocess.run(["sh", "-c", f"{run} {closed}"], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert len(list(Store(tmp_path))) == 1
