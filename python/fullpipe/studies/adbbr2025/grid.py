"""Every point of the grids over Wi-Fi and 5G beside the printed values: a table per experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fullpipe import files, markdown
from fullpipe.studies.adbbr2025 import mobile, wifi
from fullpipe.studies.claim_checks import ClaimResult, Part
from fullpipe.studies.claims import NUMBERS
from fullpipe.studies.text import Aligned
from fullpipe.studies.verdicts import Verdict

TITLES: Mapping[str, str] = {
    wifi.DOWNLOAD: "Downloads over Wi-Fi",
    mobile.DOWNLOAD: "Downloads over 5G",
    wifi.FAIRNESS: "Flows of 10 and 50 ms over Wi-Fi",
    mobile.FAIRNESS: "Flows of 10 and 50 ms over 5G",
}
"""Titles by experiment, in the order of the tables."""
QUANTITIES = {"nominal_percent": "rate, % above", "jain": "index, % above", "short_share": "share"}
BESIDE = "rtt"
"""The condition whose values have columns; those of all others have rows."""
PRINTED = "printed"
POINTS = "points.md"
"""The file of the tables."""


def sections(checked: Sequence[ClaimResult]) -> list[str | Aligned]:
    """Return the tables with an introduction; empty if there are no such runs."""
    found = {title: rows(checked, experiment) for experiment, title in TITLES.items()}
    shown = [part for title, table in found.items() if table for part in (f"{title}:", _shown(table))]
    head = "Every point of the grids, under the reading that counts; + is as printed."
    return [head, *shown] if shown else []


def write(checked: Sequence[ClaimResult], folder: Path) -> list[Path]:
    """Write the tables as Markdown, each below its title, for the page of the study."""
    found = {title: rows(checked, experiment) for experiment, title in TITLES.items()}
    tables = [
        "\n".join([f"## {title}", "", *markdown.table(table[0], ["---"] * len(table[0]), table[1:])])
        for title, table in found.items()
        if table
    ]
    if not tables:
        return []
    path = folder / POINTS
    files.write(path, ("\n\n".join(tables) + "\n").encode())
    return [path]


def rows(checked: Sequence[ClaimResult], experiment: str) -> list[list[str]]:
    """Return the heads, the printed values, and a row per point of an experiment; empty without runs."""
    columns: dict[str, dict[tuple[str, ...], str]] = {}
    printed: dict[str, str] = {}
    seen: set[str] = set()
    keys: tuple[str, ...] = ()
    for result in checked:
        claim = result.claim
        at_each = claim.kind in NUMBERS and "cell" in claim.at_each and claim.experiment == experiment
        if claim.id in seen or not at_each:
            continue
        seen.add(claim.id)
        keys = tuple(key for key in claim.at_each if key != BESIDE)
        for part in result.numbers:
            heading = _heading(result, part)
            printed[heading] = _printed(result)
            columns.setdefault(heading, {})[tuple(str(part.where[key]) for key in keys)] = _cell(part)
    points = dict.fromkeys(point for column in columns.values() for point in column)
    if not points:
        return []
    filled = [[*point, *(column.get(point, "") for column in columns.values())] for point in points]
    blank = [""] * (len(keys) - 1)
    return [[*keys, *columns], [PRINTED, *blank, *(printed[name] for name in columns)], *filled]


def _shown(table: Sequence[Sequence[str]]) -> Aligned:
    """Return an aligned table. Columns with a printed number are right-aligned; the others are conditions."""
    return Aligned(table, right=[i for i, cell in enumerate(table[1]) if i and cell])


def _heading(result: ClaimResult, part: Part) -> str:
    """Return the quantity, its algorithm or the one it is compared with, and the RTT."""
    claim = result.claim
    against = claim.what["against"] if claim.kind == "change" else None
    name = against or part.where.get("algorithm") or claim.where.get("algorithm")
    beside = f", {part.where[BESIDE]}" if BESIDE in part.where else ""
    return f"{QUANTITIES[claim.quantity]} {name}{beside}"


def _printed(result: ClaimResult) -> str:
    assert result.claim.between is not None
    return f"{result.claim.between.middle:.3g}"


def _cell(part: Part) -> str:
    mark = "+" if part.result.verdict is Verdict.REPRODUCED else " "
    return f"{part.mean:.3g} {mark}" if part.mean is not None else ""
