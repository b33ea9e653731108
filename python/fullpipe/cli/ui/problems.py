"""Mistakes in a scenario, each with the line of its TOML text that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fullpipe.errors import ScenarioError

_HEADER = re.compile(r"(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?")
_KEY = re.compile(r"""((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"))*)\s*=""")
_DEEPEST = 32
"""Words of the name of a table that are told apart."""
_LONGEST = 400
"""Characters of a name. A line of an error is not longer, so a longer name is in none."""
_PATH = re.compile(r"([\w.\[\]*-]+): ")
_SYNTAX = re.compile(r"\(at line (\d+), column (\d+)\)")


def problems_of(error: ScenarioError, text: str) -> list[dict[str, Any]]:
    """Every line of an error, with where it is in the text: the first line is 1, and 0 is unknown.

    The place of a problem is the last line with the longest path that the problem is in.
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
    """The path that a problem begins with, with a dot behind it; empty if it begins with none."""
    path = None if _SYNTAX.search(line) else _PATH.match(line)
    return "" if path is None else re.sub(r"\[(\d+)\]", r".\1", path[1]) + "."


def _line_of_syntax(line: str) -> int:
    """The line that a message of the TOML parser names; 0 if it names none."""
    syntax = _SYNTAX.search(line)
    return int(syntax[1]) if syntax else 0


def lines_of(text: str) -> Iterator[tuple[str, int]]:
    """The dotted path that each line of TOML begins, with its number. Long names are left out."""
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
    """The path of a table, with the numbers of the last entries of the lists that it is in.

    Args:
        table: Its dotted name.
        counts: Of every list its last number; one more if this begins an entry.
        is_list: Whether it does.
    """
    path, *words = table.split(".", _DEEPEST)
    for word in words:
        path = f"{path}.{counts[path]}.{word}" if path in counts else f"{path}.{word}"
    if is_list:
        counts[path] = counts.get(path, -1) + 1
    return f"{path}.{counts[path]}" if path in counts else path


def _plain(key: str) -> str:
    return re.sub(r"[\s\"']", "", key)
