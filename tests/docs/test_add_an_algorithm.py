"""Excerpts of docs/how-to/add-an-algorithm.md are of a program; `test_recipes.py` performs its steps."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_excerpts_are_of_the_example_that_is_run() -> None:
    page = (ROOT / "docs" / "how-to" / "add-an-algorithm.md").read_text(encoding="utf-8")
    alone = page.split("\n## The crate alone\n", 1)[1]
    program = (ROOT / "crates" / "congestion" / "examples" / "bare_loop.rs").read_text(encoding="utf-8")
    lines = [line.strip() for line in program.splitlines()]
    excerpts = re.findall(r"^```rust\n(.*?)^```$", alone, re.DOTALL | re.MULTILINE)
    assert excerpts
    for line in "".join(excerpts).splitlines():
        assert line.strip() in lines
