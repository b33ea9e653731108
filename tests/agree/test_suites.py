"""The suites of kernels that are not as they are released."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import pytest
from typer.testing import CliRunner

from fullpipe.api import refusals
from fullpipe.cli import app
from fullpipe.engines import Engine, engine
from fullpipe.engines.linux.install import installed
from fullpipe.runs import Run
from fullpipe.validation.agree import QUANTITIES, SUITES, Case, Found, page
from fullpipe.validation.agree.errors import SCHEMA

OTHER = {name: SUITES[name] for name in ("bbr3", "prague")}
CASES = {name: suite.cases() for name, suite in OTHER.items()}
EVERY = [(name, case) for name, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("name", "least"), [("bbr3", 40), ("prague", 25)])
def test_a_suite_has_cases_enough_and_names_tell_them_apart(name: str, least: int) -> None:
    cases = CASES[name]
    assert len({case.name for case in cases}) == len(cases) >= least
    assert len({case.scenario.digest for case in cases}) == len(cases)


def test_the_families_of_bbr3_are_those_that_it_is_to_be_judged_by() -> None:
    assert {case.family for case in CASES["bbr3"]} == {
        *("single flows", "two flows", "four flows", "RTT mixes", "beside others", "loss"),
        *("queues", "marks", "steps", "application-limited"),
    }


@pytest.mark.parametrize("name", OTHER)
def test_every_case_has_the_algorithm_of_its_suite(name: str) -> None:
    assert all(name in {flow.described for flow in case.scenario.flows} for case in CASES[name])


@pytest.mark.parametrize("case", [case for _, case in EVERY], ids=lambda case: case.name)
def test_the_native_engine_takes_every_case(case: Case) -> None:
    assert refusals(engine("native"), case.scenario) == []


@pytest.mark.parametrize("case", [case for _, case in EVERY], ids=lambda case: case.name)
def test_a_kernel_that_has_everything_takes_every_case(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find", lambda: None)
    assert [problem for problem in engine("linux").check(case.scenario) if problem.path] == []


def found(name: str, error: float, *, real: bool, metric: str = "goodput") -> Found:
    """One error of a case, as it might come out."""
    case = CASES[name][0]
    row = (case.name, case.family, "flow", "native", metric, 3, 1e7, 1e7, error, real, [0.0, 0.0, 0.0])
    errors = pl.DataFrame([row], schema=SCHEMA, orient="row")
    return Found((case,), ("linux", "native"), {}, errors, (), SUITES[name])


def test_a_page_has_the_title_of_its_suite_and_how_its_kernel_is_built() -> None:
    text = page(found("bbr3", 0.001, real=True))
    assert text.startswith("# Agreement with Google's BBRv3\n")
    assert "`fullpipe agree --suite bbr3`" in text
    assert "google/bbr" in text
    assert "held-out" not in text


@pytest.mark.parametrize(
    ("error", "real", "named"), [(0.02, True, True), (0.02, False, False), (0.009, True, False)]
)
def test_what_is_beyond_the_aim_and_chance_is_named(error: float, real: bool, named: bool) -> None:
    text = page(found("bbr3", error, real=real))
    assert ("Errors above the target" in text) == named


def test_the_share_of_marked_packets_is_a_quantity_of_the_other_suites() -> None:
    assert "marking_rate" not in {quantity.metric for quantity in QUANTITIES}
    text = page(found("prague", 0.2, real=True, metric="marking_rate"))
    assert "| marks | native | +20.0 % |" in text


def test_cases_of_a_suite_are_listed() -> None:
    result = CliRunner().invoke(app, ["agree", "--suite", "prague", "--list", "--family", "step"])
    assert result.output.splitlines()[0].split()[0] == "step-1xprague-5m-20ms-ecn"


def test_an_unknown_suite_is_bad_input() -> None:
    assert CliRunner().invoke(app, ["agree", "--suite", "bbr4", "--list"]).exit_code == 2


class TestTheKernelsThemselves:
    """Skipped without a kernel that has the algorithm."""

    shorter: ClassVar = {"duration": "12 s", "warmup": "4 s"}

    def shortened(self, chosen: Engine, case: Case) -> Run:
        return chosen.run(case.scenario.with_values(self.shorter), seed=1)

    @pytest.mark.parametrize(
        ("cca", "name"), [("bbr3", "bbr3-20m-40ms-1bdp"), ("prague", "dualpi2-1xprague-20m-40ms-ecn")]
    )
    def test_one_flow_gets_what_it_gets_on_the_kernel(self, cca: str, name: str) -> None:
        linux = engine("linux")
        if installed.find() is None or cca not in linux.capabilities().ccas:
            pytest.skip(f"no kernel with {cca} is installed")
        case = next(case for case in CASES[cca] if case.name == name)
        goodput = [self.shortened(made, case).flows["goodput_bps"][0] for made in (linux, engine("native"))]
        assert goodput[1] == pytest.approx(goodput[0], rel=0.03)
