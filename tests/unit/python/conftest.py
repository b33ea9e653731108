"""Short scenarios that several tests share."""

from pathlib import Path

import pytest

from fullpipe import Scenario

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
def ten(small: Scenario) -> Scenario:
    """One flow for ten seconds that loses packets now and then."""
    return small.with_values({"duration": "10 s", "flows.0.name": "it"})
