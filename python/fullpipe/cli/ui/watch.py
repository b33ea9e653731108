"""Stops runs of the page that take too long, or too much memory."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from fullpipe import api
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario

_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Of `ru_maxrss`: see getrusage(2)."""


class Watch:
    """Of one run, from its beginning on."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._began_s, self._before_bytes = time.monotonic(), peak_bytes()

    def check(self, reached_s: float, end_s: float) -> None:
        """Refuse to go on.

        Raises:
            ScenarioError: If the run has taken all the time or memory that it may take.
        """
        limits = self._limits
        if time.monotonic() - self._began_s > limits.wall_s:
            what = f"{limits.wall_s:g} s of computing"
        elif peak_bytes() - self._before_bytes > limits.memory_bytes:
            what = f"{limits.memory_bytes / 1e9:g} GB of memory"
        else:
            return
        where = f"stopped at {reached_s:.1f} s of {end_s:g} s, after {what}"
        raise ScenarioError([f"{where}; make it shorter, or run it in a terminal"])


def peak_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT_BYTES


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
