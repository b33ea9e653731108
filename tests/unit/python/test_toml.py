"""Keys of too many parts: every reader of TOML refuses them before it parses, and counts nothing else."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario, ScenarioError
from fullpipe.cli.asked import assignment
from fullpipe.cli.ui.fields import fields_of, lines_of
from fullpipe.scenario.read import files
from fullpipe.scenario.read.files import parse_toml

from .conftest import SMALL

LONG = ".".join(["a"] * 25_000)
"""A key of 50 kB, of which `tomllib` would take the square."""
REFUSED = "too deeply nested; a scenario has at most 50 levels"


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser takes no step."""

    def loads(_: str) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(files.tomllib, "loads", loads)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[{LONG}]\nx = 1",
        f"[[{LONG}]]\nx = 1",
        f"x = {{ {LONG} = 1 }}",
        f"x = [1.5, {{ y = [{{ {LONG} = 1 }}] }}]",
        f'x = """\n"\\"" # no end of the comment " """\n{LONG} = 1',
        f"x = '''it's''' # it's\n{LONG} = 1",
        ".".join(['"a.b\\""'] * 51) + " = 1",
        " . ".join(["'a'"] * 51) + " = 1",
        f"{LONG}",
        f'{LONG}."no end',
    ],
)
def test_a_key_of_too_many_parts_is_refused_unread(unread: None, text: str) -> None:
    with pytest.raises(ScenarioError) as error:
        parse_toml(text)
    assert error.value.problems == (REFUSED,)


@pytest.mark.parametrize(
    "text",
    [
        f"x = [{'0.5, ' * 100}]",
        f'x = "{LONG}"',
        f"x = '{LONG}'",
        f"x = 1 # {LONG}",
        f'x = """\n{LONG}\n""{LONG}"""',
        f"x = '''\n{LONG}\n''{LONG}'''",
        f'x = "\\"{LONG}"',
        f'"{LONG}" = 1',
        f"'{LONG}'.b = 1",
        ".".join(["a"] * 50) + " = 1",
    ],
)
def test_other_dots_do_not_count(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 500_000,
        '"""' + '\\"""' * 200_000,
        "'''" + "''x" * 300_000,
        "a . " * 250_000,
        "." * 10**6,
    ],
    ids=["escapes", "quotes", "single quotes", "keys", "dots"],
)
def test_no_text_takes_long_to_refuse(text: str) -> None:
    began_s = time.process_time()
    with pytest.raises(ScenarioError):
        parse_toml(f"{text}\n{'.' * 60}")
    assert time.process_time() - began_s < 5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("show", "dots.toml"), f"{LONG} = 1"),
        (("check", "dots.toml", "--keep", "base.json"), f"[metrics]\n{LONG} = 1"),
        (("test", "runs", "--family", "dots.toml"), f"[family.a]\n{LONG} = 1"),
    ],
    ids=["a scenario", "a suite", "a family"],
)
def test_every_file_is_read_with_the_same_bound(
    fullpipe: Callable[..., Any], tmp_path: Path, unread: None, arguments: tuple[str, ...], text: str
) -> None:
    (tmp_path / "dots.toml").write_text(text, encoding="utf-8")
    done = fullpipe(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"fullpipe: dots.toml: {REFUSED}\n"


def test_a_base_is_read_with_the_same_bound(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(f"{LONG} = 1", encoding="utf-8")
    (tmp_path / "over.toml").write_text('base = "base.toml"\n', encoding="utf-8")
    with pytest.raises(ScenarioError, match=REFUSED):
        Scenario.from_file(tmp_path / "over.toml")


def test_a_value_of_the_command_line_is_text_if_it_is_too_deep(unread: None) -> None:
    assert assignment(f"name={{{LONG}=1}}") == ("name", f"{{{LONG}=1}}")


def test_a_field_of_the_form_is_left_out_if_it_is_too_deep(unread: None) -> None:
    assert fields_of(f"name = {{ {LONG} = 1 }}") == []


def test_a_name_that_no_message_could_quote_is_not_repeated_for_every_line() -> None:
    """Each line would take as much memory as the name of its table."""
    known, unknown = "a" * 400, "b" * 401
    text = f"{SMALL}\n[{known}]\nx = 1\n[{unknown}]\nx = 1\ny = 1\n[last]\n{unknown} = 1"
    assert [path for path, _ in lines_of(text)][-3:] == [known, f"{known}.x", "last"]


def test_a_table_that_is_there_twice_is_named_as_a_file_writes_it() -> None:
    with pytest.raises(
        ValueError, match=r"^\[flows\] is written twice; write \[\[flows\]\] for each .*line 3"
    ):
        files.parsed('[flows]\ncca = "cubic"\n[flows]\ncca = "reno"\n')
