"""What the documentation shows of Rust is what cargo compiles: the examples of the crate fullpipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CRATE = ROOT / "crates" / "fullpipe"


def shown(page: Path) -> list[str]:
    """The Rust blocks of a page."""
    return re.findall(r"^```rust\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "examples"),
    [
        (CRATE / "README.md", ["dumbbell"]),
        (ROOT / "docs" / "how-to" / "rust.md", ["dumbbell", "own_parts"]),
    ],
    ids=["readme", "how-to"],
)
def test_a_page_shows_examples_as_they_are(page: Path, examples: list[str]) -> None:
    files = [CRATE / "examples" / f"{name}.rs" for name in examples]
    assert shown(page) == [file.read_text(encoding="utf-8") for file in files]
