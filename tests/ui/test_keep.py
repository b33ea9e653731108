"""Runs of the page are stored as runs of the command line are."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fullpipe import Run, load
from fullpipe.cli.ui.application import Server
from fullpipe.cli.ui.guard import Limits
from tests.ui.conftest import what_if
from tests.ui.test_server import Cli

NAME = "what-if 20M 40ms 1bdp cubic + bbr3 5s"
FLOWS = [{"cca": "cubic", "start_jitter": "100 ms"}, {"name": "call", "workload": "voip"}]


def files_of(folder: Path) -> Mapping[str, bytes]:
    """Contents of the files of a run, except the file with the time and place of the run."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "meta.json"}


def origin(run: Run) -> dict[str, Any]:
    """Metadata of a run without times and without the scenario."""
    return run.meta.model_dump(exclude={"wall_s", "cpu_s", "started", "scenario"})


@pytest.mark.parametrize("more", [{}, {"flows": FLOWS}, {"record": {"packets": ["sender", "receiver"]}}])
def test_what_is_kept_is_the_run_of_the_command_line_to_the_byte(
    client: TestClient, fullpipe: Cli, tmp_path: Path, more: dict[str, Any]
) -> None:
    scenario = what_if(name=NAME, **more)
    (id_,) = client.post("/api/keep", json={"scenarios": [scenario], "seed": 7}).json()["runs"]
    told = client.get(f"/api/run/{id_}").json()
    (tmp_path / "mine.toml").write_text(told["begin"]["toml"], encoding="utf-8")
    of_file = ["run", "mine.toml", "--seed", 7, "--out", "of-file"]
    of_command = [*shlex.split(told["begin"]["command"])[1:], "--out", "of-command"]
    for words in (of_file, of_command):
        assert fullpipe(*words).exit_code == 0
    digest, seed, engine = id_.split("/")
    folders = [tmp_path / root / digest / f"{engine}-{seed}" for root in ("runs", "of-file", "of-command")]
    kept, from_file, from_command = map(load, folders)
    assert files_of(folders[0]) == files_of(folders[1]) == files_of(folders[2])
    assert kept.meta.scenario == from_file.meta.scenario
    assert kept.name == NAME
    assert origin(kept) == origin(from_file) == origin(from_command)


def test_both_variants_are_listed_and_can_be_compared(client: TestClient) -> None:
    assert client.get("/api/runs").json()["total"] == 0
    variants = [what_if(name="a"), what_if(name="b", tcp={"ecn": True})]
    for seed in (1, 2, 2):
        kept = client.post("/api/keep", json={"scenarios": variants, "seed": seed}).json()["runs"]
    told = client.get("/api/runs").json()
    assert told["total"] == 4
    assert set(kept) <= {row[0] for row in told["rows"]}
    verdicts = client.post("/api/runs/compare", json={"runs": kept}).json()
    assert verdicts["seeds"] == [1, 2]
    assert client.post("/api/runs/report", json={"runs": kept}).text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    "sent",
    [
        {"scenarios": None},
        {"scenarios": []},
        {"scenarios": [what_if()] * 3},
        {"scenarios": [what_if(duration="3600 s")]},
        {"scenarios": [what_if(), what_if(duration="3600 s")]},
        {"scenarios": [what_if(sweep={"duration": ["5 s", "6 s"]})]},
        {"scenarios": [what_if(name="../../etc/passwd")]},
        {"scenarios": ['base = "/etc/passwd"']},
        {"scenarios": [what_if(flows=[{"cca": "python:os:system"}])]},
        {"scenarios": [what_if()], "seed": -1},
        {"scenarios": [what_if()], "seed": "../1"},
    ],
)
def test_what_may_not_be_run_is_not_kept(client: TestClient, tmp_path: Path, sent: dict[str, Any]) -> None:
    answer = client.post("/api/keep", json=sent)
    assert answer.status_code == 400
    assert answer.json()["problems"]
    assert not (tmp_path / "runs").exists()


def test_where_it_is_kept_is_not_for_the_page_to_say(client: TestClient, tmp_path: Path) -> None:
    sent = {"scenarios": [what_if()], "out": str(tmp_path / "elsewhere"), "engine": "linux"}
    (id_,) = client.post("/api/keep", json=sent).json()["runs"]
    assert id_.endswith("/1/native")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]


def test_a_run_that_takes_too_long_is_stopped_and_not_kept(tmp_path: Path) -> None:
    limited = TestClient(Server(tmp_path / "runs", limits=Limits(wall_s=0.0)).application())
    answer = limited.post("/api/keep", json={"scenarios": [what_if(duration="500 s")]})
    assert "after 0 s of computing" in answer.json()["problems"][0]
    assert limited.get("/api/runs").json()["total"] == 0


def test_a_store_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder", encoding="utf-8")
    page = TestClient(Server(tmp_path / "runs").application())
    answer = page.post("/api/keep", json={"scenarios": [what_if()]})
    assert answer.status_code == 400
    assert "cannot be written" in answer.json()["problems"][0]
