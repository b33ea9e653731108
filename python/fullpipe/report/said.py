"""Verdicts in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.report.text import listed

_FIRST = (
    *("regressed", "worse", "better", "different", "higher", "lower"),
    *("undecided", "not worse", "equivalent"),
)
"""Order of verdicts: those that ask for a decision come first."""
_COUNTED = ("undecided", "not worse", "equivalent")
"""Verdicts of which only the number is given."""

_UNCORRECTED = "Intervals are uncorrected: each is of a single test. Verdicts use p (Holm), corrected over "
HOW_CHECKED = (
    "Not worse: the one-sided 95 % interval of the difference ends within the margin. Regressed: it does "
    "not, and the paired t-test finds a difference for the worse. Undecided: neither. "
    f"{_UNCORRECTED}all tests of the check."
)
HOW_COMPARED = (
    "Pairs of runs with the same seed. Equivalent: the 90 % interval of the difference lies within the "
    "margin. Better or worse: it does not, and p (Holm) is below 0.05. Undecided: neither. "
    f"{_UNCORRECTED}all tests of one command. A row is of a metric, of a group of flows or a link, and of a "
    "point."
)
HOW = {"check": HOW_CHECKED, "compare": HOW_COMPARED}
"""Rules of verdicts in words, by the kind of file."""
Row = Mapping[str, Any]


def summary(rows: Sequence[Row]) -> str:
    """Sum up rows with verdicts, the most important first: for every metric how many of its rows.

    >>> rows = [{"verdict": "better", "metric": "jain"}, {"verdict": "worse", "metric": "goodput"}]
    >>> summary([*rows, {"verdict": "undecided", "metric": "goodput"}])
    "worse in goodput (1 of 2); better in Jain's index; undecided in 1 of 3 rows"
    """
    return "; ".join(_told(word, rows) for word, _ in tally(rows)) or "nothing was compared"


def _told(word: str, rows: Sequence[Row]) -> str:
    of = [row for row in rows if str(row.get("verdict")) == word]
    if len(rows) == 1 and word in _COUNTED:
        return word
    if word in _COUNTED or not all(row.get("metric") for row in of):
        return f"{word} in {len(of)} of {len(rows)} rows"
    metrics = dict.fromkeys(str(row["metric"]) for row in of)
    return f"{word} in {listed(_share(metric, of, rows) for metric in metrics)}"


def _share(metric: str, of: Sequence[Row], rows: Sequence[Row]) -> str:
    count, total = (sum(str(row.get("metric")) == metric for row in part) for part in (of, rows))
    label = BY_NAME[metric].label or metric if metric in BY_NAME else metric
    return label if total == 1 else f"{label} ({count} of {total})"


def tally(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Count each verdict, in the order of `_FIRST`."""
    given = [str(row["verdict"]) for row in rows if row.get("verdict")]
    order = sorted(set(given), key=lambda word: (_FIRST.index(word) if word in _FIRST else len(_FIRST), word))
    return [(word, given.count(word)) for word in order]
