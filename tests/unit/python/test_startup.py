"""What starts imports no more than it uses: counted by modules, which no load of the machine changes."""

import subprocess
import sys
from pathlib import Path

import pytest

import fullpipe

BARE = {"numpy", "scipy", "polars", "matplotlib", "pydantic", "typer", "rich", "importlib.metadata"}
NUMBERS = {"numpy", "scipy", "polars", "matplotlib"}
COMMAND = "import sys; sys.argv = ['fullpipe', *{}.split()]; from fullpipe.cli import main; main()"

RUN = COMMAND.format("'run single-reno --set duration=1s --no-store --json'")


def imported(program: str) -> set[str]:
    """The modules that there are when a program ends."""
    lines = [
        "import atexit, os, sys",
        "atexit.register(lambda: os.write(2, ' '.join(sys.modules).encode()))",
        program,
    ]
    made = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    return set(made.stderr.split())


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("import fullpipe", BARE),
        (COMMAND.format("'--version'"), BARE),
        (COMMAND.format("'list ccas'"), {*NUMBERS, "pydantic", "typer", "fullpipe.runs"}),
        (COMMAND.format("'list queues --json'"), {*NUMBERS, "fullpipe.scenario.model", "rich.console"}),
        (COMMAND.format("'show single-cubic'"), NUMBERS),
        ("import fullpipe; fullpipe.Scenario.named('kato2025').digest", NUMBERS),
        (COMMAND.format("'run --help'"), {"matplotlib", "numpy", "scipy"}),
        (COMMAND.format("'report kept -o page.html'"), {"matplotlib"}),
        (RUN, {"matplotlib", "scipy", "fullpipe.analysis.statistics", "rich", "fullpipe.cli.tables"}),
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
