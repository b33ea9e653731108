"""Tables, runs and the store."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fullpipe
from fullpipe import ResultError, Run, Scenario, files
from fullpipe.runs import TABLES, EngineId, Store, frame
from tests.layouts import as_before


def columns(table: str) -> dict[str, list[object]]:
    return {column.name: ["x" if column.dtype == pl.String else 1] for column in TABLES[table].columns}


@pytest.mark.parametrize("table", TABLES)
def test_a_frame_has_the_columns_of_the_schema(table: str) -> None:
    assert frame(TABLES[table], columns(table)).schema == TABLES[table].schema


@pytest.mark.parametrize("table", TABLES)
def test_a_frame_without_rows_has_the_types_of_the_schema(table: str) -> None:
    assert frame(TABLES[table], {name: [] for name in columns(table)}).schema == TABLES[table].schema


def test_not_a_number_becomes_null() -> None:
    given = columns("flows") | {"fct_s": np.array([np.nan])}
    assert frame(TABLES["flows"], given)["fct_s"].to_list() == [None]


@pytest.mark.parametrize(("number", "count"), [(2.9999, 3), (np.nan, None)])
def test_counts_are_rounded_and_not_cut(number: float, count: int | None) -> None:
    given = columns("flows") | {"marked_packets": np.array([number])}
    assert frame(TABLES["flows"], given)["marked_packets"].to_list() == [count]


def test_a_column_that_is_left_out_is_null() -> None:
    given = columns("flows")
    del given["marked_packets"]
    assert frame(TABLES["flows"], given)["marked_packets"].to_list() == [None]


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ResultError, match="table flows has no column speed"):
        frame(TABLES["flows"], columns("flows") | {"speed": [1]})


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ResultError, match="table flows"):
        frame(TABLES["flows"], columns("flows") | {"fct_s": [1.0, 2.0]})


def test_columns_that_end_in_a_unit_have_one() -> None:
    for table in TABLES.values():
        for column in table.columns:
            if column.name.endswith(("_s", "_bps", "_bytes", "_packets")):
                assert column.unit in ("s", "bit/s", "bytes", "packets"), column.name


def test_a_run_has_every_table(small: Scenario) -> None:
    assert {name: frame.schema for name, frame in fullpipe.run(small).tables.items()} == {
        name: table.schema for name, table in TABLES.items()
    }


def test_every_table_has_a_property_of_its_name(small: Scenario) -> None:
    run = fullpipe.run(small)
    assert all(getattr(run, name) is run.tables[name] for name in TABLES)


def test_a_run_says_where_it_comes_from(small: Scenario) -> None:
    meta = fullpipe.run(small, seed=7).meta
    assert (meta.digest, meta.seed, meta.engine.name, meta.duration_s) == (small.digest, 7, "native", 1.0)


def test_a_run_knows_its_scenario(small: Scenario) -> None:
    assert fullpipe.run(small).scenario == small


def test_a_stored_run_is_the_same_run(small: Scenario, tmp_path: Path) -> None:
    made = fullpipe.run(small)
    stored = Store(tmp_path).save(made)
    assert all(stored.tables[name].equals(made.tables[name]) for name in TABLES)
    assert stored.meta == made.meta


def test_a_run_lies_where_its_digest_engine_and_seed_say(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, seed=3, out=tmp_path)
    assert run.folder == tmp_path / small.digest / "native-3"


def test_a_run_is_one_folder_of_tables_and_meta(small: Scenario, tmp_path: Path) -> None:
    folder = fullpipe.run(small, out=tmp_path).folder
    assert folder
    assert {path.name for path in folder.iterdir()} == {"meta.json", "tables.arrow"}
    written = json.loads((folder / "meta.json").read_bytes())["tables"]
    run = fullpipe.load(folder)
    assert set(written) == {name for name in TABLES if not run.tables[name].is_empty()} < set(TABLES)


def test_a_large_table_is_a_parquet_file(small: Scenario, tmp_path: Path) -> None:
    rows = 200_000
    variables = frame(TABLES["variables"], {"time_s": np.arange(rows), "value": np.arange(rows)})
    run = fullpipe.run(small)
    kept = Store(tmp_path).save(Run(run.meta, {**run.tables, "variables": variables}))
    assert kept.folder
    assert {path.name for path in kept.folder.iterdir()} == {
        "meta.json",
        "tables.arrow",
        "variables.parquet",
    }
    assert fullpipe.load(kept.folder).variables.equals(variables)


def test_load_reads_a_folder(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert fullpipe.load(str(run.folder)).flows.equals(run.flows)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="no finished run"):
        fullpipe.load(tmp_path)


def test_a_finished_run_is_found(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert Store(tmp_path).find(small, run.meta.engine, 1)


def test_a_found_run_bears_the_name_of_the_scenario_asked_for(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    found = Store(tmp_path).find(small.with_values({"name": "other"}), run.meta.engine, 1)
    assert found
    assert found.name == "other"


@pytest.mark.parametrize("changed", ["name", "version", "model_version"])
def test_a_run_by_another_engine_is_not_found(small: Scenario, tmp_path: Path, changed: str) -> None:
    engine = fullpipe.run(small, out=tmp_path).meta.engine
    assert Store(tmp_path).find(small, engine.model_copy(update={changed: "other"}), 1) is None


def test_another_seed_is_not_found(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert Store(tmp_path).find(small, run.meta.engine, 2) is None


def test_a_run_of_an_older_model_gives_way(small: Scenario, tmp_path: Path) -> None:
    old = fullpipe.run(small)
    outdated = EngineId(name="native", version="0", model_version="old")
    Store(tmp_path).save(Run(old.meta.model_copy(update={"engine": outdated}), old.tables))
    assert fullpipe.run(small, out=tmp_path).meta.engine != outdated
    assert [path.name for path in (tmp_path / small.digest).iterdir()] == ["native-1"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no two names can be swapped")
def test_a_run_that_gives_way_is_at_no_time_gone(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fullpipe.run(small)
    engine = EngineId(name="native", version="0", model_version="old")
    old = Store(tmp_path).save(Run(run.meta.model_copy(update={"engine": engine}), run.tables))
    rename = Path.rename

    def watched(path: Path, target: Path) -> Path:
        assert path != old.folder
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    Store(tmp_path).save(run)
    assert Store(tmp_path).find(small, run.meta.engine, 1)


def test_a_run_gives_way_where_no_two_names_can_be_swapped(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    run = fullpipe.run(small)
    engine = EngineId(name="native", version="0", model_version="old")
    Store(tmp_path).save(Run(run.meta.model_copy(update={"engine": engine}), run.tables))
    Store(tmp_path).save(run)
    assert Store(tmp_path).find(small, run.meta.engine, 1)


@pytest.mark.parametrize("file", ["meta.json", "tables.arrow"])
def test_a_run_without_all_its_files_never_counts(small: Scenario, tmp_path: Path, file: str) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert run.folder
    (run.folder / file).unlink()
    assert Store(tmp_path).find(small, run.meta.engine, 1) is None


def test_a_damaged_run_is_made_again(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert run.folder
    (run.folder / "meta.json").write_text("{", encoding="utf-8")
    assert fullpipe.run(small, out=tmp_path).flows.equals(run.flows)


def test_a_store_lists_its_finished_runs(small: Scenario, tmp_path: Path) -> None:
    for seed in (1, 2):
        fullpipe.run(small, seed, out=tmp_path)
    shutil.copytree(tmp_path / small.digest / "native-1", tmp_path / small.digest / ".native-3-partial")
    assert [run.meta.seed for run in Store(tmp_path)] == [1, 2]


def test_a_folder_that_cannot_be_written_is_an_error(small: Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ResultError, match="cannot be written"):
        fullpipe.run(small, out=tmp_path / "file")


def test_a_scenario_with_a_sweep_is_not_one_run() -> None:
    with pytest.raises(fullpipe.ScenarioError, match="has several values"):
        fullpipe.run(Scenario.named("kato2025"))


def test_the_summary_has_the_keys_of_the_contract(small: Scenario) -> None:
    summary = fullpipe.run(small).summary()
    assert list(summary) == [
        "scenario",
        "digest",
        "engine",
        "seed",
        "model_version",
        "duration_s",
        "warmup_s",
        "wall_s",
        "cpu_s",
        "data_packets",
        "packet_hops",
        "flows",
        "links",
        "totals",
        "transfers",
        "videos",
    ]
    assert list(summary["engine"]) == ["name", "version"]
    assert list(summary["flows"][0]) == [
        "flow",
        "cca",
        "protocol",
        "goodput_bps",
        "wire_bps",
        "sent_packets",
        "retransmitted_packets",
        "lost_packets",
        "dropped_packets",
        "refused_bytes",
        "rtt_min_s",
        "rtt_mean_s",
        "rtt_p50_s",
        "rtt_p95_s",
        "rtt_p99_s",
        "owd_min_s",
        "owd_mean_s",
        "owd_p50_s",
        "owd_p95_s",
        "owd_p99_s",
        "in_order_mean_s",
        "in_order_p95_s",
        "jitter_s",
        "fct_s",
        "share",
        "call_score",
        "limited",
    ]
    assert list(summary["flows"][0]["limited"]) == [
        "cwnd",
        "pacing",
        "application",
        "receiver",
        "send_buffer",
    ]
    assert list(summary["links"][0]) == [
        "link",
        "dropped_packets",
        "marked_packets",
        "utilisation",
        "sojourn_mean_s",
        "sojourn_p95_s",
        "backlog_max_packets",
    ]
    assert list(summary["totals"]) == ["goodput_bps", "jain", "bulk_flows", "dropped_packets"]


def test_a_run_that_does_not_say_what_is_otherwise_can_be_read(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert run.folder
    path = run.folder / "meta.json"
    as_before(run.folder)
    newer = ("otherwise", "columns", "tables", "sha256")
    older = {key: value for key, value in json.loads(path.read_text("utf-8")).items() if key not in newer}
    path.write_text(json.dumps(older), encoding="utf-8")
    with pytest.warns(UserWarning, match="without checksums"):
        assert Run.load(run.folder).meta.otherwise == {}


def test_an_equal_run_that_is_there_stays(small: Scenario, tmp_path: Path) -> None:
    first = fullpipe.run(small, out=tmp_path)
    again = fullpipe.run(small)
    kept = Store(tmp_path).save(Run(again.meta.model_copy(update={"started": "later"}), again.tables))
    assert (kept.folder, kept.meta.started) == (first.folder, first.meta.started)
    assert [path.name for path in (tmp_path / small.digest).iterdir()] == ["native-1"]


def test_a_run_whose_equal_is_gone_when_it_is_read_is_still_returned(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fullpipe.run(small)
    monkeypatch.setattr("fullpipe.runs.writer.publish", lambda *_: False)
    assert Store(tmp_path).save(made) is made


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not a table at all" * 100])
def test_a_run_with_a_damaged_table_is_made_again(small: Scenario, tmp_path: Path, content: bytes) -> None:
    run = fullpipe.run(small)
    folder = fullpipe.run(small, out=tmp_path).folder
    assert folder
    (folder / "tables.arrow").write_bytes(content)
    assert fullpipe.run(small, out=tmp_path).flows.equals(run.flows)
    assert fullpipe.load(folder).flows.equals(run.flows)


def test_a_table_that_cannot_be_read_says_what_to_delete(small: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(small, out=tmp_path)
    assert run.folder
    (run.folder / "tables.arrow").write_bytes(b"damaged")
    with pytest.raises(ResultError, match="delete the folder"):
        _ = fullpipe.load(run.folder).flows


def test_a_name_is_not_a_scenario() -> None:
    with pytest.raises(fullpipe.ScenarioError, match=r"Scenario\.named"):
        fullpipe.run("single-cubic")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range_is_refused(small: Scenario, seed: int) -> None:
    with pytest.raises(fullpipe.ScenarioError, match="seed: "):
        fullpipe.run(small, seed)
