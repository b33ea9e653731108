"""Make a page and an .ipynb of every notebook: `python -m scripts.notebooks FOLDER` writes both there.

A notebook is a script of docs/notebooks whose cells begin with `# %%`; those in Markdown are comments below
`# %% [markdown]`. Each notebook runs in a separate process and folder. Below a cell are its output and
the figure that its last line names."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
_CELL = re.compile(r"^# %%(?P<markdown> \[markdown\])?\n(?P<text>.*?)(?=^# %%|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """Text in Markdown, or code with its output and figure."""

    text: str
    is_code: bool
    printed: str = ""
    drawn: str = ""
    """An SVG."""


def scripts() -> list[Path]:
    """All notebooks."""
    return sorted(SOURCES.glob("*.py"))


def cells(script: str) -> list[Cell]:
    """The cells of a script, not run. Raises ValueError for text outside of cells."""
    if not script.startswith("# %%"):
        raise ValueError("a notebook begins with a cell")
    return [
        Cell(re.sub(r"^# ?", "", found["text"], flags=re.MULTILINE).strip(), is_code=False)
        if found["markdown"]
        else Cell(found["text"].strip(), is_code=True)
        for found in _CELL.finditer(script)
    ]


def executed(script: Path) -> list[Cell]:
    """Run the cells in another process. Raises CalledProcessError if one fails."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "cells.json"
        command = [sys.executable, __file__, "--run", str(script), str(answer)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return [Cell(**one) for one in json.loads(answer.read_text(encoding="utf-8"))]


def run(script: Path) -> list[Cell]:
    """Run the cells in this process."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run(cell, names) if cell.is_code else cell for cell in cells(script.read_text(encoding="utf-8"))]


def _run(cell: Cell, names: dict[str, Any]) -> Cell:
    body = ast.parse(cell.text).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        value = (
            eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if isinstance(last, ast.Expr)
            else None
        )
    return Cell(cell.text, is_code=True, printed=printed.getvalue(), drawn=_svg(value))


def _svg(value: Any) -> str:
    if not hasattr(value, "savefig"):
        return ""
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.hashsalt": "fullpipe"}):
        value.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def page(name: str, of: Sequence[Cell]) -> str:
    """The page of a notebook, whose figures are files beside it."""
    parts = []
    for number, cell in enumerate(of):
        if not cell.is_code:
            parts.append(cell.text)
            continue
        parts.append(f"```python\n{cell.text}\n```")
        parts += [f"```text\n{cell.printed.rstrip()}\n```"] if cell.printed else []
        parts += [f"![What the cell draws]({name}-{number}.svg)"] if cell.drawn else []
    parts.insert(
        1, f"This page is a notebook: [{name}.ipynb]({name}.ipynb), or as a script [{name}.py]({name}.py)."
    )
    return "\n\n".join(parts) + "\n"


def ipynb(of: Sequence[Cell]) -> str:
    """The notebook in Jupyter's format (nbformat 4.5), with its output; figures appear when it is run."""
    found = [_of_jupyter(f"cell-{number}", cell) for number, cell in enumerate(of)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    tree = {"cells": found, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(tree, indent=1, ensure_ascii=False) + "\n"


def _of_jupyter(name: str, cell: Cell) -> dict[str, Any]:
    head = {"id": name, "metadata": {}, "source": cell.text.splitlines(keepends=True)}
    if not cell.is_code:
        return {"cell_type": "markdown", **head}
    printed = {"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)}
    return {"cell_type": "code", "execution_count": None, "outputs": [printed] * bool(cell.printed), **head}


def write(folder: Path) -> int:
    """Run all notebooks, and write page, .ipynb and figures of each; returns how many.

    Raises:
        ValueError: If one does not end with a figure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for script in scripts():
        of = executed(script)
        if not of[-1].drawn:
            raise ValueError(f"{script}: the last line of the last cell is no figure")
        (folder / f"{script.stem}.md").write_text(page(script.stem, of), encoding="utf-8")
        (folder / f"{script.stem}.ipynb").write_text(ipynb(of), encoding="utf-8")
        for number, cell in enumerate(of):
            if cell.drawn:
                (folder / f"{script.stem}-{number}.svg").write_text(cell.drawn, encoding="utf-8")
    return len(scripts())


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        made = [asdict(cell) for cell in run(Path(sys.argv[2]))]
        Path(sys.argv[3]).write_text(json.dumps(made), encoding="utf-8")
    else:
        print(f"{write(Path(sys.argv[1]))} notebooks")
