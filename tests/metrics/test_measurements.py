"""Values of stored runs are worked out once: what is read back is what would be worked out again."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import Run, Scenario, sweeps
from fullpipe.analysis import values
from fullpipe.analysis import values as measurements
from fullpipe.analysis.metrics import table
from fullpipe.analysis.values import values_of
from fullpipe.engines.flent.run import read_run
from fullpipe.engines.imported.measurement import save
from fullpipe.runs import EngineId, Store, segments
from fullpipe.runs.segments import VALUES, Segment, paths
from tests.flent import made

SEEDS = range(1, 11)
CALL = {"name": "call", "workload": "voip", "start_jitter": "20 ms"}
PING = {"name": "ping", "workload": {"kind": "ping", "interval": "50 ms"}, "direction": "reverse"}
WEB = {"name": "web", "cca": "cubic", "workload": {"kind": "web", "think": "200 ms"}, "start_jitter": "20 ms"}
VIDEO = {"name": "film", "cca": "reno", "workload": {"kind": "video", "bitrates": ["1 Mbit/s"]}}
BULK = {"cca": "cubic", "count": 2, "start_jitter": "50 ms"}
LINKS = [
    {"from": "a", "to": "b", "rate": "5 Mbit/s", "delay": "5 ms", "duplex": True},
    {"from": "b", "to": "c", "rate": "4 Mbit/s", "delay": "5 ms", "duplex": True},
]
GRAPH = {"kind": "graph", "nodes": ["a", "b", "c"], "links": LINKS}
DUMBBELL = {"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": "codel"}}
SHAPES: dict[str, dict[str, Any]] = {
    "groups and calls": {"flows": [BULK, {"cca": "bbr1"}, CALL, PING]},
    "both ways": {"flows": [BULK, {"cca": "reno", "direction": "reverse"}]},
    "pages and videos": {"flows": [WEB, VIDEO]},
    "links": {"topology": GRAPH, "flows": [{"cca": "cubic", "from": "a", "to": "c", "start_jitter": "9 ms"}]},
    "a sweep": {"flows": [BULK], "sweep": {"flows.0.cca": ["cubic", "bbr3"], "flows.0.count": [1, 3]}},
}


def scenario_of(**values: Any) -> Scenario:
    base = {"name": "measured", "duration": "0.5 s", "topology": DUMBBELL, "flows": [BULK]}
    return Scenario(**{**base, "record": {"interval": "50 ms"}, **values})


def swept(scenario: Scenario, root: Path | None) -> list[tuple[dict[str, Any], Run]]:
    """The runs of a sweep, each with its point."""
    outcomes = sweeps.stream(sweeps.jobs(scenario, SEEDS), store=root and Store(root))
    return [(dict(outcome.job.point), outcome.run) for outcome in outcomes]


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code may change shortly before the tests run, or meanwhile: then no values are read and stored."""
    monkeypatch.setattr(values, "LOADED_NS", 1 << 62)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs of which values were worked out."""
    runs: list[Run] = []
    rows = table.measured_rows
    monkeypatch.setattr(
        measurements, "measured_rows", lambda run, *asked: runs.append(run) or rows(run, *asked)
    )
    return runs


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store of ten runs, without values."""
    swept(scenario_of(), tmp_path / "runs")
    return tmp_path / "runs"


def again(root: Path, *asked: Any) -> pl.DataFrame:
    return values_of(swept(scenario_of(), root), *asked)


def same(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether tables have the same columns and the same values to the last bit."""
    return one.schema == other.schema and repr(one.rows()) == repr(other.rows())


def metrics_of(root: Path) -> list[Any]:
    """Metrics of the files of values."""
    return [json.loads(Segment.read(path).content("asked"))[1] for path in paths(root, VALUES)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("asked", [(), (["goodput", "rtt_p95", "page_p50", "sojourn_mean", "dropped"],)])
def test_what_is_read_is_what_was_worked_out(
    tmp_path: Path, worked: list[Run], shape: str, asked: tuple[Any, ...]
) -> None:
    scenario = scenario_of(**SHAPES[shape])
    truth = values_of(swept(scenario, None), *asked)
    assert same(values_of(swept(scenario, tmp_path), *asked), truth)
    worked.clear()
    assert same(values_of(swept(scenario, tmp_path), *asked), truth)
    assert worked == []


def test_runs_that_are_loaded_from_their_folders_have_the_same_values(root: Path, worked: list[Run]) -> None:
    truth = again(root)
    worked.clear()
    assert same(values_of(({}, run) for run in Store(root)), truth)
    assert worked == []


def test_runs_of_several_engines_and_stores_have_their_own_values(root: Path, worked: list[Run]) -> None:
    here, other = swept(scenario_of(), root), Store(root.with_name("other"))
    engine = EngineId(name="other", version="1", model_version="1")
    for _, run in here:
        tables = {name: run.tables[name] for name in run.tables}
        tables["flows"] = tables["flows"].with_columns(pl.col("goodput_bps") / 2)
        with other.batch() as batch:
            batch.save(Run(run.meta.model_copy(update={"engine": engine}), tables))
    other.index()
    runs = [*here, *(({}, run) for run in other)]
    first = values_of(runs, ["goodput"])
    worked.clear()
    assert same(values_of(runs, ["goodput"]), first)
    assert worked == []
    native, half = (first.filter(engine=name)["value"].to_list() for name in ("native", "other"))
    assert half == [value / 2 for value in native]


def test_runs_that_were_measured_elsewhere_have_the_same_values(tmp_path: Path, worked: list[Run]) -> None:
    for n in range(1, 10):
        file = made.write(made.upload(TITLE=f"test {n}"), tmp_path / f"{n}.flent.gz")
        save(read_run(file), Store(tmp_path / "runs"))
    Store(tmp_path / "runs").index()
    runs = [({}, run) for run in Store(tmp_path / "runs")]
    truth = values_of(runs)
    worked.clear()
    assert same(values_of(({}, run) for run in Store(tmp_path / "runs")), truth)
    assert worked == []


def test_a_new_run_among_known_ones_is_worked_out_alone(root: Path, worked: list[Run]) -> None:
    again(root)
    worked.clear()
    more = sweeps.jobs(scenario_of(), range(12))
    found = values_of(({}, run) for run in sweeps.run(more, store=Store(root)))
    assert [run.seed for run in worked] == [0, 11]
    assert same(found, values_of(({}, run) for run in sweeps.run(more)))


def test_fewer_metrics_are_among_the_known_ones(root: Path, worked: list[Run]) -> None:
    again(root, ["goodput", "rtt_p95", "dropped"])
    worked.clear()
    found = again(root, ["dropped", "goodput"])
    assert worked == []
    assert same(found, values_of(swept(scenario_of(), None), ["goodput", "dropped"]))


@pytest.mark.parametrize("asked", [(["goodput", "jain"],), (["goodput"], ["bottleneck"]), ()])
def test_another_question_is_worked_out(root: Path, worked: list[Run], asked: tuple[Any, ...]) -> None:
    again(root, ["goodput"])
    worked.clear()
    assert same(again(root, *asked), values_of(swept(scenario_of(), None), *asked))
    assert len(worked) == 2 * len(SEEDS)


def test_values_by_other_code_are_worked_out_again_and_go(
    root: Path, worked: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    again(root, ["goodput"])
    monkeypatch.setattr(values, "code", lambda: "another")
    worked.clear()
    again(root, ["jain"])
    assert len(worked) == len(SEEDS)
    assert metrics_of(root) == [["jain"]]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package without modules, in place of ours."""
    for name in values._SOURCES:
        (tmp_path / "package" / name / "deeper").mkdir(parents=True)
    monkeypatch.setattr(values, "_PACKAGE", tmp_path / "package")
    return tmp_path / "package"


def test_the_code_is_known_by_its_files(package: Path) -> None:
    seen = {values.code()}
    for path in ("errors.py", "_native.so", "analysis/one.py", "scenario/deeper/two.py"):
        (package / path).write_text("1")
        seen.add(values.code())
    (package / "analysis/one.py").write_text("22")
    seen.add(values.code())
    assert len(seen - {None}) == 6


def test_code_that_changed_and_has_the_date_of_before_is_other_code(package: Path) -> None:
    file = package / "analysis/one.py"
    file.write_text("1")
    before, dates = values.code(), file.stat()
    file.write_text("2")
    os.utime(file, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    assert values.code() not in (before, None)


def test_code_that_changed_since_it_was_loaded_is_unknown(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = package / "analysis/one.py"
    file.write_text("1")
    loaded_ns = file.stat().st_ctime_ns + 2 * values._UNSURE_NS
    monkeypatch.setattr(values, "LOADED_NS", loaded_ns)
    assert values.code() is not None
    monkeypatch.setattr(values, "LOADED_NS", loaded_ns - 2 * values._UNSURE_NS)
    assert values.code() is None


def test_values_by_unknown_code_are_neither_read_nor_stored(
    root: Path, worked: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of hours has loaded the code of before: a notebook, or the page."""
    truth = again(root, ["goodput"])
    monkeypatch.setattr(values, "code", lambda: None)
    worked.clear()
    assert same(again(root, ["goodput"]), truth)
    again(root, ["jain"])
    assert len(worked) == 2 * len(SEEDS)
    assert metrics_of(root) == [["goodput"]]


def test_a_run_with_other_bytes_has_other_values(root: Path, worked: list[Run]) -> None:
    truth = again(root, ["goodput"])
    run = swept(scenario_of(), root)[4][1]
    tables = {name: run.tables[name] for name in run.tables}
    tables["flows"] = tables["flows"].with_columns(goodput_bps=pl.lit(1.0))
    meta = run.meta
    shutil.rmtree(run.folder or "")
    Store(root).save(Run(meta, tables))
    worked.clear()
    found = again(root, ["goodput"])
    assert [each.seed for each in worked] == [5]
    assert same(found.filter(pl.col("seed") != 5), truth.filter(pl.col("seed") != 5))
    assert not same(found, truth)


@pytest.mark.parametrize(
    "change",
    [
        {"not_measured": ("flows.goodput_bps",)},
        {"engine": EngineId(name="native", version="2", model_version="2")},
        {"scenario": scenario_of(flows=[{"cca": "cubic", "name": "one"}, {"cca": "reno"}]).to_dict()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_run_that_is_changed_in_memory_is_worked_out(
    root: Path, worked: list[Run], change: dict[str, Any]
) -> None:
    again(root, ["goodput"])
    worked.clear()
    runs = [replace(run, meta=run.meta.model_copy(update=change)) for run in Store(root)]
    values_of((({}, run) for run in runs), ["goodput"])
    assert len(worked) == len(SEEDS)
    assert [run.number for run in runs] == [None] * len(SEEDS)


def test_a_damaged_file_of_values_is_as_if_it_were_not_there(root: Path, worked: list[Run]) -> None:
    truth = again(root, ["goodput"])
    for place in (0, 60, -200, -1):
        (path,) = paths(root, VALUES)
        data = bytearray(path.read_bytes())
        data[place] ^= 1
        path.write_bytes(data)
        worked.clear()
        assert same(again(root, ["goodput"]), truth)
        assert len(worked) == len(SEEDS)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("runs", lambda runs: runs.with_columns(pl.col("values").list.head(0))),
        ("runs", lambda runs: runs.with_columns(shape=pl.lit(99, pl.Int64))),
        ("runs", lambda runs: runs.drop("values")),
        ("runs", lambda runs: pl.concat([runs, runs])),
        ("shapes", lambda shapes: shapes.drop("unit")),
    ],
)
def test_values_that_fit_no_run_are_not_believed(
    root: Path, worked: list[Run], name: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    truth = again(root, ["goodput"])
    (path,) = paths(root, VALUES)
    segment = Segment.read(path)
    content = {part: segment.content(part) for part in ("asked", "runs", "shapes")}
    forged = change(segment.table(name)).write_ipc_stream(None).getvalue()
    path.unlink()
    segments.add(root, root, {**content, name: forged}, VALUES)
    worked.clear()
    assert same(again(root, ["goodput"]), truth)
    assert len(worked) == len(SEEDS)


@pytest.mark.parametrize("asked", [b"", b"[" * 50_000, b'["' + b"9" * 9_000, b"5", b"{}", b"\xff\xfe["])
def test_a_file_that_asks_nothing_is_no_answer_and_goes(root: Path, worked: list[Run], asked: bytes) -> None:
    segments.add(root, root, {"asked": asked}, VALUES)
    worked.clear()
    again(root, ["goodput"])
    assert len(worked) == len(SEEDS)
    assert metrics_of(root) == [["goodput"]]


def test_values_of_few_runs_are_not_stored(tmp_path: Path) -> None:
    runs = sweeps.run(sweeps.jobs(scenario_of(), range(8)), store=Store(tmp_path))
    Store(tmp_path).index()
    values_of(({}, run) for run in runs)
    assert paths(tmp_path, VALUES) == []


def test_values_are_not_stored_beside_runs_that_are_in_no_store(root: Path, tmp_path: Path) -> None:
    for run in [*Store(root)]:
        shutil.copytree(run.folder or "", tmp_path / "lone" / "some" / f"native-{run.seed}")
    lone = [Run.load(folder) for folder in (tmp_path / "lone" / "some").iterdir()]
    values_of(({}, run) for run in lone)
    assert [path.name for path in (tmp_path / "lone").iterdir()] == ["some"]


def test_values_of_runs_with_recordings_are_not_stored(tmp_path: Path, worked: list[Run]) -> None:
    """They depend on files that may be gone later."""
    file = tmp_path / "trace.csv"
    file.write_text("time_s,rate_bps\n0,4e6\n0.2,2e6\n")
    bottleneck = {**DUMBBELL["bottleneck"], "trace": {"kind": "csv", "file": str(file)}}
    scenario = scenario_of(topology={"kind": "dumbbell", "bottleneck": bottleneck})
    values_of(swept(scenario, tmp_path / "runs"), ["goodput"])
    worked.clear()
    values_of(swept(scenario, tmp_path / "runs"), ["goodput"])
    assert len(worked) == len(SEEDS)


def test_files_of_the_same_question_become_one(root: Path, worked: list[Run]) -> None:
    for n in range(values._MANY + 2):
        todo = sweeps.jobs(scenario_of(), range(10 * n + 1, 10 * n + 11))
        values_of((({}, run) for run in sweeps.run(todo, store=Store(root))), ["goodput"])
    assert len(paths(root, VALUES)) == 2
    worked.clear()
    todo = sweeps.jobs(scenario_of(), range(1, 10 * n + 11))
    values_of((({}, run) for run in sweeps.run(todo, store=Store(root))), ["goodput"])
    assert worked == []


def test_files_of_many_questions_are_few(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_MOST", values._MANY + 2)
    for metric in ("goodput", "jain", "dropped", "rtt_p95", "share"):
        again(root, [metric])
    assert len(paths(root, VALUES)) == 3


def test_a_store_that_cannot_be_written_gives_the_same_values(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(values, "add", refuse)
    assert same(again(root, ["goodput"]), values_of(swept(scenario_of(), None), ["goodput"]))
    assert paths(root, VALUES) == []


def test_a_file_of_values_of_many_more_runs_is_not_read(
    root: Path, worked: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    again(root, ["goodput"])
    monkeypatch.setattr(values, "_BYTES_A_RUN", 1)
    worked.clear()
    again(root, ["goodput"])
    assert len(worked) == len(SEEDS)
