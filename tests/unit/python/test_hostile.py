"""Hostile text: whatever is in a file or an argument, messages are short and safe to print."""

import ast
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe as fp
from fullpipe import FullpipeError, Scenario, ScenarioError, cli
from fullpipe.errors import ControllerError, brief, shown, visible
from fullpipe.runs import Store
from fullpipe.scenario.traces import parse_mahimahi, parse_steps

from .conftest import SMALL

TITLE = "\x1b]0;x\x07"
"""Control sequence that changes the title of a terminal."""
SHOWN = r"\x1b]0;x\x07"
DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]


def toml(text: str) -> str:
    return "".join(f"\\u{ord(c):04X}" if not c.isprintable() else c for c in text)


@pytest.mark.parametrize("text", ["\x1b", "\x7f", "\x85", "\u202e", "\u2028", "\ud800", "\r", "\t", "\x9b"])
def test_what_a_terminal_obeys_or_hides_is_an_escape(text: str) -> None:
    assert visible(f"a{text}b") == f"a{text.encode('unicode_escape').decode()}b"


def test_what_people_read_stays() -> None:
    assert visible("µs, 漢字 and é") == "µs, 漢字 and é"


@pytest.mark.parametrize("longest", [40, 80, 400])
def test_what_is_long_is_cut_in_the_middle_once(longest: int) -> None:
    text = brief(f"begin{'x' * 1_000_000}end", longest)
    assert (len(text), text[:5], text[-3:]) == (longest, "begin", "end")
    assert brief(text, longest) == text


def test_many_lines_are_cut_in_the_middle() -> None:
    problems = ScenarioError([f"problem {n}" for n in range(1_000)]).problems
    assert len(problems) == 50
    assert problems[0] == "problem 0"
    assert problems[-1] == "problem 999"
    assert problems[39] == "... and 951 more ..."


def test_a_line_of_a_problem_is_one_line() -> None:
    assert ScenarioError(["a\nb"]).problems == (r"a\nb",)


def _of_toml(text: str) -> Callable[[], object]:
    return lambda: Scenario.from_toml(SMALL + text)


def _of_value(path: str, value: object) -> Callable[[], object]:
    return lambda: Scenario.from_toml(SMALL).with_values({path: value})


@pytest.mark.parametrize(
    ("read", "part"),
    [
        (_of_toml(f'"{toml(TITLE)}" = 1'), rf"flows[0].{SHOWN}: unknown key"),
        (_of_value("flows.0.cca", TITLE), rf'unknown algorithm "{SHOWN}"'),
        (_of_value("topology.bottleneck.queue", {"kind": TITLE}), SHOWN),
        (_of_value(f"flows.{TITLE}", 1), SHOWN),
        (_of_value("flows.0.cca", {"kind": "cubic", TITLE: 1}), SHOWN),
        (_of_value("duration", f"1 {TITLE}"), SHOWN),
        (_of_value("record.packets", [TITLE]), SHOWN),
        (lambda: Scenario.named(TITLE), f'unknown scenario "{SHOWN}"'),
        (lambda: fp.run(Scenario.from_toml(SMALL), engine=TITLE), f'unknown engine "{SHOWN}"'),
        (lambda: parse_mahimahi(f"1\n{TITLE}\n".encode()), f'"{SHOWN}" is not a whole number'),
        (lambda: parse_mahimahi(b"1\n2\n", where=TITLE), ""),
        (lambda: parse_steps(f"time_s,{TITLE}\n0,1\n1,1".encode()), f'the column "{SHOWN}"'),
        (lambda: parse_steps(f"time_s,rate_bps\n0,{TITLE}\n1,1".encode()), f'"{SHOWN}" is not a number'),
        (lambda: _raise(ControllerError(f"it said {TITLE}\nline 2", "c", "f", "e", 0.0)), f"{SHOWN}\nline 2"),
    ],
)
def test_messages_are_safe_to_print(read: Callable[[], object], part: str) -> None:
    if not part:
        read()
        return
    with pytest.raises(FullpipeError) as error:
        read()
    assert part in str(error.value)
    assert all(line.isprintable() for line in str(error.value).split("\n"))


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "read",
    [
        _of_toml(f'"{"k" * 200_000}" = 1'),
        _of_value("flows.0.cca", "k" * 200_000),
        _of_value(f"flows.0.{'k' * 200_000}", 1),
        _of_value("k" * 200_000, 1),
        _of_value(".".join("k" * 20_000), 1),
        _of_value("topology.bottleneck.queue", {"kind": "codel", "k" * 200_000: 1}),
        lambda: Scenario.named("k" * 200_000),
        lambda: Scenario.from_file("k" * 200_000),
        lambda: Scenario.from_toml("k" * 200_000),
    ],
)
def test_messages_are_short(read: Callable[[], object]) -> None:
    with pytest.raises(FullpipeError) as error:
        read()
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize(
    "read",
    [
        lambda: Scenario.from_toml(f"[{'.'.join('a' * 900)}]\n{SMALL}"),
        _of_value("flows", DEEP),
        _of_value("topology.bottleneck", {"a": DEEP}),
    ],
    ids=["keys", "a list", "a list in a table"],
)
def test_what_is_too_deep_is_one_line(read: Callable[[], object]) -> None:
    with pytest.raises(ScenarioError) as error:
        read()
    assert error.value.problems == ("too deeply nested; a scenario has at most 50 levels",)


@pytest.mark.parametrize("path", ["flows.0.count", "topology.kind", "record.packets", "sweep"])
def test_a_huge_number_is_refused(path: str) -> None:
    with pytest.raises(ScenarioError, match="a number of 16,001 bits is too large"):
        _of_value(path, [16**4_000])()


def test_a_file_that_is_too_deep_is_named(fullpipe: Callable[..., Any], small_file: Path) -> None:
    small_file.write_text(f"{SMALL}\n[{'.'.join('a' * 900)}]\n")
    done = fullpipe("run", small_file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"fullpipe: {small_file}: too deeply nested; a scenario has at most 50 levels\n"


@pytest.mark.parametrize(
    "value", [10**5_000, DEEP, object(), "x" * 10**6], ids=["huge", "deep", "odd", "long"]
)
def test_any_value_can_be_quoted(value: object) -> None:

    assert len(shown(value)) < 60


NOT_UNICODE = os.fsdecode(b"\xff")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "single-reno", "--set", f"flows.0.cca={NOT_UNICODE}"),
        ("run", "single-reno", "--set", f"{NOT_UNICODE}=1"),
        ("show", NOT_UNICODE),
        ("run", f"{NOT_UNICODE}.toml"),
        ("run", "single-reno", "--engine", NOT_UNICODE),
        (NOT_UNICODE,),
        (f"--{NOT_UNICODE}",),
        (TITLE,),
        ("run", "single-reno", f"--{TITLE}"),
        ("run", "single-reno", "--seed", TITLE),
        ("run", "single-reno", "--interval", TITLE),
        ("plot", TITLE),
        ("metrics", f"{TITLE}{NOT_UNICODE}"),
    ],
)
def test_the_command_says_what_is_wrong_in_clean_text(
    fullpipe: Callable[..., Any], arguments: tuple[str, ...]
) -> None:
    done = fullpipe(*arguments)
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    assert all(line.isprintable() for line in done.stderr.split("\n"))


def test_the_command_draws_tables_of_strangers_as_text(
    fullpipe: Callable[..., Any], small: Scenario, tmp_path: Path
) -> None:
    run, odd = fp.run(small), pl.lit(f"[/bold][red]{TITLE}:smile:").alias("flow")
    strange = {name: run.tables[name].with_columns(odd) for name in ("flows", "series")}
    kept = Store(tmp_path).save(replace(run, tables={**run.tables, **strange}))
    done = fullpipe("metrics", kept.folder)
    assert done.exit_code == 0, done.exception
    assert "[/bold][red]" in done.stdout
    assert all(line.isprintable() for line in done.stdout.split("\n"))


def test_values_of_a_sweep_are_no_markup(
    fullpipe: Callable[..., Any], small_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "a[").mkdir()
    traces = [tmp_path / "a[" / name for name in ("bold]", "red]")]
    for trace in traces:
        trace.write_text("1\n2\n")
    swept = ", ".join(f'{{ trace = {{ file = "{trace}" }}, delay = "1 ms" }}' for trace in traces)
    with small_file.open("a") as file:
        file.write(f'[sweep]\n"topology.bottleneck" = [{swept}]\n')
    done = fullpipe("run", small_file, "--out", "a[b]")
    assert done.exit_code == 0, done.exception or done.stderr
    assert "a[/bold]" in done.stdout.replace("\n", "").replace(" ", "")
    assert "stored in a[b]" in done.stdout


def test_a_scenario_is_shown_without_what_a_terminal_obeys(
    fullpipe: Callable[..., Any], small: Scenario, tmp_path: Path
) -> None:
    trace = tmp_path / "a\x9b\u202e\U000e0001.up"
    trace.write_text("1\n2\n")
    bottleneck = {"delay": "1 ms", "trace": {"file": str(trace)}}
    odd = small.with_values({"topology.bottleneck": bottleneck})
    assert Scenario.from_toml(odd.to_toml()) == odd
    file = tmp_path / "odd.toml"
    file.write_text(odd.to_toml())
    done = fullpipe("show", file)
    assert r"\u009B\u202E\U000E0001" in done.stdout
    assert all(line.isprintable() for line in done.stdout.split("\n"))


@pytest.mark.parametrize("path", ["record.interval", "flows.0.start", "topology.bottleneck.delay", "warmup"])
@pytest.mark.parametrize("text", ["0.1 ns", "0.9 ns", "1e-9 ms"])
def test_a_duration_that_would_be_rounded_to_nothing(small: Scenario, path: str, text: str) -> None:
    with pytest.raises(ScenarioError, match="is too little; a duration is 0 or at least 1 ns"):
        small.with_values({path: text})


def test_an_interval_that_would_be_rounded_to_nothing(fullpipe: Callable[..., Any], small_file: Path) -> None:
    done = fullpipe("run", small_file, "--interval", "0.1 ns")
    assert done.exit_code == 2
    assert 'record.interval: "0.1 ns" is too little' in done.stderr


@pytest.mark.parametrize("value", [None, {"kind": "codel", "limit": None}, [None]])
def test_a_sweep_holds_no_none(small: Scenario, value: object) -> None:
    with pytest.raises(ScenarioError, match="None is not a value; write a value"):
        small.with_values({"sweep": {"topology.bottleneck.queue": [value]}})


def test_commands_print_in_one_way_alone() -> None:
    folder = Path(cli.__file__).parent
    found = []
    for file in set(folder.glob("*.py")) - {folder / "output.py", folder / "console.py"}:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("typer.echo", "Console"):
                found.append(f"{file.name}:{node.lineno}")
    assert not found, "print with fullpipe.cli.output.echo or fullpipe.cli.console.terminal"
