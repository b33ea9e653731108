"""ARCHITECTURE.md is one page, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PATHS = re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE)


def test_the_architecture_is_one_page() -> None:
    assert len(TEXT.splitlines()) <= 130


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_the_architecture_exists(path: str) -> None:
    assert (ROOT / path).is_dir()


@pytest.mark.parametrize("folder", ["crates", "python/fullpipe"])
def test_every_folder_is_in_the_architecture(folder: str) -> None:
    inner = {path for path in (ROOT / folder).iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert inner == {ROOT / path for path in PATHS if (ROOT / path).parent == ROOT / folder}
