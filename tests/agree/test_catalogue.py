"""The catalogue covers what it says, and what is held out is held out."""

from pathlib import Path

import pytest

from fullpipe.api import refusals
from fullpipe.engines import engine
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.validation.agree import Case, cases, held_out_cases
from fullpipe.validation.agree.catalogue import HELD_OUT, LAST, REGIMES

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY = [*cases(), *held_out_cases()]


REGULAR = {
    "algorithms",
    "rates and RTTs",
    "buffers",
    "loss",
    "queues",
    "marks",
    "steps",
    "mixes",
    "transfers",
}
SPECIAL = {
    *("start-up", "short RTTs", "slow links", "many flows", "ACK paths", "both ways"),
    *("applications", "short flows", "fair queues", "policers", "token buckets"),
    *("outages", "bursty loss", "reordering", "segments", "offloads", "windows", "stock buffers"),
}


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 160
    assert sum(case.family == REGIMES for case in held_out_cases()) >= 60


def test_every_family_of_conditions_is_there() -> None:
    assert {case.family for case in cases()} == REGULAR | SPECIAL


def test_names_tell_cases_apart() -> None:
    assert len({case.name for case in EVERY}) == len(EVERY)


def test_no_case_is_run_twice() -> None:
    assert len({case.scenario.digest for case in EVERY}) == len(EVERY)


def test_held_out_paths_are_none_of_the_catalogue() -> None:
    def path(case: Case) -> tuple[float | None, float]:
        topology = case.scenario.topology
        assert isinstance(topology, Dumbbell)
        bottleneck, queue = topology.bottleneck, topology.bottleneck.queue
        return bottleneck.rate_bps or queue.rate_bps, bottleneck.delay_s

    assert not {path(case) for case in cases()} & {path(case) for case in held_out_cases()}
    assert {case.family for case in held_out_cases()} == {HELD_OUT, LAST, REGIMES}


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_the_native_engine_takes_every_case(case: Case) -> None:
    assert refusals(engine("native"), case.scenario) == []


def test_every_flow_begins_at_several_moments() -> None:
    assert all(flow.start_jitter_s >= 1 for case in EVERY for flow in case.scenario.flows)
    assert min(case.seeds for case in EVERY) > 1


@pytest.mark.parametrize(
    "name", ["cdg-20m-40ms-1bdp", "2xcubic-40ms-20m-1bdp", "cubic-20m-40ms-1bdp-loss-1pc"]
)
def test_what_chance_decides_has_more_seeds(name: str) -> None:
    seeds = {case.name: case.seeds for case in EVERY}
    assert seeds[name] == max(seeds.values()) > seeds["cubic-20m-40ms-1bdp"]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_linux_takes_every_case(case: Case) -> None:
    """Of itself; whether a kernel is installed here is another question."""
    assert [problem for problem in engine("linux").check(case.scenario) if problem.path] == []


def test_the_readme_counts_the_cases() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"`fullpipe agree` answers it for {len(EVERY)} cases" in " ".join(readme.split())


@pytest.mark.parametrize(
    ("name", "least"), [("agreement", {case.family for case in EVERY}), ("agreement-second-guest", {REGIMES})]
)
def test_a_family_on_a_page_of_the_documentation_has_every_case(name: str, least: set[str]) -> None:
    """They are generated: `fullpipe agree -o docs/explanation/agreement.md`."""
    page = (ROOT / "docs" / "explanation" / f"{name}.md").read_text(encoding="utf-8").splitlines()
    rows = {line.split(" | ")[0].removeprefix("| ") for line in page}
    shown = {line.removeprefix("### ").lower() for line in page if line.startswith("### ")}
    assert {case.name for case in EVERY if case.family.lower() in shown} <= rows
    assert {family.lower() for family in least} <= shown
