"""A page about a file that `compare`, `check` or `test` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.errors import NoRunError
from fullpipe.report.basis import of_json
from fullpipe.report.budget import Budget
from fullpipe.report.content import (
    Block,
    Code,
    Difference,
    Document,
    Download,
    Figure,
    Forest,
    Items,
    Section,
    Text,
)
from fullpipe.report.rows import interval_of, is_real, reference_of, table_of, text_of, with_sides
from fullpipe.report.said import HOW, by_how_much, summary, tally
from fullpipe.report.text import counted, listed
from fullpipe.runs.meta import versions

_TOP = ("kind", "title", "question", "verdict", "rows", "notes", "command", "versions", "basis")
"""Keys of a file that have a place of their own; all others are listed."""
_MOST_NOT_DRAWN = 12
_MOST_DIFFERENCES = 60
_LARGEST = 50_000_000
_DEEPEST = 32
"""Lists and objects within each other."""
_LARGEST_DRAWN = 1e9
"""In per cent; beyond it a reference is next to nothing."""

Row = Mapping[str, Any]


def read(path: Path) -> dict[str, Any]:
    """The object of a file; several lines of `--json` are one object with the rows of all.

    Raises:
        NoRunError: If the file cannot be read, or has no rows.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise NoRunError(f"{path}: more than {_LARGEST // 1_000_000} MB is no file of results")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NoRunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise NoRunError(f"{path}: is no text in UTF-8") from error
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = _of_lines(path, text)
    return joined([checked(path, found)])


def checked(where: Path | str, found: Any) -> dict[str, Any]:
    """What a file or a request has, if it is an object with rows.

    Raises:
        NoRunError: If it is none, or is nested too deep.
    """
    if not isinstance(found, dict) or not _are_rows(found.get("rows")):
        told = "give a file that compare -o, check or test wrote, or a folder of runs"
        raise NoRunError(f'{where}: has no "rows"; {told}')
    _check_depth(where, found)
    return found


def file_of(comparisons: Sequence[Mapping[str, Any]], command: str) -> dict[str, Any]:
    """What a file of comparisons says: every row with its point and both sides.

    Args:
        comparisons: As `VariantComparison.to_dict` gives them, one or more.
        command: What makes the file again.
    """
    first, others = comparisons[0], dict.fromkeys(str(one.get("variant")) for one in comparisons)
    scenario, reference = first.get("scenario"), first.get("reference")
    verb = "Is" if len(others) == 1 else "Are"
    return {
        "kind": "compare",
        "title": f"{scenario}: {listed(others)} against {reference}",
        "question": f"{verb} {listed(others)} better or worse than {reference} in {scenario}?",
        **joined(comparisons),
        "command": command,
        "versions": versions(),
    }


def _check_depth(path: Path | str, found: Any) -> None:
    layer = [found]
    for _ in range(_DEEPEST):
        layer = [part for each in layer for part in _parts(each)]
    if layer:
        raise NoRunError(
            f"{path}: lists and objects are nested deeper than {_DEEPEST}; that is no file of results"
        )


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _of_lines(path: Path, text: str) -> dict[str, Any]:
    try:
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise NoRunError(f"{path}: is no JSON: {error}") from error
    if not objects or not all(isinstance(one, dict) and _are_rows(one.get("rows")) for one in objects):
        raise NoRunError(f'{path}: has lines without "rows"')
    return joined(objects)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def joined(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `compare --json` prints of several points or variants, as one object."""
    rows = [row for one in objects for row in with_sides(one)]
    notes = list(dict.fromkeys(str(note) for one in objects for note in _notes(one)))
    is_of_sides = any(isinstance(one.get("variant"), str) for one in objects)
    aside = ("rows", "notes", *(("point", "reference", "variant") if is_of_sides else ()))
    shared = {
        key: value
        for key, value in objects[0].items()
        if key not in aside and all(one.get(key) == value for one in objects)
    }
    return {**shared, "rows": rows, "notes": notes}


def _notes(found: Mapping[str, Any]) -> Sequence[Any]:
    notes = found.get("notes")
    return notes if isinstance(notes, list) else []


def page_of_file(found: Mapping[str, Any], *, question: str = "", budget: Budget | None = None) -> Document:
    """What a file says: verdicts in words, a figure of differences, and all rows."""
    budget, rows = budget or Budget(), found["rows"]
    kind = text_of(found.get("kind") or "results")
    title = text_of(found.get("title") or found.get("scenario") or kind)
    asked = question or text_of(found.get("question") or f"What does {kind} say?")
    sections = [Section("Rows", list(_blocks(rows, found, budget)))]
    notes = [text_of(note) for note in _notes(found) if note]
    if notes:
        sections.append(Section("Notes", [Items(notes)]))
    if found.get("command"):
        sections.append(Section("Repetition", [Code(text_of(found["command"]), "This makes it again")]))
    facts = [(key.replace("_", " "), text_of(value)) for key, value in found.items() if key not in _TOP]
    versions = found.get("versions")
    facts += [(str(k), text_of(v)) for k, v in versions.items()] if isinstance(versions, Mapping) else []
    return Document(title, asked, list(_answer(found, rows)), sections, facts, of_json(found))


def _answer(found: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    if found.get("verdict"):
        yield f"Verdict: {text_of(found['verdict'])}."
    sides: dict[str, list[Row]] = {}
    for row in rows:
        sides.setdefault(_side(row), []).append(row)
    if len(sides) == 1 and found.get("kind") == "compare":
        yield from by_how_much(rows)
    given = tally(rows)
    if given:
        yield f"{counted(len(rows), 'row')}: {', '.join(f'{count} {word}' for word, count in given)}."
    if any(sides):
        yield from (f"{side or 'All'}: {summary(of)}." for side, of in list(sides.items())[:20])
        if len(sides) > 20:
            yield f"{len(sides) - 20} more comparisons are in the table."
    elif given:
        yield f"In detail: {summary(rows)}."
    elif not found.get("verdict"):
        yield f"{counted(len(rows), 'row')}, without verdicts."


def _side(row: Row) -> str:
    """What is held against what, or by what rows differ."""
    if row.get("effect"):
        return text_of(row["effect"])
    return f"{text_of(row['side'])} against {text_of(row.get('against'))}" if row.get("side") else ""


def _blocks(rows: Sequence[Row], found: Mapping[str, Any], budget: Budget) -> Iterator[Block]:
    chart = _forest(rows)
    if chart:
        told = "Differences with their 95 % intervals, in per cent of the reference"
        yield Figure(f"{told}{_not_drawn(rows)}.", chart, f"{told}; the numbers are in the table.")
    if found.get("kind") in ("check", "compare"):
        yield Text(HOW[found["kind"]])
    if rows:
        yield table_of(rows, f"All rows of {text_of(found.get('kind') or 'the file')}", budget.rows)
    data = json.dumps(list(rows), indent=1)
    if len(data) <= budget.csv_bytes:
        yield Download("rows.json", "application/json", data, "All rows, in base units.")


def _forest(rows: Sequence[Row]) -> Forest | None:
    """Differences in per cent of the reference, of rows that have one; of very many, those of all flows."""
    known = [(row, drawn) for row in rows if (drawn := _difference(row)) is not None]
    if len(known) > _MOST_DIFFERENCES:
        known = [(row, drawn) for row, drawn in known if row.get("of") in TOTALS]
    if not known or len(known) > _MOST_DIFFERENCES:
        return None
    return Forest("difference, % of the reference", [drawn for _, drawn in known])


def _not_drawn(rows: Sequence[Row]) -> str:
    """What has no per cent, with what is said of it."""
    left = [
        row for row in rows if row.get("difference") and is_real(row["difference"]) and not reference_of(row)
    ]
    names = [f"{_label(row)} ({row.get('verdict')})" for row in left]
    more = [f"{len(names) - _MOST_NOT_DRAWN} more"] if len(names) > _MOST_NOT_DRAWN else []
    told = listed([*names[:_MOST_NOT_DRAWN], *more])
    return f". Not drawn, as the reference is 0: {told}" if left else ""


def _difference(row: Row) -> Difference | None:
    """A row of the figure; None without a difference and a reference that give numbers to draw.

    The interval is truncated at the bounds of the metric, so that none goes below -100 %.
    """
    if not is_real(row.get("difference")) or not reference_of(row):
        return None
    reference, ends = reference_of(row), interval_of(row)
    scale = 100 / abs(reference)
    within = ends and ends.clipped(*bounds_of_difference(str(row.get("metric")), reference))
    low, high = (scale * within.low, scale * within.high) if within else (None, None)
    value, verdict = scale * row["difference"], str(row.get("verdict") or "")
    if not all(end is None or abs(end) < _LARGEST_DRAWN for end in (value, low, high)):
        return None
    return Difference(_label(row), value, low, high, verdict)


def _label(row: Row) -> str:
    """What a difference is of, and at which point."""
    paths = [key for key in row if "." in key]
    words = [row.get(key) for key in ("side", "effect", "case", "metric", "of", *paths, "test")]
    return " ".join(text_of(word) for word in words if word)
