"""What several tests need: a scenario that runs in no time, and the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fullpipe import Scenario
from fullpipe.cli import app

SMALL = """
name = "small"
duration = "1 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
cca = "cubic"
start_jitter = "10 ms"
"""


@pytest.fixture
def small() -> Scenario:
    """One flow for one second."""
    return Scenario.from_toml(SMALL)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """The same in a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def fullpipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """The command line, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])
