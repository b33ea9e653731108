"""What is said of many groups of flows looks at each row a few times, however many groups there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import Run, Scenario, metrics
from fullpipe.analysis.metrics import dynamics
from fullpipe.analysis.metrics.delay import under_load
from fullpipe.analysis.metrics.samples import means_over
from fullpipe.analysis.over_time import presented, samples
from fullpipe.analysis.statistics import doubtful_means
from fullpipe.report.runs.page import page_of

FEW, MANY = 20, 80
"""Both more than a figure has lines."""


@pytest.fixture(scope="module")
def runs() -> dict[int, Run]:
    """Runs with so many flows, each an entry of its own."""
    bottleneck = {"rate": "20 Mbit/s", "delay": "10 ms"}
    return {
        count: fullpipe.run(
            Scenario(
                name="many",
                duration="3 s",
                topology={"kind": "dumbbell", "bottleneck": bottleneck},
                flows=[{"cca": "cubic", "name": f"flow{n}"} for n in range(count)],
            )
        )
        for count in (FEW, MANY)
    }


@pytest.mark.parametrize(
    "act",
    [
        metrics.measured,
        lambda run: doubtful_means(run.series, run.flows),
        lambda run: samples({"": presented(run)}, "goodput"),
        lambda run: page_of([run]),
    ],
    ids=["measures", "doubts", "samples over time", "a report"],
)
def test_rows_that_are_filtered_grow_with_the_flows_and_no_faster(
    runs: dict[int, Run], monkeypatch: pytest.MonkeyPatch, act: Callable[[Run], Any]
) -> None:
    rows = 0
    by_polars = pl.DataFrame.filter

    def counted(table: pl.DataFrame, *what: Any, **also: Any) -> pl.DataFrame:
        nonlocal rows
        rows += table.height
        return by_polars(table, *what, **also)

    monkeypatch.setattr(pl.DataFrame, "filter", counted)
    filtered = []
    for count in (FEW, MANY):
        rows = 0
        act(runs[count])
        filtered.append(rows)
    assert filtered[1] <= 1.1 * filtered[0] * MANY / FEW


def test_windows_are_made_once_for_all_flows(runs: dict[int, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(dynamics, "means_over", lambda *of: made.append(of) or means_over(*of))
    metrics.measured(runs[FEW])
    assert len(made) == 1


def test_probes_under_load_are_those_within_any_span() -> None:
    probes = pl.DataFrame({"time_s": [float(n) for n in range(10)]})
    load = pl.DataFrame({"start_s": [4.0, 1.0, 2.0, None], "end_s": [6.0, 3.0, 2.5, 9.0]})
    assert under_load(probes, load)["time_s"].to_list() == [1.0, 2.0, 4.0, 5.0]
    assert under_load(probes, load, 2.0)["time_s"].to_list() == [2.0, 4.0, 5.0]
    assert under_load(probes, load.clear()).is_empty()
