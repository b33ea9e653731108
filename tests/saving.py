"""Files that a chart saves, by a click in Chromium, and what is in them."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.image
import numpy as np

SVG = "{http://www.w3.org/2000/svg}"
DOTS = 4
"""Pixels of a PNG per pixel of a screen."""
WIDTH, PAGE = DOTS * 336, DOTS * 672
"""Pixels of a PNG of a chart with axes, and of a drawing over both columns of a paper."""
COLUMN_POINTS = 3.5 * 72


def saved(menu: Any, kind: str, folder: Path) -> Path:
    """A file of the menu of a chart."""
    menu.locator("summary").click()
    with menu.page.expect_download() as waiting:
        menu.get_by_role("button", name=kind).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.suffix == f".{kind.lower()}"
    return path


def table(path: Path) -> tuple[list[str], list[list[str]]]:
    """The head of a table, and its rows."""
    head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    assert {len(row) for row in rows} == {len(head)}
    return head, rows


def numbers(path: Path, column: int) -> list[float]:
    """A column; NaN where it is empty."""
    return [float(row[column] or "nan") for row in table(path)[1]]


def words(path: Path) -> list[str]:
    """The texts of a picture that needs nothing but itself."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    used = {(each.tag, name, value) for each in root.iter() for name, value in each.attrib.items()}
    assert [each for each in used if re.search(r"class|style|href|var\(|script", " ".join(each))] == []
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def smallest_letters(path: Path) -> float:
    """The size of the smallest text of a picture that is as wide as a column of a paper, in points."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    width = float(root.attrib["viewBox"].split()[2])
    return min(float(each.attrib["font-size"]) for each in root.iter(f"{SVG}text")) * COLUMN_POINTS / width


def strokes(path: Path) -> list[str]:
    """The colours that lines of a picture have."""
    found = ElementTree.fromstring(path.read_text(encoding="utf-8")).iter()
    return [each.attrib["stroke"] for each in found if each.attrib.get("fill") == "none"]


def picture(path: Path) -> Any:
    """Points of a picture, which is white at its edge and has something on it."""
    found = matplotlib.image.imread(path)
    assert np.all(found[0] == 1.0)
    assert np.any(found != 1.0)
    return found
