"""What is printed, as claims about our runs: means and variances of Tables 2 to 7, and what the text says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from fullpipe.studies.ahsan2025 import rerun
from fullpipe.studies.ahsan2025.printed import SUMMARY, Table, results
from fullpipe.studies.causes import Cause
from fullpipe.studies.claims import Claim, Reference
from fullpipe.studies.settings import Setting
from fullpipe.studies.transcription import claims_in
from fullpipe.studies.verdicts import Expectation

FILE = "rerun.toml"
MEASURED = {
    "Table 2": (rerun.FAIR, "upload"),
    "Table 3": (rerun.FAIR, "download"),
    "Table 4": (rerun.FAIR, "ping"),
    "Table 5": (rerun.BEST_EFFORT, "upload"),
    "Table 6": (rerun.BEST_EFFORT, "download"),
    "Table 7": (rerun.BEST_EFFORT, "ping"),
}
"""By table, the experiment and the quantity that it is of."""
SWAPPED = ("Table 6", "Table 7")
PAIR = ("BBR-n+", "BBRv3")
"""Whose rows stand for each other in those tables, by the published data."""
REFERENCE = "CUBIC"
WHY: Mapping[tuple[str, str], Cause] = {
    ("Table 2", "average"): Cause.ENDED_CONNECTION,
    **{(f"Table {n}", "average"): Cause.UNPRINTED_PARAMETER for n in (4, 5, 7)},
    **{(f"Table {n}", "variance"): Cause.OTHER_MEASURE for n in (2, 3, 5, 6)},
    **{(f"Table {n}", "variance"): Cause.UNPRINTED_PARAMETER for n in (4, 7)},
}
"""Where the host ends TCP all algorithms have what Table 2 prints; queues that are not printed move pings and
shares by more than algorithms differ; and published samples of 0.2 s exceed the link, as no packets can."""
TURNS = {("Table 2", "average"): "ended"}


def claims(package: str) -> tuple[Claim, ...]:
    """All of them."""
    numbers = (claim for table in results().tables for claim in _of_table(table))
    return (*numbers, *claims_in(package, FILE))


def _of_table(table: Table) -> Iterator[Claim]:
    """Means and variances: a sum is a mean times the number of samples, and tests follow from all of them."""
    for name in table.groups:
        yield from _of_row(table, name, name, exchanged=False)
    if table.id in SWAPPED:
        for name, other in (PAIR, PAIR[::-1]):
            yield from _of_row(table, name, other, exchanged=True)


def _of_row(table: Table, algorithm: str, row: str, *, exchanged: bool) -> Iterator[Claim]:
    """What is printed of an algorithm, in its own row or in that of another."""
    experiment, quantity = MEASURED[table.id]
    first = table.first_entry + len(SUMMARY) * list(table.groups).index(row)
    for key in ("average", "variance"):
        printed, beside = table.groups[row][key], table.groups[REFERENCE][key]
        unit = table.unit if key == "average" else f"({table.unit})²"
        yield Claim(
            id=f"Again, {table.id}: {algorithm}, {key}{', rows exchanged' if exchanged else ''}",
            says=f"{printed} {unit}",
            kind="between",
            what=None,
            between=rounding(printed),
            against=None if algorithm == REFERENCE else Reference({"algorithm": REFERENCE}, float(beside)),
            entries=(first + SUMMARY.index(key),),
            experiment=experiment,
            quantity=quantity if key == "average" else f"{quantity}_variance",
            where={"algorithm": algorithm},
            unit=unit,
            why=WHY.get((table.id, key)),
            setting=Setting(reading=TURNS[table.id, key]) if (table.id, key) in TURNS else None,
            uncounted="the two rows exchanged, as the published data have them" if exchanged else "",
        )


def rounding(printed: str) -> Expectation:
    """What rounds to a printed number.

    >>> rounding("5.10")
    Expectation(low=5.095, high=5.105)
    """
    digits = -int(Decimal(printed).as_tuple().exponent)
    half = Decimal(5).scaleb(-digits - 1)
    return Expectation(float(Decimal(printed) - half), float(Decimal(printed) + half))
