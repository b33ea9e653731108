"""Tables of text as CSV, Markdown and LaTeX, and on terminals of any width."""

import csv
import sys
from io import StringIO

import pytest
from rich.console import Console

from fullpipe.cli.forms import Form, Grid, drawn, show, text_of

GRID = Grid(
    ["queue", "flows"],
    ["goodput\nMbit/s", "share"],
    [["a|b_c", "50 % & <i>", "1.5", "-"], ["x", "y", "2", "3"]],
)


def test_as_csv_it_is_read_back_as_it_was() -> None:
    assert list(csv.reader(StringIO(text_of(GRID, Form.CSV)))) == [GRID.headings, *map(list, GRID.rows)]


def test_as_markdown_no_cell_is_markup() -> None:
    lines = text_of(GRID, Form.MARKDOWN).splitlines()
    assert lines[1] == "| --- | --- | --: | --: |"
    assert lines[2] == r"| a\|b\_c | 50 % &amp; &lt;i&gt; | 1.5 | - |"


def test_as_latex_no_cell_is_a_command() -> None:
    lines = text_of(GRID, Form.LATEX).splitlines()
    assert lines[0] == r"\begin{tabular}{llrr}"
    assert lines[4] == r"a|b\_c & 50 \% \& <i> & 1.5 & - \\"


@pytest.mark.parametrize(
    ("text", "written"), [("a\\b", r"a\textbackslash{}b"), ("~^", r"\textasciitilde{}\textasciicircum{}")]
)
def test_latex_prints_what_it_would_obey(text: str, written: str) -> None:
    assert written in text_of(Grid([text], [], []), Form.LATEX)


@pytest.mark.parametrize(("width", "tables"), [(200, 1), (30, 2)])
def test_a_table_that_is_too_wide_is_several(width: int, tables: int) -> None:
    assert len(list(drawn(GRID, width))) == tables


def test_a_row_without_numbers_is_left_out_of_a_part() -> None:
    printed = StringIO()
    Console(file=printed, width=100).print(list(drawn(GRID, 30))[1])
    assert "a|b_c" not in printed.getvalue()


@pytest.mark.parametrize(("to", "lines"), [("a terminal", 62), ("a file", 101)])
def test_a_long_table_is_cut_on_a_terminal_only(
    to: str, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: to == "a terminal")
    show(Grid(["n"], ["value"], [(str(n), "1") for n in range(100)]), Form.TABLE)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == lines
    assert ("40 more rows: --format csv prints all" in shown) == (to == "a terminal")
