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
        header = _HEADER.fullmatch(line.strip())
        if header:
            table = _numbered(_plain(header[2]), counts, is_list=header[1] == "[[")
            yield table, number
        elif key := _KEY.match(line.strip()):
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
