"""The native engine against the installed kernel, on a few cases of the catalogue; skipped without one."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fullpipe.agree import QUANTITIES, Quantity, cases, plan, run
from fullpipe.engines.linux.engine import LinuxEngine

CHOSEN = ("cubic-20m-40ms-1bdp", "bbr1-20m-40ms-1bdp", "cubic-20m-40ms-1bdp-rate-down")


@pytest.fixture(scope="module")
def errors(linux: LinuxEngine) -> pl.DataFrame:
    chosen = [replace(case, seeds=2) for case in cases() if case.name in CHOSEN]
    return run(plan(chosen, ["linux", "native"])).errors


def test_every_chosen_case_was_compared(errors: pl.DataFrame) -> None:
    assert set(errors["case"]) == set(CHOSEN)


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda quantity: quantity.metric)
def test_errors_are_within_what_is_aimed_at(errors: pl.DataFrame, quantity: Quantity) -> None:
    found = errors.filter(quantity=quantity.metric)["error"].abs()
    assert found.max() <= quantity.p95  # type: ignore[operator]
