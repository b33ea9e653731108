"""Tables as the simulator encodes them: frames when they are asked for, and bytes until then."""

from __future__ import annotations

from pathlib import Path

import pytest

import fullpipe
from fullpipe import Scenario
from fullpipe.engines.native import NativeEngine
from fullpipe.runs import TABLES, Store, encoding
from fullpipe.runs.encoding import Encoded
from fullpipe.scenario.remembered import Remembered


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long the streams were that became frames."""
    lengths: list[int] = []
    real = encoding.decoded

    def counted(data: bytes) -> object:
        lengths.append(len(data))
        return real(data)

    monkeypatch.setattr("fullpipe.runs.encoding.decoded", counted)
    return lengths


def test_every_table_has_the_columns_of_the_schema(small: Scenario) -> None:
    run = NativeEngine().run(small, seed=1)
    assert {name: run.tables[name].schema for name in run.tables} == {
        name: table.schema for name, table in TABLES.items()
    }
    assert run.flows.height == len(small.flows)
    assert run.packets.is_empty()


def test_what_was_not_measured_is_null(small: Scenario) -> None:
    flow = NativeEngine().run(small, seed=1).flows
    assert flow["fct_s"].to_list() == [None] * flow.height  # they go on for ever
    assert not any(column.is_nan().any() for column in flow if column.dtype.is_float())


def test_a_table_becomes_a_frame_once_and_only_if_it_is_asked_for(
    small: Scenario, decoded: list[int]
) -> None:
    run = NativeEngine().run(small, seed=1)
    assert decoded == []
    assert run.flows is run.flows
    assert len(decoded) == 1


def test_a_run_is_kept_without_making_frames(small: Scenario, tmp_path: Path, decoded: list[int]) -> None:
    made = NativeEngine().run(small, seed=1)
    kept = Store(tmp_path).save(made)
    assert decoded == []
    assert all(kept.tables[name].equals(made.tables[name]) for name in TABLES)


def test_a_large_table_is_kept_as_parquet(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullpipe.runs.encoding.LARGE", 10_000)
    made = NativeEngine().run(small.with_values({"record.interval": "1 ms"}), seed=1)
    kept = Store(tmp_path).save(made)
    assert kept.folder
    assert (kept.folder / "series.parquet").exists()
    assert kept.series.equals(made.series)


def test_some_tables_alone_do_not_stand_for_the_others(small: Scenario) -> None:
    tables = NativeEngine().run(small, seed=1).tables
    assert isinstance(tables, Encoded)
    some = tables.only(("flows",))
    assert list(some) == ["flows"]
    assert "series" not in some
    with pytest.raises(KeyError):
        some["series"]


def test_a_value_is_worked_out_once_for_a_scenario_and_again_for_another(small: Scenario) -> None:
    seen: list[Scenario] = []

    def count(scenario: Scenario) -> int:
        seen.append(scenario)
        return len(seen)

    remembered = Remembered(count)
    other = small.with_values({"duration": "1 s"})
    assert [remembered(each) for each in (small, small, other, small, other)] == [1, 1, 2, 1, 2]


def test_the_last_scenarios_are_remembered_and_no_more(small: Scenario) -> None:
    remembered = Remembered(lambda scenario: scenario.duration_s)
    many = [small.with_values({"duration": f"{n} s"}) for n in range(1, 101)]
    assert [remembered(each) for each in many] == [float(n) for n in range(1, 101)]
    assert len(remembered._kept) < len(many)


def test_of_large_values_few_are_remembered(small: Scenario) -> None:
    remembered = Remembered(lambda scenario: scenario.duration_s, size=lambda _: 40_000_000)
    for n in range(1, 5):
        remembered(small.with_values({"duration": f"{n} s"}))
    assert [value for _, value in remembered._kept.values()] == [3.0, 4.0]


def test_seeds_share_the_plan_and_differ_in_what_is_drawn(small: Scenario) -> None:
    runs = [fullpipe.run(small, seed=seed) for seed in (1, 2, 1)]
    assert runs[0].flows.equals(runs[2].flows)
    assert runs[0].meta.digest == runs[1].meta.digest
