"""A small scenario, and the kernel if one is installed."""

from __future__ import annotations

import pytest

from fullpipe import Scenario
from fullpipe.engines.linux import installation
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.linux.installation import Installed, everything

SMALL = """
name = "small"
duration = "4 s"

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
cca = "cubic"
"""


@pytest.fixture
def small() -> Scenario:
    """One flow for four seconds."""
    return Scenario.from_toml(SMALL)


@pytest.fixture
def known() -> Installed:
    """A kernel that has everything; it cannot boot."""
    return everything()


@pytest.fixture(scope="session")
def linux() -> LinuxEngine:
    """The engine, if this machine can run it."""
    if installation.find() is None:
        pytest.skip(f"no kernel is installed; {installation.INSTALL} builds one")
    return LinuxEngine()
