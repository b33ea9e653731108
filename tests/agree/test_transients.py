"""Cases of the suite `transients`: their ranges, both draws, and their place on the page."""

from pathlib import Path

import polars as pl
import pytest

from fullpipe.api import refusals
from fullpipe.engines import engine
from fullpipe.engines.native import NativeEngine
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.validation.agree import SUITES, Case, Found, Refused, page
from fullpipe.validation.agree.errors import SCHEMA
from fullpipe.validation.agree.suite import UNFINISHED
from fullpipe.validation.agree.transients import KINDS, transients

SUITE = SUITES["transients"]
CASES, HELD_OUT = SUITE.cases(), SUITE.held_out()
EVERY = [*CASES, *HELD_OUT]
PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "explanation" / "agreement-transients.md"


def first(kind: str) -> Case:
    return next(case for case in CASES if case.name.startswith(kind))


def test_both_draws_have_enough_cases_of_every_kind_and_none_in_common() -> None:
    assert len(CASES) == len(HELD_OUT) >= 120
    assert len({case.name for case in EVERY}) == len({case.scenario.digest for case in EVERY}) == len(EVERY)
    assert min(case.seeds for case in EVERY) >= 4
    assert len({case.family for case in EVERY}) == 2 * len(KINDS)


def test_a_seed_draws_the_same_cases_again() -> None:
    assert [case.scenario.digest for case in transients(1)] == [case.scenario.digest for case in CASES]


def test_paths_sizes_and_starts_are_within_their_ranges() -> None:
    for case in EVERY:
        topology, (flow,) = case.scenario.topology, case.scenario.flows
        assert isinstance(topology, Dumbbell)
        rate_bps, delay_s = topology.bottleneck.rate_bps, topology.bottleneck.delay_s
        assert 1e6 <= (rate_bps or 0) <= 100e6
        assert 2e-3 <= delay_s <= 80e-3
        assert 2e5 <= (flow.size_bytes or 0) <= 4e6
        assert flow.start_jitter_s == pytest.approx(2 * delay_s)


def test_both_draws_have_several_algorithms() -> None:
    for cases in (CASES, HELD_OUT):
        kinds = [flow.cca.kind for case in cases for flow in case.scenario.flows if flow.cca]
        assert min(kinds.count(cca) for cca in ("cubic", "reno", "bbr1")) >= 15
        assert len(set(kinds)) >= 10


def test_both_engines_take_every_case() -> None:
    linux = engine("linux")
    for case in EVERY:
        assert refusals(engine("native"), case.scenario) == []
        assert [problem for problem in linux.check(case.scenario) if problem.path] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_event_meets_the_transfer_which_finishes(kind: str) -> None:
    scenario = first(kind).scenario
    calm = {"topology.bottleneck.changes": [], "topology.reverse.changes": []}
    times = [
        NativeEngine().run(made, seed=1).transfers["fct_s"][0]
        for made in (scenario, scenario.with_values(calm))
    ]
    assert None not in times
    assert times[0] != times[1]


def test_an_unfinished_case_is_beyond_the_target() -> None:
    case = CASES[0]
    errors = pl.DataFrame(schema=SCHEMA)
    refused = (Refused(case.name, "native", UNFINISHED),)
    text = page(Found((case,), ("linux", "native"), {}, errors, refused, SUITE))
    assert f"| {case.name} |  | completion time | native | none |" in text


def test_the_page_of_the_documentation_has_every_case() -> None:
    """`fullpipe agree --suite transients -o docs/explanation/agreement-transients.md` writes the page."""
    rows = {line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text(encoding="utf-8").splitlines()}
    assert {case.name for case in EVERY} <= rows
