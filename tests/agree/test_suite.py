"""Cases through engines: what is run, what is refused, what fails, and what the page says of it."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe import Run, Scenario, engines
from fullpipe.cli import app
from fullpipe.cli.agree import show
from fullpipe.engines import Problem, Progress
from fullpipe.engines.native import NativeEngine
from fullpipe.errors import EngineError
from fullpipe.runs import Store
from fullpipe.validation.agree import (
    Case,
    Refused,
    cases,
    chance,
    confirmed,
    doubtful,
    errors_of,
    job_list,
    page,
    run,
    seeds_of,
    summarised,
)
from fullpipe.validation.agree.errors import beyond
from fullpipe.validation.agree.page import figure
from fullpipe.validation.compare import compare


class Kernel(NativeEngine):
    """The native engine with another name and goodput, that refuses CDG and fails on Vegas."""

    name: ClassVar[str] = "kernel"
    factor: ClassVar[float] = 1.25

    def check(self, scenario: Scenario) -> list[Problem]:
        kinds = {flow.cca.kind for flow in scenario.flows}
        return [Problem("flows[0].cca", "not in this kernel")] if "cdg" in kinds else []

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        if any(flow.cca.kind == "vegas" for flow in scenario.flows):
            raise EngineError("the guest died")
        made = super().run(scenario, seed=seed, progress=progress)
        flows = made.flows.with_columns(goodput_bps=pl.col("goodput_bps") * self.factor)
        meta = made.meta.model_copy(
            update={"engine": made.meta.engine.model_copy(update={"name": self.name})}
        )
        return replace(made, meta=meta, tables={**made.tables, "flows": flows})


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "kernel": Kernel})


def case(cca: str, seeds: int = 1) -> Case:
    found = next(c for c in cases() if c.name == f"{cca}-20m-40ms-1bdp")
    values = {"duration": "3 s", "warmup": "1 s", "flows.0.start_jitter": "10 ms"}
    return Case(found.name, found.family, found.scenario.with_values(values), seeds)


def test_the_reference_is_the_first_engine() -> None:
    found = run(job_list([case("cubic", seeds=2)], ["kernel", "native"]))
    (row,) = found.errors.filter(quantity="goodput").to_dicts()
    assert row["engine"] == "native"
    # The kernel carries 1.25 times as much, so that native is at 0.8 of it.
    assert row["error"] == pytest.approx(-0.2)


def test_few_retransmissions_are_shares_of_twenty() -> None:
    one = case("cubic")
    made = NativeEngine().run(one.scenario, seed=1)

    def with_packets(count: int) -> Run:
        flows = made.flows.with_columns(retransmitted_packets=pl.lit(count, pl.Int64))
        return replace(made, tables={**made.tables, "flows": flows})

    errors = errors_of(one, compare({"kernel": [with_packets(1)], "native": [with_packets(3)]}, "kernel"))
    assert errors.filter(quantity="retransmitted")["error"].to_list() == [pytest.approx(0.1)]


def test_summaries_are_of_sizes() -> None:
    errors = pl.DataFrame(
        {"engine": ["native"] * 3, "quantity": ["goodput"] * 3, "error": [-0.03, 0.01, 0.02]}
    )
    (row,) = summarised(errors).to_dicts()
    assert (row["n"], row["median"], row["max"]) == (3, pytest.approx(0.02), pytest.approx(0.03))


def test_a_refused_case_is_not_run_and_named() -> None:
    todo = job_list([case("cdg"), case("cubic")], ["kernel", "native"])
    assert {job.point["case"] for job in todo.jobs} == {"cubic-20m-40ms-1bdp"}
    assert "kernel, flows[0].cca: not in this kernel: cdg-20m-40ms-1bdp" in page(run(todo))


def test_a_case_that_fails_leaves_the_others() -> None:
    found = run(job_list([case("vegas"), case("cubic")], ["kernel", "native"]))
    assert found.errors["case"].unique().to_list() == ["cubic-20m-40ms-1bdp"]
    (refused,) = found.refused
    assert refused.why == "failed with seed 1: the guest died"


def test_a_suite_continues_where_it_was_interrupted(tmp_path: Path) -> None:
    todo, states = job_list([case("cubic")], ["kernel", "native"]), []
    run(todo, store=Store(tmp_path))
    run(todo, store=Store(tmp_path), progress=lambda update: states.append(update.state))
    assert {state for state in states if state != "running"} == {"stored"}


def test_the_same_results_give_the_same_page() -> None:
    todo = job_list([case("cubic"), case("reno")], ["kernel", "native"])
    assert page(run(todo)) == page(run(todo, workers=2))


def test_the_page_has_medians_with_what_is_aimed_at_and_every_case() -> None:
    text = page(run(job_list([case("cubic"), case("reno")], ["kernel", "native"])))
    (line,) = [line for line in text.splitlines() if line.startswith("| goodput | native |")]
    assert line.split(" | ")[2:] == ["2", *["20.00 %"] * 4, "", "0.50 % / 3.00 % |"]
    assert "| reno-20m-40ms-1bdp | reno-1 | " in text


def test_cases_are_listed_for_programs() -> None:
    result = CliRunner().invoke(app, ["agree", "--list", "--json", "--case", "bbr1-*", "--limit", "2"])
    assert [json.loads(line).keys() for line in result.stdout.splitlines()] == [
        {"case", "family", "seeds"}
    ] * 2


def with_goodputs(run: Run, *goodputs_mbps: float) -> list[Run]:
    """Runs that differ in goodput only, one per seed."""
    made = []
    for seed, value in enumerate(goodputs_mbps, 1):
        flows = run.flows.with_columns(goodput_bps=pl.lit(1e6 * value))
        meta = run.meta.model_copy(update={"seed": seed})
        made.append(replace(run, meta=meta, tables={**run.tables, "flows": flows}))
    return made


@pytest.fixture(scope="module")
def one_run() -> Run:
    return NativeEngine().run(case("cubic").scenario, seed=1)


def goodput_error(run: Run, kernel: tuple[float, ...], native: tuple[float, ...]) -> pl.DataFrame:
    runs = {"kernel": with_goodputs(run, *kernel), "native": with_goodputs(run, *native)}
    return errors_of(case("cubic"), compare(runs, "kernel")).filter(quantity="goodput")


@pytest.mark.parametrize(
    ("kernel", "native", "real"),
    [
        ((9.0, 10.0, 11.0), (10.5, 9.5, 11.5), False),
        ((9.0, 10.0, 11.0), (9.5, 10.5, 11.5), True),  # in every pair
        ((10.0, 10.0), (10.0, 10.0), False),
        ((10.0, 10.0), (11.0, 11.0), True),
        ((10.0,), (11.0,), None),
    ],
)
def test_a_difference_beyond_the_interval_is_more_than_chance(
    one_run: Run, kernel: tuple[float, ...], native: tuple[float, ...], real: bool | None
) -> None:
    assert goodput_error(one_run, kernel, native)["real"].to_list() == [real]


def test_chance_is_the_standard_error_of_the_difference(one_run: Run) -> None:
    """The expected size of a normal error is sqrt(2 / pi) of its standard deviation."""
    kernel = tuple(10 + 0.1 * n for n in range(-10, 11))
    errors = goodput_error(one_run, kernel, kernel[:7])
    deviation = pl.Series(kernel).std() / 10  # type: ignore[operator]
    expected = deviation * (2 / 7) ** 0.5 * (2 / math.pi) ** 0.5
    assert chance(errors, "again")["error"].to_list() == [pytest.approx(expected, rel=0.1)]


def test_runs_are_compared_by_seed_as_far_as_both_have_it(one_run: Run) -> None:
    errors = goodput_error(one_run, (9.0, 11.0, 13.0), (10.0, 12.0))
    assert errors.select("runs", "error").row(0) == (2, pytest.approx(1 / 11))


def test_where_runs_are_all_equal_nothing_is_chance(one_run: Run) -> None:
    assert chance(goodput_error(one_run, (10.0, 10.0), (11.0, 11.0)), "again")["error"].to_list() == [0]


def test_of_single_runs_chance_is_not_known(one_run: Run) -> None:
    assert chance(goodput_error(one_run, (10.0,), (11.0,)), "again").is_empty()


def test_the_page_tells_differences_from_chance() -> None:
    text = page(run(job_list([case("cubic", seeds=3), case("reno", seeds=3)], ["kernel", "native"])))
    of_cases = text.partition("## Case by case")[2]
    (row,) = [line for line in of_cases.splitlines() if line.startswith("| reno-20m-40ms-1bdp |")]
    assert "| **-20.00** |" in row
    assert "| reno-20m-40ms-1bdp | reno-1 | goodput | native | -20.0 % |" in text
    (line,) = [line for line in text.splitlines() if line.startswith("| goodput | native |")]
    assert line.split(" | ")[-2] == "2"
    assert "| goodput | kernel again | 2 |" in text


def test_a_doubtful_case_is_run_from_as_many_starts_as_any_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Kernel.run

    def run_like_reno(
        self: Kernel, scenario: Scenario, *, seed: int, progress: Progress | None = None
    ) -> Run:
        off = {1: 1.6, 2: 0.9}.get(seed, 1.0) if scenario.flows[0].cca.kind == "reno" else 1.0
        monkeypatch.setattr(Kernel, "factor", off)
        return whole(self, scenario, seed=seed, progress=progress)

    monkeypatch.setattr(Kernel, "run", run_like_reno)
    engines = ["kernel", "native"]
    first = run(job_list([case("cubic", seeds=2), case("reno", seeds=2)], engines))
    assert not beyond(first.errors, first.suite.quantities).height, "two starts do not tell it from chance"
    found = confirmed(first, run(job_list(doubtful(first), engines)))
    runs = found.errors.filter(quantity="goodput")["runs"].to_list()
    assert runs == [2, 20]
    assert [one.seeds for one in found.cases] == runs


def test_completion_times_are_compared_of_flows_of_a_given_size() -> None:
    found = next(c for c in cases() if c.name == "cubic-1MB-20m-40ms-1bdp")
    errors = run(job_list([replace(found, seeds=1)], ["kernel", "native"])).errors
    assert errors.filter(quantity="fct_p50")["error"].to_list() == [0]


def test_a_table_of_cases_has_no_column_without_values() -> None:
    text = page(run(job_list([case("cubic")], ["kernel", "native"]))).partition("## Case by case")[2]
    (header,) = [line for line in text.splitlines() if line.startswith("| case | flows |")]
    assert "retransmissions" in header
    assert "completion time" not in header


def test_ns3_runs_fewer_seeds() -> None:
    many = case("cubic", seeds=60)
    assert [len(seeds_of(many, name)) for name in ("linux", "ns3", "ns3-3.43")] == [60, 1, 1]


def test_ns3_runs_its_own_algorithms_only() -> None:
    refused = {one.case: one.why for one in job_list(cases(), ["native", "ns3"]).refused}
    assert "ns-3 has no nv of its own" in refused["nv-20m-40ms-1bdp"]


def test_the_figure_has_a_line_per_engine_and_one_of_chance() -> None:
    _, data = figure(run(job_list([case("cubic", seeds=2)], ["kernel", "native"])))
    assert set(data["group"]) == {"native", "kernel again"}
    assert data.filter(quantity="goodput", group="native")["value"].to_list() == [pytest.approx(20)]


def test_cases_are_listed_by_pattern_and_number() -> None:
    result = CliRunner().invoke(app, ["agree", "--list", "--case", "bbr1-*", "--limit", "2"])
    *lines, last = result.output.splitlines()
    assert [line.split()[0] for line in lines] == ["bbr1-20m-40ms-1bdp", "bbr1-50m-20ms-0.5bdp"]
    assert last == "2 cases; runs: 10 by linux, 10 by native"


@pytest.mark.parametrize(
    "words", [("--case", "bbr9"), ("--family", "queue"), ("--engines", "native"), ("--plot", "a.gif")]
)
def test_what_is_unknown_is_bad_input(words: tuple[str, str]) -> None:
    assert CliRunner().invoke(app, ["agree", *words]).exit_code == 2


def test_page_and_figure_are_written_to_files(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    words = ["--case", "cubic-2m-40ms-1bdp", "--engines", "kernel,native", "--out", str(tmp_path / "runs")]
    files = ["-o", str(tmp_path / "page.md"), "--plot", str(tmp_path / "assets" / "errors.svg")]
    result = CliRunner().invoke(app, ["agree", *words, *files])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.startswith("# Agreement between engines")
    assert "](assets/errors.svg)" in text
    assert (tmp_path / "assets" / "errors.svg").is_file()


CUBIC = ("agree", "--case", "cubic-2m-40ms-1bdp", "--engines", "kernel,native", "--out", "runs")


def test_the_answer_is_a_conclusion_and_the_largest_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    lines = CliRunner().invoke(app, CUBIC).stdout.splitlines()
    assert lines[0].startswith(
        "native against kernel: the median error (p95) is 20.00 % (20.00 %) in goodput"
    )
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100
    (goodput,) = [line.split() for line in lines if line.startswith(" goodput Mbit/s ")]
    assert goodput[-4:-2] == ["-20.0", "%"]
    assert CliRunner().invoke(app, [*CUBIC, "--all"]).stdout.startswith("# Agreement between engines\n")


def test_each_error_in_json_has_the_conclusion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [json.loads(line) for line in CliRunner().invoke(app, [*CUBIC, "--json"]).stdout.splitlines()]
    assert {row["quantity"] for row in rows} >= {"goodput", "srtt_mean"}
    assert all(row["conclusion"][0].startswith("native against kernel: ") for row in rows)


def test_a_large_answer_has_sixty_lines_at_most(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = run(job_list([case("cubic", seeds=2)], ["kernel", "native"]))
    many = [
        found.errors.with_columns(case=pl.format("a-case-with-a-long-name-{}", pl.lit(n))) for n in range(99)
    ]
    refused = [Refused(f"case-{n}", "native", f"reason {n % 9}") for n in range(99)]
    show(replace(found, errors=pl.concat(many), refused=refused))
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) <= 60
    assert f"{found.errors.height * 99 - 12:,} more rows: --all prints them" in printed
    assert "native did not run 11 cases: reason 0" in printed


def test_nothing_to_compare_is_a_failure_with_the_reason(tmp_path: Path) -> None:
    words = ["--case", "cdg-20*", "--engines", "kernel,native", "--out", str(tmp_path / "runs")]
    result = CliRunner().invoke(app, ["agree", *words])
    assert result.exit_code == 1
    assert "not in this kernel" in result.stderr
