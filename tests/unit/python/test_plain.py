"""Plain arguments of `run` are read without typer, and mean the same."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.testing

from fullpipe.cli import app, described, main, output, run_body

PLAIN = [
    ["my.toml"],
    ["my.toml", "--json"],
    ["--no-store", "my.toml", "--json"],
    ["my.toml", "--seed", "3"],
    ["my.toml", "--seed", "0", "--out", "there"],
    ["my.toml", "--out", "there", "--no-store"],
    ["kato2025", "--set", "duration=1 s", "--set", "tcp.mss='1448 B'"],
]
LEFT_TO_TYPER = [
    [],
    ["--help"],
    ["a.toml", "b.toml"],
    ["my.toml", "--jsn"],
    ["my.toml", "--json", "--json"],
    ["my.toml", "--seed"],
    ["my.toml", "--seed", "three"],
    ["my.toml", "--seed", "03"],
    ["my.toml", "--seed", "-1"],
    ["my.toml", "--seed", "9" * 30],
    ["my.toml", "--seed=3"],
    ["my.toml", "--seeds", "3"],
    ["my.toml", "--out", ""],
    ["my.toml", "--set"],
    ["my.toml", "--set", "--json"],
    ["my\udce4.toml"],
    ["--", "my.toml"],
]


def bound(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `run_body.run` with its defaults, lists and tuples alike."""
    call = inspect.signature(run_body.run).bind(**arguments)
    call.apply_defaults()
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in call.arguments.items()
    }


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_plain_arguments_mean_the_same(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dict[str, Any]] = []

    def run(scenario: str, **others: Any) -> int:
        found.append({"scenario": scenario, **others})
        return 0

    read = output.of_run(words)
    assert read is not None
    here = bound(read)
    monkeypatch.setattr(run_body, "run", run)
    assert typer.testing.CliRunner().invoke(app, ["run", *words]).exit_code == 0
    monkeypatch.undo()
    assert [bound(each) for each in found] == [here]


@pytest.mark.parametrize("words", LEFT_TO_TYPER, ids=repr)
def test_anything_else_is_left_to_typer(words: list[str]) -> None:
    assert output.of_run(words) is None


@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", "--set", "duration=0 s", "--no-store"],
        ["run", "missing.toml"],
        ["run", "single-cubbic"],
        ["run", "small.toml", "--out", "small.toml"],
        ["show", "single-cubic"],
        ["show", "small.toml"],
        ["show", "missing.toml"],
        ["show", "nothing"],
        ["show", "fq_codel"],
        ["list", "queues"],
        ["list", "scenarios"],
        ["list", "papers"],
        ["list", "nothing"],
    ],
    ids=" ".join,
)
def test_both_readers_print_and_end_alike(
    words: list[str],
    small_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(small_file.parent)
    by_typer = typer.testing.CliRunner().invoke(app, words)
    monkeypatch.setattr(sys, "argv", ["fullpipe", *words])
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # in help, `python -m pytest` is a name
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    assert (code, said.out, said.err) == (by_typer.exit_code, by_typer.stdout, by_typer.stderr)


def test_an_interrupted_list_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(described, "print_all", interrupted)
    monkeypatch.setattr(sys, "argv", ["fullpipe", "list", "metrics"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1
