"""Errors of engines on a terminal and as JSON: the conclusion, and the largest errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import number_shown, unit_shown
from fullpipe.cli.answer import Answer, Row
from fullpipe.report.text import counted
from fullpipe.validation.agree import Found
from fullpipe.validation.agree.page import conclusion

_CHANCE = {True: "more than chance", False: "may be chance", None: "one pair of runs"}


def show(found: Found) -> None:
    """Print the conclusion, the largest errors, and how many cases were not run."""
    answer, reference = Answer(), found.engines[0]
    answer.conclude(conclusion(found))
    several = len(found.engines) > 2
    known = found.errors.drop_nulls("error").to_dicts()
    if known:
        answer.title(found.suite.title, f": the largest errors against {reference}")
        answer.table(
            ["", reference, "engine" if several else found.engines[1], "error", "difference"],
            sorted(known, key=_size),
            lambda row: _row(row, several=several),
        )
    answer.notes(_refused(found))


def as_json(found: Found) -> str:
    """A line of JSON per error; each has the conclusion of the whole suite, too."""
    told = pl.lit(pl.Series([conclusion(found)], dtype=pl.List(pl.String))).first()
    return found.errors.with_columns(conclusion=told).write_ndjson()


def _size(row: Mapping[str, Any]) -> float:
    return -abs(float(row["error"]))


def _row(row: Mapping[str, Any], *, several: bool) -> Row:
    """A row below its engine, case and group of flows."""
    measure = BY_NAME.get(row["quantity"])
    unit = measure.unit if measure else "1"
    name = f" {row['quantity']} {unit_shown(unit) if unit not in ('1', 'packets') else ''}".rstrip()
    values = (number_shown(row[key], unit, row["quantity"]) for key in ("reference", "value"))
    place = ", ".join([*([row["engine"]] if several else []), row["case"], row["of"]])
    return Row(place, [name, *values, f"{100 * row['error']:+.1f} %", _CHANCE[row["real"]]])


def _refused(found: Found) -> Iterator[str]:
    """The number of cases that an engine did not run, by reason."""
    counts = Counter((one.engine, one.why) for one in found.refused)
    for (engine, why), count in counts.most_common():
        yield f"{engine} did not run {counted(count, 'case')}: {why}"
