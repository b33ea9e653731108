"""`fullpipe plot`: what it draws, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Scenario, run
from fullpipe.cli import app
from tests.quick_figures import make_figures_quick


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("runs")
    short = {"duration": "2 s", "warmup": "0 s", "record.interval": "200 ms"}
    scenario = Scenario.named("cubic-vs-bbr1").with_values(short).expand()[0]
    return [str(run(scenario, seed=seed, out=out).folder) for seed in (1, 2)]


def test_labels_say_what_differs(folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_figures_quick(monkeypatch)
    done = CliRunner().invoke(app, ["plot", *folders, "--out", str(tmp_path), "--name", "both"])
    assert done.exit_code == 0, done.output
    assert set(pl.read_csv(tmp_path / "both.csv")["run"]) == {"seed 1", "seed 2"}


def test_a_program_gets_the_files_that_were_written(
    folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch)
    done = CliRunner().invoke(app, ["plot", folders[0], "--out", str(tmp_path), "--json"])
    files = [Path(name) for name in json.loads(done.output)["files"]]
    assert sorted(files) == sorted(tmp_path.iterdir())


def test_refusals_are_one_line(folders: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for options, message in (
        (["--out", str(tmp_path / "file")], "not a folder"),
        (["--out", str(tmp_path), "--name", "../evil"], "not a valid name of a figure"),
        (["--flow", "nope"], 'unknown flow "nope"; there is '),
    ):
        done = CliRunner().invoke(app, ["plot", folders[0], *options])
        assert done.exit_code == 2, done.output
        assert message in done.output
        assert len(done.output.splitlines()) == 1


def test_every_file_and_folder_of_a_repeated_option_is_written(
    folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_figures_quick(monkeypatch)
    outs = ["one.png", "two.pdf", "folder"]
    words = [word for out in outs for word in ("--out", str(tmp_path / out))]
    done = CliRunner().invoke(app, ["plot", folders[0], *words, "--json"])
    found = {Path(name).relative_to(tmp_path).as_posix() for name in json.loads(done.output)["files"]}
    drawn = {f"folder/cubic-vs-bbr1.{ending}" for ending in ("png", "svg", "pdf", "csv")}
    assert found == {"one.png", "one.csv", "two.pdf", "two.csv", *drawn}
    assert all((tmp_path / name).stat().st_size for name in found)


def test_a_png_has_the_dots_that_journals_ask_for(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "it.png"
    assert (
        CliRunner().invoke(app, ["plot", folders[0], "--width", "column", "--out", str(out)]).exit_code == 0
    )
    width = int.from_bytes(out.read_bytes()[16:20])
    assert width == 3.5 * 300
