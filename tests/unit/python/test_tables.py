"""Tables on a terminal of 80 columns: numbers stay whole, and nothing is cut off."""

import re
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from fullpipe.cli.answer import MOST_ROWS, Answer, Row
from fullpipe.cli.console import led, table, terminal
from fullpipe.cli.output import complain, in_lines

SCENARIO = """
name = "long-names-and-large-numbers"
duration = "300 ms"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "40 Gbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", packets = 1000 }
[[flows]]
name = "download-from-the-server-in-the-basement"
cca = "cubic"
[[flows]]
cca = "da_bbr"
count = 2
[[flows]]
name = "telephone-call-to-grandmother"
workload = { kind = "voip" }
"""

Cli = Callable[..., Any]


@pytest.fixture
def told(fullpipe: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Function that returns the output of a command for this scenario."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "long.toml").write_text(SCENARIO, encoding="utf-8")

    def say(command: str, *words: str) -> str:
        text: str = fullpipe(command, *words).stdout
        prose = re.compile(
            "warning: |stored in |.* is left out, |the same at every point, as shown: |of [a-z]+ alone, "
        )
        tables = [line for line in text.splitlines() if not prose.match(line)]
        assert tables
        assert all(len(line) <= 80 and "…" not in line for line in tables)
        return text

    return say


def test_a_run_has_whole_names_and_numbers(told: Callable[..., str]) -> None:
    lines = told("run", "long.toml").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("download"))
    last = next(i for i, line in enumerate(lines) if line.startswith("da_bbr-1"))
    assert (
        "".join(line.split()[0] for line in lines[first:last]) == "download-from-the-server-in-the-basement"
    )


def test_metrics_have_as_many_columns_as_fit(told: Callable[..., str]) -> None:
    told("run", "long.toml")
    text = told("metrics", *map(str, Path("runs").glob("*/native-1")))
    assert text.count("\nretransmission_rate") == 2
    assert "server-in-the-" in text


def test_a_sweep_has_whole_names_and_numbers(told: Callable[..., str]) -> None:
    swept = 'sweep={"topology.bottleneck.queue" = [{kind = "drop_tail", packets = 9}, {kind = "fq_codel"}]}'
    text = told("run", "long.toml", "--set", swept)
    assert "\n\nlong-names-and-large-numbers, 0.3 s, engine native\n" in text
    assert "\ndrop_tail 9 all flows " in text
    assert "\nfq_codel    all flows " in text


def test_a_comparison_has_whole_numbers(told: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    from fullpipe import engines
    from fullpipe.engines.native import NativeEngine
    from fullpipe.validation.compare import MARGINS

    class Twin(NativeEngine):
        name = "twin"

    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "twin": Twin})
    shown = [word for metric in MARGINS for word in ("--metric", metric)]
    text = told("compare", "long.toml", "--engines", "native,twin", "--seeds", "2", "--all", *shown)
    assert " retransmission_rate " in text


@pytest.mark.parametrize("kind", ["ccas", "queues", "scenarios", "papers", "engines", "tables"])
def test_lists_fit(told: Callable[..., str], kind: str) -> None:
    told("list", kind)


@pytest.mark.parametrize("name", ["red", "ad_bbr", "series"])
def test_what_is_shown_fits(told: Callable[..., str], name: str) -> None:
    told("show", name)


def lines_of(made: Any, columns: int) -> list[str]:
    """The lines of a table on a terminal with this number of columns."""
    console = terminal()
    console.width = columns
    with console.capture() as shown:
        console.print(made)
    return [line.rstrip() for line in shown.get().splitlines()]


def test_words_and_numbers_of_a_table_stay_whole() -> None:
    made = table("test", "effect size [95 %]", last="remark")
    made.add_row("Welch-James of topology.bottleneck.rate", "0.665 [0.31, 0.824]", "not decided")
    assert lines_of(made, 80)[1] == (
        "Welch-James of topology.bottleneck.rate 0.665 [0.31, 0.824] not decided"
    )
    for columns in (60, 40, 20):
        text = " ".join(lines_of(made, columns))
        for word in ("Welch-James", "topology.bottleneck.rate", "0.665 [0.31, 0.824]", "not", "decided"):
            assert word in text
        assert "…" not in text


def test_a_long_name_goes_on_behind_a_hyphen() -> None:
    made = table("flow", "goodput")
    made.add_row("download-from-the-server-in-the-basement", "1.00")
    assert [line.split()[0] for line in lines_of(made, 26)[1:]] == [
        "download-from-the-",
        "server-in-the-",
        "basement",
    ]


def test_no_table_is_empty(fullpipe: Cli, tmp_path: Path) -> None:
    """Tests of two factors have no means and no differences."""
    text = SCENARIO.replace("40 Gbit/s", "4 Mbit/s").replace("count = 2", 'start_jitter = "50 ms"')
    swept = '[sweep]\n"flows.0.cca" = ["cubic", "reno"]\n"topology.bottleneck.delay" = ["1 ms", "2 ms"]\n'
    (tmp_path / "two.toml").write_text(text + swept, encoding="utf-8")
    words = ("--metric", "goodput", "--factor", "cca,delay", "--seeds", 3, "--all")
    shown = fullpipe("test", "two.toml", *words).stdout
    assert "Welch-James" in shown
    assert not re.search(r"^test +(means|difference)", shown, re.MULTILINE)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1", "FORCE_COLOR": "1"}, {}])
def test_a_table_in_a_pipe_has_no_colours(
    fullpipe: Cli, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert "\x1b" not in fullpipe("list", "queues").stdout


def test_a_table_in_a_pipe_has_colours_by_force(fullpipe: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1m" in fullpipe("list", "queues").stdout


def test_tables_in_a_pipe_are_as_wide_as_columns_says(fullpipe: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (70, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        longest = max(map(len, fullpipe("list", "metrics").stdout.splitlines()))
        assert columns - 10 < longest <= columns


class Screen(StringIO):
    """A stream to a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


SENTENCE = "this sentence is longer than thirty-one columns"
IN_LINES = "fullpipe: note: this sentence\n  is longer than thirty-one\n  columns\n"
IN_LINES_OF_A = "fullpipe: warning of a: this\n  sentence is longer than\n  thirty-one columns\n"


@pytest.mark.parametrize(
    ("stream", "columns", "text", "told"),
    [
        (Screen, "30", f"note: {SENTENCE}", IN_LINES),
        (StringIO, "30", f"note: {SENTENCE}", IN_LINES),
        (StringIO, "30", f"warning of a: {SENTENCE}", IN_LINES_OF_A),
        (StringIO, "", f"note: {SENTENCE}", f"fullpipe: note: {SENTENCE}\n"),
        (StringIO, "30", SENTENCE, f"fullpipe: {SENTENCE}\n"),
    ],
    ids=["a terminal", "a pipe with COLUMNS", "a warning of one", "a pipe without", "an error in a pipe"],
)
def test_a_note_is_as_wide_as_the_terminal_or_columns_and_an_error_in_a_pipe_is_whole(
    stream: type[StringIO], columns: str, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stderr", errors := stream())
    complain(text)
    assert errors.getvalue() == told


def test_commands_in_backticks_stay_in_one_line() -> None:
    lines = in_lines("fewer tests: `--metric goodput` tests 8 [1, 2]", 25)
    assert lines == ["fewer tests:", "`--metric goodput` tests", "8 [1, 2]"]


def test_a_line_with_styles_is_broken_as_sentences_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    told = ", goodput 5.00 Mbit/s; `fullpipe run x` again\tand again"
    terminal().print(led("the name", "bold", told), soft_wrap=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert plain.splitlines() == [
        "the name, goodput",
        "  5.00 Mbit/s;",
        "  `fullpipe run x`",
        "  again and again",
    ]
    assert "\x1b[1mthe name\x1b[0m, goodput" in out.getvalue()


def test_one_row_and_one_note_are_counted_in_the_singular(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer()
    answer.table(["", "number"], range(MOST_ROWS + 1), lambda n: Row("", [f"row {n}", "1"]))
    answer.notes(f"note {n}" for n in range(7))
    lines = capsys.readouterr().out.splitlines()
    assert "1 more row: --all prints them" in lines
    assert "1 more note: --all prints them" in lines
