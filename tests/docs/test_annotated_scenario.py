"""The annotated scenario file is one, has every key of every table, and its lines could be written."""

from __future__ import annotations

import re
import tomllib

import pytest

from fullpipe import Scenario
from fullpipe.scenario.schema import file_schema
from scripts.annotated_scenario import annotated, annotated_page

TEXT = annotated()
LINES = re.findall(r"^#(\w+) = (.+)\n((?:#   # .+\n)+)", TEXT, re.MULTILINE)
"""Key, value, and what is said of it."""
DEFINITIONS = file_schema()["definitions"]
KEYS = [
    (name, key, one)
    for name, definition in DEFINITIONS.items()
    if not name.endswith("Part")
    for key, one in definition.get("properties", {}).items()
]


def test_the_file_is_a_scenario_that_is_read() -> None:
    assert Scenario.from_toml(TEXT).expand()
    assert TEXT in annotated_page()


def test_it_has_every_key_of_every_table() -> None:
    assert [key for key, _, _ in LINES] == [key for _, key, _ in KEYS]


def test_every_line_could_be_written() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for (key, value, _), (table, _, one) in zip(LINES, KEYS, strict=True):
        written = tomllib.loads(f"{key} = {value}")[key]
        checked = jsonschema.Draft7Validator({**one, "definitions": DEFINITIONS})
        wrong = [error.message for error in checked.iter_errors(written)]
        assert not wrong, (table, key, value, wrong)


def test_every_default_is_the_value_that_is_shown() -> None:
    for (_, value, said), (_, key, one) in zip(LINES, KEYS, strict=True):
        if one.get("default") is not None:
            assert tomllib.loads(f"{key} = {value}")[key] == one["default"]
            joined = " ".join(line.removeprefix("#   # ") for line in said.splitlines())
            assert f"default {value}" in joined


def test_every_quantity_has_its_unit() -> None:
    for (_, value, said), (_, key, one) in zip(LINES, KEYS, strict=True):
        if "x-quantity" in one:
            assert re.search(r"\d ?\S+", value), key
            assert said.startswith(f"#   # {one['x-quantity']}")
