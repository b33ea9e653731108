"""More starts for differences that few starts may show, or hide, by chance."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fullpipe.validation.agree.case import CHANCE_STARTS, Case
from fullpipe.validation.agree.errors import large
from fullpipe.validation.agree.suite import Found


def doubtful(found: Found) -> list[Case]:
    """The cases to run again, with as many starts as any case has.

    A case is doubtful if the first engine after the reference is further from it than is aimed at, whether or
    not that can be told from chance by the starts that there are.
    """
    names = set(large(found.errors.filter(engine=found.engines[1]), found.suite.quantities)["case"])
    return [replace(case, seeds=max(case.seeds, CHANCE_STARTS)) for case in found.cases if case.name in names]


def confirmed(found: Found, again: Found) -> Found:
    """What came out, with what came out of doubtful cases when they were run again in its place."""
    whole = {case.name: case for case in again.cases}
    cases = tuple(whole.get(case.name, case) for case in found.cases)
    errors = pl.concat([found.errors.filter(~pl.col("case").is_in(list(whole))), again.errors])
    places = {case.name: place for place, case in enumerate(cases)}
    place = pl.col("case").replace_strict(places, return_dtype=pl.Int64)
    refused = [one for one in found.refused if one.case not in whole]
    return replace(
        found,
        cases=cases,
        errors=errors.sort(place, maintain_order=True),
        refused=(*refused, *again.refused),
    )
