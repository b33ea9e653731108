"""`fullpipe runs` and `fullpipe query`."""

import builtins
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fullpipe as package
from fullpipe import Scenario, sweeps
from fullpipe.runs import Store
from tests.layouts import as_before, changed

Cli = Callable[..., Any]
SCENARIO = """
name = "small"
duration = "1 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
cca = "cubic"
start_jitter = "10 ms"

[sweep]
"flows.0.cca" = ["cubic", "reno"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store of two points with three seeds each, in `runs`."""
    sweeps.run(sweeps.jobs(Scenario.from_toml(SCENARIO), range(1, 4)), store=Store(tmp_path / "runs"))
    return tmp_path / "runs"


def lines(result: Any) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_finished_sweep_prints_a_line_for_every_run(fullpipe: Cli, root: Path, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO, encoding="utf-8")
    found = lines(fullpipe("run", "small.toml", "--seeds", 4, "--json"))
    assert [(run["point"]["flows.0.cca"], run["seed"]) for run in found] == [
        (cca, seed) for cca in ("cubic", "reno") for seed in range(1, 5)
    ]
    assert all(package.load(run["folder"]).meta.seed == run["seed"] for run in found)


def test_runs_lists_with_swept_paths_and_sizes(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("runs")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith("6 runs, ")
    assert "flows.0.cca scenario engine seed" in result.stdout


def test_runs_as_json(fullpipe: Cli, root: Path) -> None:
    found = lines(fullpipe("runs", "--json"))
    assert [run["seed"] for run in found].count(1) == 2
    assert all(package.load(run["folder"]).meta.digest == run["digest"] for run in found)
    assert {"flows.0.cca", "scenario", "engine", "seed", "started", "bytes", "folder"} <= set(found[0])


@pytest.mark.parametrize("place", [["elsewhere"], ["--out", "elsewhere"]])
def test_the_store_is_named_either_way(fullpipe: Cli, root: Path, place: list[str]) -> None:
    root.rename(root.with_name("elsewhere"))
    assert len(lines(fullpipe("runs", *place, "--json"))) == 6


@pytest.mark.parametrize(
    ("where", "count"),
    [
        (["flows.0.cca=vegas", "seed=1"], 0),
        (["cca=reno"], 3),
        (["cca=reno", "seed=1"], 1),
        (["seed=1", "seed=3"], 4),
        (["flows.0.cca=vegas"], 0),
    ],
)
def test_where(fullpipe: Cli, root: Path, where: list[str], count: int) -> None:
    options = [word for each in where for word in ("--where", each)]
    assert len(lines(fullpipe("runs", "--json", *options))) == count


def test_the_last_words_of_a_key_without_a_sweep_are_enough(fullpipe: Cli, root: Path) -> None:
    """Runs of `compare` have no swept algorithm. Keys with the same end and equal values do not count."""
    for cca in ("cubic", "bbr3"):
        flows = [{"cca": cca}, {"cca": "cubic"}]
        made = Scenario.named("single-cubic").with_values({"duration": "1 s"}).to_dict() | {"flows": flows}
        sweeps.run(sweeps.jobs(Scenario(**made), [1]), store=Store(root.with_name("compared")))
    found = lines(fullpipe("runs", "compared", "--json", "--where", "cca=bbr3"))
    assert [run["flows.0.cca"] for run in found] == ["bbr3"]
    assert len(lines(fullpipe("runs", "compared", "--json", "--where", "duration=1 s"))) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["runs", "nothing"], "fullpipe: nothing: no folder of runs: No such file or directory"),
        (["runs", "--where", "seed"], 'fullpipe: --where "seed": write it as PATH=VALUE'),
        (["runs", "--where", "x=1"], 'fullpipe: unknown path "x"'),
        (
            ["runs", "--where", "nosuch=1", "--where", "nosuhc=1"],
            'fullpipe: unknown path "nosuch"; there is flows.0.cca, ',
        ),
        (["runs", "--merge", "nothing"], "fullpipe: nothing: is not a folder"),
        (["query", "select 1", "--out", "nothing"], "fullpipe: nothing: no folder of runs"),
        (["query", "select x from runs"], "fullpipe: Binder Error"),
        (["query", "select 1; select 2"], "fullpipe: only one SELECT is allowed"),
    ],
)
def test_what_is_wrong_is_one_line(fullpipe: Cli, root: Path, arguments: list[str], told: str) -> None:
    result = fullpipe(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(told)
    assert result.stderr.count("\n") == 1


def test_delete_asks(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("runs", "--where", "cca=reno", "--delete")
    assert result.exit_code == 1
    assert "Delete 3 runs of runs?" in result.stderr
    assert len(list(Store(root))) == 6


def test_delete_deletes_what_was_chosen(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("runs", "--where", "cca=reno", "--delete", "--yes")
    assert (result.exit_code, result.stderr) == (0, "3 runs deleted\n")
    assert {run.flows["cca"][0] for run in Store(root)} == {"cubic"}
    assert len(list(root.glob("[!.]*"))) == 1
    assert list((root / ".writing").iterdir()) == []
    assert len(lines(fullpipe("runs", "--json"))) == 3


def test_merge_copies_byte_for_byte(fullpipe: Cli, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    sweeps.run(sweeps.jobs(Scenario.from_toml(SCENARIO), range(3, 6)), store=Store(other))
    as_before(next(other.glob("*/native-5")))
    result = fullpipe("runs", "--merge", other)
    assert result.exit_code == 0
    assert result.stderr == f"{other}: 4 runs copied to runs, 2 were there\n"
    assert len(lines(fullpipe("runs", "--json"))) == 10
    for path in other.glob("*/native-[45]/*"):
        assert (root / path.relative_to(other)).read_bytes() == path.read_bytes()


def test_merge_keeps_what_is_there_and_leaves_out_what_is_damaged(
    fullpipe: Cli, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(root, other)
    there, gone = sorted(root.glob("*/native-1"))
    before = (there / "meta.json").read_bytes()
    shutil.rmtree(gone)
    damaged = other / gone.relative_to(root) / "tables.arrow"
    damaged.write_bytes(bytes(damaged.stat().st_size))
    result = fullpipe("runs", "--merge", other)
    assert f"fullpipe: note: {damaged.parent}: damaged; not copied" in result.stderr
    assert "0 runs copied to runs, 5 were there" in result.stderr
    assert (there / "meta.json").read_bytes() == before
    assert not gone.exists()


def test_a_damaged_run_is_noted(fullpipe: Cli, root: Path) -> None:
    path = next(root.glob("*/native-2/meta.json"))
    path.write_text("{", encoding="utf-8")
    result = fullpipe("runs", "--json")
    assert len(lines(result)) == 5
    assert result.stderr.startswith("fullpipe: note: runs/")
    assert result.stderr.endswith(
        f"damaged; delete the folder runs/{path.parent.relative_to(root)} to run it again; it is left out\n"
    )


@pytest.mark.parametrize("change", [{"digest": "../escaped"}, {"digest": "0" * 16}, {"seed": 9}])
def test_merge_copies_no_run_to_elsewhere(
    fullpipe: Cli, root: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(root, other)
    changed(next(other.glob("*/native-1")), lambda content: content.update(change))
    before = listed(tmp_path)
    result = fullpipe("runs", "--merge", other)
    assert "; not copied\n" in result.stderr
    assert "0 runs copied to runs, 5 were there" in result.stderr
    assert listed(tmp_path) == before


def test_merge_copies_no_run_of_an_engine_that_is_a_path(fullpipe: Cli, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(root, other)
    changed(next(other.glob("*/native-1")), lambda content: content["engine"].update(name="../../escaped"))
    before = listed(tmp_path)
    assert "0 runs copied to runs, 5 were there" in fullpipe("runs", "--merge", other).stderr
    assert listed(tmp_path) == before


def listed(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if ".index" not in path.parts}


@pytest.mark.parametrize(
    "place",
    [
        "victim/native-1",
        "runs/victim/native-1",
        "runs/{digest}",
        "runs/{digest}/.hidden",
        "runs/{link}/native-1",
    ],
)
def test_delete_deletes_nothing_elsewhere(root: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "victim" / "native-1").mkdir(parents=True)
    (root / ("f" * 16)).symlink_to(tmp_path / "victim")
    folder = tmp_path / place.format(digest=next(root.glob("*/native-1")).parent.name, link="f" * 16)
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.raises(package.errors.FolderError, match="is not the folder of a run in"):
        Store(root).delete([folder])
    assert folder.is_dir()


@pytest.mark.parametrize("place", ["{digest}/native-1/meta.json", ".index/0.tables-1"])
def test_a_pipe_in_a_store_is_not_waited_for(root: Path, place: str) -> None:
    pipe = root / place.format(digest=next(root.glob("[!.]*")).name)
    pipe.parent.mkdir(exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "fullpipe", "runs", str(root), "--json"]
    result = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    assert len(result.stdout.splitlines()) == (5 if pipe.name == "meta.json" else 6)


def test_the_writer_keeps_no_frame_of_the_run(root: Path) -> None:
    """A thread that writes a frame and one that asks the same frame could wait for each other for ever."""
    run = next(iter(Store(root)))
    with Store(root.with_name("new")).batch() as batch:
        saved = batch.save(run)
        assert batch._writer
        noted = batch._writer._made._packed
        assert [*noted] == ["flows", "links_summary"]
        for name, ((_, data),) in noted.items():
            assert isinstance(data, bytes | memoryview)
            assert saved.tables[name] is not run.tables[name]


def test_query_prints_lists(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("query", "select [1, 2] as l")
    assert [line.strip() for line in result.stdout.splitlines()] == ["l", "[1, 2]"]


def test_query_prints_a_table(fullpipe: Cli, root: Path) -> None:
    result = fullpipe(
        "query", "select seed, count(*) as n, null as nothing from flows group by seed order by 1"
    )
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["seed", "n", "nothing"],
        *([str(seed), "2", "-"] for seed in (1, 2, 3)),
    ]


def test_query_prints_csv_and_json(fullpipe: Cli, root: Path) -> None:
    sql = "select 1 as seed, 0.1::double as x, [1, 2] as l, 'a,b' as t, 'nan'::double as u"
    assert fullpipe("query", sql, "--format", "csv").stdout == 'seed,x,l,t,u\n1,0.1,"[1, 2]","a,b",nan\n'
    assert lines(fullpipe("query", sql, "--format", "json")) == [
        {"seed": 1, "x": 0.1, "l": [1, 2], "t": "a,b", "u": None}
    ]


def test_a_long_answer_says_how_long_it_is(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("query", "select unnest(range(1000)) as n from runs limit 300")
    assert result.stdout.splitlines()[-1] == "300 rows, 200 shown; --format csv prints all rows"
    assert len(fullpipe("query", "select * from range(300)", "--format", "csv").stdout.splitlines()) == 301


def test_a_wide_answer_is_several_tables(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("query", "select * from flows limit 1")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_what_a_terminal_obeys_is_shown(fullpipe: Cli, root: Path) -> None:
    result = fullpipe("query", "select chr(27) || '[31m' as \"a\x1b[1m\"")
    assert "\x1b" not in result.stdout


def test_without_duckdb_the_command_says_what_to_install(
    fullpipe: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = builtins.__import__

    def without(name: str, *how: Any, **more: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name=name)
        return imported(name, *how, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = fullpipe("query", "select 1")
    told = "fullpipe: a query needs duckdb, which is not installed; pip install 'fullpipe[query]' brings it\n"
    assert (result.exit_code, result.stderr) == (2, told)


def test_a_long_list_says_how_long_it_is(fullpipe: Cli, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullpipe.cli.runs._MOST_ROWS", 4)
    told = fullpipe("runs").stdout.splitlines()
    assert told[-2] == "6 rows, 4 shown; --json prints all rows"
