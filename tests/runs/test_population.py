"""Runs of several contents of a file: which count, and that nothing averages the others."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe as package
from fullpipe import Scenario, _native, sweeps
from fullpipe.algorithms import classes, own
from fullpipe.analysis.points import points_of
from fullpipe.analysis.stored import StoredRuns, query
from fullpipe.cli.shared import Content
from fullpipe.cli.ui.stored import KeptRuns
from fullpipe.runs import Run, Store, population
from fullpipe.runs.executor import jobs
from tests.own import brake, forget

Cli = Callable[..., Any]
SCENARIO = """
name = "mixed"
duration = "1 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
name = "mine"
cca = "cubic"
start_jitter = "10 ms"

[sweep]
"topology.bottleneck.queue.packets" = [10, 40]
"""
CONTROLLER = """
from fullpipe.algorithms import Controller


class Mine(Controller):
    slow_start = 1.0
    increase = 1.0
    beta: float = 0.5
"""
POINTS = 2
OLD, NEW, OTHERS = range(1, 5), range(1, 3), range(5, 7)
"""Seeds of runs before the change, and after it: the same seeds again, or others."""
COUNTED = POINTS * len(NEW)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    forget("brake")


def swept(folder: Path, cca: object = "cubic") -> Scenario:
    """The scenario over a recording, with an algorithm."""
    recording = {"trace": {"file": str(folder / "lte.down"), "kind": "mahimahi"}}
    tree = Scenario.from_toml(SCENARIO.replace('delay = "10 ms"', 'rate = "10 Mbit/s"\ndelay = "10 ms"'))
    data = tree.to_dict()
    bottleneck = data["topology"]["bottleneck"]
    bottleneck.pop("rate")
    bottleneck |= recording
    data["flows"][0]["cca"] = cca
    return Scenario(**data)


def recording(folder: Path, every_ms: int) -> None:
    """Write a recording of 12 Mbit/s over the milliseconds between opportunities."""
    lines = range(every_ms, 1001, every_ms)
    (folder / "lte.down").write_text("".join(f"{ms}\n" for ms in lines), encoding="ascii")


def run(folder: Path, scenario: Scenario, seeds: range) -> list[Run]:
    return sweeps.run(jobs(scenario, seeds), store=Store(folder / "runs"))


def changed_class(folder: Path) -> None:
    recording(folder, 1)
    run(folder, swept(folder, brake(folder, 1.0)), OLD)
    run(folder, swept(folder, brake(folder, 3.0)), NEW)


def changed_library(folder: Path) -> None:
    """A shared object that is built anew: what is behind its end changes nothing but its content."""
    recording(folder, 1)
    library = folder / "libmine.so"
    shutil.copy(_native.__file__, library)
    kind = f"library:{library}:reno"
    own.allow_library(kind)
    run(folder, swept(folder, kind), OLD)
    forget("brake")
    with library.open("ab") as file:
        file.write(b"anew")
    own.allow_library(kind)
    run(folder, swept(folder, kind), OTHERS)


def changed_recording(folder: Path) -> None:
    recording(folder, 1)
    run(folder, swept(folder), OLD)
    recording(folder, 2)
    run(folder, swept(folder), NEW)


def changed_recording_of_other_seeds(folder: Path) -> None:
    recording(folder, 1)
    run(folder, swept(folder), OLD)
    recording(folder, 2)
    run(folder, swept(folder), OTHERS)


def changed_class_of_other_seeds(folder: Path) -> None:
    recording(folder, 1)
    run(folder, swept(folder, brake(folder, 1.0)), OLD)
    run(folder, swept(folder, brake(folder, 3.0)), OTHERS)


MIXTURES = {
    "class": (changed_class, "brake.py", 4),
    "recording": (changed_recording, "lte.down", 4),
    "class of other seeds": (changed_class_of_other_seeds, "brake.py", 4),
    "library of other seeds": (changed_library, "libmine.so", 4),
    "recording of other seeds": (changed_recording_of_other_seeds, "lte.down", 4),
}
"""What mixes runs, the file that changed, and how many older runs of a point are left in the store."""


@pytest.fixture(scope="module", params=list(MIXTURES))
def mixture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, int]:
    """A store with new runs of each point and older ones; the file that changed; the number of older runs."""
    make, file, older = MIXTURES[request.param]
    folder = tmp_path_factory.mktemp("mixture")
    make(folder)
    forget("brake")
    return folder / "runs", file, older * POINTS


def test_a_table_has_runs_of_the_newest_content(mixture: tuple[Path, str, int]) -> None:
    store, file, older = mixture
    with pytest.warns(
        UserWarning, match=rf"^{older} runs of other content left out .*{file}\); --content all"
    ):
        newest = package.table("flows", out=store)
    assert newest.height == COUNTED
    assert newest["content"].n_unique() == 1
    everything = package.table("flows", out=store, content="all")
    assert everything.height == older + COUNTED
    assert everything["content"].n_unique() == 2


def test_a_condition_on_content_chooses_it(mixture: tuple[Path, str, int]) -> None:
    store, _, older = mixture
    every = package.table("runs", out=store, content="all")
    (content,) = set(every.filter(pl.col("seed") == OLD[-1])["content"])
    assert package.table("runs", {"content": content}, out=store).height == older


def test_sql_sees_the_same_runs(mixture: tuple[Path, str, int]) -> None:
    pytest.importorskip("duckdb")
    store, file, older = mixture
    asked = "select count(*) as n, count(distinct content) as contents from flows"
    with pytest.warns(UserWarning, match=file):
        assert query(asked, store).row(0) == (COUNTED, 1)
    assert query(asked, store, content="all").row(0) == (older + COUNTED, 2)


def test_a_figure_leaves_out_the_others(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    store, file, older = mixture
    result = fullpipe("plot", store, "--metric", "goodput", "--out", "f.svg")
    assert result.exit_code == 0, result.output
    assert f"note: {older} runs of other content left out" in result.stderr
    assert file in result.stderr
    drawn = pl.read_csv("f.csv")
    assert drawn["runs"].to_list() == [len(NEW)] * POINTS


def test_content_can_be_an_axis(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    store, _, older = mixture
    arguments = ("--metric", "goodput", "--content", "all", "--colour", "content", "--x", "packets")
    result = fullpipe("plot", store, *arguments, "--out", "f.svg")
    assert result.exit_code == 0, result.output
    assert sorted(pl.read_csv("f.csv")["runs"]) == sorted([len(NEW), older // POINTS] * POINTS)


def test_metrics_leave_out_the_others(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    store, file, _ = mixture
    result = fullpipe("metrics", store, "--json")
    assert len(result.stdout.splitlines()) == COUNTED
    assert file in result.stderr


def test_a_report_names_the_file_and_leaves_out_the_others(
    fullpipe: Cli, mixture: tuple[Path, str, int]
) -> None:
    store, file, older = mixture
    assert fullpipe("report", store, "--out", "r.md").exit_code == 0
    page = Path("r.md").read_text(encoding="utf-8")
    assert f"{older} runs of other content left out" in page
    assert f"{file}: SHA-256" in page.replace("\\", "")


def test_a_test_has_one_content_per_cell(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    store, file, _ = mixture
    arguments = ("test", store, "--metric", "goodput", "--json", "--factor")
    result = fullpipe(*arguments, "packets")
    assert file in result.stderr
    result = fullpipe(*arguments, "content", "--content", "all", "--where", "packets=10")
    assert result.exit_code == 0, result.output
    contents = set(package.table("runs", out=store, content="all")["content"])
    assert all(content in result.stdout for content in contents)


def test_engines_are_compared_by_runs_of_one_content(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    """Runs of two engines: those of the second are the first one's under another name."""
    store, file, older = mixture
    both = Store(Path("both"))
    for run in [
        run for run in Store(store) if run.meta.scenario["topology"]["bottleneck"]["queue"]["packets"] == 10
    ]:
        engine = run.meta.engine.model_copy(update={"name": "other"})
        both.save(run)
        both.save(Run(run.meta.model_copy(update={"engine": engine}), run.tables))
    shutil.copy(store / population.FILE, both.root)
    result = fullpipe("compare", "both", "--json")
    assert result.exit_code == 0, result.output
    assert {len(seeds) for seeds in json.loads(result.stdout)["seeds"].values()} == {len(NEW)}
    assert file in result.stderr
    assert older
    result = fullpipe("compare", "both", "--content", "all")
    assert result.exit_code == 2
    assert "contents" in result.stderr or "scenarios" in result.stderr


def test_the_list_of_runs_has_all_with_their_content(fullpipe: Cli, mixture: tuple[Path, str, int]) -> None:
    store, file, older = mixture
    result = fullpipe("runs", store, "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == older + COUNTED
    assert {file} <= {Path(name).name for run in found for name in json.loads(run["files"])}
    assert file in result.stderr


def test_runs_of_a_content_can_be_deleted(fullpipe: Cli, tmp_path: Path) -> None:
    changed_class_of_other_seeds(tmp_path)
    store = tmp_path / "runs"
    newest = set(
        package.table("runs", out=store, content="all").filter(pl.col("seed") == OTHERS[0])["content"]
    )
    (older,) = set(package.table("runs", out=store, content="all")["content"]) - newest
    assert fullpipe("runs", store, "--where", f"content={older}", "--delete", "--yes").exit_code == 0
    assert package.table("runs", out=store).height == COUNTED


def test_the_page_compares_runs_of_one_content(mixture: tuple[Path, str, int]) -> None:
    store, _, older = mixture
    kept = KeptRuns(store)
    rows = package.table("runs", out=store, content="all")
    for digest, engine, seed, content in rows.select("digest", "engine", "seed", "content").iter_rows():
        beside = kept._seeds(digest, str(seed), engine)
        assert {population.content_of(run.meta.files) for run in beside.values()} == {content}
    assert older


def test_points_of_runs_differ_in_content(mixture: tuple[Path, str, int]) -> None:
    store, _, older = mixture
    points = points_of(list(Store(store)))
    assert len({str(point) for point in points}) == 2 * POINTS
    assert all("content" in point for point in points)
    assert len(points) == older + COUNTED


def started(store: Path) -> dict[str, int]:
    """When each run of a store was written, by its folder."""
    return {str(path.parent): path.stat().st_mtime_ns for path in store.glob("*/*/meta.json")}


def test_runs_of_two_versions_of_a_class_stand_side_by_side(tmp_path: Path) -> None:
    """A change that is taken back: no run is made again, of either version."""
    changed_class(tmp_path)
    kept = started(tmp_path / "runs")
    assert len(kept) == POINTS * (len(OLD) + len(NEW))
    for increase, seeds in ((1.0, OLD), (3.0, NEW)):
        forget("brake")
        found = run(tmp_path, swept(tmp_path, brake(tmp_path, increase)), seeds)
        assert all(found_run.meta.place == found_run.folder.parent.name for found_run in found)
    assert started(tmp_path / "runs") == kept


def as_before(store: Path) -> None:
    """Move runs to where older versions kept them: below the digest of the scenario."""
    for found in list(Store(store)):
        assert found.folder
        older = store / found.meta.digest / found.folder.name
        older.parent.mkdir(exist_ok=True)
        found.folder.rename(older)
        with suppress(OSError):
            found.folder.parent.rmdir()


def test_runs_of_older_versions_stay_where_they_are_and_are_found(tmp_path: Path) -> None:
    recording(tmp_path, 1)
    scenario, store = swept(tmp_path, brake(tmp_path, 1.0)), tmp_path / "runs"
    run(tmp_path, scenario, OLD)
    as_before(store)
    kept = started(store)
    assert len(package.table("runs", out=store)) == len(kept) == POINTS * len(OLD)
    assert {found.meta.digest for found in run(tmp_path, scenario, OLD)} == {
        Path(folder).parent.name for folder in kept
    }
    assert started(store) == kept
    run(tmp_path, swept(tmp_path, brake(tmp_path, 3.0)), OLD)
    assert started(store).items() > kept.items()


def test_a_merge_brings_other_contents_and_no_run_twice(tmp_path: Path) -> None:
    """The other store has the runs of this one where older versions kept them, and those of a new class."""
    recording(tmp_path, 1)
    run(tmp_path, swept(tmp_path, brake(tmp_path, 1.0)), NEW)
    here = Store((tmp_path / "runs").rename(tmp_path / "here"))
    other = Store(Path(shutil.copytree(here.root, tmp_path / "runs")))
    as_before(other.root)
    run(tmp_path, swept(tmp_path, brake(tmp_path, 3.0)), NEW)
    merged = here.merge(other)
    assert (merged.copied, merged.there, merged.damaged) == (COUNTED, COUNTED, [])
    assert here.merge(other).copied == other.merge(here).copied == 0


def test_what_was_asked_for_last_counts(tmp_path: Path) -> None:
    """A change that is taken back: all runs of the old file are stored, so that none is made again."""
    changed_recording(tmp_path)
    recording(tmp_path, 1)
    again = run(tmp_path, swept(tmp_path), OLD)
    with pytest.warns(UserWarning, match="^4 runs of other content left out"):
        found = StoredRuns(tmp_path / "runs").runs
    assert found.height == len(again) == len(OLD) * POINTS


def test_a_changed_helper_makes_stored_runs_stale(tmp_path: Path) -> None:
    """The helper is beside the module, and what imports it is the module alone."""
    found = []
    for gain in ("1.0", "3.0"):
        (tmp_path / "brake_helper.py").write_text(f"GAIN = {gain}\n", encoding="utf-8")
        cls = brake(tmp_path, 1.0, extra="from brake_helper import GAIN")
        digests = own.digests(classes.name(cls))
        assert list(digests) == ["brake.py", "brake_helper.py"]
        found.append((digests, own.fingerprint(classes.name(cls))))
        forget("brake", "brake_helper")
    (before, fingerprint), (after, again) = found
    assert before["brake.py"] == after["brake.py"]
    assert before["brake_helper.py"] != after["brake_helper.py"]
    assert fingerprint != again


def test_a_helper_that_is_imported_by_a_made_up_name_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/brake_config.py").write_text("F = 1\n", encoding="utf-8")
    code = "import importlib\nimportlib.import_module('brake_' + 'config')\n"
    path = tmp_path / "brake_user.py"
    path.write_text(code + CONTROLLER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    classes.import_class("python:brake_user:Mine")
    assert set(own.digests("python:brake_user:Mine")) == {"brake_user.py", "brake_config.py"}
    forget("brake_user", "brake_config")


def test_a_file_counts_once_however_it_is_spelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recording(tmp_path, 1)
    run(tmp_path, swept(Path()), OLD)
    recording(tmp_path, 2)
    run(tmp_path, swept(tmp_path), NEW)
    with pytest.warns(UserWarning, match="another lte.down"):
        assert package.table("flows", out=tmp_path / "runs").height == COUNTED


def test_recordings_of_one_name_in_several_folders_are_points_of_a_sweep(tmp_path: Path) -> None:
    for number, folder in enumerate(("one", "other"), start=1):
        (tmp_path / folder).mkdir()
        recording(tmp_path / folder, number)
    tree = swept(tmp_path / "one").to_dict()
    files = [str(tmp_path / folder / "lte.down") for folder in ("one", "other")]
    tree["sweep"] = {"topology.bottleneck.trace.file": files}
    run(tmp_path, Scenario(**tree), NEW)
    assert package.table("flows", out=tmp_path / "runs").height == 2 * len(NEW)


def test_a_merge_brings_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    changed_recording(tmp_path / "a")
    both = Store(tmp_path / "both")
    both.merge(Store(tmp_path / "a/runs"))
    assert population.read_asked(both.root) == population.read_asked(tmp_path / "a/runs")


def test_a_store_is_read_without_its_recordings(fullpipe: Cli, tmp_path: Path) -> None:
    recording(tmp_path, 1)
    run(tmp_path, swept(tmp_path), NEW)
    (tmp_path / "lte.down").unlink()
    for command in (("metrics",), ("plot", "--metric", "goodput"), ("report", "--out", "r.md")):
        result = fullpipe(command[0], tmp_path / "runs", *command[1:])
        assert result.exit_code == 0, result.output


def test_a_change_of_the_model_is_no_mixture(tmp_path: Path) -> None:
    recording(tmp_path, 1)
    made = run(tmp_path, swept(tmp_path), range(1, 3))
    old = made[0].meta.engine.model_copy(update={"model_version": "0", "version": "old"})
    store = Store(tmp_path / "runs")
    older = made[0].meta.model_copy(update={"engine": old, "started": "2020-01-01T00:00:00+00:00", "seed": 9})
    store.save(Run(older, made[0].tables))
    with pytest.warns(UserWarning, match="^1 run of other content left out .*an older model of native"):
        assert package.table("runs", out=store.root).height == 2 * POINTS


def test_a_note_that_is_damaged_is_no_note(tmp_path: Path) -> None:
    changed_recording(tmp_path)
    for text in ("", "[]", '{"mixed": 1}', '{"mixed": {"lte.down": [1]}}', "{" * 100_000):
        (tmp_path / "runs" / population.FILE).write_text(text, encoding="utf-8")
        assert population.read_asked(tmp_path / "runs") == {}


def test_the_choices_of_commands_are_those_of_readers() -> None:
    assert tuple(Content) == population.CHOICES


def test_runs_without_files_have_no_content(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SCENARIO.replace('delay = "10 ms"', 'rate = "10 Mbit/s"\ndelay = "10 ms"'))
    run(tmp_path, scenario, range(1, 3))
    assert set(package.table("runs", out=tmp_path / "runs")["content"]) == {""}
    assert not (tmp_path / "runs" / population.FILE).exists()
