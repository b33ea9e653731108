"""Stops runs of the page that take too long, or that find too little memory left."""

from __future__ import annotations

import time
from pathlib import Path

from fullpipe import api
from fullpipe.cli.ui import memory
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario


class Watch:
    """Watch over one run, from its beginning on. Time in which a client reads counts, too."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began_s = time.monotonic()

    def check(self, reached_s: float, end_s: float) -> None:
        """Refuse to go on.

        Raises:
            ScenarioError: If the run has taken all its time, or the process has all the memory that it may
                have.
        """
        limits = self._limits
        if time.monotonic() - self._began_s > limits.wall_s:
            what = f"{limits.wall_s:g} s of computing"
        elif memory.resident_bytes() > limits.memory_bytes and not has_room(limits):
            what = f"{limits.memory_bytes / 1e9:g} GB of memory, which the whole page may have"
        else:
            return
        where = f"stopped at {reached_s:.1f} s of {end_s:g} s, after {what}"
        raise ScenarioError([f"{where}; make it shorter, or run it in a terminal"])


def has_room(limits: Limits) -> bool:
    """Whether the process has less memory than it may have, after it gave back what it does not use."""
    return memory.settled_bytes(limits.memory_bytes) <= limits.memory_bytes


def run(scenario: Scenario, seed: int, limits: Limits, out: Path | None = None) -> Run:
    """Run a scenario within limits; see `fullpipe.run`.

    Raises:
        ScenarioError: If it takes too much; nothing is kept then.
        FullpipeError: If it cannot be run or kept.
    """
    watch = Watch(limits)
    with only_own_files():
        return api.run(
            scenario, seed, out=out, progress=lambda reached_s: watch.check(reached_s, scenario.duration_s)
        )
