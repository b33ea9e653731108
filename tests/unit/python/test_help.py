"""The help of commands: it fits the terminal, and says what can be typed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from fullpipe.cli import app
from fullpipe.cli.commands import COMMANDS, GROUPS
from fullpipe.cli.help import EXAMPLES
from fullpipe.cli.output import has_colours, width
from fullpipe.cli.tree import every_command
from scripts.reference_pages import cli_page

NAMES = [command.name for command in every_command()]
WIDTHS = (60, 80, 132)


def help_of(command: str, columns: int = 80, **environment: str) -> str:
    """The help of a command, as printed in a pipe."""
    environment = {"NO_COLOR": "", "FORCE_COLOR": "", "COLUMNS": str(columns), **environment}
    made = CliRunner().invoke(app, [*command.split(), "--help"], env=environment)
    assert made.exit_code == 0, made.output
    return made.stdout


def blocks(text: str) -> Iterator[list[str]]:
    """Lines of help that are one text: of the same indentation, or behind a title."""
    block: list[str] = []
    for line in text.partition("\nExamples\n")[0].splitlines():
        left = len(line) - len(line.lstrip())
        if not line or not block or left == 2 or (left > 2) != (block[0].startswith("  ")):
            if block:
                yield block
            block = []
        if line:
            block.append(line)
    yield block


def test_the_list_of_commands_fits_a_screen() -> None:
    lines = help_of("").splitlines()
    assert 24 <= len(lines) <= 40
    assert max(map(len, lines)) <= 80
    listed = [line[17:].split()[0] for line in lines if re.match(r"(\w[\w ]{14}| {15})  [a-z]", line)]
    assert listed == list(COMMANDS)
    headings = [line[:17].strip() for line in lines if re.match(r"\w[\w ]{14}  [a-z]", line)]
    assert headings == list(GROUPS)


@pytest.mark.parametrize("command", ["", "trace", *NAMES])
@pytest.mark.parametrize("columns", WIDTHS)
def test_help_is_as_wide_as_the_terminal_and_no_line_ends_early(command: str, columns: int) -> None:
    text = help_of(command, columns)
    long = [line for line in text.partition("\nExamples\n")[0].splitlines() if len(line) > columns]
    assert [line for line in long if not line.startswith("Usage: ") and len(line.split()) > 1] == []
    for block in blocks(text):
        for line, following in pairwise(block):
            if not line.startswith(("  ", "Usage: ", "A laboratory ", "Arguments", "Options", "Commands")):
                assert len(line) + 1 + len(following.split()[0]) > columns, line


@pytest.mark.parametrize("command", NAMES)
def test_help_fits_a_screen_of_sixty_lines_and_a_hundred_columns(command: str) -> None:
    assert len(help_of(command, 100).splitlines()) <= 60


@pytest.mark.parametrize("command", NAMES)
def test_options_are_shown_as_they_are_typed(command: str) -> None:
    text = help_of(command)
    assert not re.search(r"<\w+>|\[required\]", text)
    assert "\x1b" not in text


def test_an_option_that_takes_a_value_has_a_word_for_it() -> None:
    titles = {command.name: {one.title for one in command.options} for command in every_command()}
    assert {"--port N", "--no-browser"} <= titles["ui"]
    assert {"--log x|y|none", "--kind KIND"} <= titles["plot"]


def test_usage_has_what_must_be_given() -> None:
    usages = {command.name: command.usage for command in every_command()}
    assert usages["plan"] == "plan SCENARIO --detect PERCENT"
    assert usages["export"] == "export RUN --out FILE"
    assert usages["runs"] == "runs [STORE]"
    assert "Usage: fullpipe engines install NAME [OPTIONS]\n" in help_of("engines install")


def test_the_manual_page_and_the_reference_have_the_same_meanings() -> None:
    page, manual = cli_page(), CliRunner().invoke(app, ["man"]).stdout
    for name in ("run", "compare", "list"):
        [command] = [each for each in every_command() if each.name == name]
        for one in (*command.arguments, *command.options):
            assert one.meaning.replace("|", "\\|") in page
            assert one.meaning.replace("-", "\\-").replace('"', "\\(dq") in manual


def test_a_flag_takes_no_value_and_an_option_shows_its_default() -> None:
    text = help_of("run")
    assert re.search(r"^  --no-store +[A-Z]", text, re.MULTILINE)
    assert re.search(r"^  --out DIR .*\(default: runs\)", text, re.MULTILINE)
    assert "One of table, csv, markdown, latex. (default: table)" in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_one_sentence_that_fits_the_list(name: str) -> None:
    summary = COMMANDS[name].summary
    assert re.fullmatch(r"[A-Z].*\.", summary)
    assert len(summary) <= 50
    assert help_of(name).startswith(f"{summary}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    first = next(line for line, _ in EXAMPLES if line.split()[1] == name)
    assert f"\nExamples\n  {first}\n" in help_of(name)


@pytest.mark.parametrize("line", [line for line, _ in EXAMPLES])
def test_an_example_uses_options_that_there_are(line: str) -> None:
    words = shlex.split(re.split(r" [|>] ", line)[0])[1:]
    [command] = [each for each in every_command() if f"{' '.join(words)} ".startswith(f"{each.name} ")]
    known = {spelling for option in command.options for spelling in option.spellings}
    assert {word for word in words if word.startswith("-")} <= known


def test_a_line_break_in_a_docstring_is_a_space() -> None:
    for command in every_command():
        assert not any("\n" in part for part in command.paragraphs)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_help_in_a_pipe_has_colours_only_by_force(environment: dict[str, str], expected: bool) -> None:
    for command in ("", "run", "trace"):
        assert ("\x1b[" in help_of(command, **environment)) == expected


def test_colours_move_no_column() -> None:
    painted = help_of("run", FORCE_COLOR="1")
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == help_of("run")


class Terminal(StringIO):
    """A stream to a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_a_terminal_has_colours_unless_told_otherwise(
    environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colours(Terminal()) == expected


@pytest.mark.parametrize(("said", "columns"), [("132", 132), ("0", None), ("wide", None), ("", None)])
def test_the_width_is_that_of_columns(
    said: str, columns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert width() == columns or (columns is None and width() > 0)


def test_the_program_has_one_name_however_it_is_begun() -> None:
    command = [sys.executable, "-m", "fullpipe", "run", "--help"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\nUsage: fullpipe run SCENARIO [OPTIONS]\n" in made.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "fullpipe: missing argument 'SCENARIO'; see `fullpipe run --help`\n"),
        (["run", "x", "--jbs", "2"], "fullpipe: no such option: --jbs"),
        (["runn"], "fullpipe: no such command 'runn'. Did you mean 'run'"),
        (["run", "x", "--seeds", "0"], "fullpipe: invalid value for '--seeds': "),
        (["engines", "instal"], "fullpipe: no such command 'instal'. Did you mean 'install'"),
    ],
)
def test_wrong_arguments_are_one_line_that_names_the_help(words: list[str], said: str) -> None:
    made = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    assert (made.exit_code, made.stdout, made.stderr.count("\n")) == (2, "", 1)
    assert made.stderr.startswith(said)
    assert made.stderr.endswith(" --help`\n")


@pytest.mark.parametrize("command", ["", "run", "trace", "trace info"])
def test_help_has_a_short_option(command: str) -> None:
    made = CliRunner().invoke(app, [*command.split(), "-h"], env={"COLUMNS": "80"})
    assert (made.exit_code, made.stdout) == (0, help_of(command))


@pytest.mark.parametrize("command", ["", "trace"])
def test_without_a_command_help_is_printed(command: str) -> None:
    made = CliRunner().invoke(app, command.split(), env={"COLUMNS": "80"})
    assert (made.stdout, made.stderr) == (help_of(command), "")
    assert made.exit_code in (0, 2)  # 0 before click 8.2
