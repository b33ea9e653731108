"""Results must not move unnoticed: runs of everything that a scenario can say, as integers and as hashes.

A change that moves them on purpose says so in CHANGELOG.md under *Simulation results*, bumps MODEL_VERSION
and renews the table with `FULLPIPE_RENEW_GOLDEN=1 pytest tests/golden`. The same adds what new cases give.

They are the same event by event, in windows, and on any number of threads, too. A run that captures packets
or records variables is executed event by event (docs/explanation/windows.md); everything else that it records
must then be as it is without.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe._native import MODEL_VERSION
from fullpipe.runs import TABLES, Run
from fullpipe.runs.encoding import stream
from fullpipe.scenario import Scenario, resolve
from tests.golden.cases import cases
from tests.golden.coverage import keys_of, keys_that_exist

FILE = Path(__file__).with_name("golden.json")
RENEW = "FULLPIPE_RENEW_GOLDEN" in os.environ
RENEWING = "renew the table with `FULLPIPE_RENEW_GOLDEN=1 pytest tests/golden` and commit it"
SUMMARIES = ("flows", "links_summary")
"""Tables of which the integers are kept themselves."""
CAPTURED = ("packets", "variables")
"""Tables, and keys of `record`, of a run that is executed event by event."""
THREADS = (1, 2, 3, 8)
UNHEARD = {"ScenarioModel.sweep", "ScenarioModel.labels", "ScenarioModel.ns3"}
"""What no native simulation of one point hears of."""
CASES = cases()
COLUMNS = {name: [column.name for column in table.columns] for name, table in TABLES.items()}
"""All of them."""


@cache
def kept() -> dict[str, Any]:
    """The table: the version of the model, the columns that are hashed, and the results of every case."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def run_of(scenario: Scenario, threads: int = 1) -> Run:
    """A run of a case."""
    return fullpipe.run(scenario, seed=7, threads=threads)


def measure(run: Run, columns: dict[str, list[str]]) -> dict[str, Any]:
    """Integers of a run's summaries, and a hash of each table that is not empty, over given columns."""
    found: dict[str, Any] = {table: integers(run.tables[table], columns[table]) for table in SUMMARIES}
    found["sha256"] = {
        table: digest(rows, columns[table])
        for table, rows in run.tables.items()
        if table in columns and len(rows)
    }
    return found


def integers(rows: pl.DataFrame, columns: list[str]) -> dict[str, list[int]]:
    """The columns of a table that count."""
    return {name: rows[name].to_list() for name in columns if rows.schema[name] == pl.Int64}


def digest(rows: pl.DataFrame, columns: list[str]) -> str:
    """16 hexadecimal digits that stand for the values of columns, in their order."""
    text = f"[{', '.join(json_of(rows[name]) for name in columns)}]"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def json_of(column: pl.Series) -> str:
    """JSON of the values of a column, in half the time that `json` takes for integers and plain names."""
    values = column.to_list()
    if not column.null_count():
        if column.dtype == pl.Int64:
            return str(values)
        if column.dtype == pl.String:
            joined = '", "'.join(values)
            has_quotes = joined.count('"') != 2 * (len(values) - 1)
            if joined.isascii() and joined.isprintable() and "\\" not in joined and not has_quotes:
                return f'["{joined}"]'
    return json.dumps(values)


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """One line for each column and table that differs."""
    lines = [
        f"{table}.{name}: {wanted[table].get(name)} became {found[table].get(name)}"
        for table in SUMMARIES
        for name in sorted({*found[table], *wanted[table]})
        if found[table].get(name) != wanted[table].get(name)
    ]
    tables = sorted({*found["sha256"], *wanted["sha256"]})
    return lines + [f"table {t} differs" for t in tables if found["sha256"].get(t) != wanted["sha256"].get(t)]


def recording(tree: Mapping[str, Any], **captured: Any) -> dict[str, Any]:
    """A case that captures nothing but what is given."""
    record = {key: value for key, value in tree.get("record", {}).items() if key not in CAPTURED}
    return {**tree, "record": {**record, **captured}}


@pytest.fixture(scope="module", params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    """A case: of the module, so that its tests come one after the other."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def run(name: str) -> Run:
    """The run of a case, for its tests."""
    return run_of(Scenario(**CASES[name]))


@pytest.mark.skipif(RENEW, reason="the table is being renewed")
def test_results_have_not_moved(name: str, run: Run) -> None:
    table = kept()
    if name not in table["cases"]:
        pytest.fail(f"{name}: no results are kept yet; {RENEWING}")
    moved = differences(measure(run, table["columns"]), table["cases"][name])
    assert not moved, "\n".join([f"{name}: results have moved", *moved])


def test_results_are_the_same_however_a_run_is_executed(name: str, run: Run) -> None:
    tree = recording(CASES[name])
    scenario = Scenario(**tree)
    network = resolve(scenario)
    is_captured = any(CASES[name].get("record", {}).get(key) for key in CAPTURED)
    packets = [network.links[0].name]
    by_events = run if is_captured else run_of(Scenario(**recording(tree, packets=packets)))
    wanted = {table: stream(by_events.tables, table) for table in TABLES if table not in CAPTURED}
    # A flow has one thread at the most, so of numbers that come to the same one is enough: the largest.
    for threads in {min(threads, len(network.flows)): threads for threads in THREADS}.values():
        found = run_of(scenario, threads).tables
        differing = [table for table, data in wanted.items() if stream(found, table) != data]
        assert not differing, threads


@pytest.mark.skipif(RENEW, reason="the table is being renewed")
def test_all_columns_of_all_tables_are_kept() -> None:
    assert kept()["columns"] == COLUMNS, RENEWING


@pytest.mark.skipif(RENEW, reason="the table is being renewed")
def test_no_results_are_kept_of_what_is_no_case() -> None:
    assert sorted(set(kept()["cases"]) - set(CASES)) == [], RENEWING


def test_every_key_of_a_scenario_has_a_case() -> None:
    said = {key for tree in CASES.values() for key in keys_of(Scenario(**tree))}
    missing = sorted(keys_that_exist(Scenario, without=UNHEARD) - said)
    assert missing == [], f"add a case for each to tests/golden/cases.py, then {RENEWING}"


@pytest.mark.skipif(not RENEW, reason="only with FULLPIPE_RENEW_GOLDEN=1")
def test_renew() -> None:
    """Write the table, unless a case would move without another version of the model."""
    old = kept()
    scenarios = {name: Scenario(**tree) for name, tree in CASES.items()}
    new = {name: measure(run_of(scenario), COLUMNS) for name, scenario in scenarios.items()}
    if old["model_version"] == MODEL_VERSION:
        kept_ones = {name: scenario for name, scenario in scenarios.items() if name in old["cases"]}
        again = {name: measure(run_of(scenario), old["columns"]) for name, scenario in kept_ones.items()}
        moved = [name for name, found in again.items() if differences(found, old["cases"][name])]
        assert moved == [], "bump MODEL_VERSION or, if the case itself is another one, delete its old results"
    lines = [f'"model_version": {json.dumps(MODEL_VERSION)}', f'"columns": {rows_of(COLUMNS)}']
    lines += ['"cases": {\n' + ",\n".join(f"{json.dumps(n)}: {rows_of(new[n])}" for n in sorted(new)) + "\n}"]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def rows_of(values: dict[str, Any]) -> str:
    """An object with a line for each of its keys."""
    return (
        "{\n"
        + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in values.items())
        + "\n}"
    )
