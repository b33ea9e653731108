"""The reference pages say what the code says."""

from __future__ import annotations

import sys
from pathlib import Path

from fullpipe import _native

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from scripts.reference_pages import algorithms_page


def test_every_algorithm_shows_the_headings_of_its_file() -> None:
    page = algorithms_page()
    assert page.count("### Deviations from the source") == len(_native.controllers())
