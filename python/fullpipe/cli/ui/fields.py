"""Data for the editor and the studies on the page: names, errors by line, fields, and printed values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel

from fullpipe import studies
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.errors import ResultError, ScenarioError
from fullpipe.scenario import Scenario, scenario_names
from fullpipe.scenario import catalogue as registry
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.later import models_in
from fullpipe.scenario.read.files import value_of
from fullpipe.studies.document import described
from fullpipe.validation.over import HEADLINES

# Names for the page's lists of choices, and labels and meanings of metrics.


_NOT_OF_LINKS = frozenset({"tbf", "police", "mac80211"})
"""Queues that the page does not offer: they need a rate of their own, or a cell."""


@cache
def catalogue() -> dict[str, Any]:
    """Names of algorithms, queues, scenarios and metrics with their titles, in the order of the registry."""
    return {
        "algorithms": [{"name": n, "title": e.title} for n, e in registry.controllers().items()],
        "queues": [
            {"name": n, "title": e.title} for n, e in registry.queues().items() if n not in _NOT_OF_LINKS
        ],
        "scenarios": scenario_names(),
        "metrics": {name: BY_NAME[name].label or name for name in HEADLINES},
        "meanings": {name: BY_NAME[name].meaning for name in HEADLINES},
    }


# Errors of a scenario, each with its line in the TOML text.


_HEADER = re.compile(r"(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?")
_KEY = re.compile(r"""((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*=""")
_DEEPEST = 32
"""Maximum number of dotted parts of a table name that are read."""
_LONGEST = 400
"""Maximum length of a name, in characters. Error messages have shorter lines, so they never contain a longer
name."""
_PATH = re.compile(r"([\w.\[\]*-]+): ")
_SYNTAX = re.compile(r"\(at line (\d+), column (\d+)\)")


def problems_of(error: ScenarioError, text: str) -> list[dict[str, Any]]:
    """Every message of an error, with its line in the text. The first line is 1; 0 means unknown.

    A message belongs to the line whose path is the longest prefix of the message's path; of several such
    lines, to the last.
    """
    paths = [_path(line) for line in error.problems]
    places = [(0, _line_of_syntax(line)) for line in error.problems]
    for known, number in lines_of(text) if any(paths) else ():
        for i, path in enumerate(paths):
            if path.startswith(f"{known}."):
                places[i] = max(places[i], (len(known), number))
    return [
        {"message": line, "line": number} for line, (_, number) in zip(error.problems, places, strict=True)
    ]


def _path(line: str) -> str:
    """The path at the beginning of a message, followed by a dot; empty if the message has no path."""
    path = None if _SYNTAX.search(line) else _PATH.match(line)
    return "" if path is None else re.sub(r"\[(\d+)\]", r".\1", path[1]) + "."


def _line_of_syntax(line: str) -> int:
    """The line number in a message of the TOML parser; 0 if the message has none."""
    syntax = _SYNTAX.search(line)
    return int(syntax[1]) if syntax else 0


def lines_of(text: str) -> Iterator[tuple[str, int]]:
    """The dotted path and the number of each TOML line that has a key or a table header.

    Lines with names longer than `_LONGEST` are left out.
    """
    table, counts = "", dict[str, int]()
    is_known = True
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line.strip())
        if header:
            is_known = len(header[2]) <= _LONGEST
            if is_known:
                table = _numbered(_plain(header[2]), counts, is_list=header[1] == "[[")
                yield table, number
        elif is_known and (key := _KEY.match(line.strip())) and len(key[1]) <= _LONGEST:
            yield ".".join(filter(None, [table, _plain(key[1])])), number


def _numbered(table: str, counts: dict[str, int], is_list: bool) -> str:
    """The path of a table, with an index after each name of an array of tables, as in flows.0.

    Args:
        table: Dotted name in the header of the table.
        counts: Index of the last entry of every array of tables. The function adds the entry of a [[table]].
        is_list: Whether the header is a [[table]], which begins an entry.
    """
    path, *words = table.split(".", _DEEPEST)
    for word in words:
        path = f"{path}.{counts[path]}.{word}" if path in counts else f"{path}.{word}"
    if is_list:
        counts[path] = counts.get(path, -1) + 1
    return f"{path}.{counts[path]}" if path in counts else path


def _plain(key: str) -> str:
    return re.sub(r"[\s\"']", "", key)


# Values of a scenario file for the page's form: the position in the text and the meaning of each value.


_VALUE = re.compile(r"=\s*")
_COMMENT = re.compile(r"""(?:[^#"']+|"(?:[^"\\]|\\.)*"|'[^']*')*""")
_MOST = 300
"""Maximum number of fields of a form."""
_REMEMBERED = 10_000
"""Maximum number of paths in the cache. Clients choose paths freely; a scenario has a few hundred."""


def fields_of(text: str) -> list[dict[str, Any]]:
    """Every value that is written on one line: its path, its line, its first and last column in the line,
    and its meaning if known."""
    lines = text.splitlines()
    found = (_field(path, number, lines[number - 1]) for path, number in lines_of(text))
    return list(islice(filter(None, found), _MOST))


def _field(path: str, number: int, line: str) -> dict[str, Any] | None:
    start = _VALUE.search(line)
    written = start and _COMMENT.match(line, start.end())
    if start is None or written is None or line.lstrip().startswith("["):
        return None
    raw = written[0].rstrip()
    try:
        value = value_of(raw)
    except ValueError:
        return None  # the value continues in the next line, or is not valid TOML
    told = {"path": path, "line": number, "from": start.end(), "to": start.end() + len(raw)}
    return {**told, "raw": raw, "is_text": isinstance(value, str), "meaning": meaning_of(path)}


@lru_cache(_REMEMBERED)
def meaning_of(path: str) -> str:
    """First sentence of the documentation of a scenario key; empty for an unknown key."""
    models: set[type[BaseModel]] = {Scenario}
    described = ""
    for key in path.split("."):
        if key.isdigit():
            continue
        fields = [field for model in models for field in _fields(model) if field[0] == key]
        if not fields:
            return ""
        described = next((text for _, text, _ in fields if text), "")
        models = {model for _, _, kind in fields for model in models_in(kind)}
    first = " ".join(described.split()).partition(". ")[0]
    return first if not first or first.endswith(".") else f"{first}."


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, Any], ...]:
    """Keys of a model, each with its documentation and its type."""
    found = documented(model).items()
    return tuple((field.alias or name, field.description or "", field.annotation) for name, field in found)


# Studies: printed values, and simulated values if the store has the results of `fullpipe paper`.


_MOST_BYTES = 20_000_000
_FILE = "verdicts.csv"
_PNG = b"\x89PNG\r\n\x1a\n"
_WORDS = re.compile(r"(\d+)")
_MOST_PRINTED = 200
"""Maximum number of figures of a study."""


def all_studies(store: Path) -> list[dict[str, Any]]:
    """Every study: its title, its number of printed values, and the counts of its verdicts if it was run."""
    return [_told(store, name) for name in studies.names()]


def study(store: Path, name: str) -> dict[str, Any]:
    """A study with every printed value and claim.

    Raises:
        UnknownNameError: If no study has this name.
        ResultError: If the stored verdicts of the study cannot be read.
    """
    claims = studies.printed(name)
    found = {row["where"]: row for row in _verdicts(store, name)}
    rows = [
        {"where": claim.id, "printed": claim.says, "unit": claim.unit, **_ours(found.get(claim.id))}
        for claim in claims
    ]
    figures = [{"name": path.stem, "title": described(path.stem)} for path in _pictures(store, name)]
    return {**_told(store, name), "rows": rows, "figures": figures}


def figure(store: Path, name: str, wanted: str) -> bytes:
    """A figure of a study as PNG.

    Raises:
        UnknownNameError: If no study has this name.
        ResultError: If the store has no figure `wanted` of the study.
    """
    studies.title(name)
    found = {path.stem: path for path in _pictures(store, name)}
    path = found.get(wanted)
    data = b"" if path is None or path.stat().st_size > _MOST_BYTES else path.read_bytes()
    if not data.startswith(_PNG):
        raise ResultError(f"{name}: the store has no figure of this name")
    return data


def _pictures(store: Path, name: str) -> list[Path]:
    """The stored figures of a study. Numbers in names are sorted by value: "figure-2" before "figure-10"."""
    folder = store / "papers" / name
    found = [path for path in folder.glob("*.png") if path.is_file()] if folder.is_dir() else []
    return sorted(found, key=_in_order)[:_MOST_PRINTED]


def _in_order(path: Path) -> list[int | str]:
    return [int(word) if word.isdecimal() else word for word in _WORDS.split(path.stem)]


def _told(store: Path, name: str) -> dict[str, Any]:
    tally: dict[str, int] = {}
    for row in _verdicts(store, name):
        if row["counted"]:
            tally[row["verdict"]] = tally.get(row["verdict"], 0) + 1
    return {
        "name": name,
        "title": studies.title(name),
        "printed": len(studies.printed(name)),
        "tally": tally,
        "command": f"fullpipe paper {name} --quick",
    }


def _ours(row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {"verdict": None}
    keys = ("setting", "ours", "ours_low", "ours_high", "verdict", "why", "by_tolerance", "held", "compared")
    return {key: row[key] for key in keys}


def _verdicts(store: Path, name: str) -> list[dict[str, Any]]:
    """The first stored verdict of each claim: further verdicts of a claim are under other readings of the
    paper. Empty if the study was not run."""
    path = store / "papers" / name / _FILE
    if not path.is_file():
        return []
    if path.stat().st_size > _MOST_BYTES:
        raise ResultError(f"{name}: {_FILE} is too large to be shown")
    try:
        table = pl.read_csv(path, infer_schema_length=None)
        first = table.unique("where", keep="first", maintain_order=True)
        return first.select(
            "where",
            *(_finite(key) for key in ("ours", "ours_low", "ours_high")),
            *(pl.col(key).cast(pl.Int64) for key in ("held", "compared")),
            "verdict",
            "why",
            "setting",
            pl.col("by_tolerance", "counted").cast(pl.Boolean),
        ).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ResultError(f"{name}: {_FILE} cannot be read; run the study again") from error


def _finite(column: str) -> pl.Expr:
    """A column of numbers in which infinite numbers and NaN, which JSON does not have, are null."""
    number = pl.col(column).cast(pl.Float64)
    return pl.when(number.is_finite()).then(number).alias(column)
