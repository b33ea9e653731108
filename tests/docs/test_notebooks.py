"""Notebooks run as plain scripts and print an answer; their pages and .ipynb have every cell.

That each ends with a figure holds where the pages are made."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from scripts.notebooks import Cell, cells, ipynb, page, run, scripts

SCRIPTS = scripts()
CELLS = [Cell("# A title\n\nA text.", is_code=False), Cell("print(1)", is_code=True, printed="1\n")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_is_a_script_that_prints_an_answer(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if script.stem == "sweep_and_sql":
        pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(script)])
    monkeypatch.syspath_prepend(script.parent)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.splitlines()[-1].startswith("Answer: ")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_a_title_and_ends_with_code(script: Path) -> None:
    found = cells(script.read_text(encoding="utf-8"))
    assert found[0].text.startswith("# ")
    assert not found[0].is_code
    assert found[-1].is_code


def test_a_cell_keeps_what_it_prints_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "# %%\nfrom fullpipe import plots\nprint(2)\n# %%\nplots.new_figure()[0]\n"
    Path("two.py").write_text(text, encoding="utf-8")
    first, second = run(Path("two.py"))
    assert (first.printed, first.drawn) == ("2\n", "")
    assert "<svg" in second.drawn


def test_text_outside_of_cells_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a cell"):
        cells("import fullpipe\n# %%\n")


def test_a_page_has_every_cell_with_what_it_printed() -> None:
    text = page("first", CELLS)
    assert "A text." in text
    assert "```python\nprint(1)\n```\n\n```text\n1\n```" in text
    assert "(first.ipynb)" in text


def test_an_ipynb_has_every_cell_with_what_it_printed() -> None:
    tree = json.loads(ipynb(CELLS))
    assert (tree["nbformat"], tree["nbformat_minor"]) == (4, 5)
    words, code = tree["cells"]
    assert "".join(words["source"]) == CELLS[0].text
    assert code["outputs"][0]["text"] == ["1\n"]
