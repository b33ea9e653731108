"""Fixtures that tests of clusters share: a short scenario, and engines that fail."""

from pathlib import Path
from typing import ClassVar

import pytest

from fullpipe import EngineError, Run, Scenario
from fullpipe.engines import ENGINES, Capabilities, Problem, Progress, Requirement
from fullpipe.engines.native import NativeEngine

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

[record]
interval = "off"

[sweep]
"flows.0.cca" = ["cubic", "reno"]
"""


class Unlucky:
    """The native engine, except that it fails on the seeds in `fails`, and notes what it runs."""

    name: ClassVar[str] = "unlucky"
    fails: ClassVar[set[int]] = set()
    made: ClassVar[list[int]] = []

    def version(self) -> str:
        return "1"

    def model_version(self) -> str:
        return "1"

    def capabilities(self) -> Capabilities:
        return NativeEngine().capabilities()

    def doctor(self) -> list[Requirement]:
        return []

    def check(self, scenario: Scenario) -> list[Problem]:
        return []

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        self.made.append(seed)
        if seed in self.fails:
            raise EngineError(f"unlucky seed {seed}")
        made = NativeEngine().run(scenario, seed=seed, progress=progress)
        engine = made.meta.engine.model_copy(update={"name": "unlucky", "version": "1", "model_version": "1"})
        return Run(made.meta.model_copy(update={"engine": engine}), made.tables)


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> type[Unlucky]:
    """An engine that fails if it is told to."""
    monkeypatch.setitem(ENGINES, "unlucky", Unlucky)  # type: ignore[misc]
    Unlucky.fails, Unlucky.made = set(), []
    return Unlucky


@pytest.fixture
def small() -> Scenario:
    """Two points of one second."""
    return Scenario.from_toml(SMALL)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """The same in a file."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path
