"""`fullpipe table`: means of runs with factors along rows and columns, as text, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, sweep, sweeps
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.points import Subject, points_of
from fullpipe.analysis.values import values_of
from fullpipe.cli import app
from fullpipe.cli.table import Column, Pivot, latex_of, pivot_of
from fullpipe.errors import UnknownNameError

COUNT, LOSS, CCA = "flows.1.count", "topology.bottleneck.loss.probability", "flows.0.cca"
GOODPUT = [Subject("goodput", None)]


def scenario(**values: Any) -> Scenario:
    loss = {"kind": "bernoulli", "probability": 0.0}
    base: dict[str, Any] = {
        "name": "table",
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms", "loss": loss}},
        "flows": [{"cca": "bbr3", "name": "mine", "start_jitter": "50 ms"}, {"cca": "cubic"}],
        "record": {"interval": "off"},
        "sweep": {COUNT: [1, 2, 10], LOSS: [0.0, 0.001]},
    }
    return Scenario(**(base | values))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table") / "runs"
    sweep(scenario(), (1, 2), out=folder)
    return folder


@pytest.fixture(scope="module")
def runs(store: Path) -> list[Run]:
    return [Run.load(file.parent) for file in sorted(store.glob("*/*/meta.json"))]


def table(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["table", str(store), *words])


def told(result: Result) -> str:
    return " ".join(result.output.replace("│", " ").split())


def test_cells_are_means_over_seeds_in_the_order_of_their_sizes(runs: list[Run]) -> None:
    found = pivot_of(runs, GOODPUT, [COUNT], [LOSS])
    assert found.rows == ["CUBIC flows"]
    assert [list(head) for head in found.heads] == [["1"], ["2"], ["10"]]
    assert [column.titles for column in found.numbers] == [["loss 0 %"], ["loss 0.1 %"]]
    means = over_seeds(values_of(zip(points_of(runs), runs, strict=True), ["goodput"])).filter(of=ALL)
    for head, row in zip((1, 2, 10), found.cells, strict=True):
        for loss, cell in zip((0.0, 0.001), row, strict=True):
            (wanted,) = means.filter((pl.col(COUNT) == head) & (pl.col(LOSS) == loss)).iter_rows(named=True)
            assert cell is not None
            assert [cell[end] for end in ("mean", "low", "high")] == [
                wanted[end] for end in ("mean", "low", "high")
            ]
    assert found.runs == (2, 2)


def test_rows_are_all_that_differs_and_is_not_along_the_columns(runs: list[Run]) -> None:
    assert pivot_of(runs, GOODPUT, columns=["probability"]).rows == ["CUBIC flows"]
    long = pivot_of(runs, GOODPUT)
    assert sorted(long.rows) == ["CUBIC flows", "loss"]
    assert [column.metric for column in long.numbers] == ["goodput of all flows (Mbit/s)"]
    assert len(long.heads) == 6


def test_groups_of_flows_are_a_factor(runs: list[Run]) -> None:
    found = pivot_of(runs, [Subject("share", None)], [LOSS], ["flows"], [f"{COUNT}=2"])
    assert [column.titles for column in found.numbers] == [["mine"], ["cubic"]]
    shares = [[cell["mean"] for cell in row if cell] for row in found.cells]
    assert [sum(row) for row in shares] == pytest.approx([1, 1])


def test_runs_of_several_points_are_never_in_one_cell(runs: list[Run]) -> None:
    with pytest.raises(
        typer.BadParameter, match=r"runs also differ in .*probability.*: add --rows or --columns"
    ):
        pivot_of(runs, GOODPUT, [COUNT])
    with pytest.raises(typer.BadParameter, match="is given as --rows and --columns; leave one out"):
        pivot_of(runs, GOODPUT, [COUNT, LOSS], [LOSS])
    with pytest.raises(UnknownNameError, match="rate"):
        pivot_of(runs, GOODPUT, ["rate"])


def test_a_value_of_where_may_be_written_as_in_the_scenario(store: Path) -> None:
    plain = table(store, "--rows", "count", "--where", "probability=0")
    assert plain.exit_code == 0, plain.output
    assert plain.output == table(store, "--rows", "count", "--where", "probability=0.0").output


def test_text_and_markdown_have_words_and_intervals(store: Path) -> None:
    text = table(store, "--rows", "count", "--columns", "probability", "--label", "probability.0=no loss")
    first, heads, *_ = text.stdout.splitlines()
    assert first == "goodput of all flows (Mbit/s)"
    assert re.fullmatch(r"CUBIC flows +no loss +loss 0.1 %", heads.strip())
    words = ("--rows", "count", "--columns", "probability", "--metric", "goodput", "--metric", "jain")
    markdown = table(store, *words, "--format", "markdown").stdout.splitlines()
    goodput = "goodput of all flows (Mbit/s)"
    assert markdown[0].startswith(f"| CUBIC flows | {goodput} loss 0 % | {goodput} loss 0.1 % | Jain's")
    assert markdown[1] == "| --- | --: | --: | --: | --: |"


def test_algorithms_have_their_names_in_print_and_their_keys_in_csv(tmp_path: Path) -> None:
    sweep(scenario(sweep={CCA: ["cubic", "bbr3"]}), (1,), out=tmp_path)
    for form in ("latex", "markdown", "table"):
        text = table(tmp_path, "--of", "mine", "--format", form).stdout
        assert re.search("CUBIC.*BBRv3", text, re.DOTALL)
        assert "bbr3" not in text
    rows = list(csv.reader(StringIO(table(tmp_path, "--of", "mine", "--format", "csv").stdout)))
    assert [row[0] for row in rows[1:]] == ["cubic", "bbr3"]


def test_csv_has_numbers_in_base_units(store: Path) -> None:
    written = table(store, "--rows", "count", "--columns", "probability", "--format", "csv").stdout
    head, *rows = csv.reader(StringIO(written))
    assert head == [
        "CUBIC flows",
        *(f"goodput (bit/s), loss {n} % {end}" for n in ("0", "0.1") for end in ("mean", "low", "high")),
    ]
    assert len(rows) == 3
    assert all(1e6 < float(row[1]) < 5e6 for row in rows)
    assert all(float(row[2]) <= float(row[1]) <= float(row[3]) for row in rows)


def cell(mean: float, half: float | None, *, low: float | None = None, unit: str = "bit/s") -> dict[str, Any]:
    ends = (None, None) if half is None else (mean - half if low is None else low, mean + half)
    return {
        "mean": mean,
        "low": ends[0],
        "high": ends[1],
        "alike": False,
        "unit": unit,
        "metric": "goodput",
        "n": 5,
    }


def one_column(*cells: Any) -> list[str]:
    pivot = Pivot(
        ["n"],
        [],
        [[str(n)] for n in range(len(cells))],
        [Column("m", "m", [], [])],
        [[each] for each in cells],
        (5, 5),
    )
    lines = latex_of(pivot).splitlines()
    return [lines[2], *(line for line in lines if re.match(r"\d+ &", line))]


def test_latex_numbers_have_their_uncertainty_and_a_common_format() -> None:
    found = one_column(cell(19.071e6, 0.1449e6), cell(9.1e6, 0.02e6), cell(100e6, None))
    assert found[0] == r"\begin{tabular}{l S[table-format=3.2(2)]}"
    assert found[1:] == [r"0 & 19.07(15) \\", r"1 & 9.10(2) \\", r"2 & 100.00 \\"]


def test_latex_uncertainties_have_at_most_two_digits() -> None:
    assert one_column(cell(52.86e6, 1.449e6), cell(48e6, 37.4e6))[1:] == [r"0 & 53(2) \\", r"1 & 48(38) \\"]


def test_latex_writes_a_truncated_interval_out_and_a_missing_cell_as_a_dash() -> None:
    found = one_column(cell(1e6, 3e6, low=0.0), None)
    assert found[1:] == [r"0 & {1.00 [0.00, 4.00]} \\", r"1 & {--} \\"]


def test_all_numbers_of_a_latex_column_have_the_same_decimals() -> None:
    """Also columns of the same metric. One truncated interval writes all intervals of its column out."""
    found = one_column(cell(48e6, 37.4e6), cell(8.34e6, 24e6, low=0.0), cell(121.12e6, None))
    assert found[1:] == [r"0 & {48 [11, 85]} \\", r"1 & {8 [0, 32]} \\", r"2 & {121} \\"]
    assert one_column(cell(48e6, 37.4e6), cell(121.12e6, None))[1:] == [r"0 & 48(38) \\", r"1 & 121 \\"]
    columns = [Column("goodput", "goodput", [name], [name]) for name in ("cubic", "bbr3")]
    row = [cell(60.612e6, 0.02e6), cell(61e6, 14e6)]
    lines = latex_of(Pivot(["n"], ["cca"], [["1"]], columns, [row], (5, 5))).splitlines()
    assert r"1 & 61(1) & 61(14) \\" in lines


def test_all_means_of_a_column_have_the_same_decimals() -> None:
    """One interval needs a second decimal, so that all have it."""
    score = {"unit": "1", "metric": "call_score", "alike": False, "n": 5}
    fine = {"mean": 4.382, "low": 4.375, "high": 4.389} | score
    coarse = {"mean": 3.1, "low": 2.9, "high": 3.3} | score
    column = Column("score", "score", [], [])
    pivot = Pivot(["n"], [], [["0"], ["1"]], [column], [[fine], [coarse]], (5, 5))
    assert [row[1] for row in pivot.grid().rows] == ["4.38 [4.38, 4.39]", "3.10 [2.90, 3.30]"]


def test_latex_is_a_table_of_booktabs_with_escaped_words(store: Path) -> None:
    words = (
        "--columns",
        "probability",
        "--rows",
        "count",
        "--metric",
        "goodput",
        "--metric",
        "jain",
        "--format",
        "latex",
    )
    lines = table(store, *words, "--label", "count=N & #").stdout.splitlines()
    assert lines[0].startswith(r"% \usepackage{booktabs, siunitx}; means of 2 runs")
    goodput, jain = "goodput of all flows (Mbit/s)", "Jain's index of all flows"
    assert rf" & \multicolumn{{2}}{{c}}{{{goodput}}} & \multicolumn{{2}}{{c}}{{{jain}}} \\" in lines
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in lines
    assert r" & \multicolumn{4}{c}{loss} \\" in lines
    assert any(line.startswith(r"N \& \# & \multicolumn{1}{c}{0 \%} &") for line in lines)
    assert [line for line in lines if line in (r"\toprule", r"\midrule", r"\bottomrule")] == [
        r"\toprule", r"\midrule", r"\bottomrule",
    ]  # fmt: skip
    counts = {line.count("&") for line in lines if line.endswith(r"\\") and "multicolumn" not in line}
    assert counts == {4}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--metric", "goodputt"), 'unknown metric "goodputt"'),
        (("--metric", "share", "--rows", "count", "--columns", "probability"), "the share of all flows is 1"),
        (("--metric", "call_score"), "no run has a value of call_score"),
        (("--where", "probability=3"), "no run has this value"),
        (("--label", "cca.bbr4=x"), "no run has this path or value"),
    ],
)
def test_what_cannot_be_told_is_refused(store: Path, words: tuple[str, ...], line: str) -> None:
    result = table(store, *words)
    assert result.exit_code == 2
    assert line in told(result)


def test_tables_as_values_are_rows_in_words() -> None:
    queues = [{"kind": "drop_tail", "packets": 9}, "fq_codel"]
    made = scenario(sweep={"topology.bottleneck.queue": queues})
    found = pivot_of(sweeps.run(sweeps.jobs(made)), GOODPUT)
    assert [list(head) for head in found.heads] == [["drop_tail 9 packets"], ["fq_codel"]]


def test_a_table_of_all_flows_says_how_to_print_the_changed_group(tmp_path: Path) -> None:
    """The numbers stay those of all flows, as scripts read them."""
    flows = [{"cca": "cubic", "name": "mine"}, {"cca": "cubic", "name": "other"}]
    swept = {"flows.0.cca": ("cubic", "reno")}
    link = {"rate": "5 Mbit/s", "delay": "5 ms"}
    topology = {"kind": "dumbbell", "bottleneck": link}
    sweep(Scenario(name="a", duration="1 s", topology=topology, flows=flows, sweep=swept), (1,), out=tmp_path)
    done = table(tmp_path, "--metric", "goodput", "--metric", "utilisation", "--format", "csv")
    assert done.stdout.startswith("algorithm,goodput (bit/s) mean")
    assert "note: goodput of all flows; --of mine prints the group that the sweep changes" in done.stderr
    assert "note: goodput" not in table(tmp_path, "--of", "mine").stderr


def test_a_latex_table_prints_its_metric_its_runs_and_the_meaning_of_parentheses(store: Path) -> None:
    words = ("--columns", "probability", "--rows", "count", "--of", "mine", "--format", "latex")
    lines = [line for line in table(store, *words).stdout.splitlines() if not line.startswith("%")]
    head = "\n".join(lines)
    assert r"\multicolumn{2}{c}{goodput of mine (Mbit/s)}" in head
    assert "\nMeans of 2 runs.\\par\n" in head
    pivot = Pivot(["n"], [], [["1"]], [Column("m", "m", [], [])], [[cell(19e6, 0.1e6)]], (5, 5))
    assert "In parentheses: half widths of 95 \\% confidence intervals" in latex_of(pivot)


def test_a_latex_table_has_either_parentheses_or_brackets() -> None:
    columns = [Column(name, name, [], []) for name in ("goodput", "delay")]
    row = [cell(19e6, 0.1e6), cell(1e6, 3e6, low=0.0)]
    text = latex_of(Pivot(["n"], [], [["1"]], columns, [row], (5, 5)))
    assert r"1 & {19.00 [18.90, 19.10]} & {1.00 [0.00, 4.00]} \\" in text
    assert "parentheses" not in text


def test_notes_of_a_latex_table_are_as_wide_as_the_table() -> None:
    lines = latex_of(Pivot(["n"], [], [["1"]], [Column("m", "m", [], [])], [[cell(19e6, 0.1e6)]], (5, 5)))
    before, _, after = lines.partition("\\end{tabular}}%\n")
    assert before.count("{") - before.count("}") == 1, "the tabular is in a box"
    assert after.startswith("\\begin{minipage}{\\wd0}\n\\usebox0")
    assert "linewidth" not in lines
    assert after.endswith("\\end{minipage}\\endgroup\n")


def test_latex_numbers_have_no_commas_between_thousands() -> None:
    assert one_column(cell(9e9, 10e9, low=0.0))[1] == r"0 & {9000.00 [0.00, 19000.00]} \\"


def test_a_group_of_several_flows_is_a_sum(tmp_path: Path) -> None:
    flows = [{"cca": "cubic", "name": "old", "count": 2}, {"cca": "reno", "name": "new"}]
    sweep(scenario(flows=flows, sweep={"flows.1.cca": ["reno", "bbr3"]}), (1,), out=tmp_path)
    assert "goodput of old (2 flows, sum) (Mbit/s)" in table(tmp_path, "--of", "old").stdout
    assert "flows, sum" not in table(tmp_path, "--of", "new").stdout
    assert "flows, sum" not in table(tmp_path, "--metric", "rtt_mean", "--of", "old").stdout


def test_a_small_number_of_a_latex_column_does_not_look_like_0() -> None:
    found = one_column(cell(48e6, 37.4e6), cell(0.03e6, 0.02e6), cell(8.34e6, 24e6, low=0.0))
    assert found[1:] == [r"0 & {48 [11, 85]} \\", r"1 & {0.03 [0.01, 0.05]} \\", r"2 & {8 [0, 32]} \\"]


def test_percentiles_with_a_resolution_have_no_finer_decimals() -> None:
    """The resolution of 0.8 % of 640 ms is 5 ms."""
    for metric, words in (("rtt_p95", "640 [630, 650]"), ("rtt_mean", "640.00 [630.00, 650.00]")):
        each = cell(0.64, 0.01, unit="s") | {"metric": metric}
        pivot = Pivot(["n"], [], [["1"]], [Column("m", "m", [], [])], [[each]], (5, 5))
        assert pivot.grid().rows[0][1] == words
        assert r"1 & 640(10) \\" in latex_of(pivot)


def test_every_form_of_a_table_of_completion_times_counts_unfinished_transfers() -> None:
    column = Column("p95 completion time of web (ms)", "p95 completion time of web (s)", [], [])
    cells = [
        cell(0.46, half, unit="s") | {"metric": "fct_p95", "began": 3608, "unfinished": unfinished}
        for half, unfinished in ((0.1, 47), (0.2, 0))
    ]
    pivot = Pivot(["n"], [], [["1"], ["2"]], [column], [[each] for each in cells], (5, 5))
    assert "(47 of 3,608 unfinished)" in pivot.grid().rows[0][1]
    said = "leaves out unfinished transfers: 47 of 7,216, at most 47 of 3,608 in a cell"
    assert f"\np95 completion time of web {said}.\\par\n" in latex_of(pivot)
    numbers = pivot.numbers_grid()
    assert numbers.numbers[-2:] == [f"{column.in_base_unit} {end}" for end in ("began", "unfinished")]
    assert [row[-2:] for row in numbers.rows] == [["3608", "47"], ["3608", "0"]]
    cells[0]["unfinished"] = 0
    assert "leaves out" not in latex_of(pivot)
