"""Files that reports read: what `compare`, `check` and `test` write, and lines of their `--json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe.errors import NoRunError, brief
from fullpipe.report.rows import with_sides
from fullpipe.report.text import listed
from fullpipe.runs.meta import versions
from fullpipe.validation.compare.stored import FORMAT

_LARGEST = 50_000_000
_DEEPEST = 32
"""Lists and objects within each other."""


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
    """Return the object of a file or a request if it has rows.

    Raises:
        NoRunError: If it is none, or is nested too deep.
    """
    if not isinstance(found, dict) or not _are_rows(found.get("rows")):
        told = "give a file that compare -o, check or test wrote, or a folder of runs"
        raise NoRunError(f'{where}: has no "rows"; {told}')
    version = found.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise NoRunError(
            f"{where}: has format {brief(str(version))}, and this version reads {FORMAT}; update fullpipe"
        )
    _check_depth(where, found)
    return found


def file_of(comparisons: Sequence[Mapping[str, Any]], command: str) -> dict[str, Any]:
    """Return rows, title and question of a file of comparisons; each row has its point and both sides.

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


def _no_json(path: Path, error: Exception) -> str:
    """Say why a file is no JSON; of a scenario, how to make its runs."""
    if path.suffix == ".toml":
        return f"is a scenario; run it with `fullpipe run {path.name} --out FOLDER`, and report that folder"
    return f"is no JSON: {error}"


def _of_lines(path: Path, text: str) -> dict[str, Any]:
    try:
        objects = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise NoRunError(f"{path}: {_no_json(path, error)}") from error
    if not objects or not all(isinstance(one, dict) and _are_rows(one.get("rows")) for one in objects):
        raise NoRunError(f'{path}: has lines without "rows"')
    return joined(objects)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def joined(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the objects that `compare --json` prints for several points or variants."""
    rows = [row for one in objects for row in with_sides(one)]
    notes = list(dict.fromkeys(str(note) for one in objects for note in notes_of(one)))
    is_of_sides = any(isinstance(one.get("variant"), str) for one in objects)
    aside = ("rows", "notes", "findings", *(("point", "reference", "variant") if is_of_sides else ()))
    shared = {
        key: value
        for key, value in objects[0].items()
        if key not in aside and all(one.get(key) == value for one in objects)
    }
    stored = [each for one in objects for each in one.get("findings") or []]
    return {**shared, **({"findings": stored} if stored else {}), "rows": rows, "notes": notes}


def notes_of(found: Mapping[str, Any]) -> Sequence[Any]:
    """Notes of a file, if they are a list."""
    notes = found.get("notes")
    return notes if isinstance(notes, list) else []
