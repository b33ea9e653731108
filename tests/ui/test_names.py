"""Names of two scenarios in a comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import fullpipe
from fullpipe import Scenario
from fullpipe.cli import app
from fullpipe.cli.ui.application import Server
from fullpipe.cli.ui.compare import files_of, names_of
from tests.ui.conftest import what_if

PATH = {"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"kind": "codel"}}}


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"topology": PATH}, ("drop_tail 1 bdp", "codel")),
        ({"flows": [{"cca": "cubic"}, {"cca": "bbr1"}]}, ("bbr3", "bbr1")),
        ({"tcp": {"ecn": True}}, ("default tcp", "tcp ecn true")),
        ({"duration": "6 s", "name": "other"}, ("5 s", "6 s")),
        ({"flows": [{"cca": "cubic"}]}, None),
        ({"name": "other"}, ("what-if", "other")),
        ({}, ("A", "B")),
    ],
)
def test_scenarios_are_called_by_what_differs(more: dict[str, Any], names: tuple[str, str] | None) -> None:
    base: dict[str, Any] = what_if(flows=[{"cca": "cubic"}, {"cca": "bbr3"}])
    found = names_of(Scenario(**base), Scenario(**{**base, **more}))
    assert found == names if names else found[0] != found[1]


def test_files_are_called_so_that_they_can_be_written() -> None:
    assert files_of(["drop_tail 1 bdp", "fq_codel"]) == ["drop_tail-1-bdp.toml", "fq_codel.toml"]
    assert files_of(["../../etc", "x/y"]) == ["etc.toml", "x-y.toml"]
    for names in (["A", "a"], ["", "x"], ["..", "x"], ["x" * 100, "x" * 101]):
        assert files_of(names) == ["a.toml", "b.toml"]


LABELS = {"flows.mine": "the upload", "flows.0.cca.bbr3": "BBRv3"}
FLOWS = [{"name": "mine", "cca": "cubic", "count": 2, "start_jitter": "100 ms"}]


def test_labels_of_the_command_are_on_the_page(tmp_path: Path) -> None:
    page = TestClient(Server(tmp_path / "runs", labels=LABELS).application())
    sent = what_if(duration="2 s", warmup="0 s", flows=FLOWS)
    begin = page.post("/api/check", json={"scenario": sent, "seed": 1}).json()["understood"]
    assert [line["label"] for line in begin["lines"]] == ["the upload 1", "the upload 2"]
    assert next((flow["name"], flow["label"]) for flow in begin["flows"]) == ("mine-1", "the upload 1")
    other = {**sent, "flows": [{**FLOWS[0], "cca": "bbr3"}]}
    told = page.post("/api/compare", json={"scenarios": [sent, other], "seeds": 2}).text
    end = json.loads(told.rpartition("data: ")[2])
    assert (end["reference"], end["variant"]) == ("cubic", "BBRv3")
    assert "of the upload (2 flows, sum)" in " ".join(end["conclusion"])
    of_goodput = [shown["of"] for shown in end["shown"] if shown["metric"].startswith("goodput")]
    assert "the upload (2 flows, sum)" in of_goodput
    assert {finding["of"] for finding in end["findings"]} >= {"mine"}


def test_labels_are_on_stored_runs(tmp_path: Path) -> None:
    fullpipe.run(Scenario(**what_if(duration="1 s", warmup="0 s", flows=FLOWS)), out=tmp_path / "runs")
    page = TestClient(Server(tmp_path / "runs", labels=LABELS).application())
    run = page.get("/api/runs").json()["rows"][0][0]
    assert page.get(f"/api/run/{run}").json()["begin"]["lines"][0]["label"] == "the upload 1"


def test_a_label_that_no_scenario_can_have_is_refused(tmp_path: Path) -> None:
    words = ["ui", str(tmp_path), "--no-browser", "--label", "topology.bottlneck.rate=x"]
    told = CliRunner().invoke(app, words)
    assert (told.exit_code, "bottlneck" in told.stderr) == (2, True)
