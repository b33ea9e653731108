"""Runs of a store, and studies, as the page gets them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from fullpipe import Scenario, api, sweep
from fullpipe.cli.ui.compare import compare_command
from fullpipe.cli.ui.live import OF_FLOWS, wide
from fullpipe.cli.ui.stored import extremes
from fullpipe.sweeps import Job
from tests.ui.conftest import what_if
from tests.ui.test_server import Cli, columns, counts_of_runs

KEY = "topology.bottleneck.rate"


@pytest.fixture
def runs(tmp_path: Path) -> list[Any]:
    """Two rates with three seeds."""
    scenario = Scenario(**what_if(duration="3 s", sweep={KEY: ["5 Mbit/s", "10 Mbit/s"]}))
    return sweep(scenario, (1, 2, 3), out=tmp_path / "runs")


def ids(client: TestClient, **asked: object) -> list[str]:
    """IDs of the runs in the list."""
    return [row[0] for row in client.get("/api/runs", params=asked).json()["rows"]]


def test_an_empty_store_has_no_runs(client: TestClient) -> None:
    answer = client.get("/api/runs").json()
    assert answer["total"] == 0
    assert answer["rows"] == []


@pytest.mark.usefixtures("runs")
def test_runs_are_listed_chosen_and_sorted(client: TestClient) -> None:
    answer = client.get("/api/runs").json()
    assert answer["total"] == answer["matching"] == 6
    assert answer["columns"][0] == KEY
    filters = {each["column"]: each["values"] for each in answer["filters"]}
    assert sorted(filters[KEY]) == [["10 Mbit/s", 3], ["5 Mbit/s", 3]]
    assert len(ids(client, where=f"{KEY}=5 Mbit/s")) == 3
    assert len(ids(client, where=[f"{KEY}=5 Mbit/s", f"{KEY}=10 Mbit/s"])) == 6
    assert len(ids(client, where=[f"{KEY}=5 Mbit/s", "seed=2"])) == 1
    assert ids(client, where=f"{KEY}=none") == []
    assert ids(client, name="nothing of this name") == []
    assert len(ids(client, name="what")) == 6
    place = answer["columns"].index("goodput_bps") + 1
    rows = client.get("/api/runs", params={"sort": "-goodput_bps"}).json()["rows"]
    goodputs = [row[place] for row in rows]
    assert goodputs == sorted(goodputs, reverse=True)
    assert ids(client, **{"from": 4}) == ids(client)[4:]
    assert ids(client) == ids(client, sort="-started")


def test_runs_of_a_changed_file_have_a_column_that_tells_them_apart(
    client: TestClient, tmp_path: Path
) -> None:
    trace = tmp_path / "link.trace"
    line = {"trace": {"file": str(trace)}, "delay": "5 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    made = what_if(duration="2 s", warmup="0 s", topology={"kind": "dumbbell", "bottleneck": line})
    listed = []
    for text in ("1\n2\n", "1\n3\n"):
        trace.write_text(text, encoding="utf-8")
        api.run_all([Job(Scenario(**made), 1)], out=tmp_path / "runs")
        listed.append(client.get("/api/runs").json())
    assert "content" not in listed[0]["columns"]
    place = listed[1]["columns"].index("content") + 1
    assert len({row[place] for row in listed[1]["rows"]}) == listed[1]["total"] == 2
    assert "content" in [each["column"] for each in listed[1]["filters"]]


@pytest.mark.parametrize("beside", [[], [{"name": "mine", "cca": "cubic"}]])
def test_the_list_has_the_rtt_of_connections_if_there_are_any(
    client: TestClient, tmp_path: Path, beside: list[dict[str, str]]
) -> None:
    flows = [*beside, {"name": "ping", "workload": "ping"}]
    (run,) = sweep(Scenario(**what_if(duration="3 s", flows=flows)), (1,), out=tmp_path / "runs")
    answer = client.get("/api/runs").json()
    shown = answer["rows"][0][answer["columns"].index("rtt_mean_s") + 1]
    assert shown == run.flows["rtt_mean_s"][0]


@pytest.mark.parametrize(
    "asked", [{"where": "nothing=1"}, {"sort": "nothing"}, {"from": "-1"}, {"from": "x"}]
)
@pytest.mark.usefixtures("runs")
def test_what_no_run_has_is_told_so(client: TestClient, asked: dict[str, str]) -> None:
    answer = client.get("/api/runs", params=asked)
    assert answer.status_code == 400
    assert answer.json()["problems"]


def test_a_run_comes_with_its_samples(client: TestClient, runs: list[Any]) -> None:
    run = runs[0]
    id_ = f"{run.meta.digest}/{run.meta.seed}/native"
    told = client.get(f"/api/run/{id_}").json()
    assert told["begin"]["digest"] == run.meta.digest
    assert [flow["flow"] for flow in told["end"]["flows"]] == ["cubic-1", "bbr3-1"]
    found = columns(client.get(f"/api/run/{id_}/samples").content)
    expected = run.series.filter(pl.col("flow") == "bbr3-1")["cwnd_bytes"].to_numpy().astype("f4")
    assert np.array_equal(found["cwnd_bytes/1"], expected, equal_nan=True)


@pytest.mark.parametrize(
    "id_",
    ["0000000000000000/1/native", "../1/native", "x/1/native", "%2e%2e/1/native", "0/1/..%2f..%2fnative"],
)
@pytest.mark.usefixtures("runs")
def test_no_name_of_a_run_leads_out_of_the_store(client: TestClient, id_: str) -> None:
    assert client.get(f"/api/run/{id_}").status_code in (400, 401, 404)
    assert client.get(f"/api/run/{id_}/samples").status_code in (400, 401, 404)
    assert client.post("/api/runs/compare", json={"runs": [id_, id_]}).status_code == 400
    assert client.post("/api/runs/report", json={"runs": [id_]}).status_code == 400


@pytest.mark.usefixtures("runs")
def test_two_scenarios_get_verdicts_over_the_seeds_that_both_have(client: TestClient) -> None:
    one, other = ids(client, where="seed=1")
    told = client.post("/api/runs/compare", json={"runs": [one, other]}).json()
    assert told["seeds"] == [1, 2, 3]
    (goodput,) = [row for row in told["rows"] if row["of"] == "all flows" and row["metric"] == "goodput"]
    assert {goodput["verdict"]} <= {"better", "worse"}


ONE_SCENARIO = (
    "both runs have the same scenario, so there is no difference to judge; choose runs of two scenarios, or "
    "measure how much the seeds of the scenario differ: fullpipe run FILE --seeds 20"
)


@pytest.mark.parametrize("path", ["compare", "compare/report"])
@pytest.mark.usefixtures("runs")
def test_two_seeds_of_one_scenario_are_no_comparison(client: TestClient, path: str) -> None:
    two = ids(client, where=f"{KEY}=5 Mbit/s")[:2]
    answer = client.post(f"/api/runs/{path}", json={"runs": two})
    assert answer.status_code == 400
    assert answer.json()["problems"] == [ONE_SCENARIO]


def test_one_seed_of_each_scenario_is_too_few_for_verdicts(client: TestClient, tmp_path: Path) -> None:
    scenario = Scenario(**what_if(duration="2 s", sweep={KEY: ["5 Mbit/s", "10 Mbit/s"]}))
    sweep(scenario, (1,), out=tmp_path / "runs")
    (problem,) = client.post("/api/runs/compare", json={"runs": ids(client)}).json()["problems"]
    assert problem == (
        "a verdict needs at least two seeds that both scenarios have; run more seeds of both scenarios: "
        "fullpipe run FILE --seeds 20"
    )


@pytest.mark.parametrize("sent", [None, [], ["x"], [1, 2], "xx", ["x", "y", "z"]])
@pytest.mark.usefixtures("runs")
def test_a_comparison_is_of_two_runs(client: TestClient, sent: object) -> None:
    assert client.post("/api/runs/compare", json={"runs": sent}).status_code == 400


@pytest.mark.usefixtures("runs")
def test_a_report_is_of_the_runs_that_are_named(client: TestClient) -> None:
    named = ids(client)[:2]
    text = client.post("/api/runs/report", json={"runs": named}).text
    assert text.startswith("<!DOCTYPE html>")
    question = {"question": " Is 5 Mbit/s <i>shorter? "}
    asked = client.post("/api/runs/report", json={"runs": named, **question}).text
    assert "Is 5 Mbit/s &lt;i&gt;shorter?" in asked
    assert "<i>shorter?" not in asked
    too_long = client.post("/api/runs/report", json={"runs": named, "question": "?" * 301})
    assert too_long.json()["problems"] == ["question: expected a text of at most 300 characters"]
    assert client.post("/api/runs/report", json={"runs": []}).status_code == 400


def test_flows_that_were_sampled_at_other_times_stand_in_one_table() -> None:
    rows = [("a", 0.1, 1.0), ("a", 0.2, 2.0), ("b", 0.2, 3.0), ("b", 0.3, 4.0)]
    series = pl.DataFrame(rows, ["flow", "time_s", "goodput_bps"], orient="row")
    others = [pl.lit(None, pl.Float64).alias(name) for name in OF_FLOWS if name != "goodput_bps"]
    found = wide({"series": series.with_columns(others), "links": pl.DataFrame()}, ["a", "b", "c"], [])
    assert list(found["time_s"]) == [0.1, 0.2, 0.3]
    assert list(found["goodput_bps/0"]) == [1.0, 2.0, None]
    assert list(found["goodput_bps/1"]) == [None, 3.0, 4.0]
    assert list(found["goodput_bps/2"]) == [None, None, None]


def test_of_too_many_samples_the_extremes_are_kept() -> None:
    values = np.sin(np.arange(100_000) / 300)
    values[54_321], values[77_777] = 9.0, -9.0
    table = {"time_s": pl.Series(np.arange(100_000) / 10), "x": pl.Series(values)}
    few = extremes(table, 1_000)
    assert len(few["x"]) <= 1_002
    assert few["x"].max() == 9.0
    assert few["x"].min() == -9.0
    assert few["time_s"].is_sorted()
    at = few["time_s"][few["x"].arg_max()]
    assert at == pytest.approx(5_432.1, abs=25)
    assert extremes(table, 100_000) is table


def test_studies_are_listed_with_what_is_printed(client: TestClient) -> None:
    found = {each["name"]: each for each in client.get("/api/studies").json()}
    assert found["kato2025"]["printed"] > 40
    assert found["kato2025"]["tally"] == {}
    told = client.get("/api/studies/kato2025").json()
    assert told["rows"][0] == {
        "where": "Table II, 100: mean",
        "printed": "39.5 Mbit/s",
        "unit": "Mbit/s",
        "verdict": None,
    }
    assert client.get("/api/studies/nothing").status_code == 400


def test_a_study_that_was_run_has_ours_beside_what_is_printed(client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    heads = "engine,where,printed,reading,ours,ours_low,ours_high,unit,held,compared,verdict,closest,why,"
    heads += "setting,factor,by_tolerance,counted,uncounted,each\n"
    row = 'native,"Table II, 100: mean",39.5 Mbit/s,,26.8,24.4,29.3,Mbit/s,1,1,same direction,true,'
    (folder / "verdicts.csv").write_text(f"{heads}{row}rate samples,,0.5,false,true,,\n", encoding="utf-8")
    told = client.get("/api/studies/kato2025").json()
    assert told["tally"] == {"same direction": 1}
    assert told["rows"][0]["ours_low"] == 24.4
    assert told["rows"][1]["verdict"] is None
    endless = row.replace("26.8,24.4,29.3", "inf,-inf,nan")
    (folder / "verdicts.csv").write_text(
        f"{heads}{endless}rate samples,,0.5,false,true,,\n", encoding="utf-8"
    )
    told = client.get("/api/studies/kato2025").json()
    assert [told["rows"][0][key] for key in ("ours", "ours_low", "ours_high")] == [None] * 3


@pytest.mark.parametrize("text", ["", "where\n", "\x00\xff", "where,verdict\n1,2\n"])
def test_a_damaged_table_of_a_study_is_told_so(client: TestClient, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    (folder / "verdicts.csv").write_text(text, encoding="utf-8")
    answer = client.get("/api/studies/kato2025")
    assert answer.status_code == 400
    assert "run the study again" in answer.json()["problems"][0]


def test_a_kept_comparison_becomes_a_report_and_a_command_that_says_the_same(
    client: TestClient, runs: list[Any], fullpipe: Cli, tmp_path: Path
) -> None:
    one, other = ids(client, where="seed=1")
    told = client.post("/api/runs/compare", json={"runs": [one, other]}).json()
    page = client.post("/api/runs/compare/report", json={"runs": [one, other]}).text
    assert page.startswith("<!DOCTYPE html>")
    assert f"{told['variant']} against {told['reference']}" in page
    assert {told["reference"], told["variant"]} == {"5 Mbit/s", "10 Mbit/s"}
    assert counts_of_runs(page) == {"3"}
    assert all(run.meta.digest in page for run in (runs[0], runs[-1]))
    for name, id_ in zip(told["files"], (one, other), strict=True):
        toml = client.get(f"/api/run/{id_}").json()["begin"]["toml"]
        (tmp_path / name).write_text(toml, encoding="utf-8")
    words = shlex.split(told["command"])
    assert words[:2] == ["fullpipe", "compare"]
    done = fullpipe(*words[1:], "--json")
    (printed,) = [json.loads(line) for line in done.stdout.splitlines()]
    keys = ("of", "metric", "reference", "variant", "interval", "verdict")
    rows = [[{key: row[key] for key in keys} for row in of["rows"]] for of in (told, printed)]
    assert rows[0] == rows[1]
    as_files = json.loads(re.sub(r"(?<![\d.])(5|10) Mbit/s", r"\1-Mbit-s", json.dumps(told)))
    assert as_files["conclusion"] == printed["conclusion"]
    assert sorted(as_files["findings"], key=repr) == sorted(printed["findings"], key=repr)


@pytest.mark.usefixtures("runs")
def test_numbers_and_verdicts_are_those_of_the_terminal(
    client: TestClient, fullpipe: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    one, other = ids(client, where="seed=1")
    told = client.post("/api/runs/compare", json={"runs": [one, other]}).json()
    for name, id_ in zip(told["files"], (one, other), strict=True):
        toml = client.get(f"/api/run/{id_}").json()["begin"]["toml"]
        (tmp_path / name).write_text(toml, encoding="utf-8")
    lines = fullpipe(*shlex.split(told["command"])[1:], "--all").stdout.splitlines()
    rows = [" ".join(line.split()) for line in lines]
    for finding, shown in zip(told["findings"], told["shown"], strict=True):
        margin = shown["margin"].partition(",")[0]
        texts = [*shown["means"], shown["difference"], margin, finding["verdict"]]
        assert any(row.startswith(finding["metric"]) and " ".join(texts) in row for row in rows), texts


def test_seeds_that_are_not_the_first_have_no_command() -> None:
    assert compare_command(["a", "b"], [2, 3]) == ""
    assert "--engines linux --out 'my runs'" in compare_command(["a", "b"], [1, 2], Path("my runs"), "linux")


PIXEL = b"\x89PNG\r\n\x1a\n and more"


def test_figures_of_a_study_are_listed_and_served(client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    for name in ("figure-10.png", "figure-2.png", "published-figure-3.png"):
        (folder / name).write_bytes(PIXEL)
    (folder / "page.png").write_bytes(b"<html>")
    told = client.get("/api/studies/kato2025").json()["figures"]
    assert [each["name"] for each in told] == ["figure-2", "figure-10", "page", "published-figure-3"]
    assert told[0]["title"] == "Figure 2, drawn from our runs"
    answer = client.get("/api/studies/kato2025/figure-2")
    assert answer.content == PIXEL
    assert answer.headers["content-type"] == "image/png"
    others = ("page", "figure-3", "..%2f..%2fsecret", "figure-2.png")
    for name in others:
        assert client.get(f"/api/studies/kato2025/{name}").status_code in (400, 404)
    assert client.get("/api/studies/nothing/figure-2").status_code == 400
