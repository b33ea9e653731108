"""Keeps in the store what the page has shown, as `fullpipe run` would."""

from __future__ import annotations

from pathlib import Path

from fullpipe.cli.ui import watch
from fullpipe.cli.ui.inputs import only_own_files
from fullpipe.cli.ui.limits import Limits
from fullpipe.scenario import Scenario


def kept(scenario: Scenario, seed: int, store: Path, limits: Limits) -> str:
    """Run a scenario unless the store has that run, and keep it; what the page calls the run.

    Raises:
        ScenarioError: If it takes more than it may; nothing is kept then.
        FullpipeError: If it cannot be run or kept.
    """
    with only_own_files():
        (point,) = scenario.expand()  # as the command line does, so that all that is kept is the same
    run = watch.run(point, seed, limits, store)
    return f"{run.meta.digest}/{run.meta.seed}/{run.meta.engine.name}"
