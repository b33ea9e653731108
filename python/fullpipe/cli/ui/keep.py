"""Keeps in the store what the page has shown, as `fullpipe run` would."""

from __future__ import annotations

import time
from pathlib import Path

from fullpipe import api
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario


def kept(scenario: Scenario, seed: int, store: Path, wall_s: float) -> str:
    """Run a scenario unless the store has that run, and keep it; what the page calls the run.

    Raises:
        ScenarioError: If it takes longer than `wall_s` in real time; nothing is kept then.
        FullpipeError: If it cannot be run or kept.
    """
    began_s = time.monotonic()

    def in_time(reached_s: float) -> None:
        if time.monotonic() - began_s > wall_s:
            told = (
                f"stopped at {reached_s:.1f} s of {scenario.duration_s:g} s, after {wall_s:g} s of computing"
            )
            raise ScenarioError([f"{told}; run its command in a terminal to keep it"])

    with only_own_files():
        (point,) = scenario.expand()  # as the command line does, so that all that is kept is the same
        run = api.run(point, seed, out=store, progress=in_time)
    return f"{run.meta.digest}/{run.meta.seed}/{run.meta.engine.name}"
