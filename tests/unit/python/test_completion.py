"""Completion in shells, and the manual page: what shells and man make of them."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fullpipe.cli import app
from fullpipe.cli.commands import COMMANDS
from fullpipe.cli.tree import every_command
from fullpipe.scenario import catalogue, scenario_names

ASKED = [
    (["ru"], {"run", "runs"}),
    (["run", "single-"], {name for name in scenario_names() if name.startswith("single-")}),
    (["run", "--se"], {"--seed", "--seeds", "--set"}),
    (["run", "x", "--format", "m"], {"markdown"}),
    (["engines", ""], {"list", "install"}),
    (["trace", "fet"], {"fetch"}),
    (["engines", "install", "--ver"], {"--version"}),
    (["list", "cc"], {"ccas"}),
    (["conformance", "bbr"], {name for name in catalogue.controllers() if name.startswith("bbr")}),
    (["completion", ""], {"bash", "zsh", "fish"}),
]
BASH = """
. {script}
COMP_WORDS=(fullpipe {words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_fullpipe
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ : }}
_describe() {{ local name=${{@[-1]}}; print -l -- ${{${{(P)name}}%%:*}} }}
compadd() {{ print -l -- ${{(P)2}} }}
_files() {{ : }}
. {script}
words=(fullpipe {words}); CURRENT=$#words; PREFIX=$words[-1]
_fullpipe
"""
"""Script that replaces zsh's own functions and prints their arguments."""


@cache
def text(shell: str) -> str:
    """The script of a shell."""
    made = CliRunner().invoke(app, ["completion", shell])
    assert made.exit_code == 0, made.output
    return made.stdout


def script(shell: str, folder: Path) -> Path:
    """The same in a file."""
    file = folder / f"fullpipe.{shell}"
    file.write_text(text(shell), encoding="utf-8")
    return file


def said(*command: str) -> list[str]:
    """The lines that a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def quoted(words: list[str]) -> str:
    return " ".join(f"'{word}'" for word in words)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(("words", "expected"), ASKED)
def test_bash(words: list[str], expected: set[str], tmp_path: Path) -> None:
    program = BASH.format(script=script("bash", tmp_path), words=quoted(words))
    assert set(said("bash", "--norc", "-c", program)) == expected


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
@pytest.mark.parametrize(("words", "expected"), ASKED)
def test_zsh(words: list[str], expected: set[str], tmp_path: Path) -> None:
    program = ZSH.format(script=script("zsh", tmp_path), words=quoted(words))
    found = {word for word in said("zsh", "-f", "-c", program) if word.startswith(words[-1])}
    assert found == expected


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
@pytest.mark.parametrize(("words", "expected"), ASKED)
def test_fish(words: list[str], expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = " ".join(["fullpipe", *words])
    monkeypatch.chdir(tmp_path)
    found = said("fish", "--no-config", "-c", f"source {script('fish', tmp_path)}; complete -C '{line}'")
    assert {word.partition("\t")[0] for word in found} - {"fullpipe.fish"} == expected


def test_the_manual_page_has_every_command_and_no_mistake(tmp_path: Path) -> None:
    page = CliRunner().invoke(app, ["man"]).stdout
    for command in every_command():
        assert f".SS fullpipe {command.name.replace('-', chr(92) + '-')}" in page
    if shutil.which("groff"):
        file = tmp_path / "fullpipe.1"
        file.write_text(page, encoding="utf-8")
        made = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", str(file)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert made.stderr == ""
        shown = " ".join(made.stdout.replace("\u2010\n", "-").split())
        assert "fullpipe compare my.toml --over flows.0.cca=cubic,bbr3" in shown


def test_the_tree_has_every_command_with_all_that_it_takes() -> None:
    found = list(every_command())
    assert {command.name.partition(" ")[0] for command in found} == set(COMMANDS)
    assert all(command.summary and "\n" not in command.summary for command in found)
    by_name = {command.name: command for command in found}
    [kind] = by_name["list"].arguments
    assert kind.names[0] == "ccas"
    assert {"--set PATH=VALUE", "--json"} <= {option.title for option in by_name["run"].options}
