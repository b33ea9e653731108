"""The paper's printed results, and explanations of printed numbers that the published data contradict."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from fullpipe.studies.claim_checks import ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import Aligned, as_printed, is_as_printed, is_cut_off
from fullpipe.studies.verdicts import Verdict

# The printed results of the paper: analyses of variance, Tukey's test and MANOVA.


EXPERIMENT = "published data"
PLACE = "in"
"""Name of the condition whose value is the table or figure in which a number is printed."""
SUMMARY = ("count", "sum", "average", "variance")
ANOVA = (
    "SS between",
    "df between",
    "MS between",
    "F",
    "P",
    "critical F",
    "SS within",
    "df within",
    "MS within",
    "SS in all",
    "df in all",
)
PAIR = ("difference", "P", "low", "high", "rejected")
MANOVA = ("Wilks' lambda", "F")
ALL = "all"
"""Name that replaces the algorithm in numbers about all algorithms together."""
TUKEY, JOINT = "Tukey", "MANOVA"

Printed = Mapping[str, str]
"""Printed numbers, as text, by quantity."""


@dataclass(frozen=True)
class Table:
    """A printed analysis of variance: its series in the published data, and its printed numbers."""

    id: str
    file: str
    series: str
    unit: str
    rows: int
    first_entry: int
    groups: Mapping[str, Printed]
    """Printed count, sum, average and variance by algorithm."""
    anova: Printed


@dataclass(frozen=True)
class Results:
    """All results that the paper printed from its published data, and the address of the published data."""

    published: str
    tables: tuple[Table, ...]
    further: str
    """ID of the table whose series Tukey's test and MANOVA use."""
    pairs: Mapping[tuple[str, str], Printed]
    manova: Printed
    first_of_pairs: int
    first_of_manova: int


@cache
def results() -> Results:
    """Read `printed.toml`."""
    data = tomllib.loads(files(__package__ or "").joinpath("printed.toml").read_text(encoding="utf-8"))
    tukey, manova = data["tukey"], data["manova"]
    return Results(
        published=data["published"],
        tables=tuple(map(_table, data["table"])),
        further=tukey["table"],
        pairs={(one, two): dict(zip(PAIR, rest, strict=True)) for one, two, *rest in tukey["pairs"]},
        manova=dict(zip(MANOVA, (manova["wilks"], manova["f"]), strict=True)),
        first_of_pairs=tukey["first_entry"],
        first_of_manova=manova["first_entry"],
    )


def _table(row: Mapping[str, Any]) -> Table:
    made = {name: dict(zip(SUMMARY, values, strict=True)) for name, *values in row["groups"]}
    kept = {key: value for key, value in row.items() if key not in ("groups", "anova")}
    return Table(**kept, groups=made, anova=dict(zip(ANOVA, row["anova"], strict=True)))


def claims() -> tuple[Claim, ...]:
    """Return one claim per printed result. All numbers of a pair in Tukey's test are one claim."""
    return tuple(claims_of(results()))


def pair_name(first: str, second: str) -> str:
    """Return the name of a pair of algorithms."""
    return f"{first} and {second}"


def claims_of(of: Results) -> Iterator[Claim]:
    """Yield one claim per printed result."""
    for table in of.tables:
        entry = table.first_entry
        for algorithm, summary in table.groups.items():
            unit = {"count": "", "variance": f"({table.unit})²"}
            for quantity, printed in summary.items():
                one = {quantity: printed}
                yield _claim(table.id, algorithm, one, [entry], unit.get(quantity, table.unit))
                entry += 1
        for quantity, printed in table.anova.items():
            yield _claim(f"{table.id}a", ALL, {quantity: printed}, [entry])
            entry += 1
    for n, (quantity, printed) in enumerate(of.manova.items()):
        yield _claim(JOINT, ALL, {quantity: printed}, [of.first_of_manova + n])
    for n, (pair, row) in enumerate(of.pairs.items()):
        yield _claim(TUKEY, pair_name(*pair), row, [of.first_of_pairs + n])


def _claim(place: str, algorithm: str, printed: Printed, entries: Sequence[int], unit: str = "") -> Claim:
    names = [name for name in (algorithm, *printed) if name != ALL] if len(printed) == 1 else [algorithm]
    shown = list(printed.values())
    says = shown[0] if len(shown) == 1 else _pair_says(printed)
    return Claim(
        id=f"{place}: {', '.join(names)}",
        says=f"{says} {unit}".strip(),
        kind="equals",
        what=printed,
        entries=tuple(entries),
        experiment=EXPERIMENT,
        where={"algorithm": algorithm, PLACE: place},
        unit=unit,
        published=results().published,
    )


def _pair_says(row: Printed) -> str:
    told = "rejected" if float(row["rejected"]) else "not rejected"
    return f"{row['difference']} [{row['low']}, {row['high']}] Mbit/s, P {row['P']}, {told}"


# Explains printed numbers that the published data contradict. A printed number can be the number of another
# row, be truncated, or be a misprint.


UNITS = 2
"""Maximum difference, in units of the last printed digit, between numbers that agree except for the last
digit."""


def named(of: Results, found: Measurements, checked: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Return the results, with a note on every printed number that the published data contradict."""
    return [replace(j, note=_note(of, found, j)) if _is_wrong(j) else j for j in checked]


def listed(checked: Sequence[ClaimResult]) -> list[list[str]]:
    """Return the column heads, followed by rows with a wrong printed number, the recomputed number and the
    note."""
    rows = [["where", "printed", "from the data", "what is printed"]]
    for j in filter(_is_wrong, checked):
        shown = [*j.claim.what.values()]
        ours = [as_printed(part.ours[0], printed) for part, printed in zip(j.parts, shown, strict=True)]
        rows.append([j.claim.id, ", ".join(shown), ", ".join(ours), j.note])
    return rows


def text(checked: Sequence[ClaimResult]) -> list[str | Aligned]:
    """Return the section of the report about wrong numbers; empty if no recomputed number differs."""
    rows = listed(checked)
    return ["Printed results that their own data contradict:", Aligned(rows)] if len(rows) > 1 else []


def _is_wrong(j: ClaimResult) -> bool:
    return j.claim.kind == "equals" and j.verdict is Verdict.CONTRADICTED


def _note(of: Results, found: Measurements, j: ClaimResult) -> str:
    if len(j.claim.what) > 1:
        return "one of its numbers differs"
    ((quantity, printed),) = j.claim.what.items()
    ours = j.parts[0].ours[0]
    if is_cut_off(ours, printed):
        return "printed is cut off, not rounded" if "E" not in printed else "the printed exponent is cut off"
    table = next((one for one in of.tables if one.id == j.claim.where[PLACE]), None)
    algorithm = str(j.claim.where["algorithm"])
    if table is None or algorithm == ALL:
        return ""
    return _of_another_row(table, found, algorithm, quantity) or _misprint(table, algorithm, quantity)


def _of_another_row(table: Table, found: Measurements, algorithm: str, quantity: str) -> str:
    printed = table.groups[algorithm][quantity]
    for other in table.groups:
        (value,) = found.at(EXPERIMENT, quantity, other, {PLACE: table.id})
        if is_as_printed(value, printed):
            return f"printed is {other}'s"
        if _is_near(value, printed):
            return f"printed is {other}'s, but for the last digit"
    return ""


def _misprint(table: Table, algorithm: str, quantity: str) -> str:
    row = table.groups[algorithm]
    product = as_printed(float(row["average"]) * float(row["count"]), row["sum"])
    if quantity == "sum" and product != row["sum"]:
        return f"a misprint: printed average times count is {product}"
    return ""


def _is_near(value: float, printed: str) -> bool:
    unit = 10.0 ** -len(printed.partition(".")[2])
    return abs(value - float(printed)) <= UNITS * unit
