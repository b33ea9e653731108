"""Reports of `fullpipe test`: the answer, a figure of it, a row per factor and point, and what repeats it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.report.content import Document, Figure, Forest, Table
from fullpipe.report.factors import factors_in, in_words
from fullpipe.report.files import joined
from fullpipe.report.from_file import page_of_file
from fullpipe.scenario.labels import Labels
from tests.report.pages import scenario

FullPipe = Callable[..., Any]
FACTOR: dict[str, Any] = {
    "kind": "flows",
    "entry": 0,
    "of": "mine",
    "metric": "share",
    "unit": "1",
    "point": {"topology.bottleneck.queue.size": "0.5 bdp"},
    "factor": "flows.1.count",
    "status": "matters",
    "levels": ["1", "2", "16"],
    "means": [0.6, 0.37, 0.067],
    "effect": {"name": "eta²", "value": 0.9656, "interval": {"low": 0.902, "high": 0.976}},
    "p_corrected": 2.05e-7,
    "widest": {
        "levels": ["1", "16"],
        "difference": -0.533,
        "interval": {"low": -0.571, "high": -0.495},
        "margin": 0.03,
    },
}
ROW = {"test": "Welch ANOVA", "of": "mine", "metric": "share", "unit": "1", "effect": "flows.1.count"}


def page(*factors: dict[str, Any], row: dict[str, Any] = ROW) -> Document:
    """The page of a file of a test with these factors."""
    told = {"kind": "test", "title": "by count", "question": "Does it?", "conclusion": ["count matters."]}
    return page_of_file(joined([{**told, "rows": [row], "factors": list(factors)}]))


def table(found: Document) -> Table:
    """Its first table."""
    made = found.parts[0].table
    assert made is not None
    return made


def cells(found: Document, place: int = 0) -> dict[str, str]:
    """A row of the first table by the names of columns."""
    made = table(found)
    return dict(zip([column.name for column in made.columns], made.rows[place], strict=True))


def test_a_row_has_the_mean_of_every_level_the_widest_difference_and_the_verdict() -> None:
    assert cells(page(FACTOR)) == {
        "buffer": "0.5 BDP",
        "flows or link": "mine",
        "metric": "goodput share (%)",
        "number of flows 1": "60.0",
        "number of flows 2": "37.0",
        "number of flows 16": "6.7",
        "between": "1 and 16",
        "largest difference [95 %]": "-53.3 pp [-57.1, -49.5]",
        "effect size": "eta² 0.966 [0.902, 0.976]",
        "p (corrected)": "<0.0001",
        "verdict": "matters",
    }


def test_two_levels_have_their_difference_and_margin() -> None:
    pair = {**FACTOR, "levels": ["1", "16"], "means": [0.6, 0.067]}
    told = cells(page(pair))
    assert (told["difference [95 %]"], told["margin"]) == ("-53.3 pp [-57.1, -49.5]", "3.0 pp")
    assert "between" not in told


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ({}, "+50.0 % [+38.0, +65.0]"),
        ({"margin": {"relative": 0.05}}, "+50.0 % [+38.0, +65.0]"),
        ({"margin": {"absolute": 0.005}}, "+50.00 ms [+40.00, +60.00]"),
    ],
)
def test_a_difference_has_the_unit_of_the_stated_margin(stated: dict[str, Any], shown: str) -> None:
    ends = {"interval": {"low": 0.04, "high": 0.06}, "relative_interval": {"low": 0.38, "high": 0.65}}
    pair = {"levels": ["1", "16"], "difference": 0.05, **ends}
    factor = {**FACTOR, "metric": "rtt_mean", "unit": "s", "levels": ["1", "16"], "means": [0.1, 0.15]}
    assert cells(page({**factor, **stated, "widest": pair}))["difference [95 %]"] == shown


def test_many_levels_have_the_lowest_and_the_highest_mean() -> None:
    many = {**FACTOR, "levels": list("12345"), "means": [0.2, 0.1, 0.4, 0.3, 0.25]}
    told = cells(page({**many, "widest": {**FACTOR["widest"], "levels": ["3", "2"]}}))
    assert (told["lowest mean"], told["highest mean"], told["between"]) == ("10.0 (2)", "40.0 (3)", "3 and 2")


@pytest.mark.parametrize(
    ("effect", "status"), [("flows.1.count", "does not matter"), ("flows.1.count x flows.0.cca", "matters")]
)
def test_all_tests_have_the_words_of_the_conclusion(effect: str, status: str) -> None:
    row = {**ROW, "effect": effect, "verdict": "different", "point": FACTOR["point"]}
    same = {**FACTOR, "status": "does not matter"}
    rows, found = joined([{"rows": [row], "factors": [same]}])["rows"], factors_in({"factors": [same]})
    made = in_words(rows, found, Labels())
    assert [each["verdict"] for each in made] == [status]
    (section,) = (each for each in page(same, row=row).parts[0].details if each.heading == "All tests")
    assert status in str(section)
    assert "different" not in str(section)


def test_all_tests_have_labels_and_units_instead_of_keys() -> None:
    loss = "topology.bottleneck.loss.probability"
    factor = {**FACTOR, "factor": loss, "levels": ["0.0001", "0.001"], "means": [0.6, 0.4]}
    factor |= {"largest": {**FACTOR["widest"], "levels": ["0.0001", "0.001"]}}
    factor["widest"] = factor["largest"]
    row = {**ROW, "effect": loss, "point": {"flows.1.cca": "cubic"}, "n": 4, "planned": False}
    pair = {**row, "effect": "0.001 - 0.0001", "levels": ["0.0001", "0.001"]}
    found = page_of_file(joined([{"kind": "test", "rows": [row, pair], "factors": [factor]}]))
    (section,) = (each for each in found.parts[0].details if each.heading == "All tests")
    (all_tests,) = section.blocks
    assert isinstance(all_tests, Table)
    headings = [column.name for column in all_tests.columns]
    assert {"algorithm", "declared beforehand", "runs"} <= {*headings}
    told = [dict(zip(headings, each, strict=True)) for each in all_tests.rows]
    assert [each["effect"] for each in told] == ["loss", "0.1 % - 0.01 %"]
    assert {"loss 0.01 %", "loss 0.1 %"} <= {column.name for column in table(found).columns}


def test_rows_have_the_order_of_their_file() -> None:
    others = [{**FACTOR, "entry": None, "of": "all flows"}, {**FACTOR, "entry": 1, "of": "beside"}]
    assert [row[1] for row in table(page(*others, FACTOR)).rows] == ["all flows", "beside", "mine"]


def test_without_runs_the_figure_has_the_widest_differences_in_margins() -> None:
    figure = page(FACTOR).parts[0].figure
    assert isinstance(figure, Figure)
    assert isinstance(figure.chart, Forest)
    (drawn,) = figure.chart.differences
    assert (drawn.value, drawn.low, drawn.high) == pytest.approx(
        (-0.533 / 0.03, -0.571 / 0.03, -0.495 / 0.03)
    )
    assert drawn.label == "goodput share, mine, buffer 0.5 BDP, number of flows 1 and 16"


def test_the_largest_difference_is_that_of_means_and_not_the_least_sure_one() -> None:
    means = {"levels": ["1", "2", "16"], "means": [0.0363, 0.0473, 0.1105], "metric": "rtt_mean", "unit": "s"}
    widest = {"levels": ["2", "16"], "difference": 0.0632, "margin": 0.0038}
    ends = {"interval": {"low": 0.0737, "high": 0.0747}, "relative_interval": {"low": 2.03, "high": 2.06}}
    largest = {"levels": ["1", "16"], "difference": 0.0742, **ends, "margin": 0.0029}
    found = page({**FACTOR, **means, "widest": widest, "largest": largest})
    told = cells(found)
    assert told["between"] == "1 and 16"
    assert "[+203, +206]" in told["largest difference [95 %]"]
    figure = found.parts[0].figure
    assert isinstance(figure, Figure)
    assert isinstance(figure.chart, Forest)
    assert figure.chart.differences[0].value == pytest.approx(0.0742 / 0.0029)
    older = cells(page({**FACTOR, **means, "widest": widest}))
    assert (older["between"], older["largest difference [95 %]"]) == ("1 and 16", "+204 %")


@pytest.mark.parametrize(
    "damage",
    [
        {"levels": ["1"]},
        {"means": [1.0]},
        {"metric": "speed"},
        {"widest": None},
        {"status": "<b>"},
        {"of": 3},
    ],
)
def test_damaged_factors_leave_the_rows(damage: dict[str, Any]) -> None:
    found = page({**FACTOR, **damage})
    assert table(found).caption == "Rows of test"


@pytest.fixture
def tested(fullpipe: FullPipe, tmp_path: Path) -> Path:
    """A folder with the runs of a sweep, and a test of them."""
    base = scenario().to_dict() | {"sweep": {"topology.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]}}
    (tmp_path / "line.toml").write_text(Scenario(**base).to_toml(), encoding="utf-8")
    fullpipe("run", "line.toml", "--seeds", 3, "--out", "kept")
    words = ("--factor", "topology.bottleneck.rate", "--metric", "share", "--of", "cubic-1")
    assert fullpipe("test", "kept", *words, "-o", "t.json").exit_code == 0
    return tmp_path


def test_a_test_has_the_parts_of_every_report(fullpipe: FullPipe, tested: Path) -> None:
    fullpipe("report", "t.json", "-o", "t.md")
    text = (tested / "t.md").read_text(encoding="utf-8")
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads[1:4] == ["## Conclusion", "## Results", "## Details"]
    assert {"### All tests", "### Means", "### Every run", "## Provenance", "## Data"} <= set(heads)
    assert "6 runs of 2 points over rate, seeds 1 to 3" in text
    assert "goodput share of cubic-1 over rate: means and 95 % intervals" in text
    assert "- Link 1, bottleneck: 5 to 10 Mbit/s" in text
    assert "rows.json, values.csv, line.toml" in text
    made = text.partition("(times and hashes differ), in this order:")[2].split("```")[1].splitlines()
    assert [line.split()[1] for line in made[1:]] == ["run", "test", "report"]


def test_rows_have_the_order_of_the_sentences(fullpipe: FullPipe, tmp_path: Path) -> None:
    sweep = {"flows.0.cca": ["cubic", "bbr3"], "topology.bottleneck.rate": ["5 Mbit/s", "20 Mbit/s"]}
    made = Scenario(**scenario().to_dict() | {"sweep": sweep})
    (tmp_path / "two.toml").write_text(made.to_toml(), encoding="utf-8")
    fullpipe("run", "two.toml", "--seeds", 4, "--out", "kept")
    words = ("--metric", "goodput", "--metric", "wire", "--of", "flows.0", "-o", "t.json")
    fullpipe("test", "kept", "--factor", ",".join(sweep), *words)
    fullpipe("report", "t.json", "-o", "t.md")
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (algorithm|rate) \| (goodput|rate on the wire) ", text, re.MULTILINE)
    told = re.findall(r"^- (\w+) .*, (goodput|rate on the wire) of flows.0\b", text, re.MULTILINE)
    assert [(factor.lower(), metric) for factor, metric in told] == rows
    assert len(rows) == 4


def test_a_file_alone_has_the_path_and_the_commands(fullpipe: FullPipe, tested: Path) -> None:
    (tested / "kept").rename(tested / "away")
    fullpipe("report", "t.json", "-o", "t.md")
    text = (tested / "t.md").read_text(encoding="utf-8")
    assert "3 seeds, simulated with fullpipe's native engine, fullpipe " in text
    assert "- Link 1, bottleneck: 5 to 10 Mbit/s" in text
    assert "fullpipe run line.toml --seeds 3 --out kept\nfullpipe test kept" in text
