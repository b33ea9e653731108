"""Studies on another engine: here the native one by another name, which refuses a part of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, engines, studies
from fullpipe.cli import app
from fullpipe.engines import Problem, Progress
from fullpipe.engines.native import NativeEngine
from fullpipe.studies import adbbr2025, kato2025
from fullpipe.studies.kato2025 import BOTH, LARGE, RECEIVE
from fullpipe.sweeps import Job
from tests.studies.todo import jobs


class Other(NativeEngine):
    """No BBQ, and no limit on what is sent."""

    name: ClassVar[str] = "other"

    def check(self, scenario: Scenario) -> list[Problem]:
        lacks = [
            Problem("flows[0].cca", "no bbq here") for f in scenario.flows if f.cca and f.cca.kind == "bbq"
        ]
        sending = scenario.tcp.send_buffer_bytes is not None
        return [*lacks[:1], *([Problem("tcp.send_buffer", "it cannot be set")] if sending else [])]

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        if self.check(scenario):
            raise AssertionError("it was told")
        return super().run(scenario, seed=seed, progress=progress)


class Nothing(Other):
    """What is not installed."""

    name: ClassVar[str] = "nothing"

    def check(self, scenario: Scenario) -> list[Problem]:
        return [Problem("", "it is not installed")]


@pytest.fixture(autouse=True)
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**engines.ENGINES, "other": Other, "nothing": Nothing}
    monkeypatch.setattr(engines, "ENGINES", known)


@pytest.fixture
def small_kato(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A tenth of the rate, and 11 s."""
    values = {"topology.bottleneck.rate": "100 Mbit/s", "duration": "11 s"}
    small = Scenario.named("kato2025").with_values(values)
    with monkeypatch.context() as patch:
        patch.setattr(kato2025.Scenario, "named", lambda _: small)
        yield


def told(tmp_path: Path, engine: str) -> Result:
    words = ["paper", "kato2025", "--engine", engine, "--seeds", "1", "--out", str(tmp_path), "--jobs", "2"]
    return CliRunner().invoke(app, words, env={"COLUMNS": "80"})


@pytest.mark.usefixtures("small_kato")
def test_a_study_says_whose_numbers_it_has_and_what_is_left_out(tmp_path: Path) -> None:
    result = told(tmp_path, "other")
    assert result.exit_code == 0, result.output
    where = f"experiment sixteen flows, algorithm BBRv1, sockets {BOTH}, buffer 100"
    left_out = f"fullpipe: left out: kato2025, {where}: tcp.send_buffer: it cannot be set"
    assert left_out in result.stderr.splitlines()
    assert len(result.stderr.splitlines()) == 5 + 5 + 2
    assert result.stdout.startswith("Our numbers are by the other engine, ")
    assert "; it cannot run 12 of 22 scenarios. " in " ".join(result.stdout.split())
    assert max(len(line) for line in result.stdout.splitlines() if str(tmp_path) not in line) <= 80
    assert "Next, `fullpipe paper kato2025 --explain CLAIM` runs " in " ".join(result.stdout.split())
    table = pl.read_csv(tmp_path / "papers" / "kato2025-other" / "table-2.csv")
    assert set(table["engine"]) == {"other"}
    assert set(table["sockets"]) == {LARGE, RECEIVE}


@pytest.mark.usefixtures("small_kato")
def test_an_engine_that_can_run_nothing_says_why(tmp_path: Path) -> None:
    result = told(tmp_path, "nothing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "fullpipe: it is not installed\n"


def test_an_unknown_engine_is_misuse(tmp_path: Path) -> None:
    assert told(tmp_path, "omnet").exit_code == 2


def test_the_jobs_of_an_engine_are_those_that_it_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adbbr2025, "ALGORITHMS", {name: adbbr2025.OTHERS[name] for name in ("BBQ", "CUBIC")})
    todo = studies.jobs("adbbr2025", seeds=1, engine="other")
    assert {job.engine for job in todo} == {"other"}
    native_only = ("wifi-", "5g-")
    rest = [
        job
        for job in studies.jobs("adbbr2025", seeds=1)
        if not job.point["experiment"].startswith(native_only)
    ]
    assert len(rest) - len(todo) == len([job for job in rest if job.point["algorithm"] == "BBQ"])


@pytest.mark.parametrize("study", ["adbbr2025", "gniaz2025", "kato2025", "sologon2025"])
def test_the_native_engine_refuses_nothing(study: str) -> None:
    def told(of: list[Job]) -> list[object]:
        return [(job.point, job.seed, job.engine, job.scenario) for job in of]

    assert told(studies.jobs(study, seeds=1)) == told(jobs(study, seeds=1))
