"""Tables over all runs of a store, and questions in SQL about them."""

from pathlib import Path

import polars as pl
import pytest

import fullpipe
from fullpipe import Scenario, sweeps
from fullpipe.errors import QueryError
from fullpipe.runs import TABLES, Store
from tests.layouts import as_before

pytest.importorskip("duckdb")

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
"topology.bottleneck.queue.packets" = [20, 40]
"""


@pytest.fixture(scope="module")
def swept() -> Scenario:
    return Scenario.from_toml(SCENARIO)


@pytest.fixture(scope="module")
def root(swept: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of four points with three seeds each. It is only read."""
    root = tmp_path_factory.mktemp("stored") / "runs"
    fullpipe.sweep(swept, range(1, 4), out=root)
    return root


def own(root: Path, scenario: Scenario, seeds: range = range(1, 3)) -> Path:
    sweeps.run(sweeps.jobs(scenario, seeds), store=Store(root))
    return root


def test_a_row_says_which_run_it_is_of(root: Path, swept: Scenario) -> None:
    flows = fullpipe.table("flows", out=root)
    assert flows.columns[:6] == [*swept.sweep, "scenario", "engine", "seed", "content"]
    assert flows.columns[6:] == list(TABLES["flows"].schema)
    assert flows.height == 12
    assert (flows["flows.0.cca"] == flows["cca"]).all()
    assert flows.schema["topology.bottleneck.queue.packets"] == pl.Int64


@pytest.mark.parametrize("name", ["flows", "links_summary", "series", "links", "transfers"])
def test_a_table_has_the_rows_of_all_runs(root: Path, name: str) -> None:
    together = fullpipe.table(name, out=root)
    for run in Store(root):
        of_run = together.filter(
            pl.col("seed") == run.meta.seed,
            *(pl.col(path) == value for path, value in run.meta.point.items()),
        )
        assert of_run.select(TABLES[name].schema.names()).equals(run.tables[name])


def test_the_table_of_runs_says_where_they_are(root: Path) -> None:
    runs = fullpipe.table("runs", out=root)
    assert runs.height == 12
    for folder, seed in runs.select("folder", "seed").iter_rows():
        assert fullpipe.load(folder).meta.seed == seed


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ({"flows.0.cca": "reno"}, 6),
        ({"cca": "reno"}, 6),
        ({"packets": 40, "flows.0.cca": "cubic"}, 3),
        ({"seed": [1, 2]}, 8),
        ({"seed": range(1, 3), "packets": "20"}, 4),
        ({"topology.bottleneck.rate": "10 Mbit/s"}, 12),
        ({"flows.0.cca": "vegas"}, 0),
        ({"engine": "native", "scenario": "small"}, 12),
    ],
)
def test_where_chooses_runs(root: Path, where: dict[str, object], rows: int) -> None:
    assert fullpipe.table("flows", where, out=root).height == rows


def test_an_unknown_path_or_table_is_refused(root: Path) -> None:
    with pytest.raises(fullpipe.UnknownNameError, match=r'unknown path "flows\.0\.ca"'):
        fullpipe.table("flows", {"flows.0.ca": 1}, out=root)
    with pytest.raises(fullpipe.UnknownNameError, match='unknown table "flow"'):
        fullpipe.table("flow", out=root)


def test_a_run_of_another_sweep_has_the_values_of_its_scenario(swept: Scenario, tmp_path: Path) -> None:
    own(tmp_path, swept.with_values({"topology.bottleneck.queue.packets": 20}))
    own(tmp_path, swept)
    runs = fullpipe.table("runs", out=tmp_path)
    assert runs["topology.bottleneck.queue.packets"].null_count() == 0
    assert runs.filter(pl.col("topology.bottleneck.queue.packets") == 20).height == 4


def test_a_swept_path_with_the_name_of_a_column_is_told_apart(swept: Scenario, tmp_path: Path) -> None:
    variants = {"a": {"flows.0.cca": "cubic"}, "b": {"flows.0.cca": "reno"}}
    own(tmp_path, swept.with_values({"sweep": {"Flow": variants}}))
    flows = fullpipe.table("flows", out=tmp_path)
    assert flows.columns[0] == "swept.Flow"
    assert dict(flows.select("swept.Flow", "cca").iter_rows()) == {"a": "cubic", "b": "reno"}
    answer = fullpipe.query('select distinct flow, "swept.Flow" from flows order by 2', tmp_path)
    assert answer.rows() == [("cubic-1", "a"), ("reno-1", "b")]


def test_values_of_several_types_are_text(swept: Scenario, tmp_path: Path) -> None:
    sweep = {"topology.bottleneck.queue": [{"kind": "drop_tail", "packets": 20}, "fq_codel"]}
    own(tmp_path, swept.with_values({"sweep": sweep}))
    assert set(fullpipe.table("runs", out=tmp_path)["topology.bottleneck.queue"]) == {
        "drop_tail 20",
        "fq_codel",
    }


def test_runs_of_before_are_among_them(swept: Scenario, tmp_path: Path) -> None:
    own(tmp_path, swept)
    truth = fullpipe.table("series", out=tmp_path)
    for run in list(Store(tmp_path))[:3]:
        as_before(run.folder or Path())
    assert fullpipe.table("series", out=tmp_path).height == truth.height
    assert fullpipe.query("select count(*) from flows", tmp_path).item() == 8


def test_a_damaged_run_is_warned_of(swept: Scenario, tmp_path: Path) -> None:
    own(tmp_path, swept, range(1, 2))
    path = next(tmp_path.glob("*/native-1/tables.arrow"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.warns(UserWarning, match=r"tables\.arrow: damaged; .* it is left out"):
        assert fullpipe.table("flows", out=tmp_path).height == 3


def test_bytes_that_change_later_are_noticed_when_they_are_read(swept: Scenario, tmp_path: Path) -> None:
    own(tmp_path, swept, range(1, 11))
    assert fullpipe.table("series", out=tmp_path).height > 0
    path = next(tmp_path.glob("*/native-7/tables.arrow"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(fullpipe.ResultError, match="damaged; delete the folder"):
        fullpipe.table("series", out=tmp_path)


def test_a_question_in_sql(root: Path) -> None:
    answer = fullpipe.query(
        'select "flows.0.cca" as cca, count(*) as n, avg(f.goodput_bps) as mean, max(r.data_packets) as most '
        'from flows f join RUNS r using (seed, "flows.0.cca", "topology.bottleneck.queue.packets") '
        "group by 1 order by 1",
        root,
    )
    assert answer.select("cca", "n").rows() == [("cubic", 6), ("reno", 6)]
    flows = fullpipe.table("flows", {"flows.0.cca": "reno"}, out=root)
    assert answer["mean"][1] == pytest.approx(flows["goodput_bps"].mean())


def test_all_tables_can_be_asked(root: Path) -> None:
    for name in ("runs", *TABLES):
        assert (
            fullpipe.query(f"select count(*) from {name}", root).item()
            == fullpipe.table(name, out=root).height
        )


def test_only_tables_that_are_named_are_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fullpipe.Run, "load", lambda *_: pytest.fail("a run was opened"))
    assert fullpipe.query("select count(*) from flows, links_summary, runs", root).height == 1


def test_columns_of_the_same_name_are_numbered(root: Path) -> None:
    assert fullpipe.query("select seed, seed from runs limit 1", root).columns == ["seed", "seed_1"]


SECRET = "secret.csv"
OUTSIDE = (
    f"select * from read_csv('{SECRET}')",
    f"select * from '{SECRET}'",
    f"select * from read_text('{SECRET}')",
    f"select * from read_blob('{SECRET}')",
    f"select * from sniff_csv('{SECRET}')",
    "select * from glob('*')",
    "select * from query('select * from read_text(''secret.csv'')')",
    "select * from query_table('secret.csv')",
    "select * from root",
)
NO_QUESTIONS = (
    "",
    "selec",
    "select 1; select 2",
    "select nothing from runs",
    "copy (select 1) to 'written.csv'",
    "copy runs from 'secret.csv'",
    "create table a as select 1",
    "attach 'written.db'",
    "export database 'written'",
    "set enable_external_access = true",
    "install httpfs",
    "load httpfs",
    "call pragma_version()",
    "insert into runs select * from runs",
    "select cast(interval 1 day as interval)",
)


@pytest.mark.parametrize("sql", [*OUTSIDE, *NO_QUESTIONS])
def test_a_query_reads_and_writes_nothing_else(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / SECRET).write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(QueryError):
        fullpipe.query(sql, root)
    assert [path.name for path in tmp_path.iterdir()] == [SECRET]


def test_the_settings_of_the_database_are_locked(root: Path) -> None:
    sql = "select value from duckdb_settings() where name = 'enable_external_access'"
    assert fullpipe.query(sql, root).item() == "false"
    sql = "select value from duckdb_settings() where name = 'lock_configuration'"
    assert fullpipe.query(sql, root).item() == "true"


@pytest.mark.parametrize("name", ["flows", "series"])
def test_columns_of_other_types_are_refused_in_one_line(swept: Scenario, tmp_path: Path, name: str) -> None:
    own(tmp_path, swept)
    run = next(iter(Store(tmp_path)))
    first = next(column for column, kind in TABLES[name].schema.items() if kind == pl.Float64)
    strange = run.tables[name].with_columns(pl.lit("x").alias(first))
    Store(tmp_path / "strange").save(fullpipe.Run(run.meta, {**run.tables, name: strange}))
    told = f"native-1: the columns of the table {name} have unexpected types"
    if name == "flows":
        with pytest.warns(UserWarning, match=told):
            assert fullpipe.table(name, out=tmp_path / "strange").is_empty()
    else:
        with pytest.raises(fullpipe.ResultError, match=told):
            fullpipe.table(name, out=tmp_path / "strange")


def test_a_sweep_of_strange_tables_is_kept_all_the_same(swept: Scenario, tmp_path: Path) -> None:
    run = fullpipe.run(swept.expand()[0])
    strange = run.flows.with_columns(pl.Series("goodput_bps", [[1]]))
    with Store(tmp_path).batch() as batch:
        for seed in range(1, 21):
            meta = run.meta.model_copy(update={"seed": seed})
            batch.save(fullpipe.Run(meta, {**run.tables, "flows": strange}))
    assert len(list(Store(tmp_path))) == 20
    assert len(Store(tmp_path).index().damaged) == 20
