"""The example tests of the BBR draft: that they judge, and what they say of the algorithms here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from fullpipe.algorithms import Ack, Controller, Episode
from fullpipe.algorithms import Path as PathView
from fullpipe.cli import app
from fullpipe.engines.base import Problem
from fullpipe.scenario import Scenario
from fullpipe.validation.conformance import DraftVerdict, Result, cases, judge
from fullpipe.validation.conformance.lab import state_name


def verdicts(results: list[Result]) -> dict[DraftVerdict, set[str]]:
    return {verdict: {r.case.section for r in results if r.verdict == verdict} for verdict in DraftVerdict}


def test_all_22_are_there_once() -> None:
    assert [case.section for case in cases()] == [f"A.{number}" for number in range(1, 23)]
    assert len({case.name for case in cases()}) == 22


@pytest.mark.parametrize("seed", [1, 3])
def test_bbr3_as_the_draft_has_it_passes_all(seed: int) -> None:
    results = judge({"kind": "bbr3", "preset": "draft"}, workers=2, seed=seed)
    assert {r.case.section: r.explanation for r in results if r.verdict != DraftVerdict.passed} == {}


def test_bbr3_as_google_has_it_fails_where_it_is_known_to_differ() -> None:
    found = verdicts(judge("bbr3", workers=2))
    # A.3: DRAIN at 0.34. A.4: no limit on its time. A.10: window gain of PROBE_RTT. A.18: the probe is over.
    assert found[DraftVerdict.failed] == {"A.3", "A.4", "A.10", "A.18"}
    assert found[DraftVerdict.not_applicable] == set()


def test_what_bbr1_lacks_does_not_apply_to_it() -> None:
    found = verdicts(judge("bbr1", workers=2))
    assert found[DraftVerdict.not_applicable] == {"A.2", "A.5", "A.6", "A.8", "A.9", "A.21", "A.22"}
    assert {"A.1", "A.7", "A.11", "A.20"} <= found[DraftVerdict.passed]
    assert {"A.4", "A.10"} <= found[DraftVerdict.failed]  # DRAIN without a time limit, PROBE_RTT after 10 s


def test_a_window_algorithm_is_judged_by_what_it_does() -> None:
    found = verdicts(judge("cubic", only=["A.1", "A.14", "A.18"]))
    assert found == {
        DraftVerdict.passed: {"A.14", "A.18"},
        DraftVerdict.failed: set(),
        DraftVerdict.not_applicable: {"A.1"},
    }


class Stubborn(Controller):
    """Stays in STARTUP for ever, and says so."""

    owns_recovery = True
    slow_start = 1.0
    traced = {"max_bw": "packets/s"}  # noqa: RUF012
    state = "Startup"

    def __init__(self, rng: Any, **params: Any) -> None:
        super().__init__(rng, **params)
        self.max_bw = 0.0

    def on_ack(self, ack: Ack, path: PathView) -> None:
        self.cwnd = min(self.cwnd, 60)
        if path.srtt_s:
            self.max_bw = max(self.max_bw, self.cwnd / path.srtt_s)
        self.state = "Drain" if path.now_s > 2.9 else "Startup"

    def on_congestion(self, episode: Episode, path: PathView) -> None:
        self.ssthresh = self.cwnd


def test_an_algorithm_from_outside_is_judged_too() -> None:
    (result,) = judge(Stubborn, only=["startup-plateau"])
    assert result.verdict == DraftVerdict.failed
    assert "max_bw is within 2 %" in result.explanation


@pytest.mark.parametrize("spelling", ["ProbeBW:Up", "PROBE_BW_UP", "PROBE_UP", "ProbeUp", "probe_bw_up"])
def test_states_are_known_by_any_spelling(spelling: str) -> None:
    assert state_name(spelling) == "ProbeBW_UP"


class Refusing:
    """An engine that can run nothing, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Scenario] = []

    def check(self, scenario: Scenario) -> list[Problem]:
        self.asked.append(scenario)
        return [Problem("topology.bottleneck", "there is no cable")]


def test_what_another_engine_cannot_run_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = Refusing()
    monkeypatch.setattr("fullpipe.validation.conformance.lab.engine", lambda name: refusing)
    (result,) = judge("bbr3", engine="other", only=["A.14"])
    assert result.verdict == DraftVerdict.not_applicable
    assert "there is no cable" in result.explanation
    assert not refusing.asked[0].record.variables


def command(*words: str) -> Any:
    return CliRunner().invoke(app, ["conformance", *words])


def test_the_exit_code_says_whether_all_passed(tmp_path: Path) -> None:
    assert command("bbr1", "--only", "A.1").exit_code == 0
    assert command("bbr1", "--only", "A.5").exit_code == 0  # does not apply
    assert command("bbr1", "--only", "A.10").exit_code == 1


def test_junit_and_json_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    done = command("bbr1", "--only", "A.1", "--only", "A.5", "--only", "A.10", "--json", "--junit", str(file))
    found = json.loads(done.output)
    assert [r["verdict"] for r in found["results"]] == ["passed", "not applicable", "failed"]
    suite = ElementTree.parse(file).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "5 s" in str(failure.get("message"))


def test_an_unknown_test_and_a_bad_parameter_are_refused() -> None:
    assert 'unknown test "A.23"' in command("bbr1", "--only", "A.23").output
    done = command("bbr1", "loud")
    assert done.exit_code == 2
    assert "NAME=VALUE" in done.output


def test_code_from_elsewhere_needs_permission() -> None:
    done = command("python:this_is_not_here:Reno", "--only", "A.1")
    assert done.exit_code == 2
    assert "--allow-python" in done.output


def test_a_mistaken_algorithm_is_no_failed_test() -> None:
    done = command("bbr3", "preset=drft", "--only", "A.1")
    assert done.exit_code == 2
    assert 'flows[0].cca.preset: unknown value "drft"; did you mean "draft"?' in done.output
