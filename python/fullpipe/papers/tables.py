"""Judged claims and the set-up, as text, as Markdown and as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.papers.claims import Judged
from fullpipe.papers.experiments import Measurements
from fullpipe.papers.report import Settings
from fullpipe.papers.text import aligned, shortened, tally, wrapped
from fullpipe.papers.transcription import Transcription
from fullpipe.papers.verdicts import RULE, RULE_FOR_WORDS, Verdict

SCHEMA = {
    "where": pl.String,
    "printed": pl.String,
    "reading": pl.String,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
    "unit": pl.String,
    "held": pl.Int64,
    "compared": pl.Int64,
    "verdict": pl.String,
    "closest": pl.Boolean,
}


RULES = "The rule for a number, in this order:\n" + RULE + "\n\n" + RULE_FOR_WORDS


def write(settings: Settings, found: Measurements, judged: Sequence[Judged]) -> list[Path]:
    """Everything that was measured, and the verdicts as a table and as a page."""
    folder, engine = settings.folder, settings.engine
    folder.mkdir(parents=True, exist_ok=True)
    numbers, verdicts, page = (folder / name for name in ("measured.csv", "verdicts.csv", "verdicts.md"))
    by(engine, found.table()).write_csv(numbers, float_precision=6)
    by(engine, table(judged)).write_csv(verdicts, float_precision=6)
    page.write_text(markdown(judged, f"ours ({engine})"), encoding="utf-8")
    return [numbers, verdicts, page]


def by(engine: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table that says whose numbers it has."""
    return table.select(pl.lit(engine).alias("engine"), pl.all())


def report(
    source: Transcription,
    judged: Sequence[Judged],
    seeds: int,
    remarks: str,
    *,
    sections: Iterable[str] = (),
    setup: str = "The set-up, as printed and as used here:",
    quick: bool = False,
) -> str:
    """The printed report of a study that has claims.

    Args:
        source: What is printed there.
        judged: Its claims.
        seeds: How many runs ours is over.
        remarks: What "ours" is, behind "ours over 5 seeds and its 95 % interval".
        sections: What comes between the verdicts and their rules.
        setup: What stands above the set-up.
        quick: Whether runs are shorter than the study's.
    """
    how = (
        f"Every printed number and claim, with ours over {seeds} seeds"
        + (" and its 95 % interval" if seeds > 1 else "")
        + remarks
        + (" This is the quick form: shorter runs than the study's." if quick else "")
    )
    verdicts = (verdict_text(judged), tallies(judged))
    parts = (source.title, wrapped(how), *verdicts, *sections, RULES, setup, setup_text(source.setup))
    return "\n\n".join(parts)


def table(judged: Sequence[Judged]) -> pl.DataFrame:
    """One row per claim and reading."""
    rows = []
    for j in judged:
        low, high = j.ends or (None, None)
        row = (j.claim.id, j.claim.says, j.reading, j.mean, low, high, j.claim.unit, j.held, j.compared)
        rows.append((*row, str(j.verdict), j.closest))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def verdict_text(judged: Sequence[Judged]) -> str:
    """A block of rows per claim, a row per reading."""
    rows = [["where", "printed", "reading", "ours", "verdict"]]
    for _, group in groupby(judged, key=lambda j: j.claim.id):
        for i, j in enumerate(group):
            first = [j.claim.id, shortened(j.claim.says, 48)] if i == 0 else ["", ""]
            reading = j.reading + (" *" if j.closest else "") if j.reading else ""
            rows.append([*first, reading, _ours(j, 48), str(j.verdict)])
    return aligned(rows if _has_readings(judged) else [_without(2, row) for row in rows])


def markdown(judged: Sequence[Judged], ours: str = "ours") -> str:
    """A row per claim: ours by the first reading, and by those that come closest."""
    header = ["where", "printed", ours, "verdict", "closest"]
    rows = [header, ["---"] * len(header)]
    for _, group in groupby(judged, key=lambda j: j.claim.id):
        readings = list(group)
        first, closest = readings[0], [j for j in readings if j.closest]
        ours = f"{first.reading}: {_ours(first)}" if first.reading else _ours(first)
        rows.append(
            [first.claim.id, first.claim.says, ours, str(first.verdict), _closest(closest, len(readings))]
        )
    if not _has_readings(judged):
        rows = [_without(4, row) for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def setup_text(setup: Sequence[Mapping[str, Any]]) -> str:
    """What is printed of the set-up, and what was used."""
    rows = [["where", "printed", "here"]]
    for row in setup:
        remark = f" ({Verdict.CONTRADICTED})" if row.get("contradicted") else ""
        rows.append([row["id"], row["says"] + remark, row["used"]])
    return aligned(rows)


def _has_readings(judged: Sequence[Judged]) -> bool:
    return any(j.reading for j in judged)


def _without(column: int, row: Sequence[str]) -> list[str]:
    return [*row[:column], *row[column + 1 :]]


def _closest(closest: Sequence[Judged], readings: int) -> str:
    if not closest:
        return ""
    if len(closest) == readings:
        return "all alike"
    best = closest[0]
    return f"{', '.join(j.reading for j in closest)}: {_ours(best)}, {best.verdict}"


def _ours(j: Judged, width: int = 200) -> str:
    if j.claim.kind in ("contradicted", "untestable"):
        return shortened(str(j.claim.what), width)
    if j.mean is None:
        return f"{j.held} of {j.compared} hold" if j.compared else "-"
    ends = f" [{j.ends[0]:.3g}, {j.ends[1]:.3g}]" if j.ends else ""
    return f"{j.mean:.3g}{ends} {j.claim.unit}".rstrip()


def tallies(judged: Sequence[Judged]) -> str:
    """How often each verdict was given, of claims about readings for each of them."""
    about = [j for j in judged if j.reading]
    rest = [j for j in judged if not j.reading]
    lines = [f"{'other ' if about else ''}claims, {len(rest)}: {tally(j.verdict for j in rest)}"]
    for reading in dict.fromkeys(j.reading for j in about):
        mine = [j for j in about if j.reading == reading]
        closest = sum(j.closest for j in mine)
        lines.append(f"{reading}, {len(mine)}: {tally(j.verdict for j in mine)}; {closest} times closest")
    return "\n".join(lines)
