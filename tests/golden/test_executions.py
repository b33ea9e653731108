"""Runs of all that a scenario can say are the same event by event, in windows, and on any number of threads.

A run whose packets are captured is executed event by event (docs/explanation/windows.md); everything but the
captured packets must then be as it is without.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe.scenario import resolve
from tests.golden.cases import cases

CASES = cases()


def without_captures(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A case whose rows do not depend on the order of events."""
    record = {
        key: value for key, value in tree.get("record", {}).items() if key not in ("packets", "variables")
    }
    return {**tree, "record": record}


def tables(scenario: fullpipe.Scenario, threads: int) -> dict[str, pl.DataFrame]:
    """The tables of a run, but for captured packets."""
    run = fullpipe.run(scenario, seed=7, threads=threads)
    return {name: table for name, table in run.tables.items() if name != "packets"}


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same_however_a_run_is_executed(name: str) -> None:
    tree = without_captures(CASES[name])
    scenario = fullpipe.Scenario(**tree)
    captured = {**tree["record"], "packets": [resolve(scenario).links[0].name]}
    event_by_event = tables(fullpipe.Scenario(**{**tree, "record": captured}), 1)
    for threads in (1, 2, 3, 8):
        found = tables(scenario, threads)
        differing = [table for table, rows in event_by_event.items() if not rows.equals(found[table])]
        assert not differing, threads
