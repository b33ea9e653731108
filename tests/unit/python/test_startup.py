"""Imports at start-up, counted by modules, as the load of the machine does not change their number."""

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fullpipe

BARE = {"numpy", "scipy", "polars", "matplotlib", "pydantic", "typer", "rich", "importlib.metadata"}
NUMBERS = {"numpy", "scipy", "polars", "matplotlib"}
COMMAND = "import sys; sys.argv = ['fullpipe', *{}.split()]; from fullpipe.cli import main; main()"

RUN = COMMAND.format("'run single-reno --set duration=1s --no-store --json'")


@cache
def imported(program: str) -> frozenset[str]:
    """The modules that there are when a program ends. Several tests ask the same of one program."""
    lines = [
        "import atexit, os, sys",
        "atexit.register(lambda: os.write(2, ('\\0' + ' '.join(sys.modules)).encode()))",
        program,
    ]
    made = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    return frozenset(made.stderr.rpartition("\0")[2].split())


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("import fullpipe", BARE),
        (COMMAND.format("'--version'"), BARE),
        (COMMAND.format("'list ccas'"), {*NUMBERS, "pydantic", "typer", "fullpipe.runs"}),
        (COMMAND.format("'list queues --json'"), {*NUMBERS, "fullpipe.scenario.model", "rich.console"}),
        (COMMAND.format("'show single-cubic'"), NUMBERS),
        ("import fullpipe; fullpipe.Scenario.named('kato2025').digest", NUMBERS),
        (COMMAND.format("'run --help'"), NUMBERS),
        (COMMAND.format("'report kept -o page.html'"), {"matplotlib"}),
        (RUN, {*NUMBERS, "fullpipe.analysis.statistics", "rich", "fullpipe.cli.tables"}),
    ],
)
def test_what_is_not_used_is_not_imported(
    program: str, without: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "kept" in program:
        fullpipe.run(fullpipe.Scenario.named("single-cubic"), out="kept")
    found = imported(program)
    assert "fullpipe" in found
    assert not without & found


def test_a_run_of_bulk_flows_as_json_asks_polars_nothing() -> None:
    """Its first query takes polars a tenth of the memory of the process."""
    query = "import polars; polars.LazyFrame.collect = None"
    assert "fullpipe.analysis.metrics.summary" in imported(f"{query}\n{RUN}")


def test_the_import_alone_is_few_modules() -> None:
    alone = imported("import fullpipe")
    assert len(alone - imported("pass")) < 45  # the library of Python among them


def test_what_is_used_is_imported() -> None:
    mahimahi = imported("import fullpipe; fullpipe.traces.Mahimahi")
    assert {"numpy", "fullpipe.scenario.traces.mahimahi"} <= mahimahi
    assert "scipy.stats" in imported(
        "import fullpipe; fullpipe.statistics.friedman([[1, 2], [3, 1], [2, 2]])"
    )


@pytest.mark.parametrize(
    "package", ["algorithms", "analysis.metrics", "cluster", "engines", "scenario", "studies"]
)
def test_no_module_takes_the_place_of_a_name(package: str) -> None:
    """A module that is imported becomes an attribute of its package."""
    found = import_module(f"fullpipe.{package}")
    for module in pkgutil.iter_modules(found.__path__):
        if module.name != "header":
            import_module(f"{found.__name__}.{module.name}")
    assert not [name for name in found.__all__ if isinstance(getattr(found, name), ModuleType)]


KEPT = Path(__file__).with_name("imports.json")
"""Imports of each command: modules of ours, and packages outside of Python's library."""
RENEW = os.environ.get("FULLPIPE_RENEW_IMPORTS") == "1"
SLOW = {"asyncio", "matplotlib", "multiprocessing", "scipy", "unittest"}
NO_READER = {*SLOW, "typer"}
NO_FRAMES = {"numpy", "polars"}
COMMANDS: dict[str, set[str]] = {
    "--version": {*NO_READER, *BARE},
    "--help": {*SLOW, *NUMBERS, "pydantic", "rich"},
    "run --help": {*SLOW, *NUMBERS, "rich", "fullpipe.runs", "fullpipe.scenario.model"},
    "compare --help": {*SLOW, *NUMBERS, "rich", "fullpipe.runs", "fullpipe.scenario.model"},
    "list ccas": {*NO_READER, *NUMBERS, "pydantic"},
    "list scenarios": {*NO_READER, *NUMBERS, "fullpipe.scenario.model"},
    "list papers": {*NO_READER, *NUMBERS, "pydantic"},
    "list metrics": {*NO_READER, *NUMBERS},
    "list tables": {*NO_READER, *NUMBERS},
    "list engines": SLOW,
    "show single-cubic": {*NO_READER, *NUMBERS, "rich", "pydantic"},
    "show small.toml": {*NO_READER, *NUMBERS, "rich", "fullpipe.runs"},
    "run small.toml": {*NO_READER, *NO_FRAMES},
    "run small.toml --json": {*NO_READER, *NO_FRAMES, "rich"},
    "run small.toml --json --no-store": {*NO_READER, *NO_FRAMES, "rich"},
}
"""Modules that a command must not import, by command."""


def said(modules: frozenset[str]) -> dict[str, str]:
    """Modules of ours, and other packages that do not come with Python."""
    ours = sorted(name.partition(".")[2] for name in modules if name.startswith("fullpipe."))
    tops = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    others = sorted(name for name in tops if name not in ("fullpipe", "__main__") and name.isidentifier())
    return {"ours": " ".join(ours), "others": " ".join(name for name in others if name[0] != "_")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_no_more_modules_than_before(
    command: str, small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_file.parent)
    found = imported(COMMAND.format(repr(command)))
    assert "fullpipe" in found
    assert not COMMANDS[command] & found
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    if RENEW:
        kept = {name: kept[name] for name in COMMANDS if name in kept} | {command: said(found)}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for whose, names in said(found).items():
        new = sorted(set(names.split()) - set(kept[command][whose].split()))
        assert not new, (
            f"`fullpipe {command}` imports {', '.join(new)} as well ({len(names.split())} modules, before "
            f"{len(kept[command][whose].split())}): import it where it is used, or keep the new list with "
            "FULLPIPE_RENEW_IMPORTS=1"
        )
