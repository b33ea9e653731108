"""Mistakes in a scenario, each with the line of its TOML text that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fullpipe.errors import ScenarioError

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*=""")
_PATH = re.compile(r"([\w.\[\]*-]+): ")
_SYNTAX = re.compile(r"\(at line (\d+), column (\d+)\)")


def problems_of(error: ScenarioError, text: str) -> list[dict[str, Any]]:
    """Every line of an error, with where it is in the text: the first line is 1, and 0 is unknown."""
    lines = list(lines_of(text))
    return [{"message": line, "line": _place(line, lines)} for line in error.problems]


def _place(line: str, lines: list[tuple[str, int]]) -> int:
    """The line of the longest path that the problem is in."""
    syntax = _SYNTAX.search(line)
    if syntax:
        return int(syntax[1])
    path = _PATH.match(line)
    if path is None:
        return 0
    wanted = re.sub(r"\[(\d+)\]", r".\1", path[1])
    fits = [(len(known), number) for known, number in lines if f"{wanted}.".startswith(f"{known}.")]
    return max(fits, default=(0, 0))[1]


def lines_of(text: str) -> Iterator[tuple[str, int]]:
    """The dotted path that each line of TOML begins, with its number."""
    table, counts = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line)
        if header:
            table = _plain(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
            table = _numbered(table, counts)
            yield table, number
        elif key := _KEY.match(line):
            yield ".".join(filter(None, [table, _plain(key[1])])), number


def _numbered(table: str, counts: dict[str, int]) -> str:
    """The path of a table, with the number of the last entry of the list that it is or is in."""
    for name, count in counts.items():
        if table == name or table.startswith(f"{name}."):
            return f"{name}.{count}{table[len(name) :]}"
    return table


def _plain(key: str) -> str:
    return re.sub(r"[\s\"']", "", key)
