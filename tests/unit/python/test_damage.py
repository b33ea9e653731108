"""Damaged runs: no changed byte gives other numbers, ends the process, or shows a traceback."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import ResultError, Scenario
from fullpipe.runs import TABLES, Store
from tests.layouts import as_before, changed

FLIPS = 2000
FILES = ["meta.json", "tables.arrow", "packets.parquet"]


@pytest.fixture
def kept(small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run whose tables have rows, one of them in a file of its own."""
    monkeypatch.setattr("fullpipe.runs.encoding.LARGE", 50_000)
    values = {"record.variables": True, "record.packets": ["sender"], "flows.0.cca": "bbr1"}
    folder = fullpipe.run(small.with_values(values), out=tmp_path / "runs").folder
    assert folder
    return folder


def flipped(path: Path, chosen: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    path.write_bytes(data)


def numbers(folder: Path) -> dict[str, Any] | None:
    """All that a run says, or nothing if it is refused."""
    try:
        run = fullpipe.load(folder)
        return {"meta": run.meta} | {name: run.tables[name] for name in TABLES}
    except ResultError:
        return None


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    tables = (one[name].equals(other[name]) for name in TABLES)
    return one["meta"] == other["meta"] and all(tables)


def test_a_flipped_bit_never_gives_other_numbers(kept: Path, cases: Callable[[int], int]) -> None:
    whole = {name: (kept / name).read_bytes() for name in FILES}
    truth, run, chosen = numbers(kept), fullpipe.load(kept), random.Random(1)
    assert truth
    missed = []
    for number in range(cases(FLIPS)):
        name = chosen.choice(FILES)
        flipped(kept / name, chosen)
        found = Store(kept.parent.parent).find(run.scenario, run.meta.engine, 1)
        read = numbers(kept)
        if found is not None or (read is not None and not same(read, truth)):
            missed.append((number, name))
        (kept / name).write_bytes(whole[name])
    assert missed == []


@pytest.mark.parametrize("name", FILES[:2])
def test_a_run_with_a_flipped_bit_is_made_again(small: Scenario, tmp_path: Path, name: str) -> None:
    folder = fullpipe.run(small, out=tmp_path).folder
    assert folder
    whole = (folder / name).read_bytes()
    flipped(folder / name, random.Random(1))
    fullpipe.run(small, out=tmp_path)
    assert name == "meta.json" or (folder / name).read_bytes() == whole
    assert numbers(folder)


def test_zeroed_pages_are_noticed(kept: Path) -> None:
    run = fullpipe.load(kept)
    data = bytearray((kept / "tables.arrow").read_bytes())
    data[4 : len(data) // 4] = bytes(len(data) // 4 - 4)
    (kept / "tables.arrow").write_bytes(data)
    assert Store(kept.parent.parent).find(run.scenario, run.meta.engine, 1) is None


@pytest.mark.parametrize(("old", "new"), [('"seed": 1,', '"seed": 2,'), ('"10 Mbit/s"', '"90 Mbit/s"')])
def test_another_value_in_meta_json_is_noticed(kept: Path, old: str, new: str) -> None:
    text = (kept / "meta.json").read_text(encoding="utf-8")
    assert old in text
    (kept / "meta.json").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(fullpipe.NoRunError, match=r"meta\.json: damaged; delete the folder"):
        fullpipe.load(kept)


def test_no_byte_of_a_damaged_table_is_parsed(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fullpipe.load(kept)
    (kept / "tables.arrow").write_bytes(bytes((kept / "tables.arrow").stat().st_size))
    for parser in ("read_parquet", "read_ipc_stream"):
        monkeypatch.setattr(pl, parser, lambda *_: pytest.fail("was parsed"))
    with pytest.raises(ResultError, match=r"tables\.arrow: damaged; delete the folder"):
        _ = run.series


def test_a_parser_that_panics_is_an_error(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object) -> None:
        raise pl.exceptions.PanicException("capacity overflow")

    monkeypatch.setattr(pl, "read_ipc_stream", panic)
    with pytest.raises(ResultError, match=r"tables\.arrow: damaged"):
        _ = fullpipe.load(kept).flows


def as_an_older_version(folder: Path) -> None:
    """Turn a run into one of a version without checksums, whose tables are Parquet files."""
    as_before(folder)
    content = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    for key in ("columns", "tables", "sha256"):
        del content[key]
    (folder / "meta.json").write_text(json.dumps(content, indent=2), encoding="utf-8")


def test_a_run_without_checksums_is_loaded_with_a_warning(kept: Path) -> None:
    flows = fullpipe.load(kept).flows
    as_an_older_version(kept)
    with pytest.warns(UserWarning, match="without checksums"):
        assert fullpipe.load(kept).flows.equals(flows)


def test_a_run_without_checksums_is_made_again(kept: Path) -> None:
    run = fullpipe.load(kept)
    as_an_older_version(kept)
    assert Store(kept.parent.parent).find(run.scenario, run.meta.engine, 1) is None


def test_a_run_with_other_columns_is_made_again(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fullpipe.run(small, out=tmp_path)
    monkeypatch.setattr("fullpipe.runs.kept.columns_today", lambda: "of another version")
    assert Store(tmp_path).find(small, run.meta.engine, 1) is None


def test_a_store_lists_no_damaged_run(small: Scenario, tmp_path: Path) -> None:
    for seed in (1, 2):
        fullpipe.run(small, seed, out=tmp_path)
    (tmp_path / small.digest / "native-1" / "meta.json").write_text("{", encoding="utf-8")
    assert [run.meta.seed for run in Store(tmp_path)] == [2]


COMMANDS = (["metrics"], ["plot"], ["export", "--out", "run.qlog"], ["export", "--out", "run.pcapng"])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_run_is_one_clean_line(
    fullpipe: Callable[..., Any], kept: Path, command: list[str], name: str
) -> None:
    whole = fullpipe(command[0], kept, *command[1:])
    flipped(kept / name, random.Random(2))
    result = fullpipe(command[0], kept, *command[1:])
    line = f"fullpipe: {kept / name}: damaged; delete the folder {kept} to run it again\n"
    assert (result.exit_code, result.stderr) in [(1, line), (2, line), (0, whole.stderr)]
    assert result.exit_code or result.stdout == whole.stdout


def test_an_older_run_is_noted_in_one_line(fullpipe: Callable[..., Any], kept: Path) -> None:
    as_an_older_version(kept)
    result = fullpipe("metrics", kept)
    assert result.stderr.startswith(
        f"fullpipe: note: {kept}: an older version stored this run without checksums"
    )
    assert result.stderr.count("\n") == 1


def test_a_scenario_that_is_none_is_one_clean_line(fullpipe: Callable[..., Any], kept: Path) -> None:
    as_an_older_version(kept)
    content = json.loads((kept / "meta.json").read_text(encoding="utf-8"))
    for scenario in ({}, {"name": "it"}):
        (kept / "meta.json").write_text(json.dumps(content | {"scenario": scenario}), encoding="utf-8")
        result = fullpipe("export", kept, "--out", "run.pcapng")
        (line,) = (line for line in result.stderr.splitlines() if "note:" not in line)
        assert result.exit_code in (1, 2)
        assert line.startswith(f"fullpipe: {kept}")


@pytest.mark.parametrize("key", ["seed", "data_packets", "packet_hops", "duration_s", "wall_s", "cpu_s"])
def test_a_number_that_no_column_holds_is_damage(fullpipe: Callable[..., Any], kept: Path, key: str) -> None:
    for value in (2**70, -(2**70)) if key in ("seed", "data_packets", "packet_hops") else (float("inf"),):
        changed(kept, lambda content, value=value: content.update({key: value}))
        result = fullpipe("metrics", kept)
        line = f"fullpipe: {kept}/meta.json: damaged; delete the folder {kept} to run it again\n"
        assert (result.exit_code, result.stderr) == (2, line)
