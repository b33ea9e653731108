"""Scores of calls, pages and videos in the list of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from fullpipe import Run, Scenario, metrics, sweep
from fullpipe.cli.ui import scores
from tests.ui.conftest import what_if

SCORES = ("call_score", "page_p50", "stall_ratio")
APPLICATIONS = [
    {"name": "upload", "cca": "cubic", "direction": "reverse"},
    {"name": "call", "workload": "voip", "count": 2},
    {"name": "slow call", "workload": {"kind": "voip", "frame": "60 ms", "payload": "480 B"}},
    {"name": "site", "cca": "cubic", "workload": "web"},
    {"name": "film", "cca": "cubic", "workload": "video"},
]


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Two runs with all applications, and two with none."""
    busy = Scenario(**what_if(name="busy", duration="40 s", flows=APPLICATIONS))
    plain = Scenario(**what_if(name="plain", duration="2 s"))
    return [run for scenario in (busy, plain) for run in sweep(scenario, (1, 2), out=tmp_path / "runs")]


def listed(client: TestClient, **asked: str) -> list[dict[str, Any]]:
    """The rows of the list by the names of their columns."""
    answer = client.get("/api/runs", params=asked)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return [dict(zip(["id", *told["columns"]], row, strict=True)) for row in told["rows"]]


def of_all(run: Run) -> dict[str, float | None]:
    """Scores of all flows of a run, as in `fullpipe metrics`."""
    rows = metrics.measured(run, metrics=SCORES).filter(pl.col("of") == "all flows")
    return dict(rows.select("metric", "value").iter_rows())


def test_the_list_has_the_scores_of_applications(client: TestClient, runs: list[Run]) -> None:
    found = {(row["scenario"], row["seed"]): row for row in listed(client)}
    for run in runs[:2]:
        row = found["busy", run.meta.seed]
        expected = of_all(run)
        assert None not in expected.values()
        assert {name: row[name] for name in SCORES} == pytest.approx(expected)
    assert [found["plain", seed][name] for seed in (1, 2) for name in SCORES] == [None] * 6


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.usefixtures("runs")
def test_the_list_is_sorted_by_scores(client: TestClient, name: str) -> None:
    values = [row[name] for row in listed(client, sort=f"-{name}")]
    assert values[:2] == sorted(values[:2], reverse=True)
    assert values[2:] == [None, None]


@pytest.mark.usefixtures("runs")
def test_where_no_run_has_a_score_there_is_no_column(client: TestClient) -> None:
    rows = listed(client, name="plain")
    assert len(rows) == 2
    assert set(SCORES).isdisjoint(rows[0])
    refused = client.get("/api/runs", params={"name": "plain", "sort": "page_p50"})
    assert "no run has the column page_p50" in refused.json()["problems"][0]


def test_a_page_that_never_came_makes_no_column(client: TestClient, tmp_path: Path) -> None:
    site = {"name": "site", "cca": "cubic", "start": "1.9 s", "workload": "web"}
    sweep(Scenario(**what_if(duration="2 s", flows=[site])), (1,), out=tmp_path / "runs")
    (row,) = listed(client)
    assert set(SCORES).isdisjoint(row)


@pytest.mark.usefixtures("runs")
def test_to_sort_no_more_runs_are_read_than_may_be(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "_MOST_READ", 1)
    refused = client.get("/api/runs", params={"sort": "page_p50"})
    assert refused.status_code == 400
    assert "select fewer runs with the filters" in refused.json()["problems"][0]
    assert len(listed(client, sort="call_score")) == 4  # the index has what it takes


def test_a_run_that_is_gone_has_no_score(tmp_path: Path) -> None:
    row = {"digest": "0", "engine": "native", "seed": 1, "started": "x", "call_score": None}
    rows = pl.DataFrame([{**row, "has web": True, "has video": True}])
    _, columns = scores.ReadScores(lambda *_: Run.load(tmp_path / "gone")).shown(rows, rows)
    assert columns == []


def test_flows_of_a_scenario_that_cannot_be_read_have_no_calls() -> None:
    assert scores._frames_s('[{"workload": {"kind": "voip", "unknown": 1}}]') == {}
