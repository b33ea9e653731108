"""A command whose runs are finished opens few of them and works no values out; what it prints is the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullpipe import Run, Scenario, files, sweeps
from fullpipe.analysis import values
from fullpipe.analysis import values as measurements
from fullpipe.analysis.metrics import table
from fullpipe.analysis.over_seeds import are_equal_over_seeds
from fullpipe.analysis.statistics import stationarity
from fullpipe.runs import Store
from fullpipe.runs.kept import Kept

Cli = Callable[..., Any]
SCENARIO = """
name = "finished"
duration = "0.3 s"
topology = {{ kind = "dumbbell", bottleneck = {{ rate = "5 Mbit/s", delay = "5 ms" }} }}
[[flows]]
cca = "cubic"
{jitter}
[sweep]
"flows.0.cca" = ["cubic", "reno"]
"""
JITTER = 'start_jitter = "10 ms"'
POINTS, SEEDS = 2, 10


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "finished.toml"
    path.write_text(SCENARIO.format(jitter=JITTER), encoding="utf-8")
    return path


class Counts:
    """Counts of opened runs, read tables, computed values and examined samples."""

    opened = read = worked = courses = 0

    def clear(self) -> None:
        self.opened = self.read = self.worked = self.courses = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    found, opened, stream = Counts(), Kept.read.__func__, Kept.stream  # type: ignore[attr-defined]
    small, rows = Kept.small, table.measured_rows

    def count(name: str) -> None:
        setattr(found, name, getattr(found, name) + 1)

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: count(name) or function(*arguments, **named)

    monkeypatch.setattr(Kept, "read", classmethod(counted("opened", opened)))
    monkeypatch.setattr(Kept, "stream", counted("read", stream))
    monkeypatch.setattr(Kept, "small", counted("read", small))
    monkeypatch.setattr(measurements, "measured_rows", counted("worked", rows))
    monkeypatch.setattr(stationarity, "courses", counted("courses", stationarity.courses))
    monkeypatch.setattr(values, "LOADED_NS", 1 << 62)  # the code may change while the tests run
    return found


def test_a_finished_sweep_opens_three_runs_of_a_point_and_works_nothing_out(
    fullpipe: Cli, file: Path, counts: Counts
) -> None:
    command = ("run", file, "--seeds", SEEDS)
    first = fullpipe(*command)
    assert counts.worked == counts.courses == POINTS * SEEDS
    counts.clear()
    second = fullpipe(*command)
    assert (second.stdout, second.stderr, second.exit_code) == (first.stdout, first.stderr, 0)
    assert counts.worked == counts.courses == 0
    assert counts.opened == 3 * POINTS
    assert counts.read == 3 * POINTS + 4  # the flows of these; and flows and links of two runs that differ


def test_the_lines_of_a_finished_sweep_are_the_same(fullpipe: Cli, file: Path, counts: Counts) -> None:
    command = ("run", file, "--seeds", SEEDS, "--json")
    first = fullpipe(*command)
    counts.clear()
    assert fullpipe(*command).stdout == first.stdout
    assert counts.opened == POINTS * SEEDS


@pytest.mark.parametrize(
    "command",
    [
        ("run", "finished.toml", "--seeds", SEEDS, "--metric", "goodput", "--format", "csv"),
        ("run", "finished.toml", "--until", "goodput ci<20%", "--max-seeds", 20),
        ("compare", "finished.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", SEEDS),
        ("plan", "finished.toml", "--detect", "10%", "--pilot", SEEDS),
        ("test", "runs", "--metric", "goodput", "--factor", "flows.0.cca"),
        ("report", "runs", "-o", "page.html"),
    ],
    ids=lambda command: command[0],
)
def test_another_command_over_the_same_runs_works_nothing_out(
    fullpipe: Cli, file: Path, counts: Counts, command: tuple[Any, ...]
) -> None:
    fullpipe("run", file, "--seeds", SEEDS)
    first = fullpipe(*command)
    assert first.exit_code < 2, first.output
    counts.clear()
    second = fullpipe(*command)
    assert (second.stdout, second.stderr) == (first.stdout, first.stderr)
    assert counts.worked == counts.courses == 0


def made(root: Path | None, jitter: str = "") -> list[tuple[dict[str, Any], Run]]:
    todo = sweeps.jobs(Scenario.from_toml(SCENARIO.format(jitter=jitter)), range(1, SEEDS + 1))
    outcomes = sweeps.stream(todo, store=root and Store(root))
    return [(dict(outcome.job.point), outcome.run) for outcome in outcomes]


@pytest.mark.parametrize(("jitter", "are_equal"), [("", True), (JITTER, False)])
def test_equal_seeds_are_known_by_checksums(
    tmp_path: Path, counts: Counts, jitter: str, are_equal: bool
) -> None:
    assert are_equal_over_seeds(made(None, jitter)) == are_equal
    made(tmp_path, jitter)
    counts.clear()
    assert are_equal_over_seeds(made(tmp_path, jitter)) == are_equal
    assert counts.read == (0 if are_equal else 4)  # flows and links of the two that differ


def test_equal_rows_in_other_bytes_are_equal(tmp_path: Path) -> None:
    (point, one), *_ = made(tmp_path)
    tables = {name: one.tables[name] for name in one.tables}
    tables["flows"] = tables["flows"].with_columns(more=pl.lit(1)).drop("more").rechunk()
    other = Store(tmp_path / "other").save(Run(one.meta, tables))
    assert one.fingerprint != other.fingerprint
    assert are_equal_over_seeds([(point, one), (point, other)])


def test_runs_of_unlike_points_or_one_seed_are_not_equal_over_seeds(tmp_path: Path) -> None:
    runs = made(tmp_path)
    assert not are_equal_over_seeds([runs[0], runs[-1]])


def test_what_a_killed_process_left_goes_where_nothing_is_written(tmp_path: Path) -> None:
    left = tmp_path / ".writing" / f"{files.HIDDEN}{files.kernel()}-{'0' * 32}"
    left.mkdir(parents=True)
    with Store(tmp_path).batch():
        pass
    assert not left.exists()
