"""Every point of the Wi-Fi grid beside what is printed: a row per cell, errors and buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullpipe.studies.claim_checks import ClaimResult, Part
from fullpipe.studies.text import aligned
from fullpipe.studies.verdicts import Verdict

HEADINGS: Mapping[str, str] = {
    "Fig. 7: BBRv1, each cell": "rate, % above",
    "Fig. 7: BBRv3, each cell": "rate, % above",
    "Fig. 13: BBRv1, each cell": "index, % above",
    "Fig. 13: BBRv3, each cell": "index, % above",
    "Fig. 13: share of BBRv1, each cell": "share",
    "Fig. 13: share of BBRv3 and BBQ, each cell": "share",
    "Fig. 13: share of CUBIC and Reno, each cell": "share",
}
"""Of the claims that are judged at every point."""
CONDITIONS = ("cell", "errors", "buffer")
PRINTED = "printed"


def text(checked: Sequence[ClaimResult]) -> str:
    """The table, and what it shows; nothing if there are no runs over Wi-Fi."""
    found = rows(checked)
    if not found:
        return ""
    head = "Every point of the Wi-Fi grid, under the reading that counts; + is as printed:"
    return f"{head}\n\n{aligned(found, right=range(len(CONDITIONS), len(found[0])))}"


def rows(checked: Sequence[ClaimResult]) -> list[list[str]]:
    """Heads, what is printed, and a row per point; nothing if there are no runs over Wi-Fi."""
    columns: dict[str, dict[tuple[str, ...], str]] = {}
    seen: set[str] = set()
    for result in checked:
        name = result.claim.id
        if name in seen or name not in HEADINGS:
            continue
        seen.add(name)
        for part in result.numbers:
            column = columns.setdefault(_heading(result, part), {(PRINTED, "", ""): _printed(result)})
            column[tuple(str(part.where[key]) for key in CONDITIONS)] = _cell(part)
    points = dict.fromkeys(point for column in columns.values() for point in column)
    if not points:
        return []
    heads = [*CONDITIONS, *columns]
    return [heads, *([*point, *(column.get(point, "") for column in columns.values())] for point in points)]


def _heading(result: ClaimResult, part: Part) -> str:
    """The quantity, and of which algorithm, or above which, it is."""
    claim = result.claim
    against = claim.what["against"] if claim.kind == "change" else None
    name = against or part.where.get("algorithm") or claim.where.get("algorithm")
    return f"{HEADINGS[claim.id]} {name}"


def _printed(result: ClaimResult) -> str:
    assert result.claim.between is not None
    return f"{result.claim.between.middle:.3g}"


def _cell(part: Part) -> str:
    mark = "+" if part.result.verdict is Verdict.REPRODUCED else " "
    return f"{part.mean:.3g} {mark}" if part.mean is not None else ""
