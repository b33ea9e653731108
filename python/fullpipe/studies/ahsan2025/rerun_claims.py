"""Claims about our runs: the printed means and variances of Tables 2 to 7, and statements of the text."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fullpipe.studies.ahsan2025 import rerun
from fullpipe.studies.ahsan2025.printed import SUMMARY, Table, results
from fullpipe.studies.ahsan2025.rerun_wired import ENDED, ENDED_FQ_CODEL
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
"""Experiment and quantity of each table."""
SWAPPED = ("Table 6", "Table 7")
PAIR = ("BBR-n+", "BBRv3")
"""Algorithms whose rows are exchanged in these tables, according to the published data."""
REFERENCE = "CUBIC"
ENDED_BY_HOST = ("Table 2", "average")
"""The values that ended connections turn in runs of 60 s; no other difference has a known cause."""
ABOVE_A_FIFO = ("BBRv3", "BBR-n+", "CUBIC", "NV")
"""Algorithms whose printed averages need fq_codel behind the host: a FIFO gives 5 to 7 % less."""


def claims(package: str) -> tuple[Claim, ...]:
    """Return all claims about our runs."""
    numbers = (claim for table in results().tables for claim in _of_table(table))
    return (*numbers, *claims_in(package, FILE))


def _of_table(table: Table) -> Iterator[Claim]:
    """Yield claims about means and variances; counts, sums and tests follow from these."""
    for name in table.groups:
        yield from _of_row(table, name, name, exchanged=False)
    if table.id in SWAPPED:
        for name, other in (PAIR, PAIR[::-1]):
            yield from _of_row(table, name, other, exchanged=True)


def _of_row(table: Table, algorithm: str, row: str, *, exchanged: bool) -> Iterator[Claim]:
    """Yield the claims about an algorithm, with the numbers of its own row or of another one."""
    experiment, quantity = MEASURED[table.id]
    first = table.first_entry + len(SUMMARY) * list(table.groups).index(row)
    for key in ("average", "variance"):
        printed, beside = table.groups[row][key], table.groups[REFERENCE][key]
        unit = table.unit if key == "average" else f"({table.unit})²"
        turned = (table.id, key) == ENDED_BY_HOST
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
            why=Cause.ENDED_CONNECTION if turned else None,
            setting=Setting(reading=_turning(algorithm)) if turned else None,
            uncounted="the two rows exchanged, as the published data have them" if exchanged else "",
        )


def _turning(algorithm: str) -> str:
    """Return the path with which the average of an algorithm is reproduced."""
    return ENDED_FQ_CODEL if algorithm in ABOVE_A_FIFO else ENDED


def rounding(printed: str) -> Expectation:
    """Return the range of values that round to a printed number.

    >>> rounding("5.10")
    Expectation(low=5.095, high=5.105)
    """
    digits = -int(Decimal(printed).as_tuple().exponent)
    half = Decimal(5).scaleb(-digits - 1)
    return Expectation(float(Decimal(printed) - half), float(Decimal(printed) + half))
