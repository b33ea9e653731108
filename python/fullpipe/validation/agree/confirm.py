"""More starts for differences that few starts may show by chance: one in a hundred does, of hundreds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import polars as pl

from fullpipe.validation.agree.case import CHANCE_STARTS, Case
from fullpipe.validation.agree.errors import beyond
from fullpipe.validation.agree.suite import Found, job_list, run


def confirmed(found: Found, **how: Any) -> Found:
    """What came out, with the doubtful cases run from as many starts as any case has.

    A case is doubtful if the first engine after the reference is further from it than is aimed at, and
    further than by chance.

    Args:
        found: What came out.
        how: Workers, store and progress of `run`.
    """
    large = beyond(found.errors.filter(engine=found.engines[1]), found.suite.quantities)
    doubtful = set(large["case"])
    whole = {
        case.name: replace(case, seeds=max(case.seeds, CHANCE_STARTS))
        for case in found.cases
        if case.name in doubtful
    }
    if not whole:
        return found
    again = run(job_list(whole.values(), found.engines), found.suite, **how)
    chosen = tuple(whole.get(case.name, case) for case in found.cases)
    errors = pl.concat([found.errors.filter(~pl.col("case").is_in(list(whole))), again.errors])
    refused = [one for one in found.refused if one.case not in whole]
    return replace(found, cases=chosen, errors=_in_order(errors, chosen), refused=(*refused, *again.refused))


def _in_order(errors: pl.DataFrame, cases: Iterable[Case]) -> pl.DataFrame:
    """The errors in the order of their cases."""
    places = {case.name: place for place, case in enumerate(cases)}
    place = pl.col("case").replace_strict(places, return_dtype=pl.Int64)
    return errors.sort(place, maintain_order=True)
