"""The folders of the Python package: few, and each in the table of ARCHITECTURE.md."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "python" / "fullpipe"
FOLDERS = {path.parent for path in PACKAGE.glob("*/*") if path.parent.name != "__pycache__"}


def test_there_are_at_most_twelve_folders() -> None:
    assert len(FOLDERS) <= 12


def test_the_table_of_places_has_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `python/fullpipe/(\w+)`", text, flags=re.MULTILINE))
    assert told == {folder.name for folder in FOLDERS}
