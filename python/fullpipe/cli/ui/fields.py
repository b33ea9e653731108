"""The values of a scenario file one by one: where each is in the text, and what it means."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from pydantic import BaseModel

from fullpipe.cli.ui.problems import lines_of
from fullpipe.scenario import Scenario
from fullpipe.scenario.documented import documented
from fullpipe.scenario.model.later import models_in
from fullpipe.scenario.read.toml import value_of

_VALUE = re.compile(r"=\s*")
_COMMENT = re.compile(r"""(?:[^#"']+|"(?:[^"\\]|\\.)*"|'[^']*')*""")
_MOST = 300
"""Fields of a form."""
_REMEMBERED = 10_000
"""Paths, which are what a client writes; a scenario has some hundred."""


def fields_of(text: str) -> list[dict[str, Any]]:
    """Every value that stands on a line of its own: its path, its line, from where to where it is written,
    and what it means, if that is known."""
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
        return None  # it goes on in the next line, or is none
    told = {"path": path, "line": number, "from": start.end(), "to": start.end() + len(raw)}
    return {**told, "raw": raw, "is_text": isinstance(value, str), "meaning": meaning_of(path)}


@lru_cache(_REMEMBERED)
def meaning_of(path: str) -> str:
    """What a key of a scenario means, in its first sentence; empty where it is unknown."""
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
    """Keys, their meanings and their types."""
    found = documented(model).items()
    return tuple((field.alias or name, field.description or "", field.annotation) for name, field in found)
