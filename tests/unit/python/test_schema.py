"""The tables of a run: names, types, units, meanings and spans of their columns are a contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fullpipe.runs import SCHEMA_VERSION, TABLES, Table

VERSION = 1
"""Raise it, and `SCHEMA_VERSION` of the simulator, when a line of schema.json changes; not for a new one."""
KEPT: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))


def described(table: Table) -> list[list[str]]:
    return [[c.name, str(c.dtype), c.unit, c.what, c.span] for c in table.columns]


def test_the_version_is_that_of_what_is_kept() -> None:
    assert SCHEMA_VERSION == VERSION


def test_the_tables_are_those_that_are_kept_in_the_same_order() -> None:
    assert list(TABLES) == list(KEPT)


@pytest.mark.parametrize("name", KEPT)
def test_a_table_is_what_is_kept(name: str) -> None:
    assert TABLES[name].name == name
    assert TABLES[name].row == KEPT[name]["row"]
    assert described(TABLES[name]) == KEPT[name]["columns"]
