"""The native engine against the installed kernel, on a few cases of the catalogue; skipped without one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fullpipe import Scenario
from fullpipe.engines.linux.engine import LinuxEngine
from fullpipe.engines.native import NativeEngine
from fullpipe.validation.agree import QUANTITIES, ErrorTarget, cases, job_list, run
from fullpipe.validation.agree.case import Case, drop_tail, dumbbell

BRIEF = {"duration": "12 s", "warmup": "4 s"}
CHOSEN = {
    "cubic-20m-40ms-1bdp": BRIEF,
    "bbr1-20m-40ms-1bdp": BRIEF,
    "cubic-20m-40ms-1bdp-rate-down": {**BRIEF, "topology.bottleneck.changes.0.at": "6 s"},
    "cubic-1MB-20m-40ms-1bdp": {"duration": "5 s"},
}
"""Values that make each case shorter, with the change of the rate in the middle."""


def shortened(case: Case) -> Case:
    """Return the case with one seed and in less time."""
    return replace(case, seeds=1, scenario=case.scenario.with_values(CHOSEN[case.name]))


@pytest.fixture(scope="module")
def errors(linux: LinuxEngine) -> pl.DataFrame:
    chosen = [shortened(case) for case in cases() if case.name in CHOSEN]
    return run(job_list(chosen, ["linux", "native"])).errors


def test_every_chosen_case_was_compared(errors: pl.DataFrame) -> None:
    assert set(errors["case"]) == set(CHOSEN)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.metric)
def test_errors_are_within_what_is_aimed_at(errors: pl.DataFrame, quantity: ErrorTarget) -> None:
    found = errors.filter(quantity=quantity.metric)["error"].abs()
    assert found.max() <= quantity.p95  # type: ignore[operator]


def test_acks_on_a_slow_way_back_are_as_large_and_as_rare(linux: LinuxEngine) -> None:
    way_back = {"rate": "200 kbit/s", "delay": "0 ms", "queue": {"kind": "drop_tail", "packets": 50}}
    scenario = Scenario(
        name="slow-acks",
        duration="6 s",
        warmup="1 s",
        topology=dumbbell(20, 40, drop_tail(1)) | {"reverse": way_back},
        flows=[{"cca": "cubic"}],
    )
    runs = [engine.run(scenario, seed=1) for engine in (linux, NativeEngine())]
    goodputs = [run.flows["goodput_bps"][0] for run in runs]
    sizes = [
        run.links_summary.filter(link="bottleneck-reverse")
        .select(pl.col("forwarded_bytes") / pl.col("forwarded_packets"))
        .item()
        for run in runs
    ]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.03)
    assert sizes[1] == pytest.approx(sizes[0], rel=0.01)
    assert min(sizes) > 66, "SACK blocks take room"
